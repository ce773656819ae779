# SPDX-License-Identifier: GPL-2.0 OR MIT
"""What a register database holds, and reading it from XML; registers.py says what the elements mean.

Every mistake that can be seen without the hardware is an error with file and line: fields and registers that
overlap, values that do not fit, names that could be misread, facts without a source.
"""

import os
import re
from dataclasses import dataclass, field
from typing import Optional
from xml.parsers import expat


class Bad(Exception):
    """A mistake in the database, with the place where it is."""

    def __init__(self, node, message):
        super().__init__(f"{node.file}:{node.line}: {message}")


# --- reading XML, with line numbers -----------------------------------------------------------------------

@dataclass
class Node:
    tag: str
    attrs: dict
    file: str
    line: int
    children: list = field(default_factory=list)
    text: str = ""

    def get(self, name, default=None):
        return self.attrs.get(name, default)

    def need(self, name):
        if name not in self.attrs:
            raise Bad(self, f"<{self.tag}> {self.get('name', '')} has no {name}")
        return self.attrs[name]

    def number(self, name, default=None):
        text = self.attrs.get(name)
        if text is None:
            if default is None:
                self.need(name)
            return default
        try:
            return int(text, 0)
        except ValueError:
            raise Bad(self, f"{name}=\"{text}\" is not a number") from None

    def all(self, tag):
        return [c for c in self.children if c.tag == tag]

    def doc(self):
        return " ".join(" ".join(c.text.split()) for c in self.all("doc"))


ATTRIBUTES = {
    "database": set(),
    "import": {"file"},
    "enum": {"name", "src"},
    "value": {"name", "value", "last", "spelling"},
    "domain": {"name", "unit", "src", "block", "variants", "map-of"},
    "reg32": {"name", "offset", "src", "access", "default", "length", "stride", "manual", "variants",
              "overlay-of", "when", "mirror-of", "spelling", "block"},
    "array": {"name", "offset", "length", "stride", "src", "variants"},
    "bitfield": {"name", "low", "high", "pos", "default", "type", "spelling", "src"},
    "doc": set(),
    "decision": {"n", "src", "about"},
    "packets": {"src", "engine", "header"},
    "layout": {"name", "src"},
    "sequence": {"name", "src"},
    "packet": {"name", "opcode", "src", "public", "map", "variants"},
    "dword": {"name", "layout", "register", "src"},
    "use": {"sequence"},
    "repeat": {"count", "name"},
    "when": {"test"},
    "registers": {"from", "base", "end"},
    "word": {"name", "map", "src"},
    "instructions": {"name", "field", "src"},
    "instruction": {"name", "opcode", "sources", "slots", "flags", "map", "src"},
}


def read_xml(path):
    """The tree of one file; unknown elements and attributes are mistakes."""
    stack = [Node("", {}, path, 0)]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag, attrs):
        node = Node(tag, attrs, path, parser.CurrentLineNumber)
        if tag not in ATTRIBUTES:
            raise Bad(node, f"unknown element <{tag}>")
        for name in attrs:
            if name not in ATTRIBUTES[tag] and not name.startswith(("xmlns", "xsi:")):
                raise Bad(node, f"<{tag}> knows no attribute {name}")
        stack[-1].children.append(node)
        stack.append(node)

    def text(data):
        stack[-1].text += data

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = text
    try:
        with open(path, "rb") as f:
            parser.ParseFile(f)
    except expat.ExpatError as e:
        raise Bad(Node("", {}, path, e.lineno), expat.errors.messages[e.code]) from None
    except OSError as e:
        raise Bad(Node("", {}, path, 0), e.strerror) from None
    return stack[0].children[0]


# --- what a database holds --------------------------------------------------------------------------------

@dataclass
class Value:
    name: str
    value: int
    last: int
    doc: str


@dataclass
class Field:
    name: str
    high: int
    low: int
    default: Optional[int]
    doc: str
    values: list
    enum: Optional[str]

    @property
    def width(self):
        return self.high - self.low + 1


@dataclass
class Choice:
    """DWORD.FIELD=V|V, taken apart."""
    dword: str
    field: str
    values: list


@dataclass
class Register:
    node: Node
    domain: str
    block: str
    name: str
    manual: str
    offset: int
    length: int
    stride: int
    access: str
    default: Optional[int]
    doc: str
    source: str
    variants: list
    overlay: Optional[str]
    choice: Optional["Choice"]      # when the overlay is the layout that counts
    mirror: Optional[str]
    fields: list

    def offsets(self):
        return [self.offset + i * self.stride for i in range(self.length)]


@dataclass
class Dword:
    """One dword of a packet."""
    name: str
    doc: str
    fields: list
    shared: Optional[str] = None    # path of the Rust module that has the fields, if it is not its own


@dataclass
class Group:
    kind: str                       # "repeat" or "when"
    arg: str
    items: list


@dataclass
class Window:
    """The rest of a body: registers, from base + 4 * DWORD.FIELD on and before end."""
    ref: str
    base: int
    end: int
    kind = "registers"
    items = ()

    @property
    def arg(self):
        return self.ref


@dataclass
class Packet:
    node: Node
    name: str
    opcode: int
    doc: str
    source: str
    public: bool
    map: Optional[str]              # the map whose chips have it; None: all chips
    variants: list
    body: list


@dataclass
class PacketSet:
    """The packets that one engine reads."""
    node: Optional[Node] = None
    doc: str = ""
    header: Optional[tuple] = None  # layout and field with the opcode; None: PM4, whose headers say how long bodies are
    layouts: dict = field(default_factory=dict)
    sequences: dict = field(default_factory=dict)
    packets: list = field(default_factory=list)

    def of_map(self, name):
        """The packets of a map; those that all chips have if `name` is None."""
        return [p for p in self.packets if p.map == name]


@dataclass
class Decision:
    number: int
    about: str
    source: str
    text: str


@dataclass
class Word:
    """One dword of an instruction of shaders."""
    node: Node
    dword: Dword
    map: Optional[str]              # the only register map whose chips have it


@dataclass
class Instruction:
    node: Node
    name: str
    opcode: int
    sources: Optional[int]
    slots: str
    flags: list
    map: Optional[str]
    doc: str
    source: str


@dataclass
class InstructionTable:
    """Instructions that one field of one word tells apart."""
    node: Node
    name: str
    doc: str
    word: str
    field: str
    instructions: list = field(default_factory=list)

    def of_map(self, name):
        """Those that chips of the register map have."""
        return [i for i in self.instructions if both(i.map, name)]


@dataclass
class Database:
    files: list = field(default_factory=list)
    enums: dict = field(default_factory=dict)
    domains: dict = field(default_factory=dict)     # name -> {"doc", "unit", "registers", "map_of"}
    pm4: PacketSet = field(default_factory=PacketSet)
    engines: dict = field(default_factory=dict)     # name -> PacketSet, of those besides the command processor
    words: list = field(default_factory=list)       # of instructions
    instructions: list = field(default_factory=list)
    decisions: list = field(default_factory=list)

    @property
    def packets(self):
        return self.pm4.packets

    @property
    def layouts(self):
        return self.pm4.layouts

    def registers(self):
        return [r for d in self.domains.values() for r in d["registers"]]

    def register(self, domain, name):
        return next((r for r in self.domains[domain]["registers"] if r.name == name), None)

    def maps(self, domain):
        """The names of the maps of a domain."""
        return [name for name, d in self.domains.items() if d["map_of"] == domain]


# --- names ------------------------------------------------------------------------------------------------

def check_name(node, name):
    """Names are upper-case ASCII (so neither a lower-case l nor another alphabet's letters can be in one) and
    must not mix up O and 0, or I and 1. A name that looks wrong but is right says spelling="sic"."""
    if not re.fullmatch(r"[A-Z0-9][A-Z0-9_]*", name):
        odd = next((c for c in name if not re.match(r"[A-Z0-9_]", c)), " ")
        raise Bad(node, f"name {name!r}: {odd!r} (U+{ord(odd):04X}) is not an upper-case ASCII letter, digit or _")
    if node.get("spelling") == "sic":
        return
    for word in name.split("_"):
        if re.search(r"O[0-9]|[0-9]O", word):
            raise Bad(node, f"name {name}: letter O beside a digit looks like 0")
        if re.search(r"[0-9]I", word):
            raise Bad(node, f"name {name}: letter I after a digit looks like 1")
        for m in re.finditer(r"(?<![A-Z])([A-Z]+)[01](?=([A-Z]+))", word):
            index = len(m[1]) == 1 and len(m[2]) == 1       # T0C0
            display = m[0] == "D1" and m.start() == 0       # D1CRTC
            if not index and not display:
                raise Bad(node, f"name {name}: digit {m[0][-1]} between letters looks like a letter")


def skeleton(name):
    """Two names with the same skeleton cannot be told apart by eye."""
    return name.translate(str.maketrans("OIL", "011"))


def check_unique(node, name, seen, what):
    other = seen.setdefault(skeleton(name), name)
    if other != name:
        raise Bad(node, f"{what} {name} looks like {other}")


# --- building the database --------------------------------------------------------------------------------

class Builder:
    def __init__(self):
        self.db = Database()
        self.names = {}

    def load(self, path, seen=()):
        """Takes in `path` and what it imports; enums first, so that fields can name them."""
        if path in seen:
            raise Bad(Node("", {}, path, 0), "imports itself")
        root = read_xml(path)
        if root.tag != "database":
            raise Bad(root, "the root must be <database>")
        self.db.files.append(path)
        for node in root.children:
            if node.tag == "import":
                self.load(os.path.join(os.path.dirname(path), node.need("file")), (*seen, path))
        for node in root.all("enum"):
            self.enum(node)
        for node in root.children:
            if node.tag == "domain":
                self.domain(node)
            elif node.tag == "packets":
                self.packets(node)
            elif node.tag == "word":
                self.word(node)
            elif node.tag == "instructions":
                self.instructions(node)
            elif node.tag == "decision":
                self.decision(node, node.need("about"))
            elif node.tag not in ("import", "enum", "doc"):
                raise Bad(node, f"<{node.tag}> does not belong in <database>")

    def values(self, node):
        out, names = [], {}
        for v in node.all("value"):
            name, value = v.need("name"), v.number("value")
            check_name(v, name)
            check_unique(v, name, names, "value")
            if any(x.name == name for x in out):
                raise Bad(v, f"value name {name} occurs twice")
            last = v.number("last") if v.get("last") else value
            if last < value:
                raise Bad(v, f"value {name}: the last number {last} is below the first")
            for other in out:
                if value <= other.last and other.value <= last:
                    raise Bad(v, f"value {max(value, other.value)} occurs twice ({other.name}, {name})")
            out.append(Value(name, value, last, v.doc()))
        return out

    def enum(self, node):
        name = node.need("name")
        if name in self.db.enums:
            raise Bad(node, f"enum {name} occurs twice")
        self.db.enums[name] = self.values(node)

    def fields(self, node, about):
        out, seen = [], {}
        for f in node.all("bitfield"):
            name = f.need("name")
            check_name(f, name)
            check_unique(f, name, seen, "field")
            low = f.number("pos") if f.get("pos") else f.number("low")
            high = f.number("pos") if f.get("pos") else f.number("high")
            if not 0 <= low <= high <= 31:
                raise Bad(f, f"field {name}: bits {high}:{low} are not within 31:0")
            for other in out:
                if other.name == name:
                    raise Bad(f, f"field {name} occurs twice")
                if low <= other.high and other.low <= high:
                    raise Bad(f, f"field {name} ({high}:{low}) overlaps {other.name} ({other.high}:{other.low})")
            enum, values = f.get("type"), self.values(f)
            if enum is not None:
                if values:
                    raise Bad(f, f"field {name} has both a type and values")
                if enum not in self.db.enums:
                    raise Bad(f, f"field {name}: no enum {enum}")
                values = self.db.enums[enum]
            default = f.number("default", -1) if f.get("default") else None
            for what, n in [("default", default)] + [(v.name, v.last) for v in values]:
                if n is not None and not 0 <= n < 1 << (high - low + 1):
                    raise Bad(f, f"field {name}: {what} {n:#x} does not fit {high}:{low}")
            self.decisions(f, f"{about}.{name}")
            out.append(Field(name, high, low, default, f.doc(), values, enum))
        return out

    def decision(self, node, about):
        self.db.decisions.append(
            Decision(node.number("n"), about, node.need("src"), " ".join(node.text.split())))

    def decisions(self, node, about):
        for d in node.all("decision"):
            self.decision(d, about)

    def domain(self, node):
        name = node.need("name")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise Bad(node, f"domain name {name!r}")
        domain = self.db.domains.setdefault(name, {"doc": "", "unit": node.get("unit", "byte"), "registers": [],
                                                   "map_of": node.get("map-of"), "node": node})
        domain["doc"] = domain["doc"] or node.doc()
        if domain["map_of"] != node.get("map-of"):
            raise Bad(node, f"domain {name} is a map of something else elsewhere")
        if domain["unit"] != node.get("unit", "byte"):
            raise Bad(node, f"domain {name} has another unit elsewhere")
        for n in node.children:
            if n.tag == "reg32":
                self.reg32(n, name, node, domain["unit"])
            elif n.tag == "array":
                self.array(n, name, node, domain["unit"])
            elif n.tag not in ("doc", "decision"):
                raise Bad(n, f"<{n.tag}> does not belong in <domain>")
        self.decisions(node, name)

    def array(self, node, domain, parent, unit):
        """Registers that repeat together become one array each."""
        base, stride, length = node.number("offset"), node.number("stride"), node.number("length")
        for n in node.all("reg32"):
            for a in ("length", "stride"):
                if n.get(a):
                    raise Bad(n, f"a reg32 inside an array has no {a}")
            n.attrs["name"] = f"{node.need('name')}_{n.need('name')}"
            n.attrs["offset"] = str(base + n.number("offset"))
            n.attrs["length"], n.attrs["stride"] = str(length), str(stride)
            for a in ("src", "variants"):
                if node.get(a) and not n.get(a):
                    n.attrs[a] = node.get(a)
            self.reg32(n, domain, parent, unit)

    def reg32(self, node, domain, parent, unit):
        name = node.need("name")
        check_name(node, name)
        check_unique(node, name, self.names.setdefault(domain, {}), "register")
        if self.db.register(domain, name):
            raise Bad(node, f"register {name} occurs twice")
        source = node.get("src") or parent.get("src")
        if not source:
            raise Bad(node, f"register {name} has no src")
        step = 4 if unit == "byte" else 1
        r = Register(
            node=node, domain=domain, name=name, manual=node.get("manual", name),
            block=node.get("block") or parent.get("block", ""),
            offset=node.number("offset"), length=node.number("length", 1), stride=node.number("stride", step),
            access=node.get("access", "rw"), default=node.number("default") if node.get("default") else None,
            doc=node.doc(), source=source,
            variants=(node.get("variants") or parent.get("variants", "")).split(),
            overlay=node.get("overlay-of"), choice=choice(node, "when"), mirror=node.get("mirror-of"), fields=self.fields(node, name))
        if r.choice and not r.overlay:
            raise Bad(node, f"register {name} has a condition and is no overlay")
        if r.access not in ("rw", "r", "w", "w1c"):
            raise Bad(node, f"register {name}: access {r.access!r}")
        if r.offset % step or r.stride % step or r.length < 1 or r.stride < step:
            raise Bad(node, f"register {name}: offset, stride or length is wrong")
        if not r.doc:
            raise Bad(node, f"register {name} has no doc")
        defaults = [f for f in r.fields if f.default is not None]
        if r.default is None and defaults:
            r.default = sum(f.default << f.low for f in defaults)
        if r.default is not None and not 0 <= r.default < 1 << 32:
            raise Bad(node, f"register {name}: default {r.default:#x} does not fit 32 bits")
        self.decisions(node, name)
        self.db.domains[domain]["registers"].append(r)

    # Packets.

    def layout(self, node, about):
        name = node.need("name")
        check_name(node, name)
        return Dword(name, node.doc(), self.fields(node, about))

    def items(self, node, packet, known, map_name=None):
        """The parts of a body; `known` is the set of packets that has the layouts and sequences."""
        out = []
        for n in node.children:
            if n.tag == "dword":
                if n.get("layout"):
                    base = known.layouts.get(n.get("layout"))
                    if base is None:
                        raise Bad(n, f"no layout {n.get('layout')}")
                    out.append(Dword(n.get("name", base.name), n.doc() or base.doc, base.fields,
                                     f"super::{base.name.lower()}"))
                elif n.get("register"):
                    r = self.shared_register(n, map_name)
                    out.append(Dword(n.get("name", r.name), n.doc() or r.doc, r.fields,
                                     f"super::super::{r.domain}::{r.name.lower()}"))
                else:
                    out.append(self.layout(n, f"{packet}.{n.need('name')}"))
            elif n.tag == "use":
                if n.need("sequence") not in known.sequences:
                    raise Bad(n, f"no sequence {n.get('sequence')}")
                out.extend(known.sequences[n.get("sequence")])
            elif n.tag == "repeat":
                out.append(Group("repeat", self.count(n), self.items(n, packet, known, map_name)))
            elif n.tag == "when":
                choice(n, "test")
                out.append(Group("when", n.need("test"), self.items(n, packet, known, map_name)))
            elif n.tag == "registers":
                out.append(self.window(n))
            elif n.tag not in ("doc", "decision"):
                raise Bad(n, f"<{n.tag}> does not belong in a packet body")
        return out

    def window(self, node):
        ref, base, end = node.need("from"), node.number("base"), node.number("end")
        if not re.fullmatch(r"[A-Z0-9_]+\.[A-Z0-9_]+", ref):
            raise Bad(node, f"from {ref!r} is not DWORD.FIELD")
        if base % 4 or end % 4 or not 0 <= base < end < 1 << 32:
            raise Bad(node, f"registers from {base:#x} to {end:#x}")
        return Window(ref, base, end)

    def shared_register(self, node, map_name):
        """The register whose fields a dword has. A packet without a map is the same for all of them, so where several
        maps have the register its fields must be equal."""
        name = node.get("register")
        found = [r for d in ("mmio", *([map_name] if map_name else self.db.maps("mmio"))) if d in self.db.domains and (r := self.db.register(d, name))]
        if not found:
            raise Bad(node, f"no register {name}")
        for r in found[1:]:
            if r.fields != found[0].fields:
                raise Bad(node, f"register {name} has other fields in {r.domain} than in {found[0].domain}")
        return found[0]

    def count(self, node):
        count = node.need("count")
        if not re.fullmatch(r"rest|optional|\d+|pixels:\d+|bits:[A-Z0-9_]+|[A-Z0-9_]+\.[A-Z0-9_]+", count):
            raise Bad(node, f"count {count!r}")
        return count

    def packets(self, node):
        known = self.packet_set(node)
        for n in node.children:
            if n.tag == "layout":
                name = n.need("name")
                if name in known.layouts:
                    raise Bad(n, f"layout {name} occurs twice")
                known.layouts[name] = self.layout(n, name)
                self.decisions(n, name)
            elif n.tag == "sequence":
                known.sequences[n.need("name")] = self.items(n, n.get("name"), known)
                self.decisions(n, n.get("name"))
            elif n.tag == "packet":
                self.packet(n, node, known)
            elif n.tag not in ("doc", "decision"):
                raise Bad(n, f"<{n.tag}> does not belong in <packets>")
        for d in node.all("decision"):
            self.decision(d, d.need("about"))

    def packet_set(self, node):
        """The set that <packets> adds to: the command processor's, or that of another engine."""
        engine = node.get("engine")
        if engine is None:
            if node.get("header"):
                raise Bad(node, "the headers of PM4 packets are the layouts TYPE0 to TYPE3")
            return self.db.pm4
        if not re.fullmatch(r"[a-z][a-z0-9_]*", engine) or engine in ("enums", "pm4", "domain", *self.db.domains):
            raise Bad(node, f"engine name {engine!r}")
        m = re.fullmatch(r"([A-Z0-9_]+)\.([A-Z0-9_]+)", node.need("header"))
        if not m:
            raise Bad(node, f"header {node.get('header')!r} is not LAYOUT.FIELD")
        if engine in self.db.engines:
            raise Bad(node, f"engine {engine} occurs twice")
        if not node.doc():
            raise Bad(node, f"engine {engine} has no doc")
        return self.db.engines.setdefault(engine, PacketSet(node, node.doc(), (m[1], m[2])))

    def packet(self, n, parent, known):
        name, opcode, map_name = n.need("name"), n.number("opcode"), n.get("map")
        check_name(n, name)
        source = n.get("src") or parent.get("src")
        if not source:
            raise Bad(n, f"packet {name} has no src")
        if map_name and map_name not in self.db.maps("mmio"):
            raise Bad(n, f"packet {name}: no map {map_name}")
        for p in known.packets:
            if map_name and p.map and p.map != map_name:
                if (p.name == name) != (p.opcode == opcode):
                    raise Bad(n, f"packet {name} ({opcode:#x}) is {p.name} ({p.opcode:#x}) of {p.map}")
            elif p.opcode == opcode or p.name == name:
                raise Bad(n, f"packet {name} ({opcode:#x}) occurs twice")
        if not 0 <= opcode <= 0xff:
            raise Bad(n, f"packet {name}: opcode {opcode:#x}")
        if not n.doc():
            raise Bad(n, f"packet {name} has no doc")
        self.decisions(n, name)
        known.packets.append(
            Packet(n, name, opcode, n.doc(), source, n.get("public") == "yes", map_name, n.get("variants", "").split(),
                   self.items(n, name, known, map_name)))


    # Instructions of shaders.

    def map_of(self, node, name):
        """The register map that alone has it, if one is named."""
        map_name = node.get("map")
        if map_name and map_name not in self.db.maps("mmio"):
            raise Bad(node, f"{node.tag} {name}: no map {map_name}")
        return map_name

    def word(self, node):
        name = node.need("name")
        map_name = self.map_of(node, name)
        node.need("src")
        if not node.doc():
            raise Bad(node, f"word {name} has no doc")
        for other in self.db.words:
            if other.dword.name == name and both(other.map, map_name):
                raise Bad(node, f"word {name} occurs twice")
        self.db.words.append(Word(node, self.layout(node, name), map_name))
        self.decisions(node, name)

    def instructions(self, node):
        name = node.need("name")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or any(t.name == name for t in self.db.instructions):
            raise Bad(node, f"instructions {name!r}")
        m = re.fullmatch(r"([A-Z0-9_]+)\.([A-Z0-9_]+)", node.need("field"))
        if not m:
            raise Bad(node, f"field {node.get('field')!r} is not WORD.FIELD")
        table = InstructionTable(node, name, node.doc(), m[1], m[2])
        if not table.doc:
            raise Bad(node, f"instructions {name} have no doc")
        for n in node.children:
            if n.tag == "instruction":
                table.instructions.append(self.instruction(n, node, table.instructions))
            elif n.tag != "doc":
                raise Bad(n, f"<{n.tag}> does not belong in <instructions>")
        self.db.instructions.append(table)

    def instruction(self, node, parent, known):
        name, opcode = node.need("name"), node.number("opcode")
        check_name(node, name)
        source = node.get("src") or parent.get("src")
        if not source:
            raise Bad(node, f"instruction {name} has no src")
        if not node.doc():
            raise Bad(node, f"instruction {name} has no doc")
        map_name = self.map_of(node, name)
        for other in known:
            if both(other.map, map_name) and (other.name == name or other.opcode == opcode):
                raise Bad(node, f"instruction {name} ({opcode:#x}) occurs twice")
        return Instruction(node, name, opcode, node.number("sources") if node.get("sources") else None,
                           node.get("slots", ""), node.get("flags", "").split(), map_name, node.doc(), source)


def both(one, other):
    """Whether there are chips that have what is of the map `one` and what is of the map `other`."""
    return one is None or other is None or one == other


def check_instructions(db):
    """An opcode must fit the field that it stands in, on every map that has the instruction."""
    for table in db.instructions:
        for i in table.instructions:
            for map_name in [i.map] if i.map else db.maps("mmio") or [None]:
                fields = [f for w in db.words if w.dword.name == table.word and both(w.map, map_name)
                          for f in w.dword.fields if f.name == table.field]
                if not fields:
                    raise Bad(i.node, f"instruction {i.name}: no field {table.word}.{table.field}")
                if not 0 <= i.opcode < 1 << fields[0].width:
                    raise Bad(i.node, f"instruction {i.name}: opcode {i.opcode:#x} does not fit {table.field}")


def choice(node, attribute):
    """DWORD.FIELD=V|V of an attribute, if it is there."""
    test = node.need(attribute) if node.tag == "when" else node.get(attribute)
    if test is None:
        return None
    m = re.fullmatch(r"([A-Z0-9_]+)\.([A-Z0-9_]+)=(\d+(?:\|\d+)*)", test)
    if not m:
        raise Bad(node, f"{attribute} {test!r} is not DWORD.FIELD=V|V")
    return Choice(m[1], m[2], [int(v) for v in m[3].split("|")])


def check_places(db):
    """Registers of a domain must not share a word, except where one is declared as an overlay of the other."""
    for name, domain in db.domains.items():
        owner = {}
        for r in domain["registers"]:
            for attr, other in (("overlay-of", r.overlay), ("mirror-of", r.mirror)):
                if other and not db.register(name, other):
                    raise Bad(r.node, f"register {r.name}: no register {other} ({attr})")
            if r.overlay:
                base = db.register(name, r.overlay)
                if not set(r.offsets()) <= set(base.offsets()):
                    raise Bad(r.node, f"register {r.name} does not lie within {base.name}")
                if r.choice:
                    check_choice(db, name, r)
                continue
            if r.mirror:
                if r.fields:
                    raise Bad(r.node, f"register {r.name} is a mirror and has fields of its own")
                base = db.register(name, r.mirror)
                r.fields, r.default = base.fields, base.default
            for offset in r.offsets():
                if offset in owner:
                    raise Bad(r.node, f"register {r.name} overlaps {owner[offset]} at {offset:#06x}")
                owner[offset] = r.name


def check_choice(db, domain, r):
    """The register that says whether an overlay counts must have as many elements and that field."""
    other = db.register(domain, r.choice.dword)
    if other is None or all(f.name != r.choice.field for f in other.fields):
        raise Bad(r.node, f"register {r.name}: no {r.choice.dword}.{r.choice.field} (when)")
    if other.length != r.length:
        raise Bad(r.node, f"register {r.name} is no array of the length of {other.name} (when)")


def check_maps(db):
    """A map adds to its domain: neither a word nor a name may be in both."""
    for name, domain in db.domains.items():
        node, base = domain["node"], db.domains.get(domain["map_of"])
        if domain["map_of"] is None:
            continue
        if base is None or base["map_of"] is not None:
            raise Bad(node, f"domain {name} is a map of {domain['map_of']}, which is no domain or a map itself")
        if base["unit"] != domain["unit"]:
            raise Bad(node, f"domain {name} has another unit than {domain['map_of']}")
        owner = {o: r.name for r in base["registers"] for o in r.offsets()}
        names = {skeleton(r.name): r.name for r in base["registers"]}
        for r in domain["registers"]:
            if skeleton(r.name) in names:
                raise Bad(r.node, f"register {r.name} of {name} looks like {names[skeleton(r.name)]} of {domain['map_of']}")
            for offset in r.offsets():
                if offset in owner:
                    raise Bad(r.node, f"register {r.name} of {name} overlaps {owner[offset]} of {domain['map_of']} "
                                      f"at {offset:#06x}")


def check_packet_refs(db):
    """Counts and tests must name a dword and field that came before."""
    def walk(packet, items, known):
        for item in items:
            if isinstance(item, Dword):
                known[item.name] = {f.name for f in item.fields}
                continue
            ref = item.arg.split("=")[0]
            if "." in ref:
                dword, name = ref.split(".")
                if name not in known.get(dword, ()):
                    raise Bad(packet.node, f"packet {packet.name}: {item.kind} {item.arg!r} names nothing before it")
            elif ref.startswith("bits:") and ref[5:] not in known:
                raise Bad(packet.node, f"packet {packet.name}: {item.kind} {item.arg!r} names nothing before it")
            if isinstance(item, Window) and item is not packet.body[-1]:
                raise Bad(packet.node, f"packet {packet.name}: registers are the end of a body")
            walk(packet, item.items, known)
    for p in db.packets:
        walk(p, p.body, {})
    for engine in db.engines.values():
        header = engine_header(engine)
        for p in engine.packets:
            if p.opcode >= 1 << header[1].width:
                raise Bad(p.node, f"packet {p.name}: opcode {p.opcode:#x}")
            check_closed(p, p.body)
            walk(p, p.body, {header[0].name: {f.name for f in header[0].fields}})


def engine_header(engine):
    """The header of an engine's packets, and the field with the opcode."""
    layout = engine.layouts.get(engine.header[0])
    found = [f for f in layout.fields if f.name == engine.header[1]] if layout else []
    if not found:
        raise Bad(engine.node, f"no {'.'.join(engine.header)} (header)")
    return layout, found[0]


def check_closed(packet, items):
    """A packet whose header does not say how long it is must say so by its contents."""
    for item in items:
        if not isinstance(item, Dword):
            if isinstance(item, Window) or item.arg in ("rest", "optional"):
                raise Bad(packet.node, f"packet {packet.name}: nothing says where it ends")
            check_closed(packet, item.items)


def load(path):
    builder = Builder()
    builder.load(path)
    check_places(builder.db)
    check_maps(builder.db)
    check_packet_refs(builder.db)
    check_instructions(builder.db)
    builder.db.decisions.sort(key=lambda d: (d.number, d.about))
    if not builder.db.domains:
        raise Bad(Node("", {}, path, 0), "the database is empty")
    return builder.db

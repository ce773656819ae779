// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge: counts and names every use that real silicon would not promise to bear.
//!
//! A finding is not an error of the model: the access goes on as the hardware most plausibly would. Tests take the
//! findings over the control port; those that nobody took end in the report file, where the runner fails on them.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What kind of misuse a finding is. The names are what tests declare.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[doc = $doc])+ $variant,)+ }

        impl Kind {
            /// All kinds, in the order of their definition.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)+];

            /// The name that the control port and the report use.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name,)+ }
            }
        }
    };
}

kinds! {
    /// A register that the database does not know was read.
    UndefinedRegisterRead = "undefined-register-read",
    /// A register that the database does not know was written.
    UndefinedRegisterWrite = "undefined-register-write",
    /// A register was touched at which hardware does something that the model does not; once for each. This is a gap
    /// of the model, and what the driver made of the answer is worth nothing.
    UnimplementedRegister = "unimplemented-register",
    /// A register that can only be read was written.
    ReadOnlyRegisterWrite = "read-only-register-write",
    /// A register access that is not a dword (except where bytes are usual) or not aligned.
    RegisterAccessSize = "register-access-size",
    /// WAIT_UNTIL, ISYNC_CNTL or RBBM_GUICNTL written by the CPU, where nothing queues them (R5xx 9.1.14).
    UnqueuedSyncRegister = "unqueued-sync-register",
    /// The CPU accessed registers or VRAM of a function that is not in the power state D0.
    PowerState = "power-state",
    /// A command stream was started with no microcode in the micro-engine RAM.
    NoMicrocode = "no-microcode",
    /// A type-3 opcode that the manual does not have.
    UndefinedPacket = "undefined-packet",
    /// A packet body that is too short or too long for its opcode.
    PacketLength = "packet-length",
    /// A packet that does not end inside its indirect buffer.
    PacketCrossesBuffer = "packet-crosses-buffer",
    /// Reserved bits or a reserved enum value in a packet or register.
    ReservedValue = "reserved-value",
    /// A write of CP_IB_BUFSZ or CP_IB2_BUFSZ that is not the last register write of its packet (R5xx 4.10).
    IbTriggerNotLast = "ib-trigger-not-last",
    /// An indirect buffer started from a stream that cannot start it (R5xx 4.6).
    IbNesting = "ib-nesting",
    /// The write pointer overtook the read pointer, or left no free slot (R5xx 4.4).
    RingOverrun = "ring-overrun",
    /// A ring pointer at or beyond the size of the ring.
    RingPointer = "ring-pointer",
    /// CP control registers changed while the CP was running on them.
    CpReconfigured = "cp-reconfigured",
    /// The CP, or an engine that it feeds, was reset while CP_CSQ_CNTL still enabled the streams (R5xx 4.8, step 1).
    ResetWhileEnabled = "reset-while-enabled",
    /// A soft reset that is not gone through as it must be (R5xx 4.8, 9.1.9, 9.2.1).
    ResetSequence = "reset-sequence",
    /// Data pushed to a stream that is not in push mode.
    PushWithoutPushMode = "push-without-push-mode",
    /// Data pushed to a command queue that had no room for it.
    PushOverflow = "push-overflow",
    /// An address that neither the frame buffer nor the GART window holds.
    AddressUnmapped = "address-unmapped",
    /// An address inside the GART window whose page-table entry does not permit the access.
    GartFault = "gart-fault",
    /// A page-table entry changed in memory after the TLB had read it, and was used before an invalidation.
    GartStaleTlb = "gart-stale-tlb",
    /// The page table itself does not lie in VRAM.
    GartTable = "gart-table",
    /// The window of the GART or its page table was moved while it translated.
    GartMoved = "gart-moved",
    /// A command stream was switched on while the AGP aperture lay over VRAM or over the GART window.
    AgpOverMemory = "agp-over-memory",
    /// Memory was moved among GPU addresses while the memory controller was not idle, or command streams were on.
    McBusy = "mc-busy",
    /// A bus address that is not guest RAM.
    DmaFault = "dma-fault",
    /// The device had to go to the bus while bus mastering was off.
    BusMasterOff = "bus-master-off",
    /// Data that another unit still held in its cache was read (R5xx 2D and 3D destination caches).
    StaleRead = "stale-read",
    /// A completion was signalled to the CPU while a destination cache held unwritten data.
    CompletionBeforeFlush = "completion-before-flush",
    /// A completion was signalled to the CPU after VRAM was drawn to and before the HDP read buffer was invalidated.
    CompletionBeforeHdpInvalidate = "completion-before-hdp-invalidate",
    /// A wait for an engine to be idle and clean with no flush that would ever clean it.
    WaitOnDirtyCache = "wait-on-dirty-cache",
    /// A register that decides where the lines of a cache of the 3D engine go was changed while the cache held lines
    /// (R5xx 10.1).
    CacheNotEmpty = "cache-not-empty",
    /// A wait for something that cannot happen.
    WaitForever = "wait-forever",
    /// An engine wrote what a CRTC is scanning out.
    ScanoutOverwritten = "scanout-overwritten",
    /// The memory controller was moved under an active CRTC.
    ScanoutMoved = "scanout-moved",
    /// An engine touched memory outside of all objects that the test declared.
    OutsideObjects = "outside-objects",
    /// A command stream was switched on while the CPU's way to VRAM was not straight: HDP_FB_LOCATION is not where
    /// VRAM lies, or HDP_APER_CNTL does not join the two apertures of BAR0 that VRAM needs both.
    HostPathMismatch = "host-path-mismatch",
    /// A CPU access through a surface register came out at memory that it is not for: beyond the surface's bounds, or
    /// in another place than the declared object that the CPU addressed.
    SurfaceEscape = "surface-escape",
    /// A CPU access to VRAM beyond its end.
    VramRange = "vram-range",
    /// A surface the 2D engine cannot draw to or read from.
    Engine2dBadSurface = "engine2d-bad-surface",
    /// A 2D operation that the manual does not describe.
    Engine2dUnsupported = "engine2d-unsupported",
    /// An overlapping copy in the direction that reads what it has already written.
    Engine2dOverlap = "engine2d-overlap",
    /// Host data that no operation waits for.
    HostDataUnexpected = "host-data-unexpected",
    /// A new operation while one still waits for host data.
    HostDataMissing = "host-data-missing",
    /// A new draw, or a wait for the 3D engine, while a draw still waits for indices or vertices.
    DrawDataMissing = "draw-data-missing",
    /// A draw while register writes reach only some of the pipes: the others draw with other state (R5xx 10.7).
    PipesNotSelected = "pipes-not-selected",
    /// Indices or vertices that no draw waits for.
    DrawDataUnexpected = "draw-data-unexpected",
    /// A memory on the chip was filled beyond its end.
    OnChipRange = "on-chip-range",
    /// A DMA descriptor that cannot be executed, or a wrong abort sequence (R5xx 4.7).
    DmaDescriptor = "dma-descriptor",
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often a kind was found, and what the first one was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// How often since the last take.
    pub count: u64,
    /// What exactly, the first time; one line.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "finding {} {} {}", self.kind, self.count, self.detail)
    }
}

/// A packet under execution, so that a finding can name it.
#[derive(Clone, Copy, Debug)]
pub struct Doing {
    /// Which stream it came from.
    pub stream: &'static str,
    /// Where its header was: a GPU address, or 0 for pushed data.
    pub address: u64,
    /// Its header.
    pub header: u32,
    /// Names a packet by its header.
    pub name: fn(u32) -> String,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:#010x}: {}",
            self.stream,
            self.address,
            (self.name)(self.header)
        )
    }
}

/// Bytes of a detail that is put together from several findings, about.
const LONGEST_DETAIL: usize = 8192;

/// Collects findings.
#[derive(Default)]
pub struct Judge {
    found: BTreeMap<Kind, Finding>,
    doing: Option<Doing>,
}

impl Judge {
    /// Says what the command processor is executing; findings name it. None: what the CPU does.
    pub fn doing(&mut self, what: Option<Doing>) {
        self.doing = what;
    }

    /// Adds a finding. Never fails; details beyond the first of a kind are only counted.
    pub fn report(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        let doing = self.doing;
        self.found
            .entry(kind)
            .and_modify(|f| {
                f.count = f.count.saturating_add(1);
                // Each of these comes once, and each is to be named.
                if kind == Kind::UnimplementedRegister && f.detail.len() < LONGEST_DETAIL {
                    log::warn!("finding {kind}: {detail}");
                    f.detail = format!("{}; {detail}", f.detail);
                }
            })
            .or_insert_with(|| {
                let mut text = detail.to_string();
                if let Some(doing) = doing {
                    text = format!("{text}; by {doing}");
                }
                log::warn!("finding {kind}: {text}");
                Finding {
                    kind,
                    count: 1,
                    detail: text.replace('\n', " "),
                }
            });
    }

    /// How often a kind was found since the last take.
    pub fn count(&self, kind: Kind) -> u64 {
        self.found.get(&kind).map_or(0, |f| f.count)
    }

    /// Takes all findings and forgets them.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_and_taken_once() {
        let mut judge = Judge::default();
        judge.report(Kind::GartFault, format_args!("first"));
        judge.doing(Some(Doing {
            stream: "ring",
            address: 16,
            header: 7,
            name: |h| format!("packet {h}"),
        }));
        judge.report(Kind::GartFault, format_args!("second"));
        judge.report(Kind::RingOverrun, format_args!("third"));
        let taken = judge.take();
        assert_eq!(taken.len(), 2);
        assert_eq!(
            taken[0].to_string(),
            "finding ring-overrun 1 third; by ring 0x00000010: packet 7"
        );
        assert_eq!(
            (taken[1].kind, taken[1].count, taken[1].detail.as_str()),
            (Kind::GartFault, 2, "first")
        );
        assert!(judge.take().is_empty());
    }

    #[test]
    fn unimplemented_registers_are_all_named() {
        let mut judge = Judge::default();
        judge.report(Kind::UnimplementedRegister, format_args!("A read"));
        judge.report(Kind::UnimplementedRegister, format_args!("B read"));
        assert_eq!(
            judge.take()[0].to_string(),
            "finding unimplemented-register 2 A read; B read"
        );
    }

    #[test]
    fn names_are_distinct_words() {
        let mut names: Vec<_> = Kind::ALL.iter().map(|k| k.name()).collect();
        assert!(names.iter().all(|n| {
            n.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        }));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}

# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash
#
# Sourced by every script: where things live, what identifies them, and how to complain.
#
# The checkout is never written to outside `build/`. Everything that takes long to make lives in the
# cache folder, in directories whose names end in a hash of what defines them:
#
#   root-<hash>     Debian root: compilers, QEMU, guest user space (package list below)
#   kernel-<hash>   configured and built kernel tree (fragments, source version, compiler version)
#   cargo           Rust crates as downloaded


set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/lapidary
BUILD=$TOP/build
SUITE=trixie
# The kernel series; any patch level of it that the distribution has is taken.
KERNEL_SERIES=7.3

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

# hash_of FILE... : 12 hex digits that change when any of the files does.
hash_of() { cat -- "$@" | sha256sum | cut -c1-12; }

# The root, and beside it (it may belong to other user ids) the versions it holds: the sign that it is complete.
ROOT=$CACHE/root-$(hash_of "$TOP/scripts/packages" "$TOP/scripts/make-root" "$TOP/scripts/add-package")

# kernel_fragments [FLAVOUR] : the files that configure a kernel; the flavour is none or "debug".
kernel_fragments() {
    printf '%s\n' "$TOP/scripts/kernel.config" ${1:+"$TOP/scripts/kernel.$1.config"}
}

# kernel_dir [FLAVOUR] : where such a kernel is, or will be. What it is made of names it, not how it is made.
kernel_dir() {
    local key
    key=$({ kernel_fragments "${1:-}" | xargs -d '\n' cat; cat "$ROOT.versions"; } | sha256sum)
    printf '%s/kernel-%s\n' "$CACHE" "${key:0:12}"
}

# FLAVOUR in the environment says which kernel is meant and what is built for it: nothing, or "debug". The outputs that
# depend on the kernel lie apart for each, so that both are there at the same time.
KERNEL_BUILD=$BUILD${FLAVOUR:+/$FLAVOUR}

# kernel_tree : the kernel to build against and to boot: the caller's, or the flavour's.
kernel_tree() { printf '%s\n' "${KDIR:-$(kernel_dir "${FLAVOUR:-}")}"; }

# need_space PATH GIB WHAT : stop before a long step that cannot end well.
need_space() {
    local free
    free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
    [ "$free" -ge "$2" ] ||
        die "$3 needs $2 GiB in $1, which has $free: free some, or set XDG_CACHE_HOME to a larger disk"
}

# locked NAME COMMAND... : one maker at a time for everything in the cache.
locked() {
    local name=$1
    shift
    mkdir -p "$CACHE"
    (
        flock -n 9 || { say "waiting for another $name"; flock 9; }
        "$@"
    ) 9>"$CACHE/.$name.lock"
}

# The name of our module for a chip.
driver_of() {
    case $1 in
        rv515 | r520 | rv530 | rv560 | rv570 | r580) echo r500 ;;
        r600 | rv610 | rv635 | rv670 | rv770 | rv730 | rv710 | rv740) echo r600 ;;
        vx855) echo chrome9 ;;
        *) die "no driver for $1" ;;
    esac
}

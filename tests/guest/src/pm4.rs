// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4 packet headers (R5xx 5.1, the same in later families): this crate's own encoding of types 0 to 3.

/// Most dwords a type 0 or type 3 packet can carry: COUNT holds one less in 14 bits.
pub const MAX_BODY: usize = 1 << 14;

/// Return the header of type 0 that writes consecutive registers from a byte offset (a multiple of 4 below 0x8000).
pub fn packet0(offset: u32, count: usize) -> u32 {
    assert!(
        offset % 4 == 0 && offset < 0x8000,
        "register offset {offset:#x}"
    );
    assert!((1..=MAX_BODY).contains(&count));
    ((count as u32 - 1) << 16) | (offset / 4)
}

/// Return the header of type 0 with ONE_REG_WR, which writes everything to the same register.
pub fn packet0_same(offset: u32, count: usize) -> u32 {
    packet0(offset, count) | (1 << 15)
}

/// Return the header of type 1, one dword to each of two registers (byte offsets below 0x2000).
pub fn packet1(first: u32, second: u32) -> u32 {
    assert!(first % 4 == 0 && second % 4 == 0 && first < 0x2000 && second < 0x2000);
    (1 << 30) | ((second / 4) << 11) | (first / 4)
}

/// Opcode of the type 3 packet that does nothing; behind an address its dword names a relocation.
pub const NOP: u8 = 0x10;

/// Type 2: filler.
pub const PACKET2: u32 = 2 << 30;

/// Return the header of type 3, an operation with a body of `count` dwords.
pub fn packet3(opcode: u8, count: usize) -> u32 {
    assert!((1..=MAX_BODY).contains(&count), "a body of {count} dwords");
    (3 << 30) | ((count as u32 - 1) << 16) | (u32::from(opcode) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        assert_eq!(packet0(0x15e0, 1), 0x0000_0578);
        assert_eq!(packet0_same(0x4250, 4), 0x0003_9094);
        assert_eq!(packet1(0x4, 0x8), 0x4000_1001);
        assert_eq!(packet3(0x10, 1), 0xc000_1000);
    }

    #[test]
    #[should_panic(expected = "register offset")]
    fn no_type_0_reaches_instruction_memory() {
        packet0(0x9000, 1);
    }
}

// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources: their slots, their kinds, and the objects that they name.

use r600::portable::checker::{check_gfx, reason::Reason::*};

use crate::{
    refused,
    support::{
        passes,
        resources::{buffer, packet, set_resource, PLAIN},
        run_any, RV770,
    },
    texture, PAGE, PICTURE,
};

#[test]
fn whole_resources_in_their_slots() {
    let vertices = buffer(0, 15, 16);
    for slot in [0, 17, 18, 160, 177, 320, 335, 336, 353, 495] {
        let words = set_resource(slot, &[vertices], &[0]);
        assert_eq!(
            passes(check_gfx, &words, &[16], &RV770),
            [(true, false)],
            "slot {slot}"
        );
    }
    // Several with one packet.
    let words = set_resource(494, &[vertices, PLAIN.words()], &[0, 1, 2]);
    passes(check_gfx, &words, &[16, PICTURE, 0], &RV770);
    let words = set_resource(495, &[vertices, vertices], &[0, 0]);
    refused(&words, &[16], &RV770, 1, ResourceSlot);
    let words = set_resource(496, &[vertices], &[0]);
    refused(&words, &[16], &RV770, 1, ResourceSlot);
    for first in [u32::MAX, u32::MAX - 6, 0x1_0000, 7 * 496 - 6] {
        let mut words = set_resource(0, &[vertices], &[0]);
        words[1] = first;
        refused(&words, &[16], &RV770, 1, ResourceSlot);
    }
    // The place of each of them.
    let words = set_resource(0, &[vertices, vertices], &[0, 1]);
    refused(&words, &[16, 0], &RV770, 9, BufferBounds);
    refused(&words, &[0, 16], &RV770, 2, BufferBounds);
}

#[test]
fn half_a_resource_is_refused() {
    let vertices = buffer(0, 15, 16);
    for first in [1, 6, 8] {
        let mut words = set_resource(0, &[vertices], &[0]);
        words[1] = first;
        refused(&words, &[16], &RV770, 1, PartialResource);
    }
    for dwords in [1, 6] {
        let mut body = vec![0];
        body.extend(&vertices[..dwords]);
        refused(
            &packet(0x6d, &body, &[0]),
            &[16],
            &RV770,
            1,
            PartialResource,
        );
        body.extend(vertices);
        refused(
            &packet(0x6d, &body, &[0]),
            &[16],
            &RV770,
            1,
            PartialResource,
        );
    }
}

#[test]
fn resources_have_a_kind() {
    for kind in [0, 1] {
        for mut words in [buffer(0, 15, 16), PLAIN.words()] {
            words[6] = (words[6] & 0x3fff_ffff) | (kind << 30);
            let words = set_resource(0, &[words], &[0, 1]);
            refused(&words, &[PICTURE; 2], &RV770, 8, ResourceType);
        }
    }
    refused(
        &set_resource(0, &[[0; 7]], &[]),
        &[],
        &RV770,
        8,
        ResourceType,
    );
}

#[test]
fn resources_name_their_objects() {
    let vertices = set_resource(0, &[buffer(0x123, 15, 16)], &[1]);
    let checked = run_any(check_gfx, &vertices, &[0, PAGE], &RV770).unwrap();
    let placed = checked.placed(&[0, 0x12_ffff_f000]);
    assert_eq!((placed[2], placed[4]), (0xffff_f123, 0x1012));
    let carried = checked.placed(&[0, 0x12_ffff_ffff]);
    assert_eq!((carried[2], carried[4]), (0x122, 0x1013));
    refused(&vertices[..9], &[0, PAGE], &RV770, 8, MissingRelocation);
    refused(&vertices, &[PAGE], &RV770, 8, BadRelocation);

    let texture = texture!(PLAIN; base: 0x10, mips: 0x20);
    let texture = set_resource(0, &[texture.words()], &[1, 0]);
    let sizes = [0x2000, 0x1000 + PICTURE];
    let checked = run_any(check_gfx, &texture, &sizes, &RV770).unwrap();
    let placed = checked.placed(&[0x10_0000, 0x20_0000]);
    assert_eq!(placed[4..6], [0x2010, 0x1020]);
    for length in [9, 11] {
        let words = &texture[..length];
        refused(words, &sizes, &RV770, 8, MissingRelocation);
    }
    refused(&texture, &sizes[..1], &RV770, 8, BadRelocation);
}

// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bounds of pictures of HQV byte by byte: an object of just so many bytes will do, and a byte less will not. What is expected
//! is computed pixel by pixel, by the places that the manual gives them.

use chrome9::portable::checker::{Access, Reason, Refusal};
use chrome9::portable::regs::{
    enums::hqv_format,
    mmio::{self, hqv_control, hqv_destination_1, hqv_mode, hqv_subpicture_control},
};

use crate::picture::*;
use crate::rule::objects;
use crate::support::*;

/// What is enough where it does not matter.
const ENOUGH: u64 = 1 << 25;
/// Objects by what is in them.
const LUMA: usize = 0;
const CHROMA: usize = 1;
const INSETS: usize = 2;
const FIRST: usize = 3;
const LEFT_OVER: usize = 6;
const OBJECTS: usize = 7;

/// Where surfaces begin in their objects.
const OFFSET: u32 = 48;

/// A picture with an object for each surface.
fn apart() -> Picture {
    Picture {
        luma: (LUMA as u32, OFFSET),
        chroma: (CHROMA as u32, OFFSET),
        destinations: [0, 1, 2].map(|n| (FIRST as u32 + n, OFFSET)),
        residue: (LEFT_OVER as u32, OFFSET),
        ..PICTURE
    }
}

fn inset() -> Inset {
    Inset {
        at: (INSETS as u32, OFFSET),
        ..INSET
    }
}

/// Check that an object of the picture has to have just so many bytes behind where the surface begins.
fn exact(picture: &Picture, object: usize, bytes: u64, reason: Reason) {
    let stream = picture.stream();
    let bytes = u64::from(OFFSET) + bytes;
    let check = |size: u64| {
        let mut sizes = vec![ENOUGH; OBJECTS];
        sizes[object] = size;
        run(&stream.words, &stream.relocations, &objects(&sizes))
    };
    let checked = check(bytes).unwrap_or_else(|refusal| panic!("{refusal:?}: {picture:?}"));
    let writes = object >= FIRST;
    let access = Access {
        reads: !writes,
        writes,
        frame_buffer: true,
    };
    assert_eq!(checked.objects[object].access, access, "{picture:?}");
    let control = at(mmio::HQV_CONTROL, picture.engine);
    let expected = Some(Refusal {
        position: stream.value_of(control) as u32,
        reason,
    });
    assert_eq!(check(bytes - 1).err(), expected, "{bytes:#x}: {picture:?}");
}

/// Return the largest of a function of the pixels from the first row and column to a last one.
fn most((right, bottom): (u32, u32), end: impl Fn(u64, u64) -> u64) -> u64 {
    let pixels = (0..=u64::from(bottom)).flat_map(|y| (0..=u64::from(right)).map(move |x| (x, y)));
    pixels.map(|(x, y)| end(x, y)).max().unwrap()
}

/// Return the end of the unit of 16 bytes that a byte of a row is in.
fn unit(byte: u64, y: u64, stride: u32) -> u64 {
    y * u64::from(stride) + byte / 16 * 16 + 16
}

/// Return the end of the tile of 32 bytes and 8 lines that a byte of a row is in. A tile begins where the manual's formula has
/// its first unit (L510).
fn tile(byte: u64, y: u64, stride: u32) -> u64 {
    let (x, pitch) = (byte / 16, u64::from(stride) / 16);
    let unit = (y >> 3) * (pitch << 3) + ((x >> 1) << 4);
    (unit + 16) * 16
}

const ENDS: [(u32, u32); 6] = [(1, 1), (7, 2), (8, 8), (31, 9), (33, 15), (64, 16)];
const STRIDES: [u32; 3] = [16, 144, 16368];

#[test]
fn packed_sources_have_every_pixel_of_the_window() {
    for (format, bytes) in [
        (hqv_format::RGB32, 4),
        (hqv_format::RGB32_10, 4),
        (hqv_format::RGB16, 2),
        (hqv_format::RGB15, 2),
        (hqv_format::YUV444, 4),
        (hqv_format::V410, 4),
        (hqv_format::YUV422, 2),
        (hqv_format::UYVY, 2),
    ] {
        for last in ENDS {
            for stride in STRIDES {
                let picture = Picture {
                    format,
                    from: [(0, 0), last],
                    stride,
                    ..apart()
                };
                let end = most(last, |x, y| unit(x * bytes + bytes - 1, y, stride));
                exact(&picture, LUMA, end, Reason::LumaBounds);
            }
        }
    }
}

#[test]
fn planes_have_every_pixel_of_the_window() {
    type Place = fn(u64, u64) -> (u64, u64);
    // Where the byte of V of a pixel is: in the row, and which row.
    let formats: [(u32, Place); 3] = [
        (hqv_format::NV12, |x, y| (x / 2 * 2 + 1, y / 2)),
        (hqv_format::NV11, |x, y| (x / 4 * 2 + 1, y)),
        (hqv_format::P208, |x, y| (x / 2 * 2 + 1, y)),
    ];
    for (format, chroma) in formats {
        for last in ENDS {
            for stride in STRIDES {
                let picture = Picture {
                    format,
                    from: [(0, 0), last],
                    stride,
                    ..apart()
                };
                let end = most(last, |x, y| unit(x, y, stride));
                exact(&picture, LUMA, end, Reason::LumaBounds);
                let end = most(last, |x, y| {
                    let (byte, row) = chroma(x, y);
                    unit(byte, row, stride)
                });
                exact(&picture, CHROMA, end, Reason::ChromaBounds);
            }
        }
    }
}

#[test]
fn destinations_have_every_pixel_in_rows_or_in_tiles() {
    for (format, mode, layout, bytes) in [
        (hqv_format::YUV422, 0, 0, 2),
        (hqv_format::NV12, hqv_mode::COLOR_CONVERSION.mask(), 0, 2),
        (hqv_format::RGB16, 0, 0, 2),
        (hqv_format::RGB32, 0, 0, 4),
        (hqv_format::YUV444, hqv_mode::COLOR_CONVERSION.mask(), 0, 4),
        (hqv_format::V410, 0, 0, 4),
        (hqv_format::UYVY, hqv_mode::OUTPUT_32.mask(), 0, 4),
        (hqv_format::NV11, 0, hqv_destination_1::OUTPUT_10.mask(), 4),
    ] {
        for tiled in [false, true] {
            for last in ENDS {
                for stride in STRIDES {
                    let picture = Picture {
                        format,
                        mode,
                        layout: layout | hqv_destination_1::TILED.of(tiled.into()),
                        to: [(0, 0), last],
                        to_stride: stride,
                        ..apart()
                    };
                    let end = most(last, |x, y| {
                        let byte = x * bytes + bytes - 1;
                        if tiled {
                            tile(byte, y, stride)
                        } else {
                            unit(byte, y, stride)
                        }
                    });
                    exact(&picture, FIRST, end, Reason::PictureBounds);
                }
            }
        }
    }
}

#[test]
fn all_destinations_that_take_turns_count() {
    let [single, triple] = [
        hqv_control::SINGLE_BUFFER.mask(),
        hqv_control::TRIPLE_BUFFER.mask(),
    ];
    for (bits, count) in [(0, 2), (triple, 3), (single, 1), (single | triple, 1)] {
        let picture = Picture {
            control: START | bits,
            ..apart()
        };
        let end = most((19, 11), |x, y| unit(x * 2 + 1, y, 64));
        for n in 0..count {
            exact(&picture, FIRST + n, end, Reason::PictureBounds);
        }
        // Those that do not count are not touched.
        let stream = picture.stream();
        let checked = run(
            &stream.words,
            &stream.relocations,
            &objects(&[ENOUGH; OBJECTS]),
        );
        for object in &checked.unwrap().objects[FIRST + count..LEFT_OVER] {
            assert_eq!(object.access, Access::default());
        }
    }
}

/// The destination reaches to the end of video, of the sub-picture, and of the background.
#[test]
fn the_destination_holds_all_windows_and_the_background() {
    let windows = [(40, 12), (25, 30), (9, 17)];
    for turn in 0..3 {
        let [video, small, background] = [0, 1, 2].map(|n| windows[(n + turn) % 3]);
        let picture = Picture {
            to: [(0, 0), video],
            background,
            inset: Some(Inset {
                to: [(3, 2), small],
                ..inset()
            }),
            to_stride: 96,
            ..apart()
        };
        let end = most((40, 30), |x, y| unit(x * 2 + 1, y, 96));
        exact(&picture, FIRST, end, Reason::PictureBounds);
        // Without a sub-picture its window does not count.
        let picture = Picture {
            inset: None,
            ..picture
        };
        let last = (video.0.max(background.0), video.1.max(background.1));
        let end = most(last, |x, y| unit(x * 2 + 1, y, 96));
        exact(&picture, FIRST, end, Reason::PictureBounds);
    }
}

#[test]
fn sub_pictures_have_every_pixel_of_their_window() {
    for (bits, bytes) in [
        (0, 1),
        (hqv_subpicture_control::IA44.mask(), 1),
        (hqv_subpicture_control::AYUV.mask(), 4),
    ] {
        for last in ENDS {
            for stride in STRIDES {
                let picture = Picture {
                    inset: Some(Inset {
                        control: INSET.control | bits,
                        stride,
                        from: [(0, 0), last],
                        ..inset()
                    }),
                    ..apart()
                };
                let end = most(last, |x, y| unit(x * bytes + bytes - 1, y, stride));
                exact(&picture, INSETS, end, Reason::SubpictureBounds);
            }
        }
    }
}

/// Where a window begins does not matter: the base is that of the whole surface.
#[test]
fn windows_count_from_the_base_to_their_end() {
    let picture = Picture {
        from: [(5, 3), (30, 9)],
        stride: 80,
        inset: Some(Inset {
            from: [(6, 2), (17, 5)],
            stride: 32,
            ..inset()
        }),
        ..apart()
    };
    let end = unit(30 * 2 + 1, 9, 80);
    exact(&picture, LUMA, end, Reason::LumaBounds);
    exact(&picture, INSETS, unit(17, 5, 32), Reason::SubpictureBounds);
}

#[test]
fn pixels_left_of_segments_are_no_more_than_the_picture() {
    let bytes = |columns: u64, rows: u64| columns.div_ceil(4) * 16 * rows;
    for (from, to, background, end) in [
        // The source has more, or the destination, or the background.
        ([(2, 3), (40, 20)], (19, 11), (0, 0), bytes(39, 18)),
        ([(2, 3), (8, 5)], (19, 11), (0, 0), bytes(20, 12)),
        ([(2, 3), (8, 5)], (2, 2), (12, 16), bytes(13, 17)),
        ([(2, 3), (8, 5)], (1, 16), (12, 0), bytes(13, 17)),
    ] {
        for (format, layout) in [
            (hqv_format::YUV422, 0),
            (hqv_format::RGB32, hqv_destination_1::TILED.mask()),
            (hqv_format::NV12, 0),
        ] {
            let picture = Picture {
                format,
                layout,
                from,
                to: [(0, 0), to],
                background,
                stride: 1024,
                ..apart()
            };
            exact(&picture, LEFT_OVER, end, Reason::ResidueBounds);
        }
    }
}

#[test]
fn the_largest_picture_does_not_overflow() {
    let all = [(0, 0), (2047, 2047)];
    let picture = Picture {
        engine: 1,
        format: hqv_format::RGB32,
        layout: hqv_destination_1::TILED.mask(),
        from: all,
        to: all,
        background: (2047, 2047),
        stride: 16368,
        to_stride: 16368,
        inset: Some(Inset {
            control: INSET.control | hqv_subpicture_control::AYUV.mask(),
            stride: 16368,
            from: all,
            to: all,
            ..inset()
        }),
        ..apart()
    };
    let rows = 2047 * 16368 + 8192;
    exact(&picture, LUMA, rows, Reason::LumaBounds);
    exact(&picture, INSETS, rows, Reason::SubpictureBounds);
    let tiles = 255 * 8 * 16368 + 256 * 256;
    exact(&picture, FIRST, tiles, Reason::PictureBounds);
    exact(&picture, LEFT_OVER, 2048 * 8192, Reason::ResidueBounds);
}

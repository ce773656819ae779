// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Poly-scanlines: rows of segments.
//!
//! `POLYSCANLINES` (R5xx 5.2.2.5) is a count and then, for each scan, a number of segments, a word with the first row
//! and the height, and one word per segment with its two ends. `PLY_NEXTSCAN` (5.2.2.11) is a single scan that has no
//! count: its segments go on to the end of the packet.
//!
//! The manual gives "starting" and "ending" columns and not whether the ending one is drawn. Decided: it is not, as
//! in the Windows structures these packets were made for, and as in every other pair of edges of this engine.

use super::clip::Rect;
use super::state::coordinate;

/// Where a body stops making sense: the index of the dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub usize);

/// Return the rectangles of a `POLYSCANLINES` data block. Ends after an error.
pub fn polyscanlines(data: &[u32]) -> impl Iterator<Item = Result<Rect, Malformed>> + '_ {
    let scans = data.first().copied();
    let mut at = 1;
    let mut scans_left = scans.unwrap_or(0);
    let mut segments_left = 0;
    let mut rows = 0;
    let mut failed = scans.is_none().then_some(0);
    std::iter::from_fn(move || {
        loop {
            if let Some(index) = failed.take() {
                (scans_left, segments_left) = (0, 0);
                at = data.len();
                return Some(Err(Malformed(index)));
            }
            if segments_left > 0 {
                segments_left -= 1;
                let Some(&word) = data.get(at) else {
                    failed = Some(at);
                    continue;
                };
                at += 1;
                return Some(Ok(segment(rows, word)));
            }
            if scans_left > 0 {
                scans_left -= 1;
                let (Some(&count), Some(&word)) = (data.get(at), data.get(at + 1)) else {
                    failed = Some(at);
                    continue;
                };
                if count > 0x3fff {
                    failed = Some(at);
                    continue;
                }
                (segments_left, rows) = (count, word);
                at += 2;
                continue;
            }
            if at < data.len() {
                failed = Some(at);
                continue;
            }
            return None;
        }
    })
}

/// Return the rectangles of a `PLY_NEXTSCAN` body.
pub fn next_scan(body: &[u32]) -> impl Iterator<Item = Result<Rect, Malformed>> + '_ {
    let (rows, segments) = match body {
        [rows, segments @ ..] if !segments.is_empty() => (*rows, segments),
        _ => (0, [].as_slice()),
    };
    let failed = segments.is_empty().then_some(Err(Malformed(body.len())));
    failed
        .into_iter()
        .chain(segments.iter().map(move |&word| Ok(segment(rows, word))))
}

fn segment(rows: u32, columns: u32) -> Rect {
    let (top, _) = coordinate(rows);
    let (left, right) = (coordinate(columns).0, coordinate(columns >> 16).0);
    // The height is unsigned and has 14 bits like all sizes.
    let height = (rows >> 16) & 0x3fff;
    Rect {
        right,
        ..Rect::new(left, top, 0, height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(left: i32, top: i32, right: i32, bottom: i32) -> Result<Rect, Malformed> {
        Ok(Rect {
            left,
            top,
            right,
            bottom,
        })
    }

    #[test]
    fn scans_and_segments() {
        let data = [
            2,
            2,
            0x0001_000a,
            0x0005_0001,
            0x0009_0007, // one row at 10: 1..5 and 7..9
            1,
            0x0003_fffe,
            0x0004_ffff, // three rows from -2: -1..4
        ];
        let got: Vec<_> = polyscanlines(&data).collect();
        assert_eq!(
            got,
            [rect(1, 10, 5, 11), rect(7, 10, 9, 11), rect(-1, -2, 4, 1)]
        );
    }

    #[test]
    fn malformed_bodies() {
        let bad = |data: &[u32]| polyscanlines(data).last();
        assert_eq!(bad(&[]), Some(Err(Malformed(0))));
        assert_eq!(bad(&[1]), Some(Err(Malformed(1))));
        assert_eq!(bad(&[1, 2, 0, 0]), Some(Err(Malformed(4))));
        assert_eq!(bad(&[0, 7]), Some(Err(Malformed(1))));
        assert_eq!(bad(&[1, 0x4000, 0]), Some(Err(Malformed(1))));
        // A huge count ends with the body, not after four billion steps.
        assert_eq!(polyscanlines(&[u32::MAX, 1, 0, 0]).count(), 2);
        assert_eq!(bad(&[0]), None);
    }

    #[test]
    fn next_scan_takes_all_segments() {
        let got: Vec<_> = next_scan(&[0x0002_0001, 0x0003_0001, 0x0006_0005]).collect();
        assert_eq!(got, [rect(1, 1, 3, 3), rect(5, 1, 6, 3)]);
        assert_eq!(next_scan(&[5]).last(), Some(Err(Malformed(1))));
        assert_eq!(next_scan(&[]).last(), Some(Err(Malformed(0))));
    }
}

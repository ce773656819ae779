// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Things that are dropped together.

use lapidary::portable::bunch::Bunch;
use std::rc::Rc;

#[test]
fn a_full_bunch_is_dropped_for_the_next_thing() {
    let thing = Rc::new(());
    let mut bunch = Bunch::<_, 3>::default();
    for kept in [1, 2, 3, 1, 2, 3, 1] {
        bunch.keep(thing.clone());
        assert_eq!(Rc::strong_count(&thing) - 1, kept);
    }
    drop(bunch);
    assert_eq!(Rc::strong_count(&thing), 1);
}

#[test]
fn a_bunch_without_room_keeps_nothing() {
    let thing = Rc::new(());
    let mut bunch = Bunch::<_, 0>::default();
    bunch.keep(thing.clone());
    assert_eq!(Rc::strong_count(&thing), 1);
}

// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The two register maps of R6xx and R7xx: what each database finds, and what it does not.

use lapidary_registers::r600::{R6XX, R7XX, mmio, mmio_r6xx, mmio_r7xx};
use lapidary_registers::{DATABASES, Domain, database};

#[test]
fn a_database_finds_the_registers_of_its_own_map_only() {
    let name = |database: &'static lapidary_registers::Database, at| {
        database.by_offset(Domain::MMIO, at).map(|(r, _)| r.name)
    };
    let fb = Some("MC_VM_FB_LOCATION");
    assert_eq!(name(&R6XX, mmio_r6xx::MC_VM_FB_LOCATION), fb);
    assert_eq!(name(&R7XX, mmio_r7xx::MC_VM_FB_LOCATION), fb);
    assert_ne!(name(&R7XX, mmio_r6xx::MC_VM_FB_LOCATION), fb);
    assert_ne!(name(&R6XX, mmio_r7xx::MC_VM_FB_LOCATION), fb);
    for (database, at) in [(&R6XX, 0x2180), (&R7XX, 0x2024)] {
        let r = database.by_name_in(Domain::MMIO, "MC_VM_FB_LOCATION");
        assert_eq!(r.map(|r| r.offset), Some(at), "{database:?}");
        assert_eq!(
            database.by_name("MC_VM_FB_LOCATION").map(|r| r.offset),
            Some(at)
        );
    }
}

#[test]
fn both_databases_find_what_both_maps_have() {
    for database in [&R6XX, &R7XX] {
        assert_eq!(
            database
                .by_offset(Domain::MMIO, mmio::CONFIG_MEMSIZE)
                .map(|(r, _)| r.name),
            Some("CONFIG_MEMSIZE"),
            "{database:?}"
        );
        // A map is no space of its own.
        let names: Vec<_> = database.domains.iter().map(|d| d.name()).collect();
        assert_eq!(names, ["mmio", "pcie_port"]);
        let known = |domain| database.domains.contains(&domain);
        assert!(database.registers.iter().all(|r| known(r.domain)));
    }
}

#[test]
fn databases_are_found_by_name() {
    for (name, family) in [("r500", "r500"), ("r600", "r600"), ("r700", "r600")] {
        let found = database(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((found.name, found.family), (name, family));
    }
    assert!(database("r800").is_none());
    let names: std::collections::BTreeSet<_> = DATABASES.iter().map(|d| d.name).collect();
    assert_eq!(names.len(), DATABASES.len(), "each has a name of its own");
}

// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One client looks for another's data: in memory that was used before, with the CPU and with the GPU, and through the
//! other's handles.

use crate::support::{self, Radeon};
use anyhow::{Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::CsReloc;
use lapidary_guest::{Domain, Errno};
use lapidary_harness::{Context, Test, refused, untouched};
use lapidary_uapi_shared::isolation::{self, SECRET};

const CLEARED: &str = "our driver clears video memory before a client sees it";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("isolation/small_objects_in_vram", |c| {
            isolation::small::<Radeon>(c, Domain::Vram)
        })
        .lapidary_only(CLEARED)
        .limit(120),
        Test::new("isolation/small_objects_in_gtt", |c| {
            isolation::small::<Radeon>(c, Domain::Gtt)
        })
        .limit(120),
        Test::new("isolation/large_objects_in_vram", |c| {
            isolation::large::<Radeon>(c, Domain::Vram)
        })
        .lapidary_only(CLEARED),
        Test::new("isolation/large_objects_in_gtt", |c| {
            isolation::large::<Radeon>(c, Domain::Gtt)
        }),
        Test::new("isolation/looking_by_gpu_in_vram", |c| {
            isolation::by_engine::<Radeon>(c, Domain::Vram)
        })
        .lapidary_only(CLEARED),
        Test::new("isolation/looking_by_gpu_in_gtt", |c| {
            isolation::by_engine::<Radeon>(c, Domain::Gtt)
        }),
        Test::new(
            "isolation/freed_while_drawn",
            isolation::closed_while_drawn::<Radeon>,
        )
        .lapidary_only(CLEARED),
        Test::new("isolation/others_handles_in_streams", others_handles),
    ]
}

fn others_handles(context: &mut Context) -> Result<()> {
    let victim = context.device()?;
    let secret = support::surface(&victim, 16, Domain::Gtt)?;
    secret.write(&[SECRET; 16])?;
    let spy = victim.another()?;
    untouched(context, || {
        for handle in [secret.handle(), secret.handle() + 1, 0, u32::MAX] {
            let mut stream = support::nothing();
            let domains = Domain::Gtt.bits();
            stream.raw_entry(CsReloc {
                handle,
                read_domains: domains,
                ..Default::default()
            });
            refused(
                &format!("handle {handle}"),
                spy.submit(&stream),
                Errno::NOENT,
            )?;
        }
        Ok(())
    })?;
    ensure!(
        secret.read()?[..16] == [SECRET; 16],
        "the object was changed"
    );
    Ok(())
}

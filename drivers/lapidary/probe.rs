// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Probe and unbind of a device: the PCI driver, generic over the family.
//!
//! [`Bound`] is its data, dropped when the device is unbound. It owns the running GPU, its interrupt and the
//! registration of the DRM device. What outlives it is in [`crate::driver`].
//!
//! # Unbind
//!
//! First unbind sets the flag and stops the GPU, which signals every fence, so that all waits end. Then the fields of
//! [`Bound`] are dropped in their order:
//!
//! 1. The DRM device is unplugged, which waits for running ioctls.
//! 2. The DMA mappings of all objects end, those of other drivers' memory last.
//! 3. The interrupt is released.
//! 4. The worker ends.
//! 5. What finished jobs held is dropped.
//! 6. The chip is released.
//!
//! # Sleep
//!
//! `sleep.rs` contains the implementation. Only the calls ([`Sleeper`]) are here.

use core::{
    marker::PhantomData,
    pin::Pin, //
};

use kernel::{
    device,
    drm, //
    irq,
    pci,
    prelude::*,
    sync::{
        atomic::Relaxed,
        Arc, //
    },
};

use crate::{
    corner::{
        bus,
        debugfs,
        pages,
        pm::Sleeper,
        workqueue::{
            Active,
            Worker, //
        }, //
    },
    debugfs::Files,
    driver::{
        DeviceData, //
        Driver,
        Registered,
    },
    family::{
        gpu::Gpu,
        Family, //
    },
    interrupt::Handler,
    memory::{
        foreign::ForeignLoan,
        gtt::Reach,
        managers::{
            Memory,
            MemoryLoan, //
        }, //
    },
    notifier::Notifier,
    running::Running,
    worker::Keeper, //
};

/// The PCI driver of family `F`, which the family passes to `module_pci_driver!`.
pub struct Pci<F>(PhantomData<fn() -> F>);

/// The PCI driver's data. The fields are dropped in this order.
#[pin_data]
pub struct Bound<'a, F: Family> {
    _registration: drm::Registration<'a, Driver<F>>,
    /// DMA mappings of objects, and surface registers. Borrows from `running`.
    _loan: MemoryLoan<'a>,
    /// Mappings of other drivers' memory.
    _foreign: ForeignLoan,
    /// Borrows from `vectors`.
    #[pin]
    irq: irq::ThreadedRegistration<'a, Handler<'a, F>>,
    vectors: pci::IrqVectorRegistration<'a>,
    _keeper: Active<Keeper<'a, F>>,
    _notifier: Active<Notifier<'a, F>>,
    running: Arc<Running<'a, F>>,
    _master: bus::Master<'a>,
    _enabled: bus::Enabled<'a>,
}

impl<F: Family> pci::Driver for Pci<F> {
    type IdInfo = F::Chip;
    type Data<'bound> = Bound<'bound, F>;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = F::IDS;

    fn probe<'bound>(
        pdev: &'bound pci::Device<device::Core<'_>>,
        info: Option<&'bound Self::IdInfo>,
    ) -> impl PinInit<Self::Data<'bound>, Error> + 'bound {
        pin_init::pin_init_scope(move || {
            let chip = info.ok_or(ENODEV)?;
            let enabled = bus::Enabled::new(pdev)?;
            let (board, layout) = F::identify(pdev, chip)?;
            let memory = Memory::new(&layout)?;
            let worker = Worker::new(F::NAME)?;
            let notifier = Worker::new(F::NAME)?;
            let dev =
                drm::UnregisteredDevice::<Driver<F>>::new(pdev, DeviceData::new(memory.clone()))?;
            F::tables().install(&dev)?;
            pages::in_large_pieces(&dev);
            debugfs::add(&dev, Files::<F>::ALL);
            let master = bus::Master::new(pdev);
            let running = Arc::pin_init(
                Running::new(
                    pdev,
                    (&*dev).into(),
                    board,
                    &memory,
                    worker.clone(),
                    notifier.clone(),
                ),
                GFP_KERNEL,
            )?;

            Ok(try_pin_init!(Bound {
                _enabled: enabled,
                _master: master,
                running,
                // SAFETY: The only attachment of the worker. It is dropped with the driver data.
                _keeper: unsafe { worker.attach(Arc::new(Keeper(running.clone()), GFP_KERNEL)?) },
                // SAFETY: As above.
                _notifier: unsafe { notifier.attach(Arc::new(Notifier(running.clone()), GFP_KERNEL)?) },
                vectors: pdev.alloc_irq_vectors(1, 1, F::irq_types(chip))?,
                irq <- {
                    running.gpu().interrupt(vectors.irq_type());
                    // SAFETY: `vectors` is pinned with the driver data and dropped after `irq`.
                    let vectors = unsafe { &*core::ptr::from_ref(vectors) };
                    // SAFETY: The registration is dropped with the driver data.
                    unsafe {
                        irq::ThreadedRegistration::new(
                            vectors.index(0)?.into(),
                            irq::Flags::SHARED,
                            F::NAME,
                            Ok(Handler::new(running.clone())),
                        )
                    }
                },
                _: { running.self_test()? },
                _loan: {
                    // SAFETY: The running GPU is dropped after the loan.
                    let gpu: &'bound F::Gpu<'bound> =
                        unsafe { &*core::ptr::from_ref(running.gpu()) };
                    let reach = Reach {
                        dev: pdev.as_ref(),
                        space: gpu.space(),
                    };
                    // SAFETY: The loan is dropped with the driver data.
                    unsafe { memory.lend(reach, gpu.surfaces())? }
                },
                _foreign: memory.lend_foreign(),
                // SAFETY: The registration is dropped with the driver data.
                _registration: unsafe {
                    drm::Registration::new(
                        pdev.as_ref(),
                        dev,
                        Ok::<_, Error>(Registered {
                            running: running.clone(),
                        }),
                        0,
                    )?
                },
            }? Error))
        })
    }

    fn unbind<'bound>(
        _pdev: &'bound pci::Device<device::Core<'_>>,
        this: Pin<&Self::Data<'bound>>,
    ) {
        this.running.data().gone.store(true, Relaxed);
        this.running.stop(ENODEV, ENODEV);
    }
}

impl<F: Family> Sleeper for Pci<F> {
    fn prepare(this: Pin<&Self::Data<'_>>) -> Result {
        this.running.prepare_sleep()
    }

    fn sleep(this: Pin<&Self::Data<'_>>) -> Result {
        this.running.sleep()
    }

    fn wake(this: Pin<&Self::Data<'_>>) -> Result {
        this.running.wake()
    }

    fn shutdown(this: Pin<&Self::Data<'_>>) {
        this.running.stop(ENODEV, ENODEV);
    }
}

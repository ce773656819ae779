// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The PCI and DRM driver, generic over the family.
//!
//! # Who owns what
//!
//! - [`Shared`] lives inside the DRM device. Open files and objects keep that alive, so it outlives the binding of the
//!   PCI device: memory managers, counters, and the flag that says that the hardware is gone.
//! - [`Bound`] is the PCI driver's data, dropped when the device is unbound. It owns the running GPU, its interrupt and
//!   the registration of the DRM device.
//! - [`Registered`] is what ioctls see of it, behind a guard that keeps the device registered.
//!
//! # Unbind
//!
//! First the flag is set and the GPU stopped, which signals every fence, so that all waits end. Then, by the order of
//! the fields of [`Bound`]: the DRM device is unplugged, which waits for ioctls that run; DMA mappings of all objects
//! end, those of other drivers' memory last; the interrupt is released; the worker ends; what finished jobs held is
//! dropped; the chip is let go.
//!
//! # Sleep
//!
//! See `sleep.rs`; here are only the calls ([`Sleeper`]).

use core::{
    marker::PhantomData,
    pin::Pin, //
};

use kernel::{
    device::{
        self,
        DeviceContext, //
    },
    drm, irq, pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

use crate::{
    allowance::Allowance,
    context::Context,
    corner::{
        bus,
        debugfs,
        fdinfo::{
            Accounts,
            Region,
            Share, //
        },
        lent::Hardware,
        pages,
        pm::Sleeper,
        roster::Roster,
        shrinker::Shrinker,
        workqueue::{
            Active,
            Worker, //
        }, //
    },
    family::{
        gpu::Gpu,
        Family,
        Uapi, //
    },
    hangs::Hangs,
    interrupt::Handler,
    memory::{
        pressure::Reclaim,
        Bo,
        Domain,
        ForeignLease,
        Memory,
        MemoryLease,
        Object, //
    },
    recovery::Herald,
    running::Running,
    state::Files,
    submit::placing::Placing,
    watchdog::Keeper, //
};

/// The DRM driver of family `F`.
pub struct Driver<F>(PhantomData<fn() -> F>);

/// The PCI driver of family `F`: what the family's `module_pci_driver!` names.
pub struct Pci<F>(PhantomData<fn() -> F>);

/// What outlives unbind.
pub struct Shared<F: Family> {
    /// Managers of the GPU's memory.
    pub memory: Arc<Memory>,
    /// All objects.
    pub objects: Arc<Roster<Object<F>>>,
    /// Submissions that are placing objects.
    pub placing: Arc<Placing>,
    /// Who has hung the GPU.
    pub hangs: Arc<Hangs>,
    /// Gives their pages back when the system needs memory.
    _shrinker: Shrinker<Reclaim<F>>,
    /// The hardware is gone or going.
    gone: Atomic<bool>,
    /// How often the GPU had to be stopped or reset.
    resets: Atomic<u32>,
    /// Fences that somebody waited for and no interrupt announced.
    polled: Atomic<u64>,
    /// State of the user-space interface.
    pub uapi: <F::Uapi as Uapi<F>>::Device,
}

impl<F: Family> Shared<F> {
    fn new(memory: Arc<Memory>) -> Result<Self> {
        let objects = Roster::new()?;
        let reclaim = Arc::new(Reclaim::new(objects.clone(), memory.clone()), GFP_KERNEL)?;
        Ok(Self {
            memory,
            objects,
            placing: Placing::new()?,
            hangs: Hangs::new()?,
            _shrinker: Shrinker::new(F::NAME, reclaim)?,
            gone: Atomic::new(false),
            resets: Atomic::new(0),
            polled: Atomic::new(0),
            uapi: F::Uapi::device()?,
        })
    }

    /// Whether the hardware is gone or going: waits should end.
    pub fn gone(&self) -> bool {
        self.gone.load(Relaxed)
    }

    /// How often the GPU had to be stopped or reset.
    pub fn resets(&self) -> u32 {
        self.resets.load(Relaxed)
    }

    /// Fences that somebody waited for and no interrupt announced.
    pub fn polled(&self) -> u64 {
        self.polled.load(Relaxed)
    }

    pub(crate) fn count_reset(&self) {
        self.resets.add(1, Relaxed);
    }

    /// Says whether these are the first.
    pub(crate) fn count_polled(&self, fences: u64) -> bool {
        self.polled.fetch_add(fences, Relaxed) == 0
    }
}

/// What ioctls see of a registered device.
pub struct Registered<'a, F: Family> {
    /// The running GPU.
    pub running: Arc<Running<'a, F>>,
}

/// An open file.
pub struct File<F: Family> {
    dev: ARef<drm::Device<Driver<F>>>,
    /// What its jobs report to.
    pub context: Arc<Context>,
    /// What it may have.
    pub allowance: Allowance,
    /// State of the user-space interface.
    pub client: <F::Uapi as Uapi<F>>::Client,
}

impl<F: Family> drm::file::DriverFile for File<F> {
    type Driver = Driver<F>;

    fn open(dev: &drm::Device<Driver<F>>) -> Result<Pin<KBox<Self>>> {
        let file = Self {
            dev: dev.into(),
            context: Context::new()?,
            allowance: dev.memory.allowance()?,
            client: F::Uapi::client(&dev.uapi)?,
        };
        Ok(KBox::new(file, GFP_KERNEL)?.into())
    }
}

impl<F: Family> Drop for File<F> {
    fn drop(&mut self) {
        F::Uapi::closed(&self.dev.uapi, &self.client);
    }
}

#[vtable]
impl<F: Family> drm::Driver for Driver<F> {
    type OwnerModule = F::Module;
    type Data = Shared<F>;
    type RegistrationData<'a> = Registered<'a, F>;
    type File = File<F>;
    type Object = Bo<F>;
    type ParentDevice<C: DeviceContext> = pci::Device<C>;

    const INFO: drm::DriverInfo = F::Uapi::INFO;
    const FEAT_RENDER: bool = true;
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor] = F::Uapi::IOCTLS;
}

impl<F: Family> Accounts for Driver<F> {
    type Content = Object<F>;

    fn engine(file: &File<F>) -> u64 {
        file.context.engine()
    }

    fn share(object: &Bo<F>) -> Share {
        let status = object.status();
        Share {
            region: match status.domain {
                Domain::Vram => Region::Vram,
                Domain::Gtt => Region::Gtt,
                Domain::System => Region::Cpu,
            },
            resident: status.resident,
        }
    }
}

/// The PCI driver's data. The fields are dropped in this order.
#[pin_data]
pub struct Bound<'a, F: Family> {
    _registration: drm::Registration<'a, Driver<F>>,
    /// DMA mappings of objects, and surface registers. Borrows from `running`.
    _lease: MemoryLease<'a>,
    /// Mappings of other drivers' memory.
    _foreign: ForeignLease,
    /// Borrows from `vectors`.
    #[pin]
    irq: irq::ThreadedRegistration<'a, Handler<'a, F>>,
    vectors: pci::IrqVectorRegistration<'a>,
    _keeper: Active<Keeper<'a, F>>,
    _herald: Active<Herald<'a, F>>,
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
            let herald = Worker::new(F::NAME)?;
            let dev = drm::UnregisteredDevice::<Driver<F>>::new(pdev, Shared::new(memory.clone()))?;
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
                    herald.clone(),
                ),
                GFP_KERNEL,
            )?;

            Ok(try_pin_init!(Bound {
                _enabled: enabled,
                _master: master,
                running,
                // SAFETY: The only attachment of the worker, dropped with the driver data.
                _keeper: unsafe { worker.attach(Arc::new(Keeper(running.clone()), GFP_KERNEL)?) },
                // SAFETY: As above.
                _herald: unsafe { herald.attach(Arc::new(Herald(running.clone()), GFP_KERNEL)?) },
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
                _lease: {
                    // SAFETY: The running GPU is dropped after the lease.
                    let gpu: &'bound F::Gpu<'bound> =
                        unsafe { &*core::ptr::from_ref(running.gpu()) };
                    let hardware = Hardware {
                        dev: pdev.as_ref(),
                        space: gpu.space(),
                        surfaces: gpu.surfaces(),
                    };
                    // SAFETY: The lease is dropped with the driver data.
                    unsafe { memory.lend(hardware)? }
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
        this.running.shared().gone.store(true, Relaxed);
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

// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register access.
//!
//! An R5xx has one memory-mapped register window (BAR 2, 64 KiB, offsets in bytes) and three more
//! register spaces that are reached through index/data pairs inside it:
//!
//! - *MC*, the memory controller: `MC_IND_INDEX`/`MC_IND_DATA`. The index word also carries byte
//!   enables, one set for reading and one for writing, and has to be put back to zero afterwards.
//!   The RV515 and the other chips use the same pair with different register numbers, which is why
//!   the register database has two MC spaces.
//! - *PCIE*, the bus interface with the GART: `PCIE_INDEX`/`PCIE_DATA`.
//! - *PLL*, the clocks: `CLOCK_CNTL_INDEX`/`CLOCK_CNTL_DATA`. The index is the low byte of a word
//!   whose upper bytes belong to the display clocks, so that it is written as a byte.
//!
//! The manual gives none of these; the facts are Linux' (`radeon`: `rv515_mc_rreg`,
//! `rv370_pcie_rreg`, `r100_pll_rreg`).
//!
//! Registers are defined by the generator from `registers/*.xml`. Those of an indirect space are
//! relative to that space's `Space` type, and [`Indirect`] takes only registers of the spaces which
//! its pair serves: a clock register cannot be read through the memory controller's pair, nor
//! straight from the window.

use core::marker::PhantomData;

use kernel::{
    io::{
        self,
        register::{
            Register,
            RelativeRegister,
            WithBase, //
        },
        Io,
        IoCapable,
        Region, //
    },
    new_spinlock,
    prelude::*,
    sizes::SZ_64K,
    sync::{
        lock::spinlock::SpinLockGuard,
        SpinLock, //
    },
};

// Definitions of registers that `driver.list` names, generated from the register database.
include!(concat!(env!("R500_GENERATED"), "/kernel.rs"));

/// Size in bytes of the register window, and the least that BAR 2 must offer.
pub(crate) const WINDOW: usize = SZ_64K;

/// The register window. Cheap to copy; accesses are 32 bits wide unless a function says otherwise.
pub(crate) type Window<'a> = io::Mmio<'a, Region<WINDOW>>;

/// The registers of the window: those of the chip, or in a test what notes each access.
pub(crate) trait RegisterIo<'a>:
    Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>
{
}

impl<'a, T: Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>> RegisterIo<'a> for T {}

/// An index/data pair in the register window.
pub(crate) trait Pair {
    /// Selects register `index` and reads it.
    fn read(window: Window<'_>, index: u32) -> u32;

    /// Selects register `index` and writes `value` to it.
    fn write(window: Window<'_>, index: u32, value: u32);
}

/// States that the registers of space `Self` are reached through the pair `P`.
pub(crate) trait ServedBy<P: Pair> {}

/// The pair of the memory controller.
pub(crate) struct McPair;

impl McPair {
    /// Byte enables of a read, in the index word.
    const READ: u32 = 0x007f_0000;
    /// Byte enables of a write, in the index word.
    const WRITE: u32 = 0x00ff_0000;
}

impl Pair for McPair {
    fn read(window: Window<'_>, index: u32) -> u32 {
        window.write_reg(mmio::MC_IND_INDEX::from(Self::READ | index));
        let value = window.read(mmio::MC_IND_DATA).into_raw();
        window.write_reg(mmio::MC_IND_INDEX::zeroed());
        value
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        window.write_reg(mmio::MC_IND_INDEX::from(Self::WRITE | index));
        window.write_reg(mmio::MC_IND_DATA::from(value));
        window.write_reg(mmio::MC_IND_INDEX::zeroed());
    }
}

impl ServedBy<McPair> for mc_rv515::Space {}
impl ServedBy<McPair> for mc_r520::Space {}

/// The pair of the PCI Express interface.
pub(crate) struct PciePair;

impl Pair for PciePair {
    fn read(window: Window<'_>, index: u32) -> u32 {
        window.write_reg(mmio::PCIE_INDEX::from(index));
        window.read(mmio::PCIE_DATA).into_raw()
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        window.write_reg(mmio::PCIE_INDEX::from(index));
        window.write_reg(mmio::PCIE_DATA::from(value));
    }
}

impl ServedBy<PciePair> for pcie::Space {}

/// The pair of the clocks.
pub(crate) struct PllPair;

impl PllPair {
    /// Makes the next data access a write, in the index byte.
    const WRITE: u8 = 0x80;
    /// Bits of the index byte that select the register.
    const INDEX: u32 = 0x3f;

    /// Writes the index byte and leaves the other bytes of the word alone.
    fn select(window: Window<'_>, index: u32, flags: u8) {
        // CAST: the mask leaves six bits.
        let byte = (index & Self::INDEX) as u8 | flags;
        window.write8(byte, <mmio::CLOCK_CNTL_INDEX as Register>::OFFSET);
    }
}

impl Pair for PllPair {
    fn read(window: Window<'_>, index: u32) -> u32 {
        Self::select(window, index, 0);
        window.read(mmio::CLOCK_CNTL_DATA).into_raw()
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        Self::select(window, index, Self::WRITE);
        window.write_reg(mmio::CLOCK_CNTL_DATA::from(value));
        // Without this a stray write to the data register would hit the register just written.
        Self::select(window, index, 0);
    }
}

impl ServedBy<PllPair> for pll::Space {}

/// A register of an indirect space.
pub(crate) trait Indexed:
    RelativeRegister + WithBase + Register<Storage = u32> + From<u32> + Into<u32>
{
}

impl<R> Indexed for R where
    R: RelativeRegister + WithBase + Register<Storage = u32> + From<u32> + Into<u32>
{
}

/// The registers behind the pair `P`.
///
/// Index and data are two accesses, so a lock holds them together. It is not taken in interrupt
/// context.
#[pin_data]
pub(crate) struct Indirect<'a, P> {
    window: Window<'a>,
    #[pin]
    pair: SpinLock<()>,
    kind: PhantomData<P>,
}

/// Registers of the memory controller.
pub(crate) type Mc<'a> = Indirect<'a, McPair>;
/// Registers of the PCI Express interface.
pub(crate) type Pcie<'a> = Indirect<'a, PciePair>;
/// Registers of the clocks.
pub(crate) type Pll<'a> = Indirect<'a, PllPair>;

impl<'a, P: Pair> Indirect<'a, P> {
    /// Returns an initializer for the registers behind `P` in `window`. There must be only one for
    /// each pair.
    pub(crate) fn new(window: Window<'a>) -> impl PinInit<Self> + 'a
    where
        P: 'a,
    {
        pin_init!(Self {
            window,
            pair <- new_spinlock!(()),
            kind: PhantomData,
        })
    }

    /// Number of the register `R` in its space.
    const fn index<R: Register>() -> u32 {
        // CAST: indices are below 0x1_0000.
        R::OFFSET as u32
    }

    /// Reads the register `R`.
    pub(crate) fn read<R>(&self) -> R
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::read(self.window, Self::index::<R>()).into()
    }

    /// Writes `value` to the register that its type names.
    pub(crate) fn write<R>(&self, value: R)
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::write(self.window, Self::index::<R>(), value.into());
    }

    /// Reads the register `R`, passes it through `change` and writes the result, with nobody else
    /// in between.
    pub(crate) fn update<R>(&self, change: impl FnOnce(R) -> R)
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        let index = Self::index::<R>();
        let value = change(P::read(self.window, index).into());
        P::write(self.window, index, value.into());
    }
}

impl Pcie<'_> {
    /// Selects register `R` for several accesses, each of which costs one access to the window.
    ///
    /// The other registers of the space have to wait meanwhile.
    pub(crate) fn select<R>(&self) -> Selected<'_, R>
    where
        R: Indexed,
        R::BaseFamily: ServedBy<PciePair>,
    {
        let pair = self.pair.lock();
        self.window
            .write_reg(mmio::PCIE_INDEX::from(Self::index::<R>()));
        Selected {
            window: self.window,
            _pair: pair,
            register: PhantomData,
        }
    }
}

/// A register of the PCI Express interface that stays selected while this lives.
pub(crate) struct Selected<'s, R> {
    window: Window<'s>,
    _pair: SpinLockGuard<'s, ()>,
    register: PhantomData<R>,
}

impl<R: Indexed> Selected<'_, R> {
    /// Reads the register.
    pub(crate) fn read(&self) -> R {
        self.window.read(mmio::PCIE_DATA).into_raw().into()
    }

    /// Writes the register.
    pub(crate) fn write(&self, value: R) {
        self.window.write_reg(mmio::PCIE_DATA::from(value.into()));
    }
}

#[cfg(CONFIG_KUNIT = "y")]
pub(crate) mod fake {
    //! A register window of plain memory, one that remembers the order of accesses, and a device without hardware, for
    //! the KUnit suites.

    use super::*;

    use core::cell::Cell;

    use kernel::{
        bindings,
        device,
        faux,
        io::{
            IoBackend,
            IoBase, //
        },
        ptr::KnownSize,
        str::CString, //
    };

    /// An access.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Access {
        /// Of a place with this offset in bytes.
        Read(usize),
        /// Of a place, and the value.
        Write(usize, u32),
    }

    /// What was accessed, in order.
    pub(crate) struct Log(Cell<KVec<Access>>);

    impl Log {
        /// Nothing yet.
        pub(crate) fn new() -> Self {
            Self(Cell::new(KVec::new()))
        }

        /// Notes an access.
        pub(crate) fn note(&self, access: Access) {
            let mut all = self.0.take();
            assert!(all.push(access, GFP_KERNEL).is_ok());
            self.0.set(all);
        }

        /// A window of `size` bytes that is read as zeros, and whose accesses of 32 bits are noted.
        pub(crate) fn window(&self, size: usize) -> Noted<'_, Region> {
            // Offsets are all there is: nothing looks behind this pointer.
            let place = Region::ptr_from_raw_parts_mut(core::ptr::null_mut(), size);
            Noted { place, log: self }
        }

        /// The register window, which is read as zeros and notes accesses.
        pub(crate) fn registers(&self) -> Noted<'_, Region<WINDOW>> {
            let place = Region::ptr_from_raw_parts_mut(core::ptr::null_mut(), WINDOW);
            Noted { place, log: self }
        }

        /// All accesses up to now.
        pub(crate) fn take(&self) -> KVec<Access> {
            self.0.take()
        }
    }

    /// A part of such a window.
    pub(crate) struct Noted<'a, T: ?Sized> {
        place: *mut T,
        log: &'a Log,
    }

    impl<T: ?Sized> Copy for Noted<'_, T> {}

    impl<T: ?Sized> Clone for Noted<'_, T> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<'a, T: ?Sized + KnownSize> IoBase<'a> for Noted<'a, T> {
        type Backend = Notes;
        type Target = T;

        fn as_view(self) -> Self {
            self
        }
    }

    /// Accesses that are noted, and nothing else.
    pub(crate) struct Notes;

    impl IoBackend for Notes {
        type View<'a, T: ?Sized + KnownSize> = Noted<'a, T>;

        fn as_ptr<'a, T: ?Sized + KnownSize>(view: Self::View<'a, T>) -> *mut T {
            view.place
        }

        unsafe fn project_view<'a, T: ?Sized + KnownSize, U: ?Sized + KnownSize>(
            view: Self::View<'a, T>,
            place: *mut U,
        ) -> Self::View<'a, U> {
            let log = view.log;
            Noted { place, log }
        }
    }

    impl IoCapable<u32> for Notes {
        fn io_read(view: Noted<'_, u32>) -> u32 {
            view.log.note(Access::Read(view.place.addr()));
            0
        }

        fn io_write(view: Noted<'_, u32>, value: u32) {
            view.log.note(Access::Write(view.place.addr(), value));
        }
    }

    /// A device on the faux bus whose DMA reaches all memory.
    pub(crate) struct Device(faux::Registration);

    impl Device {
        /// Makes a device.
        ///
        /// Its name is that of the moment: a case that fails never gives its device back, and the next must not find the
        /// name taken, not even after the module has been loaded again.
        pub(crate) fn new() -> Result<Self> {
            // SAFETY: Any context may read the clock.
            let now = unsafe { bindings::ktime_get() };
            let name = CString::try_from_fmt(fmt!("r500-kunit-{now}"))?;
            let device = Self(faux::Registration::new(&name, None)?);
            let raw = core::ptr::from_ref(device.dev())
                .cast_mut()
                .cast::<bindings::device>();
            // SAFETY: The device is bound, and nobody else knows of it yet.
            unsafe {
                (*raw).coherent_dma_mask = u64::MAX;
                (*raw).dma_mask = &raw mut (*raw).coherent_dma_mask;
            }
            Ok(device)
        }

        /// The device.
        pub(crate) fn dev(&self) -> &device::Device<device::Bound> {
            let faux: &faux::Device<device::Bound> = self.0.as_ref();
            faux.as_ref()
        }
    }

    /// Zeroed memory that stands in for the register window: every register is storage.
    pub(crate) struct Memory(KVec<u32>);

    impl Memory {
        /// Allocates a window.
        pub(crate) fn new() -> Result<Self> {
            Ok(Self(KVec::from_elem(
                0,
                WINDOW / size_of::<u32>(),
                GFP_KERNEL,
            )?))
        }

        /// The same memory without registers.
        pub(crate) fn bytes(&mut self) -> Result<io::Mmio<'_, Region>> {
            let raw = io::MmioRaw::new_region(self.0.as_mut_ptr().expose_provenance(), WINDOW)?;
            // SAFETY: As in `window`.
            Ok(unsafe { io::Mmio::from_raw(raw) })
        }

        /// The registers in it.
        pub(crate) fn window(&mut self) -> Result<Window<'_>> {
            let raw = io::MmioRaw::new_region(self.0.as_mut_ptr().expose_provenance(), WINDOW)?;
            // SAFETY: The memory is `WINDOW` bytes long, aligned to four, and exclusively borrowed
            // while the view lives. It is ordinary memory, on which the accessors of memory-mapped
            // I/O work as loads and stores.
            Ok(unsafe { Window::from_raw(raw) })
        }
    }
}

#[kunit_tests(r500_regs)]
mod tests {
    use super::*;
    use kernel::alloc::KBox;

    /// What the last access left in an index register tells which register was meant.
    #[test]
    fn pcie_pair_selects_by_plain_index() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let pcie = KBox::pin_init(Pcie::new(window), GFP_KERNEL)?;

        pcie.write(pcie::PCIE_TX_GART_ERROR::from(0x1234_5678));
        assert_eq!(
            window.read(mmio::PCIE_INDEX).into_raw(),
            <pcie::PCIE_TX_GART_ERROR as Register>::OFFSET as u32
        );
        assert_eq!(window.read(mmio::PCIE_DATA).into_raw(), 0x1234_5678);

        let base: pcie::PCIE_TX_GART_BASE = pcie.read();
        assert_eq!(base.into_raw(), 0x1234_5678);
        assert_eq!(
            window.read(mmio::PCIE_INDEX).into_raw(),
            <pcie::PCIE_TX_GART_BASE as Register>::OFFSET as u32
        );
        Ok(())
    }

    /// The byte enables are in the index word during an access only.
    #[test]
    fn mc_pair_rests_at_zero() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let mc = KBox::pin_init(Mc::new(window), GFP_KERNEL)?;

        mc.write(mc_rv515::MC_AGP_BASE::from(7));
        assert_eq!(window.read(mmio::MC_IND_INDEX).into_raw(), 0);
        assert_eq!(window.read(mmio::MC_IND_DATA).into_raw(), 7);
        let agp: mc_r520::MC_AGP_BASE = mc.read();
        assert_eq!(agp.into_raw(), 7);
        assert_eq!(window.read(mmio::MC_IND_INDEX).into_raw(), 0);
        Ok(())
    }

    /// The display's bytes of the clock index survive, and no write is left enabled.
    #[test]
    fn pll_pair_touches_one_byte() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(mmio::CLOCK_CNTL_INDEX::from(0xaabb_cc00));
        let pll = KBox::pin_init(Pll::new(window), GFP_KERNEL)?;

        pll.update(|value: pll::CP_DYN_CNTL| pll::CP_DYN_CNTL::from(value.into_raw() | 1));
        let index = <pll::CP_DYN_CNTL as Register>::OFFSET as u32;
        assert_eq!(
            window.read(mmio::CLOCK_CNTL_INDEX).into_raw(),
            0xaabb_cc00 | index
        );
        assert_eq!(window.read(mmio::CLOCK_CNTL_DATA).into_raw(), 1);
        pll.read::<pll::E2_DYN_CNTL>();
        let index = <pll::E2_DYN_CNTL as Register>::OFFSET as u32;
        assert_eq!(
            window.read(mmio::CLOCK_CNTL_INDEX).into_raw(),
            0xaabb_cc00 | index
        );
        Ok(())
    }
}

//! The floating-point mode of the processor. Each thread has its own mode and passes it to the threads that
//! it starts. A library in the same process may have set its threads to treat subnormal numbers as zero. The
//! results of this project do not depend on that mode.

use std::marker::PhantomData;

/// A guard that keeps its thread in the standard floating-point mode: numbers round to nearest, subnormal
/// numbers are kept, and no exception is trapped. Dropping the guard restores the previous mode of the
/// thread.
pub struct StandardFloats {
    before: Register,
    /// Keeps the guard on its thread, because the mode belongs to the thread.
    is_of_its_thread: PhantomData<*const ()>,
}

impl StandardFloats {
    /// Sets the standard mode on the current thread.
    #[must_use = "the mode is given back when this is dropped"]
    pub fn set() -> Self {
        let before = read();
        if before & MODE != STANDARD {
            write(before & !MODE | STANDARD);
        }
        Self { before, is_of_its_thread: PhantomData }
    }
}

impl Drop for StandardFloats {
    fn drop(&mut self) {
        if self.before & MODE != STANDARD {
            write(self.before);
        }
    }
}

#[cfg(target_arch = "x86_64")]
use x86_64::Register;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{MODE, STANDARD, read, write};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;

    /// MXCSR.
    pub(crate) type Register = u32;
    /// All bits except the exception flags, which are the low six bits.
    pub(crate) const MODE: u32 = 0xffc0;
    /// All exceptions masked.
    pub(crate) const STANDARD: u32 = 0x1f80;

    pub(crate) fn read() -> u32 {
        let mut register = 0;
        // SAFETY: it writes the four bytes of `register`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
        register
    }

    pub(crate) fn write(register: u32) {
        // SAFETY: it reads the four bytes. The bits outside the mode were read from the register.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack, preserves_flags, readonly))
        };
    }
}

#[cfg(target_arch = "aarch64")]
use aarch64::{MODE, Register, STANDARD, read, write};

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use std::arch::asm;

    /// FPCR.
    pub(super) type Register = u64;
    /// The bits for flushing (FIZ, AH, FZ16, FZ), rounding (RMode), NaNs (NEP, DN, AHP) and traps.
    pub(super) const MODE: u64 = 0x07c8_9f07;
    pub(super) const STANDARD: u64 = 0;

    pub(super) fn read() -> u64 {
        let register;
        // SAFETY: it reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register
    }

    pub(super) fn write(register: u64) {
        // SAFETY: the value is a valid mode of the register.
        unsafe { asm!("msr fpcr, {}", in(reg) register, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use other::{MODE, Register, STANDARD, read, write};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other {
    /// The mode of other processors is unknown.
    pub(super) type Register = u32;
    pub(super) const MODE: u32 = 0;
    pub(super) const STANDARD: u32 = 0;

    pub(super) fn read() -> u32 {
        0
    }

    pub(super) fn write(_: u32) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// DAZ and FTZ.
    const FLUSH: u32 = 0x8040;

    #[test]
    fn subnormal_numbers_are_kept_as_long_as_it_is_there() {
        // `black_box` keeps the compiler from folding the product. The test compares bits, because
        // comparisons also treat subnormal numbers as zero.
        let is_kept = || black_box(black_box(1e-40f32) * black_box(1.5)).to_bits() != 0;
        let own = read();
        write(own | FLUSH);
        let before = is_kept();
        let standard = StandardFloats::set();
        let within = is_kept();
        drop(standard);
        let after = is_kept();
        write(own);
        assert_eq!([before, within, after], [false, true, false]);
    }
}

//! Time stamps and their scale.
//!
//! A time stamp is the processor's counter, read without serialization: it may drift by some instructions, which costs
//! nothing and averages out. Where the counter is not constant and synchronized, `CLOCK_MONOTONIC` takes its place. The
//! scale travels with the segment, so that every process of the host turns ticks into the same nanoseconds.
#![allow(unsafe_code)]

use std::sync::OnceLock;
use std::time::Duration;

/// Where time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// The processor's constant-rate counter.
    Counter = 1,
    /// `clock_gettime(CLOCK_MONOTONIC)`, in nanoseconds.
    Monotonic = 2,
}

impl Source {
    /// The source with this number.
    pub fn from_number(number: u32) -> Option<Source> {
        match number {
            1 => Some(Source::Counter),
            2 => Some(Source::Monotonic),
            _ => None,
        }
    }
}

/// How ticks become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Where the ticks come from.
    pub source: Source,
    /// Nanoseconds per tick, times 2^32.
    pub mult: u64,
    /// Ticks between two readings with nothing in between: subtracted from each measured duration.
    pub overhead: u64,
}

impl Scale {
    /// The scale of `CLOCK_MONOTONIC`.
    pub fn monotonic() -> Scale {
        let mut scale = Scale { source: Source::Monotonic, mult: 1 << 32, overhead: 0 };
        scale.overhead = empty_interval(scale.source);
        scale
    }

    /// The best scale of this machine, measured once a process (takes about 2 ms the first time).
    pub fn of_this_machine() -> Scale {
        static SCALE: OnceLock<Scale> = OnceLock::new();
        *SCALE.get_or_init(|| if counter_is_constant() { calibrate() } else { Scale::monotonic() })
    }

    /// Time now, in ticks.
    #[inline(always)]
    pub fn now(self) -> u64 {
        match self.source {
            Source::Counter => counter(),
            Source::Monotonic => monotonic_ns(),
        }
    }

    /// Nanoseconds of one tick.
    pub fn ns_per_tick(self) -> f64 {
        self.mult as f64 / 2_f64.powi(32)
    }

    /// Nanoseconds as ticks.
    pub fn ticks(self, ns: u64) -> u64 {
        u64::try_from((u128::from(ns) << 32) / u128::from(self.mult.max(1))).unwrap_or(u64::MAX)
    }

    /// Ticks as nanoseconds.
    #[inline(always)]
    pub fn ns(self, ticks: u64) -> u64 {
        scale_ns(ticks, self.mult)
    }
}

/// Ticks as nanoseconds for a multiplier with 32 fractional bits.
#[inline(always)]
pub(crate) fn scale_ns(ticks: u64, mult: u64) -> u64 {
    ((u128::from(ticks) * u128::from(mult)) >> 32) as u64
}

/// As [`scale_ns`], in fewer instructions; `None` for a duration of some seconds or more.
#[inline(always)]
pub(crate) fn scale_short_ns(ticks: u64, mult: u64) -> Option<u64> {
    ticks.checked_mul(mult).map(|scaled| scaled >> 32)
}

/// The processor's counter, unserialized. Where there is none: `CLOCK_MONOTONIC`.
#[inline(always)]
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: rdtsc has no precondition; user mode may read it unless the process asked for PR_TSC_SIGSEGV.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Linux lets user mode read the virtual counter.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    monotonic_ns()
}

/// As [`counter`], once everything before it is done. A routine of few nanoseconds would otherwise hide in the time
/// that reading the counter takes.
#[inline(always)]
pub(crate) fn counter_after() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: lfence has no precondition (SSE2 is part of x86_64).
    unsafe {
        core::arch::x86_64::_mm_lfence()
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no precondition.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags))
    };
    counter()
}

/// Keeps what follows from being started before what precedes is done.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above.
    unsafe {
        core::arch::x86_64::_mm_lfence()
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags))
    };
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub fn realtime_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(target_arch = "x86_64")]
fn counter_is_constant() -> bool {
    use core::arch::x86_64::__cpuid;
    // Leaf 0x8000_0007, EDX bit 8: the counter runs at a constant rate in all power states.
    let invariant = __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    // The kernel watches the counter: it falls back to these where it found it unsynchronized.
    let watched = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let distrusted = matches!(watched.as_deref().map(str::trim), Ok("hpet" | "acpi_pm" | "jiffies"));
    invariant && !distrusted
}

#[cfg(target_arch = "aarch64")]
fn counter_is_constant() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_constant() -> bool {
    false
}

/// Measures the counter against `CLOCK_MONOTONIC` over 2 ms: good to about 50 parts in a million.
fn calibrate() -> Scale {
    let (ticks0, ns0) = tightest_pair();
    std::thread::sleep(Duration::from_millis(2));
    let (ticks1, ns1) = tightest_pair();
    let (ticks, ns) = (ticks1.saturating_sub(ticks0), ns1.saturating_sub(ns0));
    if ticks == 0 || ns == 0 {
        return Scale::monotonic();
    }
    let mult = (u128::from(ns) << 32) / u128::from(ticks);
    match u64::try_from(mult) {
        Ok(mult) if mult > 0 => Scale { source: Source::Counter, mult, overhead: empty_interval(Source::Counter) },
        _ => Scale::monotonic(),
    }
}

/// Counter and clock read as close together as 16 tries get them.
fn tightest_pair() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..16 {
        let before = counter();
        let ns = monotonic_ns();
        let width = counter().saturating_sub(before);
        if width < best.0 {
            best = (width, before + width / 2, ns);
        }
    }
    (best.1, best.2)
}

/// Median of the ticks between two readings.
fn empty_interval(source: Source) -> u64 {
    let scale = Scale { source, mult: 0, overhead: 0 };
    let mut widths = [0_u64; 129];
    for width in &mut widths {
        let before = scale.now();
        *width = scale.now().saturating_sub(before);
    }
    widths.sort_unstable();
    widths[widths.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_agrees_with_the_monotonic_clock() {
        let scale = Scale::of_this_machine();
        let (ticks0, ns0) = (scale.now(), monotonic_ns());
        std::thread::sleep(Duration::from_millis(30));
        let (ticks1, ns1) = (scale.now(), monotonic_ns());
        let (ours, theirs) = (scale.ns(ticks1 - ticks0), ns1 - ns0);
        assert!(ours.abs_diff(theirs) < theirs / 100 + 20_000, "{ours} ns against {theirs} ns with {scale:?}");
    }

    #[test]
    fn monotonic_ticks_are_nanoseconds() {
        let scale = Scale::monotonic();
        assert_eq!(scale.ns(123_456_789), 123_456_789);
        assert_eq!(scale.ns(u64::MAX), u64::MAX);
        assert_eq!(scale_short_ns(4_000_000_000, scale.mult), Some(4_000_000_000));
        assert_eq!(scale_short_ns(5_000_000_000, scale.mult), None);
        let before = monotonic_ns();
        assert!(scale.now() >= before);
    }

    #[test]
    fn sources_have_numbers() {
        for source in [Source::Counter, Source::Monotonic] {
            assert_eq!(Source::from_number(source as u32), Some(source));
        }
        assert_eq!(Source::from_number(0), None);
    }
}

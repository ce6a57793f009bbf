//! What a thread in a long wait waits for.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// As the thread writes it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Waiting {
    /// Start of the call that it belongs to, written last; 0: of none.
    start: AtomicU64,
    addr: AtomicU64,
    /// Bytes of the variable (bits 0 to 7), comparison (8 to 15), sign (16), one of several (17), all of them (18), how
    /// many (32 to 63).
    shape: AtomicU64,
    wanted: AtomicU64,
    found: AtomicU64,
    /// Keeps the size.
    reserved: [AtomicU64; 3],
}

/// What a variable is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Where it is, in the process that waits.
    pub addr: u64,
    /// Its bytes.
    pub bytes: u8,
    /// Whether it has a sign.
    pub signed: bool,
    /// The comparison, one of `SHMEM_CMP_`.
    pub cmp: u8,
    /// What it is compared with.
    pub wanted: u64,
    /// What it was at the last look.
    pub found: u64,
    /// Where it is one of several: how many, and whether all of them have to compare.
    pub set: Option<(u32, bool)>,
}

/// How comparisons are written, by their numbers.
const SIGNS: [&str; 6] = ["==", "!=", ">", "<=", "<", ">="];

impl Waiting {
    /// Notes what the call that began at `start` waits for.
    pub(crate) fn note(&self, start: u64, condition: &Condition) {
        let Condition { addr, bytes, signed, cmp, wanted, found, set } = condition;
        let (of, all) = set.unwrap_or_default();
        let shape = u64::from(*bytes)
            | u64::from(*cmp) << 8
            | u64::from(*signed) << 16
            | u64::from(set.is_some()) << 17
            | u64::from(all) << 18
            | u64::from(of) << 32;
        for (to, value) in [(&self.addr, *addr), (&self.shape, shape), (&self.wanted, *wanted), (&self.found, *found)] {
            to.store(value, Relaxed);
        }
        self.start.store(start, Release);
    }

    /// What the call that began at `start` waits for, where that was noted.
    pub(crate) fn read(&self, start: u64) -> Option<Condition> {
        if start == 0 || self.start.load(Acquire) != start {
            return None;
        }
        let shape = self.shape.load(Relaxed);
        let is = |bit: u32| shape >> bit & 1 != 0;
        Some(Condition {
            addr: self.addr.load(Relaxed),
            bytes: shape as u8,
            cmp: (shape >> 8) as u8,
            signed: is(16),
            set: is(17).then_some(((shape >> 32) as u32, is(18))),
            wanted: self.wanted.load(Relaxed),
            found: self.found.load(Relaxed),
        })
    }
}

impl Condition {
    /// `sig == 7, is 0`, of the variable by this name.
    pub fn shown(&self, name: &str) -> String {
        let sign = SIGNS.get(usize::from(self.cmp)).unwrap_or(&"?");
        let text = format!("{name} {sign} {}, is {}", self.number(self.wanted), self.number(self.found));
        match self.set {
            None => text,
            Some((of, true)) => format!("{text}, all of {of}"),
            Some((of, false)) => format!("{text}, or another one of {of}"),
        }
    }

    fn number(&self, bits: u64) -> String {
        let unused = 64 - 8 * u32::from(self.bytes.clamp(1, 8));
        let value = bits << unused;
        if self.signed { ((value as i64) >> unused).to_string() } else { (value >> unused).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read() {
        // SAFETY is not asked for: all fields are numbers.
        let waiting = Waiting {
            start: AtomicU64::new(0),
            addr: AtomicU64::new(0),
            shape: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            found: AtomicU64::new(0),
            reserved: [const { AtomicU64::new(0) }; 3],
        };
        assert_eq!(waiting.read(0), None);
        let int = Condition { addr: 64, bytes: 4, signed: true, cmp: 0, wanted: 7, found: u64::MAX, set: None };
        let shown = [
            (int.clone(), "sig == 7, is -1"),
            (Condition { signed: false, cmp: 5, ..int.clone() }, "sig >= 7, is 4294967295"),
            (Condition { bytes: 8, set: Some((4, true)), ..int.clone() }, "sig == 7, is -1, all of 4"),
            (Condition { bytes: 2, set: Some((9, false)), ..int }, "sig == 7, is -1, or another one of 9"),
        ];
        for (condition, text) in shown {
            waiting.note(5, &condition);
            assert_eq!(waiting.read(5), Some(condition.clone()));
            assert_eq!(waiting.read(6), None);
            assert_eq!(condition.shown("sig"), text);
        }
    }
}

//! With `--check`: members of an active set compare what they are about to do, in the rest of their `pSync`.
//!
//! A call with another work array, or on another set, is not seen: its members wait elsewhere.

use super::active::Set;
use super::check::{Arg, describe};
use super::contribution::{Kind, name, signature};
use crate::base::{Cause, Fault};
use std::sync::atomic::Ordering;

/// Elements that every work array has (`SHMEM_SYNC_SIZE`, `SHMEM_BARRIER_SYNC_SIZE` ...).
const ELEMENTS: usize = 16;
/// The first that the calls themselves do not use.
const FIRST: usize = 3;

const NAMES: [&str; ELEMENTS] = [
    "pSync[0]",
    "pSync[1]",
    "pSync[2]",
    "pSync[3]",
    "pSync[4]",
    "pSync[5]",
    "pSync[6]",
    "pSync[7]",
    "pSync[8]",
    "pSync[9]",
    "pSync[10]",
    "pSync[11]",
    "pSync[12]",
    "pSync[13]",
    "pSync[14]",
    "pSync[15]",
];

impl Set<'_> {
    /// Compares a call with those of the other members. All of them are on this host.
    #[cold]
    #[inline(never)]
    pub(super) fn compare(&self, kind: Kind, args: &[(Arg, u64)]) -> Result<(), Fault> {
        self.w.map.local("pSync", self.psync, ELEMENTS * 8)?;
        let mine = |index: usize| self.word(index, self.me);
        for (index, &arg) in NAMES.iter().enumerate().skip(FIRST) {
            let value = mine(index)?.load(Ordering::Relaxed) as i64;
            if value != 0 {
                return Err(Fault::from(Cause::BadValue { arg, value, expected: "SHMEM_SYNC_VALUE in all elements" }));
            }
        }
        mine(FIRST)?.store(signature(kind, 0), Ordering::Relaxed);
        for (index, (_, value)) in args.iter().enumerate() {
            mine(FIRST + 1 + index)?.store(*value, Ordering::Relaxed);
        }
        self.synchronize()?;
        let call = name(signature(kind, 0));
        for member in 0..self.size {
            let of = |index: usize| self.word(index, member).map(|word| word.load(Ordering::Acquire));
            let pe = self.world(member);
            let theirs = of(FIRST)?;
            if theirs != signature(kind, 0) {
                return Err(Fault::from(Cause::Mismatch { mine: call.into(), theirs: name(theirs).into(), pe }));
            }
            for (index, &(arg, value)) in args.iter().enumerate() {
                let theirs = of(FIRST + 1 + index)?;
                if theirs != value {
                    let (mine, theirs) = (describe(call, arg, value), describe(call, arg, theirs));
                    return Err(Fault::from(Cause::Mismatch { mine, theirs, pe }));
                }
            }
        }
        self.synchronize()?;
        for index in FIRST..=FIRST + args.len() {
            mine(index)?.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

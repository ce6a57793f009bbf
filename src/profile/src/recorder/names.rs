//! The names of regions and markers, which all threads of a PE share.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::claim;
use crate::hash::fibonacci;
use crate::segment::names::Names;
use crate::segment::tables::REGIONS;

/// Where names were found, by hash: what is above [`NUMBER`] is the hash's, what is in it the number of the region. As
/// long as the names of a region table fill a quarter of it, the first or second look finds a name.
static FOUND: [AtomicU64; FOUNDS] = [const { AtomicU64::new(0) }; FOUNDS];
const FOUNDS: usize = 4 * REGIONS;
const NUMBER: u64 = REGIONS as u64 - 1;
/// Places that are looked at.
const LOOKS: usize = 8;

/// The number of the region with this name, which gets one if there is room.
pub(super) fn number_of(names: &Names, name: &str) -> Option<usize> {
    let name = Some(cut(name)).filter(|name| !name.is_empty())?;
    let hash = hash(name.as_bytes());
    let places = || (0..LOOKS).map(|look| &FOUND[(hash as usize).wrapping_add(look) % FOUNDS]);
    for place in places() {
        let found = place.load(Relaxed);
        let number = (found & NUMBER) as usize;
        // The table may be that of another profile: what the row says counts.
        if found & !NUMBER == hash & !NUMBER && names.regions[number].is(name) {
            return Some(number);
        }
    }
    let number = search(names, name)?;
    let is_free = |place: &&AtomicU64| {
        let found = place.load(Relaxed);
        found == 0 || found & !NUMBER == hash & !NUMBER
    };
    if let Some(place) = places().find(is_free) {
        place.store(hash & !NUMBER | number as u64, Relaxed);
    }
    Some(number)
}

/// The number of a name, from the names themselves.
#[cold]
fn search(names: &Names, name: &str) -> Option<usize> {
    let known = |names: &Names| {
        let mut rows = names.regions.iter().enumerate().skip(1);
        rows.find(|(_, row)| row.is(name) || row.is("")).map(|(number, row)| (number, !row.is("")))
    };
    match known(names)? {
        (number, true) => Some(number),
        (_, false) => locked(names, |names| {
            let (number, is_there) = known(names)?;
            if !is_there {
                names.regions[number].set(name);
            }
            Some(number)
        })?,
    }
}

/// Not for strangers' data: names are a program's own.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64 ^ fibonacci(1);
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        hash = fibonacci(hash.rotate_left(23) ^ u64::from_le_bytes(word));
    }
    // The places are the lowest bits, the best are the highest.
    (hash ^ hash >> 32) | 1 << 63
}

/// A name as far as a row keeps it.
pub(super) fn cut(name: &str) -> &str {
    let mut end = name.len().min(63);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// Runs `f` while no other thread of the PE changes names. `None`: this thread is doing so already, and a signal has
/// interrupted it.
pub(super) fn locked<R>(names: &Names, f: impl FnOnce(&Names) -> R) -> Option<R> {
    let me = claim::me();
    while let Err(holder) = names.lock.compare_exchange(0, me, Acquire, Relaxed) {
        if holder == me {
            return None;
        }
        std::thread::yield_now();
    }
    let result = f(names);
    names.lock.store(0, Release);
    Some(result)
}

/// As [`locked`], where nobody is doing so: for what can be done another time, and must not wait.
pub(super) fn if_unlocked(names: &Names, f: impl FnOnce()) {
    if names.lock.compare_exchange(0, claim::me(), Acquire, Relaxed).is_ok() {
        f();
        names.lock.store(0, Release);
    }
}

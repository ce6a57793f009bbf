//! What PEs tell of their spaces to those that are no members: for messages about addresses that are none of theirs.
#![allow(unsafe_code)]

use super::spaces::SPACES;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a name.
const NAME: usize = 4;

/// A space of a PE; base 0: none.
#[repr(C)]
struct Entry {
    base: AtomicU64,
    len: AtomicU64,
    size: AtomicU64,
    spare: AtomicU64,
    name: [AtomicU64; NAME],
}

/// Bytes that a PE's entries take.
pub const DIRECTORY: usize = SPACES * size_of::<Entry>();

/// A space, as those hear of it who are no members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceInfo {
    /// What it is called, as far as there is room for that.
    pub name: String,
    /// Members.
    pub size: usize,
}

/// The entries of all PEs of the host.
#[derive(Debug)]
pub struct SpaceDirectory {
    /// Those of the first PE; the others' follow at `apart` bytes.
    first: *const u8,
    apart: usize,
    pes: usize,
    /// This PE's place among them.
    me: usize,
}

// SAFETY: shared memory that stays mapped, all of whose words are atomic.
unsafe impl Send for SpaceDirectory {}
// SAFETY: as above.
unsafe impl Sync for SpaceDirectory {}

impl SpaceDirectory {
    /// The entries at `first`, of `pes` PEs, `apart` bytes from each other.
    ///
    /// # Safety
    /// They are mapped for the life of the process, and zero at first.
    pub unsafe fn new(first: *const u8, apart: usize, pes: usize, me: usize) -> Self {
        Self { first, apart, pes, me }
    }

    fn entries(&self, pe: usize) -> &[Entry] {
        // SAFETY: the word of `new`.
        unsafe { std::slice::from_raw_parts(self.first.wrapping_add(pe * self.apart).cast(), SPACES) }
    }

    /// Enters a space of this PE.
    pub(super) fn enter(&self, place: usize, base: usize, len: usize, size: usize, name: &str) {
        let entry = &self.entries(self.me)[place];
        let mut bytes = [0; 8 * NAME];
        let end = (0..=name.len().min(bytes.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
        for (word, bytes) in entry.name.iter().zip(bytes.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        entry.len.store(len as u64, Ordering::Relaxed);
        entry.size.store(size as u64, Ordering::Relaxed);
        entry.base.store(base as u64, Ordering::Release);
    }

    /// Takes a space of this PE out.
    pub(super) fn leave(&self, place: usize) {
        self.entries(self.me)[place].base.store(0, Ordering::Release);
    }

    fn entry(&self, pe: usize, addr: usize) -> Option<&Entry> {
        self.entries(pe).iter().find(|entry| {
            let base = entry.base.load(Ordering::Acquire);
            base != 0 && (addr as u64).wrapping_sub(base) < entry.len.load(Ordering::Relaxed)
        })
    }

    /// The space of a PE of this host that an address lies in.
    pub fn find(&self, addr: usize) -> Option<SpaceInfo> {
        let entry = (0..self.pes).find_map(|pe| self.entry(pe, addr))?;
        let words: Vec<u64> = entry.name.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        Some(known(entry.size.load(Ordering::Relaxed), &words))
    }

    /// What this PE answers to one of another host: word `index` of what it knows of an address; 0: nothing.
    pub fn answer(&self, addr: u64, index: u64) -> u64 {
        let Some(entry) = self.entry(self.me, addr as usize) else { return 0 };
        let word = (index as usize).checked_sub(1).map_or(Some(&entry.size), |index| entry.name.get(index));
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// What a PE of another host knows of an address, which `ask` asks it for.
    pub fn ask<E>(mut ask: impl FnMut(u64) -> Result<u64, E>) -> Option<SpaceInfo> {
        let size = ask(0).ok().filter(|size| *size != 0)?;
        let words: Vec<u64> = (1..=NAME as u64).map_while(|index| ask(index).ok()).collect();
        Some(known(size, &words))
    }
}

fn known(size: u64, words: &[u64]) -> SpaceInfo {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    SpaceInfo { name: String::from_utf8_lossy(&bytes).into_owned(), size: size as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_entered_is_found_by_all() {
        let words = vec![0u64; 2 * DIRECTORY / 8].leak();
        let first = words.as_ptr().cast();
        // SAFETY: zeroed, and never freed.
        let [zero, one] = [0, 1].map(|me| unsafe { SpaceDirectory::new(first, DIRECTORY, 2, me) });
        let long = "ä".repeat(40);
        one.enter(7, 0x1000, 0x100, 3, "halo");
        zero.enter(0, 0x5000, 0x10, 2, &long);
        assert_eq!(zero.find(0x10ff), Some(SpaceInfo { name: "halo".into(), size: 3 }));
        assert_eq!(one.find(0x500f), Some(SpaceInfo { name: "ä".repeat(16), size: 2 }));
        assert_eq!((zero.find(0x1100), zero.find(0xfff), zero.find(0)), (None, None, None));
        let asked = |addr| SpaceDirectory::ask(|index| Ok::<_, ()>(one.answer(addr, index)));
        assert_eq!((asked(0x1080), asked(0x5000)), (zero.find(0x1080), None));
        one.leave(7);
        assert_eq!(zero.find(0x1080), None);
    }
}

//! Which pages of a private range were ever touched.

use super::mmap::page;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes that the kernel says of a page.
const ENTRY: usize = 8;
const PRESENT_OR_SWAPPED: u64 = 0b11 << 62;

/// Asks for a range, and has room for the answer: to ask then allocates nothing.
pub struct Pagemap {
    addr: usize,
    file: Option<File>,
    entries: Vec<u8>,
}

impl Pagemap {
    /// Of `[addr, addr + len)`.
    pub fn new(addr: usize, len: usize) -> Pagemap {
        Pagemap { addr, file: File::open("/proc/self/pagemap").ok(), entries: vec![0; len / page() * ENTRY] }
    }

    /// For each page, whether it is in memory or swapped out now. `None` where the kernel does not tell.
    pub fn touched(&mut self) -> Option<impl Iterator<Item = bool>> {
        let file = self.file.as_ref()?;
        file.read_exact_at(&mut self.entries, (self.addr / page() * ENTRY) as u64).ok()?;
        let entry = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("chunks of eight"));
        Some(self.entries.chunks_exact(ENTRY).map(move |bytes| entry(bytes) & PRESENT_OR_SWAPPED != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pages_are_touched() {
        let mut pages = vec![0u8; 64 * page()];
        let first = crate::os::mmap::round_up(pages.as_ptr() as usize, page());
        let skip = first - pages.as_ptr() as usize;
        pages[skip + 3 * page()] = 1;
        if let Some(mut map) = Pagemap::new(first, 8 * page()).touched() {
            assert_eq!(map.nth(3), Some(true));
        }
    }
}

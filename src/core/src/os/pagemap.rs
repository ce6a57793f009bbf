//! Which pages of a private range were ever touched.

use super::mmap::PAGE;
use std::io::{Read, Seek, SeekFrom};

/// For each page of `[addr, addr + len)`: whether it is in memory or swapped out. `None` where the kernel does not
/// tell.
pub fn touched(addr: usize, len: usize) -> Option<Vec<bool>> {
    const PRESENT_OR_SWAPPED: u64 = 0b11 << 62;
    let mut file = std::fs::File::open("/proc/self/pagemap").ok()?;
    file.seek(SeekFrom::Start((addr / PAGE * 8) as u64)).ok()?;
    let mut raw = vec![0u8; len / PAGE * 8];
    file.read_exact(&mut raw).ok()?;
    Some(
        raw.chunks_exact(8)
            .map(|entry| u64::from_ne_bytes(entry.try_into().expect("chunks of eight")) & PRESENT_OR_SWAPPED != 0)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pages_are_touched() {
        let mut pages = vec![0u8; 64 * PAGE];
        let first = crate::os::mmap::round_up(pages.as_ptr() as usize, PAGE);
        let skip = first - pages.as_ptr() as usize;
        pages[skip + 3 * PAGE] = 1;
        if let Some(map) = touched(first, 8 * PAGE) {
            assert!(map[3]);
        }
    }
}

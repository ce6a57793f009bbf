//! The build id of a file.

use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::Path;

use libc::{Elf64_Ehdr, Elf64_Phdr};

use crate::elf;

/// Most bytes of notes that are looked through.
const NOTES: usize = 1 << 20;

/// The build id of a file, in hexadecimal digits; `None` where it has none, or is no plain file.
pub fn build_id(path: &Path) -> Option<String> {
    // A path in a profile may be anything, and opening some things waits.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    find(&|at, count| {
        let mut bytes = vec![0; count];
        file.read_exact_at(&mut bytes, at).is_ok().then_some(bytes)
    })
}

/// As [`build_id`]; `read` gives so many bytes from a place in the file.
fn find(read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Option<String> {
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let head = read(0, size_of::<Elf64_Ehdr>())?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let headers = number(&head, offset_of!(Elf64_Ehdr, e_phoff), 8);
    let size = number(&head, offset_of!(Elf64_Ehdr, e_phentsize), 2);
    (0..number(&head, offset_of!(Elf64_Ehdr, e_phnum), 2)).find_map(|row| {
        let header = read(headers.checked_add(row * size)?, size_of::<Elf64_Phdr>())?;
        let begin = number(&header, offset_of!(Elf64_Phdr, p_offset), 8);
        let bytes = number(&header, offset_of!(Elf64_Phdr, p_filesz), 8);
        let is_note = number(&header, offset_of!(Elf64_Phdr, p_type), 4) == u64::from(libc::PT_NOTE);
        // Other segments may be large, and what a damaged file says may be anything: neither is read.
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| is_note && bytes <= NOTES)?;
        elf::build_id_among(&read(begin, bytes)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a head, one program header and notes.
    fn file(kind: u32, notes: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; size_of::<Elf64_Ehdr>() + size_of::<Elf64_Phdr>()];
        let begin = bytes.len() as u64;
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, b"\x7fELF\x02\x01");
        put(offset_of!(Elf64_Ehdr, e_phoff), &(size_of::<Elf64_Ehdr>() as u64).to_le_bytes());
        put(offset_of!(Elf64_Ehdr, e_phentsize), &(size_of::<Elf64_Phdr>() as u16).to_le_bytes());
        put(offset_of!(Elf64_Ehdr, e_phnum), &1_u16.to_le_bytes());
        let header = size_of::<Elf64_Ehdr>();
        put(header + offset_of!(Elf64_Phdr, p_type), &kind.to_le_bytes());
        put(header + offset_of!(Elf64_Phdr, p_offset), &begin.to_le_bytes());
        put(header + offset_of!(Elf64_Phdr, p_filesz), &(notes.len() as u64).to_le_bytes());
        bytes.extend(notes);
        bytes
    }

    fn found(bytes: &[u8]) -> Option<String> {
        let read = |at: u64, count: usize| {
            let at = usize::try_from(at).ok()?;
            bytes.get(at..at.checked_add(count)?).map(<[u8]>::to_vec)
        };
        find(&read)
    }

    #[test]
    fn nothing_is_read_but_notes_of_a_usual_size() {
        let size = size_of::<Elf64_Ehdr>() + offset_of!(Elf64_Phdr, p_filesz);
        for (kind, bytes) in [
            (libc::PT_LOAD, 700 << 20),
            (libc::PT_LOAD, u64::MAX),
            (libc::PT_NOTE, NOTES as u64 + 1),
            (libc::PT_NOTE, 1 << 62),
            (libc::PT_NOTE, u64::MAX),
        ] {
            let mut whole = file(kind, &[]);
            whole[size..size + 8].copy_from_slice(&bytes.to_le_bytes());
            let read = |at: u64, count: usize| {
                assert!(count <= size_of::<Elf64_Ehdr>(), "{count} bytes are read at {at}");
                whole.get(at as usize..at as usize + count).map(<[u8]>::to_vec)
            };
            assert_eq!(find(&read), None, "{kind}, {bytes}");
        }
    }

    #[test]
    fn ids_of_any_length_are_found() {
        for length in [8_u32, 16, 20] {
            let id: Vec<u8> = (1..=length as u8).collect();
            let head = [4_u32.to_le_bytes(), length.to_le_bytes(), 3_u32.to_le_bytes(), *b"GNU\0"].concat();
            let whole = file(libc::PT_NOTE, &[head, id].concat());
            let digits: String = (1..=length).map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found(&whole), Some(digits), "{length}");
            for cut in 0..whole.len() {
                assert_eq!(found(&whole[..cut]), None, "{length}: torn at {cut}");
            }
        }
        let note = [&4_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), &3_u32.to_le_bytes(), b"GNU\0\x01\0\0\0"].concat();
        assert_eq!(found(&file(libc::PT_NOTE, &note)), Some("01".into()));
        assert_eq!(found(&file(libc::PT_LOAD, &note)), None);
        assert_eq!((found(&[0; 3]), found(&[0; 300])), (None, None));
        assert_eq!((build_id(Path::new("/dev/zero")), build_id(Path::new("/no/such"))), (None, None));
    }
}

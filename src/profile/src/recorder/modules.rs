//! Which objects are loaded where: by this a reader finds the source line of a return address, after the process is
//! gone.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

use crate::segment::extra::{MODULES, Names};
use crate::segment::layout::Region;

/// Notes the objects that are loaded now and were not yet noted.
pub(super) fn note(region: &Region) {
    // SAFETY: the callback matches the documented signature, and `names` lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::from_ref(&region.names).cast_mut().cast()) };
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and `note` a table.
    let (info, names) = unsafe { (&*info, &*names.cast::<Names>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: as many program headers as the description says.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let code = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0);
    let start = code.clone().map(|h| info.dlpi_addr + h.p_vaddr).min();
    let end = code.map(|h| info.dlpi_addr + h.p_vaddr + h.p_memsz).max();
    let (Some(start), Some(end)) = (start, end) else { return 0 };
    for module in &names.modules[..MODULES] {
        let found = module.start.load(Relaxed);
        if found == start {
            return 0;
        }
        if found == 0 {
            module.base.store(info.dlpi_addr, Relaxed);
            module.end.store(end, Relaxed);
            module.path.set(&path(info));
            module.build_id.set(&build_id(info, headers));
            module.start.store(start, Relaxed);
            return 0;
        }
    }
    1
}

/// The kind of a note that is a build id, and whose it is.
const BUILD_ID: (u32, &[u8]) = (3, b"GNU\0");

/// The build id that the linker gave an object, in hexadecimal digits; empty where there is none.
fn build_id(info: &libc::dl_phdr_info, headers: &[libc::Elf64_Phdr]) -> String {
    let is_loaded = |note: &&libc::Elf64_Phdr| {
        let covers = |h: &libc::Elf64_Phdr| {
            let end = note.p_vaddr.checked_add(note.p_memsz);
            h.p_type == libc::PT_LOAD
                && h.p_flags & libc::PF_R != 0
                && h.p_vaddr <= note.p_vaddr
                && end.is_some_and(|end| end <= h.p_vaddr + h.p_filesz)
        };
        note.p_type == libc::PT_NOTE && headers.iter().any(covers)
    };
    for header in headers.iter().filter(is_loaded) {
        let begin = (info.dlpi_addr + header.p_vaddr) as usize as *const u8;
        // SAFETY: the note is inside of a segment of the file that the loader mapped for reading.
        let notes = unsafe { std::slice::from_raw_parts(begin, header.p_memsz as usize) };
        if let Some(id) = build_id_among(notes) {
            return id.iter().map(|byte| format!("{byte:02x}")).collect();
        }
    }
    String::new()
}

/// The build id among notes: each has the lengths of name and contents, its kind, and both, filled up to four bytes.
fn build_id_among(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, contents) = (word(0) as usize, word(4) as usize);
        let (owner, rest) = rest.split_at_checked(name.checked_next_multiple_of(4)?)?;
        let (text, rest) = rest.split_at_checked(contents.checked_next_multiple_of(4)?)?;
        if (word(8), &owner[..name]) == BUILD_ID {
            return Some(&text[..contents]);
        }
        notes = rest;
    }
}

/// File of an object. The executable has an empty name.
fn path(info: &libc::dl_phdr_info) -> String {
    // SAFETY: the name is null or a C string of the loader.
    let name = (!info.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy());
    match name {
        Some(name) if !name.is_empty() => name.into_owned(),
        _ => std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_among_notes() {
        let note = |name: &[u8], kind: u32, contents: &[u8]| {
            let mut note = Vec::new();
            [name.len() as u32, contents.len() as u32, kind].iter().for_each(|n| note.extend(n.to_ne_bytes()));
            for part in [name, contents] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let others = [note(b"GNU\0", 5, &[9; 7]), note(b"stapsdt\0", 3, &[1])].concat();
        assert_eq!(build_id_among(&others), None);
        assert_eq!(
            build_id_among(&[others.clone(), note(b"GNU\0", 3, &[0xa, 0xff, 1])].concat()),
            Some(&[0xa, 0xff, 1][..])
        );
        let mut torn = note(b"GNU\0", 3, &[7; 20]);
        torn.truncate(30);
        assert_eq!(build_id_among(&torn), None);
        assert_eq!(build_id_among(&u32::MAX.to_ne_bytes().repeat(4)), None);
    }
}

//! The shared objects of this process.
#![allow(unsafe_code)]

use std::ffi::CStr;

use libc::{Elf64_Phdr, dl_phdr_info};

/// A shared object: where it is loaded, and its program headers.
#[derive(Clone)]
pub struct Object {
    base: usize,
    headers: &'static [Elf64_Phdr],
    name: Option<&'static CStr>,
}

/// All of them, in the order of loading.
pub fn all() -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    // SAFETY: the callback only touches `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    found
}

unsafe extern "C" fn add(info: *mut dl_phdr_info, _size: usize, found: *mut libc::c_void) -> i32 {
    // SAFETY: the loader passes a valid record, and `found` is the pointer given to dl_iterate_phdr.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Object>>()) };
    if !info.dlpi_phdr.is_null() {
        // SAFETY: the record's array has dlpi_phnum entries; it stays while the object is loaded, and tools stay.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        // SAFETY: null or a C string that stays with the object.
        let name = (!info.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(info.dlpi_name) });
        found.push(Object { base: info.dlpi_addr as usize, headers, name });
    }
    0
}

impl Object {
    /// Whether both are the same loaded object.
    pub fn is(&self, other: &Object) -> bool {
        self.headers.as_ptr() == other.headers.as_ptr()
    }

    /// The file it was loaded from; `None` for the program itself.
    pub fn name(&self) -> Option<&'static CStr> {
        self.name.filter(|name| !name.is_empty())
    }

    /// Where the addresses of the object count from.
    pub fn base(&self) -> usize {
        self.base
    }

    fn of(&self, kind: u32) -> impl Iterator<Item = &Elf64_Phdr> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    fn range(&self, header: &Elf64_Phdr) -> std::ops::Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start + header.p_memsz as usize
    }

    /// Whether an address lies in what is loaded of it.
    pub fn contains(&self, address: usize) -> bool {
        self.of(libc::PT_LOAD).any(|header| self.range(header).contains(&address))
    }

    /// Address of the dynamic section.
    pub fn dynamic(&self) -> Option<usize> {
        self.of(libc::PT_DYNAMIC).next().map(|header| self.range(header).start)
    }

    /// How the page at an address is protected once the loader is done with it.
    pub fn protection(&self, page: usize, bytes: usize) -> i32 {
        let has = |header: &&Elf64_Phdr| {
            let range = self.range(header);
            range.start < page + bytes && page < range.end
        };
        let flags = self.of(libc::PT_LOAD).filter(has).fold(0, |flags, header| flags | header.p_flags);
        let pairs = [(libc::PF_R, libc::PROT_READ), (libc::PF_W, libc::PROT_WRITE), (libc::PF_X, libc::PROT_EXEC)];
        let protection = pairs.iter().filter(|(flag, _)| flags & flag != 0).fold(0, |all, (_, bit)| all | bit);
        // The loader takes the right to write from whole pages only.
        let relocated = self.of(libc::PT_GNU_RELRO).any(|header| {
            let range = self.range(header);
            range.start & !(bytes - 1) <= page && page + bytes <= range.end
        });
        if relocated { protection & !libc::PROT_WRITE } else { protection }
    }
}

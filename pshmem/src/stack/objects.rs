//! The shared objects of this process.
#![allow(unsafe_code)]

use std::ffi::CStr;

use libc::{Elf64_Phdr, dl_phdr_info};
use pellucid_core::os::mmap::page;

/// Tag of the dynamic section: an object that this one needs.
pub const DT_NEEDED: i64 = 1;
/// Tag of the dynamic section: what an object calls itself.
const DT_SONAME: i64 = 14;
/// Tag of the dynamic section: names.
pub const DT_STRTAB: i64 = 5;
/// Tag of the dynamic section: symbols.
pub const DT_SYMTAB: i64 = 6;

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
    found.extend(Object::of_loader(info));
    0
}

impl Object {
    /// The object that a record of `dl_iterate_phdr` describes.
    pub fn of_loader(info: &dl_phdr_info) -> Option<Object> {
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: the record's array has dlpi_phnum entries; it stays while the object is loaded, and tools stay.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        // SAFETY: null or a C string that stays with the object.
        let name = (!info.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(info.dlpi_name) });
        Some(Object { base: info.dlpi_addr as usize, headers, name })
    }

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

    /// The addresses of what is loaded of it.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.of(libc::PT_LOAD).map(|header| self.range(header))
    }

    /// Whether an address lies in what is loaded of it.
    pub fn contains(&self, address: usize) -> bool {
        self.ranges().any(|range| range.contains(&address))
    }

    /// Address of the dynamic section.
    pub fn dynamic(&self) -> Option<usize> {
        self.of(libc::PT_DYNAMIC).next().map(|header| self.range(header).start)
    }

    /// What the dynamic section says.
    pub fn section(&self) -> Option<Section> {
        self.dynamic().map(|dynamic| Section { dynamic, base: self.base })
    }

    /// The texts that a tag of the dynamic section stands for.
    pub fn texts(&self, tag: i64) -> Vec<&'static CStr> {
        let Some(section) = self.section() else { return Vec::new() };
        let Some(names) = section.address(DT_STRTAB) else { return Vec::new() };
        let of_tag = section.pairs().filter(|pair| pair[0] == tag);
        // SAFETY: the value is the place of a C string in the table of names, which stays while the object is loaded.
        of_tag.map(|pair| unsafe { CStr::from_ptr((names + pair[1] as usize) as *const _) }).collect()
    }

    /// Whether another object that needs this one names it so.
    pub fn is_called(&self, name: &CStr) -> bool {
        let file = self.name().map(|path| path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default());
        file == Some(name.to_bytes()) || self.name() == Some(name) || self.texts(DT_SONAME).contains(&name)
    }

    /// Runs `write` while what lies in `start..end`, within a page or two, may be written. Not where the kernel
    /// refuses.
    pub fn writable(&self, start: usize, end: usize, write: impl FnOnce()) {
        let size = page();
        let first = start & !(size - 1);
        let bytes = (end - first).next_multiple_of(size);
        let protection = self.protection(first, size);
        let protect = |bits: i32| {
            // SAFETY: pages of a loaded object, which stay readable all the time.
            unsafe { libc::mprotect(first as *mut _, bytes, bits) }
        };
        let closed = protection & libc::PROT_WRITE == 0;
        if closed && protect(protection | libc::PROT_WRITE) != 0 {
            return;
        }
        write();
        if closed {
            protect(protection);
        }
    }

    /// How the page at an address is protected once the loader is done with it.
    fn protection(&self, page: usize, bytes: usize) -> i32 {
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

/// The dynamic section of an object.
pub struct Section {
    dynamic: usize,
    base: usize,
}

impl Section {
    /// Tags and their values.
    fn pairs(&self) -> impl Iterator<Item = [i64; 2]> {
        let first = self.dynamic as *const [i64; 2];
        // SAFETY: a dynamic section is an array of pairs that ends with the tag 0, readable while the object is loaded.
        let pairs = (0..).map(move |at| unsafe { first.add(at).read() });
        pairs.take_while(|pair| pair[0] != 0)
    }

    /// The value of a tag.
    pub fn value(&self, tag: i64) -> Option<usize> {
        self.pairs().find(|pair| pair[0] == tag).map(|pair| pair[1] as usize)
    }

    /// The value of a tag, which is an address. Some loaders leave these in the section as they are in the file.
    pub fn address(&self, tag: i64) -> Option<usize> {
        self.value(tag).map(|value| if value < self.base { value + self.base } else { value })
    }
}

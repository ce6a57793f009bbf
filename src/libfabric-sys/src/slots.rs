//! What the opened libfabric calls by a name of the C library: the slots that the loader filled in for it.
#![allow(unsafe_code)]

use libc::{Elf64_Phdr, Elf64_Rela, Elf64_Sym, dl_phdr_info};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;

/// Relocations whose slot holds the address of a function (`GLOB_DAT` and `JUMP_SLOT`).
#[cfg(target_arch = "x86_64")]
const FUNCTION: [u32; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const FUNCTION: [u32; 2] = [1025, 1026];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const FUNCTION: [u32; 0] = [];

const PAGE: usize = 4096;

/// The object of this process that an address lies in. It stays loaded.
pub(crate) struct Object {
    base: usize,
    headers: &'static [Elf64_Phdr],
}

struct Search {
    address: usize,
    found: Option<Object>,
}

unsafe extern "C" fn look(info: *mut dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid record, and `search` is the pointer given to dl_iterate_phdr.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the record's array has dlpi_phnum entries, and stays as long as the object is loaded: for ever, says the caller of
    // `Object::at`.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let object = Object { base: info.dlpi_addr as usize, headers };
    let here = object.of(libc::PT_LOAD).any(|range| range.contains(&search.address));
    if here {
        search.found = Some(object);
    }
    c_int::from(here)
}

impl Object {
    /// The object that an address lies in, which is never unloaded.
    pub(crate) fn at(address: usize) -> Option<Self> {
        let mut search = Search { address, found: None };
        // SAFETY: the callback touches `search` only, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    }

    fn of(&self, kind: u32) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.headers.iter().filter(move |header| header.p_type == kind).map(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            start..start + header.p_memsz as usize
        })
    }

    /// The value of a tag of the dynamic section.
    fn tag(&self, tag: i64) -> Option<usize> {
        let dynamic = self.of(libc::PT_DYNAMIC).next()?.start as *const [i64; 2];
        // SAFETY: the section is an array of pairs that ends with the tag 0.
        let pairs = (0..).map(|at| unsafe { dynamic.add(at).read() });
        pairs.take_while(|pair| pair[0] != 0).find(|pair| pair[0] == tag).map(|pair| pair[1] as usize)
    }

    /// The value of a tag that is an address; some loaders leave it as it is in the file.
    fn address(&self, tag: i64) -> Option<usize> {
        self.tag(tag).map(|value| if value < self.base { value + self.base } else { value })
    }

    /// Where the loader has put the address of the function that the object calls by a name.
    fn slots(&self, name: &CStr) -> Vec<usize> {
        let mut found = Vec::new();
        let (Some(symbols), Some(names)) = (self.address(DT_SYMTAB), self.address(DT_STRTAB)) else { return found };
        for (table, bytes) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
            let (Some(table), Some(bytes)) = (self.address(table), self.tag(bytes)) else { continue };
            // SAFETY: the dynamic section says that there are so many.
            let table =
                unsafe { std::slice::from_raw_parts(table as *const Elf64_Rela, bytes / size_of::<Elf64_Rela>()) };
            for relocation in table {
                if !FUNCTION.contains(&(relocation.r_info as u32)) {
                    continue;
                }
                // SAFETY: a relocation's symbol is in the symbol table, its name in the string table.
                let its = unsafe {
                    let symbol = (symbols as *const Elf64_Sym).add((relocation.r_info >> 32) as usize);
                    CStr::from_ptr((names + (*symbol).st_name as usize) as *const _)
                };
                let slot = self.base + relocation.r_offset as usize;
                if its == name && slot.is_multiple_of(size_of::<usize>()) {
                    found.push(slot);
                }
            }
        }
        found
    }

    /// Has the object call `to` where it calls the function of that name. Gives what it called before; `None` where it does not
    /// call such a function by a slot, or the slot cannot be written.
    ///
    /// # Safety
    /// `to` is the address of a function of the same type that stays for ever.
    pub(crate) unsafe fn redirect(&self, name: &CStr, to: usize) -> Option<usize> {
        let mut before = None;
        for slot in self.slots(name) {
            let page = slot & !(PAGE - 1);
            // Slots of an object that is bound at once are write-protected when the loader is done, in whole pages.
            let closed =
                self.of(libc::PT_GNU_RELRO).any(|range| range.start & !(PAGE - 1) <= page && page + PAGE <= range.end);
            let protect = |bits: c_int| {
                // SAFETY: a page of a loaded object, which stays readable all the time.
                unsafe { libc::mprotect(page as *mut c_void, PAGE, bits) }
            };
            if closed && protect(libc::PROT_READ | libc::PROT_WRITE) != 0 {
                continue;
            }
            // SAFETY: the loader wrote a pointer there; it is aligned, and writable now. Other threads may call through it.
            before = Some(unsafe { AtomicUsize::from_ptr(slot as *mut usize) }.swap(to, Ordering::AcqRel));
            if closed {
                protect(libc::PROT_READ);
            }
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_by_their_addresses() {
        let object = Object::at(objects_are_found_by_their_addresses as *const () as usize).unwrap();
        assert!(object.slots(c"no_such_function_anywhere").is_empty());
        assert!(Object::at(8).is_none());
    }
}

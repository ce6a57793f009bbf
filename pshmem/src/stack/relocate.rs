//! Rewrites what a loaded object refers to: the slots that the loader filled in for its undefined (and its replaceable)
//! symbols, in `.got`, `.got.plt` and initialized data.
#![allow(unsafe_code)]

use std::ffi::CStr;

use libc::{Elf64_Rela, Elf64_Sym};

use pellucid_core::os::mmap::page;

use super::objects::{DT_STRTAB, DT_SYMTAB, Object};

const DT_PLTRELSZ: i64 = 2;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;

/// Relocations whose slot holds the address of a symbol, plus the addend for the first.
#[cfg(target_arch = "x86_64")]
const ABSOLUTE: u32 = 1;
#[cfg(target_arch = "x86_64")]
const SLOTS: [u32; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const ABSOLUTE: u32 = 257;
#[cfg(target_arch = "aarch64")]
const SLOTS: [u32; 2] = [1025, 1026];

/// Has each reference to a symbol for which `meaning` gives an address refer to that.
pub fn rewrite(object: &Object, meaning: impl Fn(&str) -> Option<usize>) {
    let Some(section) = object.section() else { return };
    let (Some(symbols), Some(names)) = (section.address(DT_SYMTAB), section.address(DT_STRTAB)) else { return };
    let mut wanted = Vec::new();
    for (table, bytes) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
        let (Some(table), Some(bytes)) = (section.address(table), section.value(bytes)) else { continue };
        // SAFETY: the dynamic section says that there are so many relocations; they stay while the object is loaded.
        let table = unsafe { std::slice::from_raw_parts(table as *const Elf64_Rela, bytes / size_of::<Elf64_Rela>()) };
        for relocation in table {
            let (symbol, kind) = ((relocation.r_info >> 32) as usize, relocation.r_info as u32);
            let addend = match kind {
                ABSOLUTE => relocation.r_addend as usize,
                _ if SLOTS.contains(&kind) => 0,
                _ => continue,
            };
            // SAFETY: a relocation's symbol is an entry of the symbol table, its name one of the string table.
            let name = unsafe {
                let symbol = (symbols as *const Elf64_Sym).add(symbol);
                CStr::from_ptr((names + (*symbol).st_name as usize) as *const _)
            };
            if let Some(meaning) = name.to_str().ok().and_then(&meaning) {
                wanted.push((object.base() + relocation.r_offset as usize, meaning.wrapping_add(addend)));
            }
        }
    }
    wanted.sort_unstable();
    let page = page();
    for slots in wanted.chunk_by(|a, b| a.0 / page == b.0 / page) {
        store(object, slots);
    }
}

/// Writes slots of one page, which may be write-protected by now.
fn store(object: &Object, slots: &[(usize, usize)]) {
    // The last slot may reach into the next page.
    object.writable(slots[0].0, slots[slots.len() - 1].0 + size_of::<usize>(), || {
        for &(slot, value) in slots {
            // SAFETY: the loader wrote a pointer there; it is writable now.
            unsafe { (slot as *mut usize).write_unaligned(value) };
        }
    });
}

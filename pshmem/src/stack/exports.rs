//! Rewrites what an object's own names mean to those that are bound to it from now on: the entries of its table of
//! symbols.
//!
//! References that are bound already are a matter of [`super::relocate`].
#![allow(unsafe_code)]

use std::ffi::CStr;

use libc::Elf64_Sym;

use pellucid_core::os::mmap::page;

use super::objects::{DT_STRTAB, DT_SYMTAB, Object};

const DT_HASH: i64 = 4;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// `STT_FUNC` and `STT_GNU_IFUNC`: kinds of symbols, in the lower half of `st_info`.
const FUNCTION: u8 = 2;
const CHOSEN_FUNCTION: u8 = 10;

/// Entries as they were.
pub struct Changed {
    object: Object,
    before: Vec<(usize, u8, u64)>,
}

/// The first function that an object defines by a name that `is_meant`.
pub fn first(object: &Object, is_meant: impl Fn(&str) -> bool) -> Option<&'static str> {
    let (symbols, names) = table(object)?;
    symbols.iter().filter(|symbol| is_function(symbol)).map(|symbol| name(symbol, names)).find(|name| is_meant(name))
}

/// Whether an object defines what this is an entry of, and that is a function.
fn is_function(symbol: &Elf64_Sym) -> bool {
    symbol.st_shndx != 0 && [FUNCTION, CHOSEN_FUNCTION].contains(&(symbol.st_info & 0xf))
}

/// Its name; empty where that is no text.
fn name(symbol: &Elf64_Sym, names: usize) -> &'static str {
    // SAFETY: a symbol's name is a C string of the object's string table.
    unsafe { CStr::from_ptr((names + symbol.st_name as usize) as *const _) }.to_str().unwrap_or_default()
}

/// Gives each function that an object defines, and for which `meaning` has an address, that address.
pub fn redefine(object: &Object, meaning: impl Fn(&str) -> Option<usize>) -> Changed {
    let mut entries = Vec::new();
    if let Some((symbols, names)) = table(object) {
        for symbol in symbols {
            if !is_function(symbol) {
                continue;
            }
            if let Some(address) = meaning(name(symbol, names)) {
                let value = address.wrapping_sub(object.base()) as u64;
                entries.push((std::ptr::from_ref(symbol) as usize, symbol.st_info & 0xf0 | FUNCTION, value));
            }
        }
    }
    store(object, entries)
}

/// Puts entries back.
pub fn restore(changed: Changed) {
    store(&changed.object, changed.before);
}

/// The table of symbols and the address of their names.
fn table(object: &Object) -> Option<(&'static [Elf64_Sym], usize)> {
    let section = object.section()?;
    let (symbols, names) = (section.address(DT_SYMTAB)?, section.address(DT_STRTAB)?);
    let count = section.address(DT_HASH).map(chains).or_else(|| section.address(DT_GNU_HASH).map(last))?;
    // SAFETY: the hash table says that there are so many; they stay while the object is loaded.
    Some((unsafe { std::slice::from_raw_parts(symbols as *const Elf64_Sym, count) }, names))
}

/// Symbols that a table of the old kind knows: as many as it has chains.
fn chains(table: usize) -> usize {
    // SAFETY: it begins with the numbers of buckets and of chains.
    unsafe { (table as *const u32).add(1).read() as usize }
}

/// Symbols up to the last that a table of the GNU kind knows: it ends the chain that begins last.
fn last(table: usize) -> usize {
    let words = table as *const u32;
    // SAFETY: numbers of buckets, of symbols before the first that is known, of words of the filter; then the filter,
    // of twice the width, the buckets, and for each known symbol a word whose lowest bit says that its chain ends.
    unsafe {
        let (buckets, first, filter) = (*words as usize, *words.add(1) as usize, *words.add(2) as usize);
        let starts = words.add(4 + 2 * filter);
        let Some(mut at) = (0..buckets).map(|bucket| *starts.add(bucket) as usize).max().filter(|at| *at >= first)
        else {
            return first;
        };
        while *starts.add(buckets + at - first) & 1 == 0 {
            at += 1;
        }
        at + 1
    }
}

/// Writes entries (address, kind, value), whose pages are write-protected. Gives what was there.
fn store(object: &Object, entries: Vec<(usize, u8, u64)>) -> Changed {
    let mut before = Vec::new();
    let page = page();
    for some in entries.chunk_by(|a, b| a.0 / page == b.0 / page) {
        // The last entry may reach into the next page.
        object.writable(some[0].0, some[some.len() - 1].0 + size_of::<Elf64_Sym>(), || {
            for &(symbol, info, value) in some {
                let symbol = symbol as *mut Elf64_Sym;
                // SAFETY: an entry of the table, which is writable now.
                unsafe {
                    before.push((symbol as usize, (*symbol).st_info, (*symbol).st_value));
                    (*symbol).st_info = info;
                    (*symbol).st_value = value;
                }
            }
        });
    }
    Changed { object: object.clone(), before }
}

//! Who else defines `shmem_` routines in this process.
//!
//! A profiling tool that is compiled into the program defines a strong `shmem_X` and calls `pshmem_X` from it. The
//! application's calls then arrive where the tool goes on, and that is where they have to be recorded;
//! [`crate::caller`] tells them from the tool's own. Tools in objects of their own ([`crate::stack`]) are none of
//! these: this library calls them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Once;

use pellucid_profile::arm;
use pellucid_profile::op::OPS;

use crate::caller;
use crate::entry;
use crate::generated::addresses::BOUND;
use crate::stack;

unsafe extern "C" {
    fn dladdr1(addr: *const c_void, info: *mut libc::Dl_info, extra: *mut *mut c_void, flags: c_int) -> c_int;
}

/// `RTLD_DL_SYMENT` of `dladdr1`.
const SYMBOL_ENTRY: c_int = 1;

/// Tells the profile of which `shmem_` routines it must take what comes in at `pshmem_X`: those that the executable
/// defines, and those whose `pshmem_X` it calls anyway, so that such calls are not missing without a word. Looks once:
/// at the first initialization, or before it where somebody is to see that, too, once the tools in a row are known.
pub fn find() {
    static FOUND: Once = Once::new();
    FOUND.call_once(look);
}

fn look() {
    let is_foreign = |op: &usize| {
        let bound = BOUND[*op].0;
        !is_own(bound) && !stack::has_adopted(bound) && is_definition(bound.cast(), OPS[*op].name())
    };
    let mut foreign: Vec<usize> = (0..BOUND.len()).filter(is_foreign).collect();
    let direct = stack::called_by_program();
    if foreign.is_empty() && direct.is_empty() {
        return;
    }
    let function = |&op: &usize| {
        let start = BOUND[op].0;
        let bytes = symbol_at(start.cast()).map_or(0, |symbol| symbol.bytes);
        start.addr()..start.addr() + bytes
    };
    caller::set_defined(foreign.iter().map(function).collect());
    foreign.extend(direct);
    foreign.iter().for_each(|&op| arm::set_foreign(op as u16, true));
}

/// Whether the address is one of this library's entries.
pub fn is_own(address: *const ()) -> bool {
    entry::is_entry(address.addr())
}

/// Whether a function stands at an address outside this library, and not a jump to this library's own.
///
/// A program that is not position-independent and takes the address of `shmem_X` binds every reference in the process
/// to a jump in its own procedure linkage table, so that pointers compare equal. Its symbol there is undefined.
fn is_definition(address: *const c_void, name: &str) -> bool {
    let (Some(there), Some(here)) = (symbol_at(address), symbol_at(entry::first() as *const c_void)) else {
        // A static executable has no symbols to ask for: nothing in it can jump to another object.
        return true;
    };
    there.object == here.object || there.defines.is_some_and(|defined| defined.to_bytes() == name.as_bytes())
}

struct Symbol {
    /// Where the object is loaded.
    object: *mut c_void,
    /// The symbol at or before the address, if the object defines it.
    defines: Option<&'static CStr>,
    /// How much stands there.
    bytes: usize,
}

fn symbol_at(address: *const c_void) -> Option<Symbol> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut entry: *mut c_void = ptr::null_mut();
    // SAFETY: both results are ours to write, and any address may be asked for.
    if unsafe { dladdr1(address, &raw mut info, &raw mut entry, SYMBOL_ENTRY) } == 0 {
        return None;
    }
    let entry: *const libc::Elf64_Sym = entry.cast();
    // SAFETY: where there is an entry it lies in the object's symbol table, which stays while the object is loaded.
    let entry = unsafe { entry.as_ref() }.filter(|entry| entry.st_shndx != 0);
    let defined = entry.is_some();
    let defines = (defined && !info.dli_sname.is_null()).then(|| {
        // SAFETY: a name in the object's string table, null-terminated.
        unsafe { CStr::from_ptr(info.dli_sname) }
    });
    Some(Symbol { object: info.dli_fbase, defines, bytes: entry.map_or(0, |entry| entry.st_size as usize) })
}

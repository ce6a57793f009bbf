//! The dynamic loader, where the process has one: libraries that only some jobs need are opened when a job needs them.
#![allow(unsafe_code)]

use super::elf::{self, Segment};
use super::own_code;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn pellucid_has_loader() -> c_int;
    fn pellucid_dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn pellucid_dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn pellucid_dlerror() -> *const c_char;
}

/// Whether the loader's functions are in this process. In a static executable they are not, or cannot load anything.
pub fn is_linked() -> bool {
    // SAFETY: asks for a value.
    unsafe { pellucid_has_loader() != 0 }
}

/// `dlopen`: a handle, 0 for none.
///
/// # Safety
/// Constructors of the library run; [`is_linked`].
pub unsafe fn open(path: &CStr, flags: c_int) -> usize {
    // SAFETY: the caller's, and a C string.
    unsafe { pellucid_dlopen(path.as_ptr(), flags) as usize }
}

/// `dlsym`: an address, 0 for none.
///
/// # Safety
/// The handle is one of [`open`], or one that `dlsym` knows.
pub unsafe fn symbol(handle: usize, name: &CStr) -> usize {
    // SAFETY: the caller's, and a C string.
    unsafe { pellucid_dlsym(handle as *mut c_void, name.as_ptr()) as usize }
}

/// The file that what lies at an address was loaded from.
pub fn path_of(address: *const c_void) -> Option<String> {
    name_of(address).map(|name| name.to_string_lossy().into_owned())
}

/// The loader's name of the object that an address is in. The string is as long there as the object is loaded.
fn name_of<'a>(address: *const c_void) -> Option<&'a CStr> {
    // SAFETY: a zeroed result is valid: null pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; the result is ours to write.
    let known = unsafe { libc::dladdr(address, &raw mut found) } != 0 && !found.dli_fname.is_null();
    // SAFETY: a C string of the loader.
    known.then(|| unsafe { CStr::from_ptr(found.dli_fname) })
}

/// Keeps this code in the process until its end, also where what it was linked to is unloaded: a plugin that the static
/// library is part of. Of `libsma.so.1` the linker says so (`-z nodelete` in ./x), and executables stay in any case.
pub fn keep_this_code() {
    let own = keep_this_code as *const c_void;
    let of_executable = |part: &Segment| (part.addr..part.addr + part.memory).contains(&own.addr());
    if own_code::section().is_empty() || elf::parts().iter().any(of_executable) || !is_linked() {
        return;
    }
    let Some(name) = name_of(own) else { return };
    // SAFETY: there is a loader, and no constructor runs, since the object is loaded already.
    if unsafe { open(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) } == 0 {
        // Else the program would read of this error where it asks for one of its own.
        error();
    }
}

/// `dlerror`: why the last call failed.
pub fn error() -> String {
    // SAFETY: a C string of the loader, or null.
    let text = unsafe { pellucid_dlerror() };
    if text.is_null() {
        return "no reason given".into();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A library, open for the life of the process.
#[derive(Debug, Clone, Copy)]
pub struct Library {
    handle: usize,
}

impl Library {
    /// Opens the first of these files that can be opened; its names stay its own. A name without a slash is looked for
    /// as the loader does. Error: each name with the reason.
    pub fn open_first<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(Self, &'a str), String> {
        // A static executable has no interpreter; its own loader functions, where the linker took them in, crash.
        // SAFETY: asks for a value.
        if !is_linked() || unsafe { libc::getauxval(libc::AT_BASE) } == 0 {
            return Err("this program is linked statically and cannot load libraries".into());
        }
        let mut reasons = Vec::new();
        for name in names {
            let Ok(path) = CString::new(name) else { continue };
            // SAFETY: a library of the system, or one that the user named, is made to be loaded.
            let handle = unsafe { open(&path, libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if handle != 0 {
                return Ok((Self { handle }, name));
            }
            // The loader begins with the name itself.
            let reason = error();
            reasons.push(if reason.starts_with(name) { reason } else { format!("{name}: {reason}") });
        }
        Err(reasons.join("; "))
    }

    /// Address of a function; `None` where the library has none of that name.
    pub fn function(&self, name: &CStr) -> Option<std::ptr::NonNull<c_void>> {
        // SAFETY: the handle is open for ever.
        std::ptr::NonNull::new(unsafe { symbol(self.handle, name) } as *mut c_void)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_opened_or_the_reasons_are_given() {
        let (library, name) = Library::open_first(["libno-such-thing.so.9", "libc.so.6"]).unwrap();
        assert_eq!(name, "libc.so.6");
        assert!(library.function(c"getpid").is_some());
        assert!(library.function(c"no_such_function").is_none());
        let reasons = Library::open_first(["libno-such-thing.so.9", "/none.so"]).unwrap_err();
        assert!(
            reasons.starts_with("libno-such-thing.so.9: cannot open") && reasons.contains("; /none.so: "),
            "{reasons}"
        );
    }
}

//! Opening libfabric.
#![allow(unsafe_code)]

use crate::bindings::{fi_fabric_attr, fi_info, fid_fabric};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;

/// Where libfabric is looked for: by the loader's rules first, then where vendors put theirs.
const CANDIDATES: &[&str] = &[
    "libfabric.so.1",
    "/opt/cray/lib64/libfabric.so.1",
    "/opt/amazon/efa/lib64/libfabric.so.1",
    "/opt/amazon/efa/lib/libfabric.so.1",
    "/usr/local/lib/libfabric.so.1",
];

type GetInfo = unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const fi_info, *mut *mut fi_info) -> c_int;
type FreeInfo = unsafe extern "C" fn(*mut fi_info);
type DupInfo = unsafe extern "C" fn(*const fi_info) -> *mut fi_info;
type Fabric = unsafe extern "C" fn(*mut fi_fabric_attr, *mut *mut fid_fabric, *mut c_void) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;
type Version = unsafe extern "C" fn() -> u32;

/// An opened libfabric. It stays loaded until the process ends: providers keep threads and handlers in it.
#[derive(Debug, Clone)]
pub struct Library {
    path: String,
    version: u32,
    getinfo: GetInfo,
    freeinfo: FreeInfo,
    dupinfo: DupInfo,
    fabric: Fabric,
    strerror: StrError,
}

/// No libfabric could be used: what was tried, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError {
    /// Path and reason of each.
    pub tried: Vec<(String, String)>,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("libfabric cannot be opened; tried")?;
        for (i, (path, reason)) in self.tried.iter().enumerate() {
            write!(f, "{} {path} ({reason})", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for OpenError {}

impl Library {
    /// Opens the library at `path`, or the first that is found in the usual places.
    pub fn open(path: Option<&str>) -> Result<Self, OpenError> {
        let mut tried = Vec::new();
        let only = path.map(|path| [path]);
        for path in only.as_ref().map_or(CANDIDATES, |path| path) {
            match Self::open_at(path) {
                Ok(library) => return Ok(library),
                Err(reason) => tried.push(((*path).to_owned(), reason)),
            }
        }
        Err(OpenError { tried })
    }

    fn open_at(path: &str) -> Result<Self, String> {
        let name = CString::new(path).map_err(|_| "has a zero byte".to_owned())?;
        let open = loader().ok_or("this program is linked statically and cannot load libraries")?;
        // SAFETY: a zero-terminated string. Constructors of libfabric may run; it is meant to be loaded like this.
        let handle = unsafe { open(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(loader_error(path));
        }
        // The versions are those under which libfabric 1.17 exports the layouts of `bindings`; later libraries keep
        // them beside their own, so that asking without a version would give functions that use larger structures.
        // SAFETY: names, versions and types belong together, by libfabric's own export list.
        unsafe {
            let version: Version = symbol(handle, c"fi_version", c"FABRIC_1.0")?;
            let version = version();
            if version < crate::VERSION {
                return Err(format!(
                    "is version {}.{}, {}.{} or later is needed",
                    version >> 16,
                    version & 0xffff,
                    crate::FI_MAJOR_VERSION,
                    crate::FI_MINOR_VERSION
                ));
            }
            Ok(Self {
                path: path.to_owned(),
                version,
                getinfo: symbol(handle, c"fi_getinfo", c"FABRIC_1.3")?,
                freeinfo: symbol(handle, c"fi_freeinfo", c"FABRIC_1.3")?,
                dupinfo: symbol(handle, c"fi_dupinfo", c"FABRIC_1.3")?,
                fabric: symbol(handle, c"fi_fabric", c"FABRIC_1.1")?,
                strerror: symbol(handle, c"fi_strerror", c"FABRIC_1.0")?,
            })
        }
    }

    /// Where it was found.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its interface version: major and minor.
    pub fn version(&self) -> (u32, u32) {
        (self.version >> 16, self.version & 0xffff)
    }

    /// `fi_getinfo` with [`crate::VERSION`], without node and service.
    ///
    /// # Safety
    /// `hints` is null or from [`Self::allocinfo`]; what comes in `info` goes to [`Self::freeinfo`].
    pub unsafe fn getinfo(&self, hints: *const fi_info, info: *mut *mut fi_info) -> c_int {
        // SAFETY: the caller's.
        unsafe { (self.getinfo)(crate::VERSION, std::ptr::null(), std::ptr::null(), 0, hints, info) }
    }

    /// `fi_freeinfo`.
    ///
    /// # Safety
    /// `info` is from this library and not used any more.
    pub unsafe fn freeinfo(&self, info: *mut fi_info) {
        // SAFETY: the caller's.
        unsafe { (self.freeinfo)(info) }
    }

    /// `fi_allocinfo`: an empty one with all its parts; null where there is no memory.
    pub fn allocinfo(&self) -> *mut fi_info {
        // SAFETY: a null pointer asks for an empty one.
        unsafe { (self.dupinfo)(std::ptr::null()) }
    }

    /// `fi_dupinfo`: a copy of the first of a list.
    ///
    /// # Safety
    /// `info` is from this library.
    pub unsafe fn dupinfo(&self, info: *const fi_info) -> *mut fi_info {
        // SAFETY: the caller's.
        unsafe { (self.dupinfo)(info) }
    }

    /// `fi_fabric`.
    ///
    /// # Safety
    /// `attr` is that of an info of this library.
    pub unsafe fn fabric(&self, attr: *mut fi_fabric_attr, fabric: *mut *mut fid_fabric) -> c_int {
        // SAFETY: the caller's.
        unsafe { (self.fabric)(attr, fabric, std::ptr::null_mut()) }
    }

    /// The text of an error number, given with either sign.
    pub fn strerror(&self, error: i64) -> String {
        // SAFETY: any number may be asked for; the text is static.
        let text = unsafe { (self.strerror)(error.unsigned_abs() as c_int) };
        // SAFETY: libfabric gives a zero-terminated text for every number.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// A function of the library.
///
/// # Safety
/// `F` is the function pointer type of that symbol in that version.
unsafe fn symbol<F: Copy>(handle: *mut c_void, name: &CStr, version: &CStr) -> Result<F, String> {
    unsafe extern "C" {
        fn dlvsym(handle: *mut c_void, symbol: *const c_char, version: *const c_char) -> *mut c_void;
    }
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: an open handle and zero-terminated strings.
    let address = unsafe { dlvsym(handle, name.as_ptr(), version.as_ptr()) };
    if address.is_null() {
        return Err(format!("has no {} of version {}", name.to_string_lossy(), version.to_string_lossy()));
    }
    // SAFETY: F is a function pointer, says the caller.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

type Loader = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// `dlopen`, by its name: a reference to it would have the linker warn of every static executable.
fn loader() -> Option<Loader> {
    // SAFETY: a C string; what is found under this name is a function of this type, and null is none.
    unsafe { std::mem::transmute::<*mut c_void, Option<Loader>>(libc::dlsym(libc::RTLD_DEFAULT, c"dlopen".as_ptr())) }
}

/// The loader's reason, without the path that it may begin with.
fn loader_error(path: &str) -> String {
    // SAFETY: the text, where there is one, is this thread's until its next call of the loader.
    let text = unsafe {
        let text = libc::dlerror();
        if text.is_null() { "unknown".to_owned() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    text.strip_prefix(path).map_or(text.as_str(), |rest| rest.trim_start_matches(": ")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_names_what_was_tried() {
        let error = Library::open(Some("/nowhere/libfabric.so.1")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/nowhere/libfabric.so.1 (cannot open shared object file"), "{text}");
    }

    #[test]
    fn another_library_is_not_taken_for_libfabric() {
        let error = Library::open(Some("libc.so.6")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "libfabric cannot be opened; tried libc.so.6 (has no fi_version of version FABRIC_1.0)"
        );
    }

    #[test]
    fn infos_are_filled_in() {
        let library = match Library::open(None) {
            Ok(library) => library,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let (major, minor) = library.version();
        assert!((major, minor) >= (1, 17), "{major}.{minor}");
        let info = library.allocinfo();
        assert!(!info.is_null());
        // SAFETY: just made, with its parts.
        unsafe {
            assert!(!(*info).tx_attr.is_null() && !(*info).domain_attr.is_null() && !(*info).fabric_attr.is_null());
            library.freeinfo(info);
        }
        assert_eq!(library.strerror(-11), "Resource temporarily unavailable");
    }
}

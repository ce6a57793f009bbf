//! The part of the binary interface of libpmix.so.2 that is used here. It has been the same since PMIx 2.
#![allow(unsafe_code)]

use crate::os::library::Library;
use std::ffi::{CStr, c_char, c_int, c_void};

/// Bytes of a namespace with its end.
const NAMESPACE: usize = 256;
/// `PMIX_SUCCESS`
pub(super) const SUCCESS: c_int = 0;
/// `PMIX_RANK_WILDCARD`
pub(super) const ANY_RANK: u32 = u32::MAX - 1;
/// `PMIX_GLOBAL`: for all processes of the job.
pub(super) const GLOBAL: u8 = 3;

/// `pmix_proc_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) namespace: [c_char; NAMESPACE],
    pub(super) rank: u32,
}

impl Process {
    pub(super) const NONE: Self = Self { namespace: [0; NAMESPACE], rank: 0 };

    pub(super) fn namespace(&self) -> String {
        let bytes: Vec<u8> = self.namespace.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Bytes of a key with its end, in an [`Info`].
const KEY_BYTES: usize = 512;

/// `pmix_info_t`: how a request is to be carried out. One at a time, as its size differs between versions.
#[repr(C)]
pub(super) struct Info {
    key: [u8; KEY_BYTES],
    flags: u32,
    value: Value,
}

impl Info {
    fn new(key: &CStr, value: Value) -> Self {
        let mut name = [0; KEY_BYTES];
        name[..key.count_bytes()].copy_from_slice(key.to_bytes());
        Self { key: name, flags: 0, value }
    }

    /// Ask nobody else: what is not known here is not there. Asking for what no server knows can take for ever.
    pub(super) fn known_here() -> Self {
        Self::new(c"pmix.optional", Value::yes())
    }

    /// Every server is to have what all have published.
    pub(super) fn with_data() -> Self {
        Self::new(c"pmix.collect", Value::yes())
    }

    /// Wait so many seconds at most.
    pub(super) fn within(seconds: u32) -> Self {
        let mut value = Value { kind: kind::INT, data: Data { room: [0; 8] } };
        value.data.number = seconds;
        Self::new(c"pmix.timeout", value)
    }
}

const _: () = assert!(std::mem::offset_of!(Info, flags) == 512 && std::mem::offset_of!(Info, value) == 520);
const _: () = assert!(std::mem::offset_of!(Value, data) == 8 && size_of::<Process>() == 260);

/// Kinds of a [`Value`] (`pmix_data_type_t`).
pub(super) mod kind {
    pub(super) const BOOL: u16 = 1;
    pub(in super::super) const STRING: u16 = 3;
    pub(in super::super) const SIZE: u16 = 4;
    pub(in super::super) const INT: u16 = 6;
    pub(in super::super) const UINT32: u16 = 14;
    pub(in super::super) const BYTES: u16 = 27;
}

/// `pmix_byte_object_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub(super) start: *mut c_char,
    pub(super) len: usize,
}

/// `pmix_value_t`, with more room than it has in any version: only ever read through pointers where the library made
/// it.
#[repr(C)]
pub(super) struct Value {
    pub(super) kind: u16,
    pub(super) data: Data,
}

impl Value {
    fn yes() -> Self {
        let mut value = Self { kind: kind::BOOL, data: Data { room: [0; 8] } };
        value.data.number = 1;
        value
    }
}

#[repr(C)]
pub(super) union Data {
    pub(super) string: *mut c_char,
    pub(super) number: u32,
    pub(super) size: usize,
    pub(super) bytes: Bytes,
    pub(super) room: [u64; 8],
}

macro_rules! functions {
    ($($field:ident: $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of the library.
        #[derive(Clone, Copy)]
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Looks them up. Error: the one that is missing.
            pub(super) fn find(library: Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        let found = library.function($name).ok_or($name.to_str().unwrap_or_default())?.as_ptr();
                        type Function = unsafe extern "C" fn($($argument),*) -> $result;
                        // SAFETY: the function of this name has had this signature since PMIx 2.
                        unsafe { std::mem::transmute::<*mut c_void, Function>(found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    init: c"PMIx_Init" (*mut Process, *mut c_void, usize) -> c_int;
    finalize: c"PMIx_Finalize" (*const c_void, usize) -> c_int;
    put: c"PMIx_Put" (u8, *const c_char, *mut Value) -> c_int;
    commit: c"PMIx_Commit" () -> c_int;
    fence: c"PMIx_Fence" (*const Process, usize, *const Info, usize) -> c_int;
    get: c"PMIx_Get" (*const Process, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
    abort: c"PMIx_Abort" (c_int, *const c_char, *mut Process, usize) -> c_int;
    error: c"PMIx_Error_string" (c_int) -> *const c_char;
    version: c"PMIx_Get_version" () -> *const c_char;
}

/// A C string that the library keeps.
///
/// # Safety
/// Null or a C string.
pub(super) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

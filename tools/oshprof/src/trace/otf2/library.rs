//! What is used of libotf2 3, which is opened when a trace is converted: nothing is linked.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// Where the library is looked for: a name of the user's own, then those of the system.
const VARIABLE: &str = "OSHPROF_LIBOTF2";
const NAMES: [&str; 2] = ["libotf2.so.10", "libopen-trace-format2.so.10"];

type Code = c_int;
type Handle = *mut c_void;

/// `OTF2_FlushCallbacks`.
#[repr(C)]
pub(super) struct FlushCallbacks {
    pub(super) before: extern "C" fn(Handle, u8, u64, Handle, bool) -> u8,
    pub(super) after: Option<extern "C" fn(Handle, u8, u64) -> u64>,
}

macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($type:ty),*) -> $ret:ty;)*) => {
        /// The functions, by their names without prefix.
        pub(super) struct Library {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> $ret,)*
        }

        impl Library {
            fn find(library: Handle) -> Result<Library, String> {
                Ok(Library {
                    $($name: {
                        let symbol = symbol(library, $symbol)?;
                        // SAFETY: the function of this name has this type in version 3 of the library.
                        unsafe { std::mem::transmute::<Handle, unsafe extern "C" fn($($type),*) -> $ret>(symbol) }
                    },)*
                })
            }
        }
    };
}

functions! {
    open = c"OTF2_Archive_Open": fn(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> Handle;
    close = c"OTF2_Archive_Close": fn(Handle) -> Code;
    set_flush = c"OTF2_Archive_SetFlushCallbacks": fn(Handle, *const FlushCallbacks, Handle) -> Code;
    set_serial = c"OTF2_Archive_SetSerialCollectiveCallbacks": fn(Handle) -> Code;
    open_events = c"OTF2_Archive_OpenEvtFiles": fn(Handle) -> Code;
    close_events = c"OTF2_Archive_CloseEvtFiles": fn(Handle) -> Code;
    open_definitions = c"OTF2_Archive_OpenDefFiles": fn(Handle) -> Code;
    close_definitions = c"OTF2_Archive_CloseDefFiles": fn(Handle) -> Code;
    event_writer = c"OTF2_Archive_GetEvtWriter": fn(Handle, u64) -> Handle;
    close_event_writer = c"OTF2_Archive_CloseEvtWriter": fn(Handle, Handle) -> Code;
    definition_writer = c"OTF2_Archive_GetDefWriter": fn(Handle, u64) -> Handle;
    close_definition_writer = c"OTF2_Archive_CloseDefWriter": fn(Handle, Handle) -> Code;
    global_writer = c"OTF2_Archive_GetGlobalDefWriter": fn(Handle) -> Handle;
    enter = c"OTF2_EvtWriter_Enter": fn(Handle, Handle, u64, u32) -> Code;
    leave = c"OTF2_EvtWriter_Leave": fn(Handle, Handle, u64, u32) -> Code;
    window_created = c"OTF2_EvtWriter_RmaWinCreate": fn(Handle, Handle, u64, u32) -> Code;
    window_destroyed = c"OTF2_EvtWriter_RmaWinDestroy": fn(Handle, Handle, u64, u32) -> Code;
    put = c"OTF2_EvtWriter_RmaPut": fn(Handle, Handle, u64, u32, u32, u64, u64) -> Code;
    get = c"OTF2_EvtWriter_RmaGet": fn(Handle, Handle, u64, u32, u32, u64, u64) -> Code;
    atomic = c"OTF2_EvtWriter_RmaAtomic": fn(Handle, Handle, u64, u32, u32, u8, u64, u64, u64) -> Code;
    completed = c"OTF2_EvtWriter_RmaOpCompleteBlocking": fn(Handle, Handle, u64, u32, u64) -> Code;
    completed_later = c"OTF2_EvtWriter_RmaOpCompleteNonBlocking": fn(Handle, Handle, u64, u32, u64) -> Code;
    collective_begin = c"OTF2_EvtWriter_RmaCollectiveBegin": fn(Handle, Handle, u64) -> Code;
    collective_end = c"OTF2_EvtWriter_RmaCollectiveEnd": fn(Handle, Handle, u64, u8, u32, u32, u32, u64, u64) -> Code;
    new_attributes = c"OTF2_AttributeList_New": fn() -> Handle;
    delete_attributes = c"OTF2_AttributeList_Delete": fn(Handle) -> Code;
    add_u64 = c"OTF2_AttributeList_AddUint64": fn(Handle, u32, u64) -> Code;
    add_text = c"OTF2_AttributeList_AddStringRef": fn(Handle, u32, u32) -> Code;
    clock = c"OTF2_GlobalDefWriter_WriteClockProperties": fn(Handle, u64, u64, u64, u64) -> Code;
    string = c"OTF2_GlobalDefWriter_WriteString": fn(Handle, u32, *const c_char) -> Code;
    attribute = c"OTF2_GlobalDefWriter_WriteAttribute": fn(Handle, u32, u32, u32, u8) -> Code;
    region = c"OTF2_GlobalDefWriter_WriteRegion":
        fn(Handle, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
    node = c"OTF2_GlobalDefWriter_WriteSystemTreeNode": fn(Handle, u32, u32, u32, u32) -> Code;
    group = c"OTF2_GlobalDefWriter_WriteLocationGroup": fn(Handle, u32, u32, u8, u32, u32) -> Code;
    location = c"OTF2_GlobalDefWriter_WriteLocation": fn(Handle, u64, u32, u8, u64, u32) -> Code;
    members = c"OTF2_GlobalDefWriter_WriteGroup": fn(Handle, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
    communicator = c"OTF2_GlobalDefWriter_WriteComm": fn(Handle, u32, u32, u32, u32, u32) -> Code;
    window = c"OTF2_GlobalDefWriter_WriteRmaWin": fn(Handle, u32, u32, u32, u32) -> Code;
    error_name = c"OTF2_Error_GetName": fn(Code) -> *const c_char;
}

impl Library {
    /// Opens the library.
    pub(super) fn load() -> Result<Library, String> {
        let own = std::env::var(VARIABLE).ok();
        let names: Vec<&str> = own.as_deref().map_or_else(|| NAMES.to_vec(), |own| vec![own]);
        let mut reasons = Vec::new();
        for name in names {
            let Ok(file) = CString::new(name) else { continue };
            // SAFETY: the name is NUL-terminated; the library runs no code of ours when it is loaded.
            let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW) };
            if !library.is_null() {
                return Library::find(library);
            }
            reasons.push(last_error());
        }
        Err(format!(
            "otf2: libotf2 3 is needed (Debian: libopen-trace-format2-10; or name the file in {VARIABLE}): {}",
            reasons.join("; ")
        ))
    }

    /// Success, or the library's name of what went wrong.
    pub(super) fn check(&self, what: &str, code: Code) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any code, and gives a constant string or null.
        let name = unsafe {
            let name = (self.error_name)(code);
            if name.is_null() { "unknown error".into() } else { CStr::from_ptr(name).to_string_lossy() }
        };
        Err(format!("otf2: {what}: {name}"))
    }
}

fn symbol(library: Handle, name: &CStr) -> Result<Handle, String> {
    // SAFETY: the library is open and the name NUL-terminated.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    if symbol.is_null() { Err(format!("otf2: the library has no {}", name.to_string_lossy())) } else { Ok(symbol) }
}

fn last_error() -> String {
    // SAFETY: gives null or a string that lives until the next call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

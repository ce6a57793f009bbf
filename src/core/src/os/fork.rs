//! What happens around `fork`.
#![allow(unsafe_code)]

/// Registers functions that run before a fork, and after it in the parent and in the child.
pub fn handlers(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    unsafe extern "C" {
        fn pthread_atfork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> i32;
    }
    // SAFETY: the functions are static and stay loaded.
    unsafe { pthread_atfork(before, parent, child) };
}

/// As [`handlers`], where there is something to do in the child only.
pub fn in_child(child: extern "C" fn()) {
    extern "C" fn nothing() {}
    handlers(nothing, nothing, child);
}

//! What goes on beside the program: a hook that threads of the library's own call, such as the one that serves the
//! network, so that collectives under way do not wait for the program's next call.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A `fn() -> bool`, or null.
static HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// See [`is_served`].
static SERVED: AtomicBool = AtomicBool::new(false);

/// A thread that calls [`advance`], or what that does, is about to be made.
pub fn serve() {
    SERVED.store(true, Ordering::Relaxed);
}

/// Whether there is such a thread, or was.
#[inline]
pub fn is_served() -> bool {
    SERVED.load(Ordering::Relaxed)
}

/// Has threads of the library's own call this whenever something may have moved on. It gives whether something is under
/// way.
pub fn set_hook(hook: fn() -> bool) {
    HOOK.store(hook as *mut (), Ordering::Release);
}

/// Calls the hook, where there is one. The caller holds nothing.
#[allow(unsafe_code)]
pub fn advance() -> bool {
    let hook = HOOK.load(Ordering::Acquire);
    // SAFETY: only `set_hook` stores here, and what it stores is a `fn() -> bool`.
    !hook.is_null() && unsafe { std::mem::transmute::<*mut (), fn() -> bool>(hook)() }
}

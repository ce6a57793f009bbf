//! What is said of a tool that crashes or exits while it is loaded, and what is done then.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use super::exports::{Changed, redefine};
use super::objects::Object;

/// Signals that a constructor may die of.
const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
/// Stack of the handler: a constructor may have used up its own.
const STACK: usize = 64 << 10;

/// A tool that is being loaded.
pub struct Loading {
    /// The process that loads it: a child that it makes may crash and exit.
    process: libc::pid_t,
    crashed: CString,
    exited: CString,
    /// With `--tool-optional`: what the process is to be started anew with.
    again: Option<(*const *const c_char, Vec<*const c_char>)>,
}

/// The tool that is being loaded.
static LOADING: AtomicPtr<Loading> = AtomicPtr::new(null_mut());

/// The tool that the calling process is loading.
fn loading() -> Option<&'static Loading> {
    // SAFETY: null, or set by `while_loading` to a value that lives until it is null again.
    let loading = unsafe { LOADING.load(SeqCst).as_ref() }?;
    // SAFETY: plain system call.
    (loading.process == unsafe { libc::getpid() }).then_some(loading)
}

impl Loading {
    /// What to say, and with which arguments and environment to begin again without the tool.
    pub fn new(who: &str, tool: &str, again: Option<(*const *const c_char, Vec<*const c_char>)>) -> Loading {
        let text = |what: &str| CString::new(format!("pellucid: {who}: tool {tool}: {what}")).unwrap_or_default();
        Loading {
            // SAFETY: plain system call.
            process: unsafe { libc::getpid() },
            crashed: text("crashed in its constructor: signal "),
            exited: text("ended the process in its constructor"),
            again,
        }
    }
}

fn write(text: &[u8]) {
    // SAFETY: plain system call.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Ends the process, or begins again without the tool.
fn leave(loading: &Loading) -> ! {
    if let Some((arguments, environment)) = &loading.again {
        write(b" (going on without it)\n");
        // SAFETY: both are arrays of C strings that end with null, and stay. It returns only where it failed.
        unsafe { libc::execve(c"/proc/self/exe".as_ptr(), *arguments, environment.as_ptr()) };
    }
    write(b"\n");
    end(1)
}

/// Ends the process; by no name that may stand for something else.
fn end(status: c_int) -> ! {
    // SAFETY: plain system call.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    std::process::abort()
}

extern "C" fn on_signal(signal: c_int) {
    let Some(loading) = loading() else {
        // A child of the tool's dies of it.
        // SAFETY: plain system calls; nothing of this process is to go on.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    };
    write(loading.crashed.to_bytes());
    write(&[b'0' + (signal / 10) as u8, b'0' + (signal % 10) as u8][usize::from(signal < 10)..]);
    leave(loading)
}

extern "C" fn on_exit(_status: c_int, _: *mut c_void) {
    if let Some(loading) = loading() {
        write(loading.exited.to_bytes());
        leave(loading)
    }
}

/// Stands in for `_exit` and its other names in what is being loaded.
extern "C" fn exit_at_once(status: c_int) -> ! {
    on_exit(status, null_mut());
    end(status)
}

/// Has names of `_exit` mean that this module hears of it, for what is loaded until they are restored.
pub fn observe_exit_at_once(objects: &[Object]) -> Option<Changed> {
    let library = objects.iter().find(|object| object.contains(libc::_exit as *const () as usize))?;
    Some(redefine(library, |name| ["_exit", "_Exit"].contains(&name).then_some(exit_at_once as *const () as usize)))
}

/// Has the exit of a tool noticed, once for all tools.
pub fn observe_exit() {
    unsafe extern "C" {
        #[link_name = "on_exit"]
        fn register(f: extern "C" fn(c_int, *mut c_void), arg: *mut c_void) -> c_int;
    }
    // SAFETY: the handler is a function of this library, which stays loaded.
    unsafe { register(on_exit, null_mut()) };
}

/// Runs `load`, and speaks for the tool where it crashes.
pub fn while_loading<R>(loading: &Loading, load: impl FnOnce() -> R) -> R {
    let mut stack = vec![0u8; STACK];
    // SAFETY: all-zero is a valid value of these C structures; the handler is async-signal-safe; what was there before
    // is put back below, before the alternate stack goes.
    unsafe {
        let mut before: [libc::sigaction; SIGNALS.len()] = std::mem::zeroed();
        let mut stack_before: libc::stack_t = std::mem::zeroed();
        let ours = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&raw const ours, &raw mut stack_before);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        // The signal must not stay blocked in a process that begins again.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        LOADING.store(std::ptr::from_ref(loading).cast_mut(), SeqCst);
        for (signal, before) in SIGNALS.iter().zip(&mut before) {
            libc::sigaction(*signal, &raw const action, &raw mut *before);
        }
        let result = load();
        for (signal, before) in SIGNALS.iter().zip(&before) {
            // A tool may have handlers of its own by now: they stay.
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(*signal, null(), &raw mut now);
            if now.sa_sigaction == on_signal as *const () as usize {
                libc::sigaction(*signal, &raw const *before, null_mut());
            }
        }
        LOADING.store(null_mut(), SeqCst);
        libc::sigaltstack(&raw const stack_before, null_mut());
        result
    }
}

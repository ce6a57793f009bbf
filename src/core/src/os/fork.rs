//! What happens around `fork`.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

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

/// Has a parent see, by a byte of a file that both have open, that a child is alive: until that releases it, ends, or
/// runs another program. Any number of processes may hold a byte. Whether it holds it. Makes a system call only.
pub fn hold_byte(fd: RawFd, at: usize) -> bool {
    let lock = of_byte(libc::F_RDLCK, at);
    // SAFETY: reads the structure.
    unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const lock) == 0 }
}

/// See [`hold_byte`].
pub fn release_byte(fd: RawFd, at: usize) {
    let lock = of_byte(libc::F_UNLCK, at);
    // SAFETY: reads the structure.
    unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const lock) };
}

/// Whether another process holds a byte: [`hold_byte`].
pub fn is_byte_held(fd: RawFd, at: usize) -> bool {
    let mut lock = of_byte(libc::F_WRLCK, at);
    // SAFETY: writes the structure.
    let asked = unsafe { libc::fcntl(fd, libc::F_GETLK, &raw mut lock) == 0 };
    asked && lock.l_type != libc::F_UNLCK as libc::c_short
}

fn of_byte(kind: libc::c_int, at: usize) -> libc::flock {
    // SAFETY: zeroes are a value of it.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = at as libc::off_t;
    lock.l_len = 1;
    lock
}

/// Whether the calling thread has a child, as it has after a fork that did not fail, until somebody waits for that.
pub fn has_child() -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: zeroes are a value of it, which is written; no child's state is taken away.
    unsafe {
        let mut found: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut found, options) == 0 || *libc::__errno_location() != libc::ECHILD
    }
}

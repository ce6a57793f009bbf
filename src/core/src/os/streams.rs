//! Output streams of the C library. A thread of the program holds the lock of one for as long as it reads or writes
//! there: one that waits for input may do so for ever, and whoever flushes all streams waits for it.
#![allow(unsafe_code)]

use super::{futex, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
    fn funlockfile(stream: *mut libc::FILE);
}

/// Makes stdout line-buffered where it is a pipe, so that lines reach the launcher whole and at once, and survive a
/// kill.
pub fn line_buffered_stdout() {
    // SAFETY: stdout is libc's own stream; setvbuf with a null buffer only changes its mode.
    unsafe {
        if libc::isatty(1) == 0 {
            libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 0);
        }
    }
}

/// Flushes standard output and standard error. Allocates nothing.
pub fn flush_standard() {
    // SAFETY: streams of the C library's, which the program may set to others, and to none.
    unsafe {
        for stream in [stdout, stderr] {
            // A null one would mean all streams.
            if !stream.is_null() {
                libc::fflush(stream);
            }
        }
    }
}

/// As [`flush_standard`], but for a stream that another thread has locked.
pub fn flush_free_standard() {
    // SAFETY: streams of the C library's, which the program may set to others, and to none.
    unsafe {
        for stream in [stdout, stderr] {
            if !stream.is_null() && ftrylockfile(stream) == 0 {
                libc::fflush(stream);
                funlockfile(stream);
            }
        }
    }
}

/// A flush of all output streams by a thread of its own, the standard ones first.
#[derive(Debug)]
pub struct Flushing {
    /// 1: all is written.
    done: Arc<AtomicU32>,
}

impl Flushing {
    /// Begins it. Where there can be no thread, the standard streams alone are flushed, as far as nobody has locked
    /// them.
    pub fn begin() -> Self {
        let done = Arc::new(AtomicU32::new(0));
        let theirs = done.clone();
        let flush = move || {
            flush_free_standard();
            // SAFETY: a null stream means all of them.
            unsafe { libc::fflush(std::ptr::null_mut()) };
            theirs.store(1, Ordering::Release);
            futex::wake_all(&theirs);
        };
        if thread::spawn(c"pellucid-flush", flush).is_err() {
            flush_free_standard();
            done.store(1, Ordering::Release);
        }
        Self { done }
    }

    /// Waits for its end, at most for as long as `limit`.
    pub fn wait(&self, limit: Duration) {
        let begin = Instant::now();
        while self.done.load(Ordering::Acquire) == 0 {
            let left = limit.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return;
            }
            futex::wait(&self.done, 0, left);
        }
    }
}

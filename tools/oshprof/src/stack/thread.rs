//! A thread, stopped for a moment.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::ffi::c_void;

/// Bytes of the stack that are copied at most.
#[cfg(target_arch = "x86_64")]
const STACK: usize = 256 << 10;

/// Registers of a thread, and what is on its stack.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    /// By their numbers in DWARF: 0 to 15, and 16 the next instruction.
    pub registers: [u64; 17],
    /// Where the copy begins.
    pub begin: u64,
    pub stack: Vec<u8>,
}

impl Stopped {
    /// A word of the stack.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.begin)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// Stops the main thread of a process, copies, and lets it go on. `None`: that is not permitted, or not possible here.
#[cfg(target_arch = "x86_64")]
pub(super) fn copy(pid: u32) -> Option<Stopped> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let none = std::ptr::null_mut::<c_void>();
    // SAFETY: takes no memory of this process.
    if unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, none, none) } != 0 {
        return None;
    }
    let stopped = stopped(pid);
    // SAFETY: as above; a process that has ended needs no letting go.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, none, none) };
    stopped
}

/// Other processors have other registers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy(_: u32) -> Option<Stopped> {
    None
}

#[cfg(target_arch = "x86_64")]
fn stopped(pid: libc::pid_t) -> Option<Stopped> {
    let none = std::ptr::null_mut::<c_void>();
    let mut status = 0;
    // SAFETY: the status is writable.
    let is_stopped = unsafe {
        libc::ptrace(libc::PTRACE_INTERRUPT, pid, none, none) == 0
            && libc::waitpid(pid, &raw mut status, libc::__WALL) == pid
    };
    if !is_stopped || !libc::WIFSTOPPED(status) {
        return None;
    }
    // SAFETY: plain numbers.
    let mut now: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: room for the registers.
    if unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, none, (&raw mut now).cast::<c_void>()) } != 0 {
        return None;
    }
    let registers = [
        now.rax, now.rdx, now.rcx, now.rbx, now.rsi, now.rdi, now.rbp, now.rsp, now.r8, now.r9, now.r10, now.r11,
        now.r12, now.r13, now.r14, now.r15, now.rip,
    ];
    // Signals that came meanwhile have stopped it instead: they are passed on when it is let go.
    Some(Stopped { registers, begin: now.rsp, stack: read(pid, now.rsp) })
}

/// As much of the memory from an address on as there is.
#[cfg(target_arch = "x86_64")]
fn read(pid: libc::pid_t, begin: u64) -> Vec<u8> {
    const PAGE: usize = 4096;
    let mut bytes = vec![0_u8; STACK];
    let mut done = 0;
    while done < STACK {
        // To the end of a page: beyond it there may be nothing.
        let from = begin as usize + done;
        let count = (PAGE - from % PAGE).min(STACK - done);
        let here = libc::iovec { iov_base: bytes[done..].as_mut_ptr().cast(), iov_len: count };
        let there = libc::iovec { iov_base: from as *mut c_void, iov_len: count };
        // SAFETY: `count` bytes are writable here; what is not there is an error.
        if unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0) } != count as isize {
            break;
        }
        done += count;
    }
    bytes.truncate(done);
    bytes
}

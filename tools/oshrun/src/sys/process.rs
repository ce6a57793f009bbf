//! Children and process groups.
#![allow(unsafe_code)]

use pellucid_core::os::proc;
use pellucid_profile::live::find;
use std::io;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// `exit` with this status.
    Exited(i32),
    /// By a signal; whether it left a core file.
    Killed { signal: i32, core: bool },
}

/// What there is to wait for.
#[derive(Debug, PartialEq, Eq)]
pub enum Wait {
    /// This child has ended, and is gone now.
    Child(i32, Ended),
    /// Children exist; none has ended.
    Running,
    /// No children exist.
    NoChild,
}

/// Takes the next child that has ended, without waiting.
pub fn wait_any() -> Wait {
    let mut status = 0;
    // SAFETY: the status is writable.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        0 => Wait::Running,
        pid if pid > 0 && libc::WIFSIGNALED(status) => {
            Wait::Child(pid, Ended::Killed { signal: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) })
        }
        pid if pid > 0 => Wait::Child(pid, Ended::Exited(libc::WEXITSTATUS(status))),
        _ => Wait::NoChild,
    }
}

/// Lets debuggers of this user attach to this process, where the system restricts that. Async-signal-safe.
pub fn let_attach() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

/// Whether a child has ended, or is none any more. Without waiting.
pub fn has_gone(pid: i32) -> bool {
    // SAFETY: nothing is written where the status is not wanted.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) != 0 }
}

/// Waits for one child to end.
pub fn wait_for(pid: i32) {
    wait_for_end(pid);
}

/// As [`wait_for`], and says how it ended.
pub fn wait_for_end(pid: i32) -> Ended {
    let mut status = 0;
    loop {
        // SAFETY: the status is writable.
        let found = unsafe { libc::waitpid(pid, &mut status, 0) };
        if found == pid && libc::WIFSIGNALED(status) {
            return Ended::Killed { signal: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) };
        }
        if found == pid {
            return Ended::Exited(libc::WEXITSTATUS(status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            // It cannot be waited for: whoever asks takes it for a failure.
            return Ended::Exited(1);
        }
    }
}

/// Whether a process is stopped: by a signal, or by a debugger.
pub fn is_stopped(pid: i32) -> bool {
    find::state(pid as u32).is_some_and(|(state, _)| matches!(state, 'T' | 't'))
}

/// Whether a process is stopped, or in the hands of a debugger: it does not go on by itself.
pub fn is_held(pid: i32) -> bool {
    let status = proc::read(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim_start();
    field("State:").starts_with(['T', 't']) || !matches!(field("TracerPid:"), "" | "0")
}

/// Makes orphaned descendants children of this process, so that they can be found and ended.
pub fn adopt_orphans() {
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Has the calling process killed when its parent `parent` dies; says whether the parent is still there.
/// Async-signal-safe.
pub fn die_with(parent: i32) -> bool {
    // SAFETY: sets an attribute of this process; getppid has no arguments.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        libc::getppid() == parent
    }
}

/// Undoes [`die_with`], for a process that notices by itself.
pub fn outlive_parent() {
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0) };
}

/// The id of this process. Async-signal-safe.
pub fn id() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::getpid() }
}

/// Sends a signal to a process. False: it does not exist.
pub fn signal(pid: i32, signal: i32) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::kill(pid, signal) == 0 }
}

/// The process group of a process; `None`: it does not exist.
pub fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: no pointers.
    Some(unsafe { libc::getpgid(pid) }).filter(|group| *group > 0)
}

/// Whether a process runs, rather than having ended or being waited for.
pub fn runs(pid: i32) -> bool {
    let stat = proc::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Sends a signal (0: none) to a process group. False: it has no members.
pub fn signal_group(group: i32, signal: i32) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::kill(-group, signal) == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH) }
}

/// A copy of this process: `Some(child)` in the parent, `None` in the child. Only while there is one thread.
pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: the caller has one thread, so the child's memory is consistent.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Leaves session, terminal and working directory, keeps `keep` as descriptor 3 and no other, and takes a name.
/// Returns 3.
pub fn detach(keep: i32, name: &std::ffi::CStr) -> i32 {
    // SAFETY: plain system calls on this process, which owns all its descriptors and uses none of the others again.
    unsafe {
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::dup2(keep, 3);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for fd in 0..3 {
            libc::dup2(null, fd);
        }
        if libc::syscall(libc::SYS_close_range, 4u32, u32::MAX, 0u32) != 0 {
            let most = crate::sys::limit::open_files().map_or(1 << 10, |limit| limit.soft.min(1 << 20));
            for fd in 4..most as i32 {
                libc::close(fd);
            }
        }
        libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0);
    }
    3
}

/// Ends the process at once.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}

/// Whether a process has a handler for a signal or ignores it.
pub fn handles(pid: i32, signal: i32) -> bool {
    let status = proc::read(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .filter_map(|line| line.strip_prefix("SigCgt:").or_else(|| line.strip_prefix("SigIgn:")))
        .filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .any(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Whether a process has a handler for a signal, which is not running now: while it does, the signal is blocked.
pub fn notes(pid: i32, signal: i32) -> bool {
    let status = proc::read(format!("/proc/{pid}/status")).unwrap_or_default();
    let has = |mask: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(mask));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    };
    has("SigCgt:") && !has("SigBlk:") && !has("SigPnd:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_process_is_held() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(!is_held(pid));
        signal(pid, libc::SIGSTOP);
        let started = std::time::Instant::now();
        while !is_held(pid) {
            assert!(started.elapsed().as_secs() < 30);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_held(pid));
    }
}

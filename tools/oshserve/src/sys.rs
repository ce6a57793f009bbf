//! System calls.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use pellucid_profile::live::find;

/// Receives bytes and perhaps a descriptor. No bytes: the other end has closed.
///
/// # Errors
/// What the system answered.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = [0_u64; 8];
    // SAFETY: zeros are an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
    // SAFETY: everything that the message points to lives until the call returns and is as long as said.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    let mut first = None;
    // SAFETY: the kernel filled in the control buffer that `message` describes.
    let mut head = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !head.is_null() {
        // SAFETY: heads that these functions return are within the buffer; so is the data that they announce.
        unsafe {
            if (*head).cmsg_level == libc::SOL_SOCKET && (*head).cmsg_type == libc::SCM_RIGHTS {
                let all = ((*head).cmsg_len - libc::CMSG_LEN(0) as usize) / size_of::<i32>();
                for at in 0..all {
                    let fd = libc::CMSG_DATA(head).cast::<i32>().add(at).read_unaligned();
                    // All of them are ours now; those beyond the first are closed.
                    let owned = OwnedFd::from_raw_fd(fd);
                    first.get_or_insert(owned);
                }
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
    }
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        // There was none left for what came, or more came than anybody has reason to send. Those that did come are ours
        // all the same, and are closed here.
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    Ok((got, first))
}

/// As many files as this process may have open, it can: each job is one.
pub fn raise_limit_of_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid place for the limit.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 && limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: as above; where it cannot be, it stays as it was.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

/// Whether nobody can shrink this memory file under a reader's feet.
pub fn is_sealed(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: plain system call.
    let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & libc::F_SEAL_SHRINK != 0
}

/// Closes all descriptors but the standard streams and perhaps one other: whoever started this process, and whoever
/// started that one, had some open that are not meant for it. What they stand for (the job's memory, a pipe whose
/// reader waits for its end, a file with a lock) would be held until this process ends. Only while there is one thread,
/// and nothing of this process's own is open.
pub fn close_all_but(kept: Option<i32>) {
    const FIRST: i32 = libc::STDERR_FILENO + 1;
    let close = |from: i32, to: i32| {
        // SAFETY: no pointers; nothing in this process uses these descriptors.
        from > to || unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) } == 0
    };
    let kept = kept.filter(|&number| number >= FIRST);
    if kept.is_none_or(|kept| close(FIRST, kept - 1)) && close(kept.map_or(FIRST, |kept| kept + 1), i32::MAX) {
        return;
    }
    // Kernels before 5.9 close one at a time.
    let names = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|&number| number >= FIRST && Some(number) != kept) {
        // SAFETY: as above. That by which the directory was read is closed already, which is no more than an error.
        unsafe { libc::close(number) };
    }
}

/// The socket that is this process's standard input, which has none from then on.
///
/// # Errors
/// It is no socket.
pub fn take_standard_input() -> io::Result<UnixStream> {
    let own = io::stdin().as_fd().try_clone_to_owned()?;
    let stream = UnixStream::from(own);
    stream.local_addr()?;
    let nothing = File::open("/dev/null")?;
    // SAFETY: both descriptors are open.
    let replaced = unsafe { libc::dup2(nothing.as_raw_fd(), 0) };
    if replaced < 0 { Err(io::Error::last_os_error()) } else { Ok(stream) }
}

/// Goes on as a process that whoever started this one has not to wait for, in a session of its own: signals from a
/// terminal are not for it. Only while there is one thread.
///
/// # Errors
/// What the system answered.
pub fn leave_the_starter() -> io::Result<()> {
    // SAFETY: there is one thread.
    match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {}
        // SAFETY: ends this process, of which the other one is a copy.
        _ => unsafe { libc::_exit(0) },
    }
    // SAFETY: no arguments.
    unsafe { libc::setsid() };
    Ok(())
}

/// From here on nothing is written to standard output and error, nor to another descriptor that was inherited: others
/// may read them to their end.
pub fn silence(inherited: Option<i32>) {
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        for stream in [1, 2].into_iter().chain(inherited) {
            // SAFETY: both descriptors are open.
            unsafe { libc::dup2(nothing.as_raw_fd(), stream) };
        }
    }
}

/// Whether a process runs: one that only waits to be collected does not.
pub fn runs(pid: u32) -> bool {
    // SAFETY: no pointers.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Some(handle) = i32::try_from(handle).ok().filter(|&handle| handle >= 0) else {
        // Kernels before 5.3 have no such handles, and there may be no descriptor left. The other way takes ten times
        // as long.
        return io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH) && find::runs(pid);
    };
    // SAFETY: the kernel has just opened it for us.
    let handle = unsafe { OwnedFd::from_raw_fd(handle) };
    let mut asked = libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives until the call returns.
    let ended = unsafe { libc::poll(&raw mut asked, 1, 0) };
    ended <= 0
}

/// Ends this process after so many seconds, whatever it does, until the next call says otherwise; 0: not at all.
pub fn end_in(seconds: u32) {
    // SAFETY: no pointers; what the signal does is what it does by default.
    unsafe { libc::alarm(seconds) };
}

/// Has `last` done when a signal asks this process to end; then the signal ends it as it would have. Only while there
/// is one thread: those that follow leave these signals to the one that waits for them.
///
/// # Errors
/// There is no such thread; signals do what they did before.
pub fn before_signals_end(last: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // SAFETY: zeros are memory for a set.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    unsafe { libc::sigemptyset(&raw mut set) };
    // What is ignored, as interrupts are in the background of a shell, would come to a thread that waits for it.
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(|&signal| !is_ignored(signal)) {
        // SAFETY: the set was made above.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: the set lives until the call returns.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    let wait = move || {
        let mut signal = 0;
        // SAFETY: the set and the number live until the call returns.
        while unsafe { libc::sigwait(&raw const set, &raw mut signal) } != 0 {}
        last();
        // SAFETY: plain system calls: nobody has changed what the signal does, which is to end the process.
        unsafe {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            libc::raise(signal);
        }
    };
    let started = std::thread::Builder::new().name("signals".into()).stack_size(64 << 10).spawn(wait);
    if started.is_err() {
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) };
    }
    started.map(drop)
}

/// The name of a user, as the system's accounts have it; where they have none, the number.
pub fn user_name(user: u32) -> String {
    let mut buffer: [libc::c_char; 4096] = [0; 4096];
    // SAFETY: zeros are an entry to be overwritten.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the entry, the buffer of that many bytes and the result are valid places.
    let failed =
        unsafe { libc::getpwuid_r(user, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found) } != 0;
    if failed || found.is_null() {
        return user.to_string();
    }
    // SAFETY: a name that was found is a string in the buffer.
    unsafe { CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned()
}

/// Does something as another user, which root can.
#[cfg(test)]
pub fn as_user<T: Send>(user: u32, action: impl FnOnce() -> T + Send) -> T {
    let switched = move || {
        // SAFETY: no pointers. The system call itself is for this thread only, which ends with the action.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) }, 0);
        action()
    };
    std::thread::scope(|scope| scope.spawn(switched).join().unwrap())
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zeros are an action to be overwritten.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: `action` is a valid place for the result.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Makes what this process creates readable for its user only, until the result is dropped.
pub struct Private(libc::mode_t);

impl Private {
    /// From now on.
    pub fn new(mask: u32) -> Private {
        // SAFETY: no pointers.
        Private(unsafe { libc::umask(mask) })
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // SAFETY: no pointers.
        unsafe { libc::umask(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Sends a byte with so many copies of a descriptor.
    fn send(socket: &UnixStream, fd: &impl AsRawFd, copies: usize) {
        let mut byte = 1_u8;
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut control = [0_u64; 32];
        // SAFETY: zeros are an empty message.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        message.msg_control = control.as_mut_ptr().cast();
        let bytes = u32::try_from(copies * size_of::<i32>()).unwrap();
        // SAFETY: the buffer has room for a head and as many descriptors as a test sends; all that the message points
        // to lives until the call returns.
        let sent = unsafe {
            message.msg_controllen = libc::CMSG_SPACE(bytes) as usize;
            assert!(message.msg_controllen <= size_of_val(&control));
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            (*head).cmsg_level = libc::SOL_SOCKET;
            (*head).cmsg_type = libc::SCM_RIGHTS;
            (*head).cmsg_len = libc::CMSG_LEN(bytes) as usize;
            for at in 0..copies {
                libc::CMSG_DATA(head).cast::<i32>().add(at).write_unaligned(fd.as_raw_fd());
            }
            libc::sendmsg(socket.as_raw_fd(), &raw const message, 0)
        };
        assert_eq!(sent, 1);
    }

    /// Whoever sends more of them than there is room for does not have the others stay open.
    #[test]
    fn descriptors_that_are_not_wanted_are_closed() {
        for (copies, is_error) in [(1, false), (3, false), (50, true)] {
            let (mine, theirs) = UnixStream::pair().unwrap();
            let (mut end, begin) = io::pipe().unwrap();
            send(&theirs, &begin, copies);
            drop((begin, theirs));
            let received = receive(mine.as_fd(), &mut [0; 8]);
            assert_eq!(received.as_ref().err().and_then(io::Error::raw_os_error).is_some(), is_error, "{copies}");
            drop(received);
            // The end of a pipe that somebody can still write to does not come.
            let mut asked = libc::pollfd { fd: end.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, which lives until the call returns.
            assert_eq!(unsafe { libc::poll(&raw mut asked, 1, 0) }, 1, "{copies}: some of them are open");
            assert_eq!(end.read(&mut [0; 1]).unwrap(), 0);
        }
    }
}

//! Starting a tool beside a program: without a fork of the program, and without the parts of the standard library that
//! can do more.
#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

/// A process that was started here, and is waited for here.
#[derive(Debug)]
pub struct Spawned(libc::pid_t);

/// What a process has for a standard stream.
#[derive(Clone, Copy, Debug)]
pub enum Stream<'a> {
    /// Nothing.
    Null,
    /// The same as this process.
    Inherited,
    /// A descriptor.
    Of(BorrowedFd<'a>),
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(io::Error::other)
}

fn check(error: i32) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// What posix_spawn is told, and given back in the end.
struct Plan {
    files: libc::posix_spawn_file_actions_t,
    attributes: libc::posix_spawnattr_t,
}

impl Plan {
    /// No signal is blocked, whatever this thread has blocked, and a closed pipe ends it, as a shell would have it.
    fn new() -> io::Result<Plan> {
        // SAFETY: zeros are objects to be initialized; the sets are initialized before they are given.
        unsafe {
            let mut plan: Plan = std::mem::zeroed();
            check(libc::posix_spawn_file_actions_init(&raw mut plan.files))?;
            check(libc::posix_spawnattr_init(&raw mut plan.attributes))?;
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            check(libc::posix_spawnattr_setsigmask(&raw mut plan.attributes, &raw const signals))?;
            libc::sigaddset(&raw mut signals, libc::SIGPIPE);
            check(libc::posix_spawnattr_setsigdefault(&raw mut plan.attributes, &raw const signals))?;
            let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
            check(libc::posix_spawnattr_setflags(&raw mut plan.attributes, flags as libc::c_short))?;
            Ok(plan)
        }
    }

    fn stream(&mut self, number: i32, stream: Stream<'_>) -> io::Result<()> {
        let files = &raw mut self.files;
        // SAFETY: an initialized object; the name is copied.
        check(unsafe {
            match stream {
                Stream::Inherited => 0,
                Stream::Null => {
                    libc::posix_spawn_file_actions_addopen(files, number, c"/dev/null".as_ptr(), libc::O_RDWR, 0)
                }
                Stream::Of(fd) => libc::posix_spawn_file_actions_adddup2(files, fd.as_raw_fd(), number),
            }
        })
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: initialized in `new`.
        unsafe {
            libc::posix_spawn_file_actions_destroy(&raw mut self.files);
            libc::posix_spawnattr_destroy(&raw mut self.attributes);
        }
    }
}

impl Spawned {
    /// Starts a tool with arguments, variables (`NAME=VALUE`) and standard streams.
    ///
    /// # Errors
    /// What the system answered.
    pub fn new(
        tool: &Path,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        variables: impl IntoIterator<Item = impl AsRef<OsStr>>,
        streams: [Stream<'_>; 3],
    ) -> io::Result<Spawned> {
        let name = c_string(tool.as_os_str())?;
        let rest = arguments.into_iter().map(|argument| c_string(argument.as_ref()));
        let arguments: Vec<CString> = std::iter::once(Ok(name.clone())).chain(rest).collect::<io::Result<_>>()?;
        let variables: Vec<CString> =
            variables.into_iter().map(|variable| c_string(variable.as_ref())).collect::<io::Result<_>>()?;
        let pointers = |list: &[CString]| -> Vec<*mut libc::c_char> {
            list.iter().map(|text| text.as_ptr().cast_mut()).chain([null_mut()]).collect()
        };
        let (arguments_of, variables_of) = (pointers(&arguments), pointers(&variables));
        let mut plan = Plan::new()?;
        for (number, stream) in (0..).zip(streams) {
            plan.stream(number, stream)?;
        }
        let mut pid = 0;
        // SAFETY: strings and lists that end with null and live until the call returns, and initialized objects.
        check(unsafe {
            libc::posix_spawn(
                &raw mut pid,
                name.as_ptr(),
                &raw const plan.files,
                &raw const plan.attributes,
                arguments_of.as_ptr(),
                variables_of.as_ptr(),
            )
        })?;
        Ok(Spawned(pid))
    }

    /// Ends it.
    pub fn kill(&self) {
        // SAFETY: no pointers; it has not been waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    /// Whether it runs. Once it has ended it is gone.
    pub fn runs(&self) -> bool {
        // SAFETY: nobody wants the status.
        unsafe { libc::waitpid(self.0, null_mut(), libc::WNOHANG) == 0 }
    }

    /// Waits for its end. The program may have taken it away: its status may be nobody's.
    pub fn wait(self) {
        // SAFETY: nobody wants the status.
        while unsafe { libc::waitpid(self.0, null_mut(), 0) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

/// This process's variables, but for some.
pub fn variables_without(names: &[&str]) -> Vec<std::ffi::OsString> {
    let kept = std::env::vars_os().filter(|(name, _)| !names.iter().any(|other| name == other));
    kept.map(|(name, value)| [name, value].join(OsStr::new("="))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn arguments_variables_and_streams_are_those_that_are_given() {
        let (mut mine, theirs) = UnixStream::pair().unwrap();
        let streams = [Stream::Null, Stream::Of(theirs.as_fd()), Stream::Inherited];
        let script = "cat; echo $0 $1 $A";
        let started = Spawned::new(Path::new("/bin/sh"), ["-c", script, "zero", "one"], ["A=b c"], streams).unwrap();
        drop(theirs);
        let mut text = String::new();
        mine.read_to_string(&mut text).unwrap();
        assert_eq!(text, "zero one b c\n");
        started.wait();
        let none: [&str; 0] = [];
        let error = Spawned::new(Path::new("/no/such/tool"), none, none, [Stream::Null; 3]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_runs_can_be_ended() {
        let none: [&str; 0] = [];
        let started = Spawned::new(Path::new("/bin/sleep"), ["60"], none, [Stream::Null; 3]).unwrap();
        assert!(started.runs());
        started.kill();
        started.wait();
        assert!(variables_without(&["PATH"]).iter().all(|variable| !variable.as_bytes().starts_with(b"PATH=")));
    }
}

//! `oshrun` at a terminal, under a shell with job control.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use harness::{system, tree};

/// A shell at a terminal of its own.
struct Shell {
    child: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Shell {
    fn start() -> Shell {
        let (mut ours, mut theirs) = (0, 0);
        let null = std::ptr::null_mut();
        // SAFETY: room for two descriptors, which are new and ours.
        let (ours, theirs) = unsafe {
            assert_eq!(libc::openpty(&raw mut ours, &raw mut theirs, null, null.cast(), null.cast()), 0);
            libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
            (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
        };
        let mut command = Command::new("bash");
        command.args(["--norc", "--noprofile", "-i"]).env("PS1", "ready> ").env("TERM", "dumb");
        command.env_remove("HISTFILE").stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        command.stderr(theirs);
        system::default_signals(&mut command);
        // SAFETY: system calls only.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        drop(command);
        let terminal = File::from(ours);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut shell = Shell { child, terminal, output, seen: String::new() };
        shell.expect("ready> ");
        shell
    }

    fn type_in(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the terminal has shown this, after what was expected before.
    fn expect(&mut self, text: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("the terminal does not show {text:?}, but {:?}", self.seen),
            }
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What runs at the terminal is hung up with it.
        // SAFETY: takes no pointer.
        unsafe { libc::ioctl(self.terminal.as_raw_fd(), libc::TIOCSIG, libc::SIGHUP) };
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A shell wakes a job that it brings to the foreground only where that is stopped.
#[test]
fn a_job_that_comes_to_the_foreground_reads_what_is_typed() {
    let oshrun = tree::tool("oshrun").display().to_string();
    let mut shell = Shell::start();
    shell.type_in(&format!("{oshrun} -n 2 sh -c 'echo up; exec cat' &\n"));
    shell.expect("up\r\n");
    shell.expect("up\r\n");
    // The shell's, as long as the job is in the background.
    shell.type_in("echo $((40 + 2))\n");
    shell.expect("42\r\n");
    shell.type_in("fg\n");
    shell.expect("exec cat");
    std::thread::sleep(Duration::from_millis(100));
    shell.type_in("first\n");
    // Once by the terminal, once by the job.
    shell.expect("first\r\n");
    shell.expect("first\r\n");
    shell.type_in("\u{4}");
    shell.expect("ready> ");
    shell.type_in("echo status $?\n");
    shell.expect("status 0\r\n");
    shell.type_in("exit\n");
}

//! `oshrun` at a terminal, under a shell with job control.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use harness::compile::Build;
use harness::run::Job;
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
            let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
            libc::ioctl(ours, libc::TIOCSWINSZ, &raw const size);
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

/// A program for debuggers.
fn program() -> String {
    Build::program("endings/where.c").named("where-gdb").options(["-g", "-O0"]).build().display().to_string()
}

/// One PE is run by the debugger, which has the terminal for that time; the other one waits for it.
#[test]
fn a_debugger_has_the_terminal() {
    if system::find(&["gdb"]).is_none() {
        return println!("skipped: no gdb");
    }
    let oshrun = tree::tool("oshrun").display().to_string();
    let mut shell = Shell::start();
    shell.type_in(&format!("{oshrun} -n 2 --gdb=1 {} plain\n", program()));
    shell.expect("Temporary breakpoint 1");
    shell.expect("(gdb) ");
    // With the symbols of the program, and of the library.
    shell.type_in("print ready + 42\n");
    shell.expect("= 42");
    // It stops with the job, and goes on with it.
    shell.type_in("\x1a");
    shell.expect("ready> ");
    shell.type_in("fg\n");
    shell.type_in("print ready + 43\n");
    shell.expect("= 43");
    shell.type_in("break shmem_finalize\n");
    shell.expect("Breakpoint 2 at ");
    shell.type_in("continue\n");
    shell.expect("shmem_finalize");
    shell.type_in("continue\n");
    shell.expect("exited normally");
    shell.type_in("quit\n");
    shell.expect("ready> ");
    shell.type_in("echo status $?\n");
    shell.expect("status 0\r\n");
    // The terminal is the shell's again, and what needs one says so.
    shell.type_in(&format!("{oshrun} -n 2 --gdb=0,1 {}\n", program()));
    shell.expect("several PEs have a window of tmux each");
    shell.type_in("exit\n");
}

/// A server of tmux of its own.
struct Tmux(String);

impl Tmux {
    fn run(&self, words: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.0, "-f", "/dev/null"]).args(words).output();
        String::from_utf8_lossy(&output.expect("tmux starts").stdout).into_owned()
    }

    /// Waits until a window shows this.
    fn expect(&self, window: &str, text: &str) {
        let mut shown = String::new();
        let seen = system::wait_until(Duration::from_secs(60), || {
            shown = self.run(&["capture-pane", "-p", "-t", &format!(":{window}")]);
            shown.contains(text)
        });
        assert!(seen, "{window} does not show {text:?}, but\n{shown}");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn debuggers_have_windows_of_tmux() {
    if system::find(&["gdb"]).is_none() || system::find(&["tmux"]).is_none() {
        return println!("skipped: no gdb, or no tmux");
    }
    let oshrun = tree::tool("oshrun").display().to_string();
    let tmux = Tmux(format!("pellucid-{}", std::process::id()));
    let job = format!("{oshrun} -n 3 --gdb=0,2 {} plain; echo status $?; exec sleep 60", program());
    tmux.run(&["new-session", "-d", "-n", "job", "-x", "100", "-y", "30", "sh", "-c", &job]);
    for window in ["PE 0", "PE 2"] {
        tmux.expect(window, "breakpoint 2");
    }
    for window in ["PE 0", "PE 2"] {
        tmux.run(&["send-keys", "-t", &format!(":{window}"), "continue", "Enter"]);
    }
    for window in ["PE 0", "PE 2"] {
        tmux.expect(window, "exited normally");
    }
    tmux.expect("job", "status 0");
}

#[test]
fn top_is_a_screen_with_keys() {
    let binary = Build::program("live/stuck.c").build();
    let job = Job::oshrun(4).arg(binary).arg("busy").limit(120).start();
    let oshprof = tree::tool("oshprof").display().to_string();
    let mut shell = Shell::start();
    // The launcher may not have come to its PEs yet.
    let begun = format!("until {oshprof} top {} --once >/dev/null 2>&1; do sleep 0.1; done", job.pid());
    shell.type_in(&format!("{begun}; {oshprof} top {} --interval 0.2\n", job.pid()));
    // Blanks are not drawn anew: words are.
    shell.expect("computing");
    shell.expect("state");
    shell.expect("q quit  h help");
    shell.expect("shmem_uint64_atomic_inc");
    shell.type_in("h");
    shell.expect("Ctrl-C");
    // Away, sorted by the last column, scrolled, and out.
    shell.type_in("h\x1b[D");
    shell.expect("heapv");
    shell.type_in("\x1b[6~\tq");
    shell.expect("ready> ");
    shell.type_in("echo status $?\n");
    shell.expect("status 0\r\n");
    shell.type_in("exit\n");
    system::signal(job.pid(), libc::SIGTERM);
    job.wait();
}

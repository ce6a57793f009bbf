//! Running `oshrun` on shell commands: none of these tests needs the library.
#![allow(dead_code, unsafe_code)]

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes, even on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

/// A job that is ended ends within 2 s; this is for machines that do much else meanwhile. What these tests run would
/// take 30 s if it were not ended.
pub const SOON: Duration = Duration::from_secs(12);

/// What came of a run.
#[derive(Debug)]
pub struct Result {
    /// Exit status; 128 + signal as a shell has it.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// How long it took.
    pub time: Duration,
}

/// `oshrun` with these arguments, not started.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshrun"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Whoever runs the tests in the background may have these ignored, and oshrun leaves ignored signals alone.
    // SAFETY: signal is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
}

/// Starts a shell command as the PEs of a job.
pub fn start(args: &[&str], script: &str) -> Child {
    command(&[args, &["sh", "-c", script]].concat()).spawn().expect("oshrun starts")
}

/// Runs `oshrun` with these arguments.
pub fn oshrun(args: &[&str]) -> Result {
    let started = Instant::now();
    result(command(args).output().expect("oshrun starts"), started)
}

/// Runs a shell command as the PEs of a job.
pub fn shell(args: &[&str], script: &str) -> Result {
    oshrun(&[args, &["sh", "-c", script]].concat())
}

/// As [`shell`], with input.
pub fn shell_with_input(args: &[&str], script: &str, input: &[u8]) -> Result {
    let started = Instant::now();
    let mut child =
        command(&[args, &["sh", "-c", script]].concat()).stdin(Stdio::piped()).spawn().expect("oshrun starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A PE that does not read all of it closes the pipe: no error here.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().expect("oshrun ends");
    writer.join().expect("the writer ends");
    result(output, started)
}

/// Waits for a job.
pub fn finish(child: Child, started: Instant) -> Result {
    result(child.wait_with_output().expect("oshrun ends"), started)
}

fn result(output: Output, started: Instant) -> Result {
    use std::os::unix::process::ExitStatusExt;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Result {
        status: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
        out: text(output.stdout),
        err: text(output.stderr),
        time: started.elapsed(),
    }
}

/// Sends a signal.
pub fn signal(child: &Child, number: i32) {
    // SAFETY: no pointers.
    unsafe { libc::kill(child.id() as i32, number) };
}

/// Sends a signal to the process group that a job leads.
pub fn signal_group(child: &Child, number: i32) {
    // SAFETY: no pointers.
    unsafe { libc::kill(-(child.id() as i32), number) };
}

/// Processes whose command line has this word, which only this test uses.
pub fn processes_with(word: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|b| *b == 0).any(|w| w == word.as_bytes())
        })
        .collect()
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < LONG, "{what}: not after {LONG:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A number of seconds to sleep that no other process sleeps: a mark to find processes by.
pub fn mark(test: u32) -> String {
    format!("{}.{test}", 100_000 + std::process::id())
}

/// A folder of this test's own, gone with the value.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    /// An empty folder.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("oshrun-test-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// A file in it, executable or not.
    pub fn file(&self, name: &str, text: &str, executable: bool) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

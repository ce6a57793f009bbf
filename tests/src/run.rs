//! Runs a command with a time limit and keeps what it printed.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::patience::Patience;
use crate::tree::Temporary;
use crate::{system, tree, wheels};

/// What a finished command left.
#[derive(Debug)]
pub struct Outcome {
    /// The command line, for messages.
    pub line: String,
    /// Exit status; `None` where the time limit ended the command.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Outcome {
    /// Exit code as a shell shows it: 128 + signal for a command that a signal ended, -1 for a time-out.
    pub fn code(&self) -> i32 {
        match self.status {
            Some(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            None => -1,
        }
    }

    /// Command, status and the tail of the output, to print where a test fails.
    pub fn describe(&self) -> String {
        let mut text = format!("$ {}\n", self.line);
        let seconds = self.elapsed.as_secs_f64();
        match self.status {
            Some(_) => writeln!(text, "exit status {} after {seconds:.1} s", self.code()),
            None => writeln!(text, "ended by the time limit after {seconds:.1} s"),
        }
        .expect("writing to a string");
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let lines: Vec<&str> = stream.lines().collect();
            let tail = &lines[lines.len().saturating_sub(40)..];
            if !tail.is_empty() {
                writeln!(text, "--- {name} (last {} of {} lines)", tail.len(), lines.len()).expect("string");
                text.push_str(&tail.join("\n"));
                text.push('\n');
            }
        }
        text
    }

    /// Asserts the exit code.
    ///
    /// # Panics
    /// Panics with [`Outcome::describe`] where the code differs.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Outcome {
        assert!(self.code() == code, "expected exit status {code}\n{}", self.describe());
        self
    }

    /// Asserts that the command ended by itself with a failure.
    ///
    /// # Panics
    /// Panics with [`Outcome::describe`] where it succeeded or hung.
    #[track_caller]
    pub fn expect_failure(self) -> Outcome {
        assert!(self.code() > 0, "expected a nonzero exit status\n{}", self.describe());
        self
    }

    /// Asserts that both streams together contain each of `parts`.
    ///
    /// # Panics
    /// Panics with [`Outcome::describe`] where one is missing.
    #[track_caller]
    pub fn expect_text(self, parts: &[&str]) -> Outcome {
        for part in parts {
            let found = self.stdout.contains(part) || self.stderr.contains(part);
            assert!(found, "expected \"{part}\" in the output\n{}", self.describe());
        }
        self
    }
}

/// A command to run: a thin layer over [`Command`] with a time limit and input.
#[derive(Debug)]
pub struct Job {
    command: Command,
    limit: Duration,
    input: Vec<u8>,
    /// Of temporary files, where it has one of its own.
    folder: Option<Temporary>,
}

/// How the names of variables begin that are a developer's own, or of a launcher or pipeline that the tests are started
/// by.
const SETTINGS: [&str; 12] =
    ["SHMEM_", "SMA_", "PELLUCID_", "PMI_", "PMIX_", "PRTE_", "SLURM_", "OMPI_", "HYDRA_", "GITHUB_", "GITLAB_", "CI_"];

/// Variable with settings for every job of a suite, `SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=net`: a further pass of its
/// tests.
pub const PASS_VARIABLE: &str = "PELLUCID_TEST_WITH";

/// The settings of this pass.
fn pass() -> impl Iterator<Item = (String, String)> {
    let text = std::env::var(PASS_VARIABLE).unwrap_or_default();
    let pairs: Vec<_> = text.split_whitespace().filter_map(|pair| pair.split_once('=')).collect();
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>().into_iter()
}

/// Whether this pass has libfabric between all PEs, which then share no memory, and each of which counts as a host.
pub fn is_over_network() -> bool {
    pass().any(|(name, value)| name == "SHMEM_TRANSPORT" && value == "ofi")
}

/// Runs a job that succeeds within a time. Where it takes longer, as on a busy machine, it has a second try: what
/// waits for somebody does so again.
///
/// # Panics
/// Panics where it fails, or takes too long twice.
pub fn at_once(limit: Duration, job: impl Fn() -> Job) -> Outcome {
    let run = || job().run().expect_code(0);
    let first = run();
    let outcome = if first.elapsed < limit { first } else { run() };
    assert!(outcome.elapsed < limit, "{}", outcome.describe());
    outcome
}

impl Job {
    /// A command with a limit of 60 seconds, no input, and the settings of this pass.
    pub fn new(program: impl AsRef<Path>) -> Job {
        let mut command = Command::new(program.as_ref());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if SETTINGS.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command.envs(pass());
        if is_over_network() {
            command.envs(wheels::quick_libfabric());
        }
        Job { command, limit: Duration::from_secs(60), input: Vec::new(), folder: None }
    }

    /// `oshrun -n PES`; the program and its arguments follow.
    pub fn oshrun(pes: usize) -> Job {
        Job::new(tree::tool("oshrun")).args(["-n", &pes.to_string()])
    }

    /// Appends one argument.
    pub fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Job {
        self.command.arg(argument);
        self
    }

    /// Appends arguments.
    pub fn args<I: AsRef<std::ffi::OsStr>>(mut self, arguments: impl IntoIterator<Item = I>) -> Job {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Job {
        self.command.env(name, value);
        self
    }

    /// Gives the command a folder of its own for temporary files, which is removed when it is over, however it ends.
    pub fn own_temporary(mut self) -> Job {
        let folder = self.folder.get_or_insert_with(Temporary::make);
        self.command.env("TMPDIR", folder.path());
        self
    }

    /// Sets the working directory.
    pub fn directory(mut self, path: &Path) -> Job {
        self.command.current_dir(path);
        self
    }

    /// Sets the time limit.
    pub fn limit(mut self, seconds: u64) -> Job {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Sets standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Job {
        self.input = bytes.into();
        self
    }

    /// Runs to the end, or to the time limit.
    pub fn run(self) -> Outcome {
        self.start().wait()
    }

    /// Starts the command in a process group of its own.
    ///
    /// # Panics
    /// Panics where it cannot be started.
    pub fn start(mut self) -> Running {
        // What cannot load libfabric runs as in any other pass.
        if is_over_network() && self.command.get_args().any(|argument| system::is_static(Path::new(argument))) {
            self.command.env_remove("SHMEM_TRANSPORT").env_remove("TEST_HOST_PES");
        }
        let line = line(&self.command);
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        system::default_signals(&mut self.command);
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("$ {line}\n{error}"));
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let input = self.input;
        // Input is written aside: a command that does not read it must not block the test.
        std::thread::spawn(move || stdin.write_all(&input));
        let stdout = reader(child.stdout.take().expect("stdout is a pipe"));
        let stderr = reader(child.stderr.take().expect("stderr is a pipe"));
        let readers = Some((stdout, stderr));
        Running { line, child, readers, started: Instant::now(), limit: self.limit, _folder: self.folder }
    }
}

/// A command under way. One that nobody waits for, as where a test panics, is ended when dropped.
#[derive(Debug)]
pub struct Running {
    line: String,
    child: Child,
    /// Of standard output and error, until it is waited for.
    readers: Option<(JoinHandle<String>, JoinHandle<String>)>,
    started: Instant,
    limit: Duration,
    /// Removed when the command is over.
    _folder: Option<Temporary>,
}

impl Running {
    /// Process id of the command.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end or the time limit; then whatever is left of the process group is killed.
    ///
    /// # Panics
    /// Panics where the status cannot be read.
    pub fn wait(mut self) -> Outcome {
        let mut patience = Patience::new(self.limit);
        let status = loop {
            match self.child.try_wait().expect("the child can be waited for") {
                Some(status) => break Some(status),
                None if patience.is_over() => break None,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let elapsed = self.started.elapsed();
        if status.is_none() {
            system::kill_group(self.child.id());
            let _ = self.child.wait();
        }
        let (stdout, stderr) = self.readers.take().expect("it is waited for once");
        // A process that outlives the command holds the pipes open: give it a moment, then end it.
        let mut patience = Patience::new(Duration::from_secs(3));
        while !(stdout.is_finished() && stderr.is_finished()) {
            if patience.is_over() {
                system::kill_group(self.child.id());
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Outcome {
            line: std::mem::take(&mut self.line),
            status,
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
            elapsed,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.readers.is_none() {
            return;
        }
        // A launcher ends its PEs, which may be in groups of their own.
        system::signal(self.child.id(), libc::SIGTERM);
        system::wait_until(Duration::from_secs(5), || !matches!(self.child.try_wait(), Ok(None)));
        system::kill_group(self.child.id());
        let _ = self.child.wait();
    }
}

/// Reads a stream to its end on a thread of its own.
fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Command line for messages.
fn line(command: &Command) -> String {
    let mut line = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            write!(line, "{}={} ", name.to_string_lossy(), value.to_string_lossy()).expect("string");
        }
    }
    line.push_str(&command.get_program().to_string_lossy());
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let plain = !argument.is_empty() && !argument.contains([' ', '\'', '"', '$', ';']);
        if plain {
            write!(line, " {argument}").expect("string");
        } else {
            write!(line, " '{argument}'").expect("string");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its folder, with something in it; the command then waits.
    fn started() -> (Running, std::path::PathBuf) {
        let script = "echo told > \"$TMPDIR/file\"; exec sleep 60";
        let job = Job::new("sh").args(["-c", script]).own_temporary().own_temporary();
        let path = job.folder.as_ref().map(|folder| folder.path().to_owned()).expect("a folder");
        let running = job.start();
        assert!(system::wait_until(Duration::from_secs(20), || path.join("file").exists()), "{}", path.display());
        (running, path)
    }

    #[test]
    fn temporary_files_end_with_their_command() {
        let (running, path) = started();
        assert!(path.as_os_str().len() < std::env::temp_dir().as_os_str().len() + 20, "{}", path.display());
        system::signal(running.pid(), libc::SIGKILL);
        running.wait();
        assert!(!path.exists(), "after a kill");
        let (running, path) = started();
        drop(running);
        assert!(!path.exists(), "of a command that nobody waits for");
    }
}

//! Runs one command to its end, with its output and a time limit.
#![allow(unsafe_code)]

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Debug)]
pub struct Finished {
    /// All of standard output.
    pub stdout: String,
    /// Lines of standard error that are not empty.
    pub complaints: Vec<String>,
    /// From just before the start to the end of the process.
    pub wall: Duration,
}

/// How often the end of a process is looked for once it has closed its output.
const POLL: Duration = Duration::from_micros(200);
/// Between asking a process to end and ending it.
const GRACE: Duration = Duration::from_secs(3);

/// Runs `command`; anything but a zero exit within `limit` is an error, which says what happened.
pub fn run(command: &mut Command, limit: Duration) -> Result<Finished, String> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start {}: {e}", command.get_program().display()))?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());

    // Sleeps until the output is closed, which is when PEs and launcher end: polling would take time from them.
    let output = stdout.recv_timeout(limit).unwrap_or_default();
    let status = wait_until(&mut child, start + limit);
    let wall = start.elapsed();
    let Some(status) = status else {
        end(&mut child);
        return Err(format!("not done after {} s, ended{}", limit.as_secs(), quote(&stderr)));
    };
    if status.success() {
        let complaints = text(&stderr);
        Ok(Finished {
            stdout: String::from_utf8_lossy(&output).into_owned(),
            complaints: complaints.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect(),
            wall,
        })
    } else {
        let complaints = quote(&stderr);
        // Some launchers explain themselves on standard output.
        let said = if complaints.is_empty() { last_lines(&String::from_utf8_lossy(&output)) } else { complaints };
        Err(format!("{status}{said}"))
    }
}

/// Reads a pipe to its end on a thread of its own, so that the process never waits for us.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // An error ends the output early; the exit status tells the rest.
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = pipe.read(&mut chunk) {
                bytes.extend_from_slice(&chunk[..n]);
            }
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// The status, or `None` when the deadline passes first.
fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            _ => return None,
        }
    }
}

/// Asks with SIGTERM first: a launcher then ends its PEs.
fn end(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // SAFETY: no memory is involved; the process has not been waited for, so the id is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        if let Ok(Some(_)) = child.try_wait() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The last lines of an error output, for a message.
fn quote(stderr: &Receiver<Vec<u8>>) -> String {
    last_lines(&text(stderr))
}

fn text(output: &Receiver<Vec<u8>>) -> String {
    // A process left behind may hold the pipe open: then there is no text.
    let bytes = output.recv_timeout(GRACE).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn last_lines(text: &str) -> String {
    const LINES: usize = 6;
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(|l| format!("\n    {l}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_of_a_command_that_succeeds() {
        let finished = run(&mut shell("echo one; echo two; echo oops >&2"), Duration::from_secs(30)).unwrap();
        assert_eq!(finished.stdout, "one\ntwo\n");
        assert_eq!(finished.complaints, ["oops"]);
    }

    #[test]
    fn failures_say_status_and_last_words() {
        let why = run(&mut shell("echo alas >&2; exit 3"), Duration::from_secs(30)).unwrap_err();
        assert!(why.contains('3') && why.contains("alas"), "{why}");
        let why = run(&mut shell("echo alas; exit 3"), Duration::from_secs(30)).unwrap_err();
        assert!(why.contains("alas"), "{why}");
        let why = run(&mut shell("kill -9 $$"), Duration::from_secs(30)).unwrap_err();
        assert!(why.contains('9'), "{why}");
        let why = run(&mut Command::new("./no such file"), Duration::from_secs(30)).unwrap_err();
        assert!(why.contains("no such file"), "{why}");
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let why = run(&mut shell("exec sleep 600"), Duration::from_millis(50)).unwrap_err();
        assert!(why.contains("not done"), "{why}");
    }

    #[test]
    fn only_the_last_lines_are_quoted() {
        let many: String = (0..20).map(|i| format!("line {i}\n\n")).collect();
        let quoted = last_lines(&many);
        assert!(quoted.contains("line 19") && !quoted.contains("line 13"), "{quoted}");
    }
}

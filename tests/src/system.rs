//! What a job leaves on the machine: processes, names in shared memory.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::patience::Patience;

/// Sends SIGKILL to a process group.
pub fn kill_group(leader: u32) {
    // SAFETY: kill takes no pointer; the group is one that `Job::start` made.
    unsafe { libc::kill(-(leader as i32), libc::SIGKILL) };
}

/// Sends a signal to one process; false where there is none.
pub fn signal(pid: u32, number: i32) -> bool {
    // SAFETY: kill takes no pointer.
    unsafe { libc::kill(pid as i32, number) == 0 }
}

/// Gives signals that whoever runs the tests in the background may have ignored their meaning back: an ignored signal
/// stays ignored in whatever is started, and `oshrun` leaves it alone.
pub fn default_signals(command: &mut Command) {
    // SAFETY: signal is async-signal-safe, and SIG_DFL a valid disposition.
    unsafe {
        command.pre_exec(|| {
            for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Whether a process has a handler for a signal.
pub fn handles(pid: u32, number: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// Where the first of these programs is: in the folders of `PATH`, or where daemons are.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// Whether the loader knows a library.
pub fn library(name: &str) -> Option<()> {
    let known = Command::new(find(&["ldconfig"])?).arg("-p").output().ok()?;
    String::from_utf8_lossy(&known.stdout).lines().any(|line| line.trim().starts_with(name)).then_some(())
}

/// Whether a file is an executable that is linked statically: one that names no interpreter.
pub fn is_static(file: &Path) -> bool {
    const INTERPRETER: u32 = 3;
    let mut head = [0; 4096];
    let read = std::fs::File::open(file).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    if read.unwrap_or(0) < 64 || !head.starts_with(b"\x7fELF") {
        return false;
    }
    let half = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let (size, count) = (half(54), half(56));
    let kinds = (0..count).filter_map(|entry| head.get(64 + entry * size..)?.first_chunk().copied());
    count > 0 && !kinds.map(u32::from_le_bytes).any(|kind| kind == INTERPRETER)
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    // SAFETY: asks for a value.
    unsafe { libc::geteuid() == 0 }
}

/// Name of this machine.
pub fn host_name() -> String {
    let output = Command::new("hostname").output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Names in /dev/shm.
pub fn shared_names() -> BTreeSet<String> {
    names(Path::new("/dev/shm"))
}

/// Names in a folder.
pub fn entries(folder: &Path) -> BTreeSet<String> {
    names(folder)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Processes whose executable is `program`.
pub fn processes(program: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let program = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_path_buf());
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
        .collect()
}

/// Waits until no process runs `program`; gives the ones left after `limit`.
pub fn wait_for_no_process(program: &Path, limit: Duration) -> Vec<u32> {
    let mut patience = Patience::new(limit);
    loop {
        let left = processes(program);
        if left.is_empty() || patience.is_over() {
            return left;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `ready` holds; false where `limit` passes first.
pub fn wait_until(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let mut patience = Patience::new(limit);
    while !ready() {
        if patience.is_over() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The process that has started another one.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The value that a process was started with for a variable.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{name}=");
    let entries = environment.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    entries.filter_map(|entry| entry.strip_prefix(&prefix).map(str::to_owned)).next()
}

/// Whether the tests have time for what takes long (`./x test --long`).
pub fn is_long() -> bool {
    std::env::var_os("PELLUCID_TEST_LONG").is_some()
}

/// How often a test repeats what goes wrong once in many times: `few` in the usual run, `many` with `./x test --long`,
/// no more than N with `./x test --long=N` (`PELLUCID_TEST_LONG`), but not fewer than in the usual run.
pub fn repetitions(few: usize, many: usize) -> usize {
    let Some(long) = std::env::var_os("PELLUCID_TEST_LONG") else { return few };
    let asked = long.to_str().and_then(|text| text.parse().ok()).filter(|asked| *asked > 1);
    asked.map_or(many, |asked: usize| asked.clamp(few, many))
}

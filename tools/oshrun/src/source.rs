//! Source lines of calls, for messages about PEs.
//!
//! `oshprof`, which is installed beside this program, reads debug information: it is started when the first line is
//! wanted. Debug information can be large, and the loop that looks after the PEs does not wait for it: a thread asks,
//! which has so much time in the life of a job, and messages go without lines after that.
#![allow(unsafe_code)]

use crate::sys::process;
use crate::sys::signal::Set;
use pellucid_profile::report::{Frame, Symbols};
use pellucid_profile::text::shell_word;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a job waits for lines at most, all in all.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much later a job may end for its lines, and how often it is looked whether they are there.
const STORING: Duration = Duration::from_millis(250);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The thread, as others see it.
struct Reader {
    asks: Sender<String>,
    answers: Receiver<String>,
    left: Duration,
}

/// Who reads lines in this process.
enum State {
    /// No line was wanted yet.
    Unasked,
    Reading(Reader),
    /// There is no `oshprof`, or no time left.
    Gone,
}

static STATE: Mutex<State> = Mutex::new(State::Unasked);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place in the source that a return address of a file belongs to, `main at heat.c:203`; `None`: it is not known.
pub fn line(path: &str, address: u64) -> Option<String> {
    let answer = ask(&format!("{path}+{address:#x}"))?;
    // The file's name and the address are what the message says by itself.
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(answer).filter(|text| !text.is_empty() && *text != format!("{name}+{address:#x}"))
}

/// `None`: there is no time left for it, or nobody to ask.
fn ask(place: &str) -> Option<String> {
    let mut state = state();
    if matches!(*state, State::Unasked) {
        *state = beside().and_then(|oshprof| start(&oshprof)).map_or(State::Gone, State::Reading);
    }
    let State::Reading(reader) = &mut *state else { return None };
    let answer = reader.ask(place);
    if answer.is_none() {
        *state = State::Gone;
    }
    answer
}

/// The object of a file's symbol table that an address is in, and how far.
pub fn object(path: &str, address: u64) -> Option<(String, u64)> {
    let answer = ask(&format!("{path}@{address:#x}"))?;
    let (name, offset) = answer.rsplit_once("+0x").filter(|_| !answer.contains("@0x"))?;
    Some((name.to_owned(), u64::from_str_radix(offset, 16).ok()?))
}

/// Where a process is that does not say so itself: `spin at heat.c:24, called from main at heat.c:52`.
pub fn process(pid: u32) -> Option<String> {
    ask(&format!("#{pid}")).filter(|answer| !answer.is_empty() && !answer.starts_with('#'))
}

/// What `oshprof` knows, for texts that are made elsewhere.
pub struct Oshprof;

impl Symbols for Oshprof {
    fn frames(&self, path: &str, address: u64) -> Vec<Frame> {
        // What is asked for is the byte before an address that is returned to.
        line(path, address + 1).map(|text| text.split(", inlined in ").map(frame).collect()).unwrap_or_default()
    }

    fn object(&self, path: &str, address: u64) -> Option<(String, u64)> {
        object(path, address)
    }
}

/// A frame of its text (`Frame::shown`): `main at heat.c:203`, `heat.c:203`, `main`.
fn frame(text: &str) -> Frame {
    let (function, place) = text.rsplit_once(" at ").unwrap_or(("", text));
    let place = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match place {
        Some((file, line)) => Frame { function: function.to_owned(), file: file.to_owned(), line },
        None => Frame { function: text.to_owned(), ..Frame::default() },
    }
}

/// The program that reads debug information.
fn beside() -> Option<PathBuf> {
    std::env::current_exe().ok().map(|exe| exe.with_file_name("oshprof"))
}

/// `oshprof` as a shell finds it: by its name where that is in `PATH`, else where it is.
pub fn oshprof() -> String {
    const NAME: &str = "oshprof";
    let Some(ours) = beside().and_then(|path| path.canonicalize().ok()) else { return NAME.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    let is_ours = found.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == ours);
    if is_ours { NAME.to_owned() } else { shell_word(&beside().unwrap_or(ours)) }
}

/// Lets `oshprof` go: it ends when nobody can ask it any more. Whoever wants a line later starts another.
pub fn close() {
    let mut state = state();
    if matches!(*state, State::Reading(_)) {
        *state = State::Unasked;
    }
}

impl Reader {
    /// `None`: there is no time left for it, or nobody to ask.
    fn ask(&mut self, place: &str) -> Option<String> {
        if place.contains('\n') {
            return Some(String::new());
        }
        let begun = Instant::now();
        self.asks.send(format!("{place}\n")).ok()?;
        let answer = self.answers.recv_timeout(self.left).ok();
        self.left = self.left.saturating_sub(begun.elapsed());
        answer
    }
}

fn start(oshprof: &Path) -> Option<Reader> {
    let mut child = oshprof_line(oshprof, &["-".as_ref()])?;
    let (mut to, from) = (child.stdin.take()?, child.stdout.take()?);
    let (asks, asked) = channel::<String>();
    let (answer, answers) = channel();
    let pass_on = move || {
        Set::all().mask();
        let mut lines = BufReader::new(from).lines();
        for ask in asked {
            let found = to.write_all(ask.as_bytes()).ok().and_then(|()| lines.next()?.ok());
            if found.is_none_or(|found| answer.send(found).is_err()) {
                break;
            }
        }
    };
    std::thread::Builder::new().name("oshrun-lines".into()).spawn(pass_on).ok()?;
    Some(Reader { asks, answers, left: PATIENCE })
}

/// Has the source lines of a profile kept with it, as long as the end of a job may take for that. What takes longer is
/// left to the first report.
pub fn store(directory: &Path) {
    let Some(oshprof) = beside() else { return };
    let Ok(directory) = std::path::absolute(directory) else { return };
    let Some(mut child) = oshprof_line(&oshprof, &["--store".as_ref(), directory.as_os_str()]) else { return };
    let give_up = Instant::now() + STORING;
    // Whoever takes the ends of PEs may have taken this one, too: then there is nobody to wait for.
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= give_up {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// `oshprof line`, which goes with this process at the latest. Whoever takes the ends of PEs takes its end, too.
fn oshprof_line(oshprof: &Path, what: &[&OsStr]) -> Option<Child> {
    let mut command = Command::new(oshprof);
    command.arg("line").args(what).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let launcher = process::id();
    // SAFETY: the closure makes system calls only (each function says that it is async-signal-safe) and does not
    // allocate.
    unsafe {
        command.pre_exec(move || {
            if !process::die_with(launcher) {
                process::exit_now(1);
            }
            Set::of(&[]).mask();
            Ok(())
        });
    }
    command.spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::PermissionsExt;

    /// A script in place of `oshprof`.
    #[test]
    fn frames_of_texts() {
        for text in ["main at heat.c:203", "heat.c:203", "main", "std::a::{closure} at b at c.cpp:7", "at x"] {
            assert_eq!(frame(text).shown(), text);
        }
        assert_eq!(frame("main at heat.c:203").line, 203);
    }

    #[test]
    fn each_address_has_its_answer() {
        let file = std::env::temp_dir().join(format!("oshrun-lines-{}", process::id()));
        let script = "#!/bin/sh\n[ \"$*\" = 'line -' ] && while read -r place; do echo \"main at $place\"; done\n";
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut reader = start(&file).expect("a script can be started");
        assert_eq!(reader.ask("/a b/c+0x1f"), Some("main at /a b/c+0x1f".into()));
        assert_eq!(reader.ask("d+0x10"), Some("main at d+0x10".into()));
        assert_eq!(reader.ask("with\nnewline+0x10"), Some(String::new()));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn nobody_to_ask_is_none() {
        assert!(start(Path::new("/no/such/oshprof")).is_none());
        let mut gone = start(Path::new("/bin/false")).expect("it can be started");
        assert_eq!(gone.ask("a+0x1"), None);
    }
}

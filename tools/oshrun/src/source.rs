//! Source lines of calls, for messages about PEs.
//!
//! Debug information can be large, and the loop that looks after the PEs does not wait for it: a thread reads it, which has so much time
//! in the life of a job, and messages go without lines after that.

use crate::sys::signal::Set;
use pellucid_profile::report::lines::Resolver;
use pellucid_profile::report::place;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a job waits for lines at most, all in all.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread, as others see it.
struct Reader {
    asks: Sender<(String, u64)>,
    answers: Receiver<String>,
    left: Duration,
}

/// The place in the source that a return address of a file belongs to, `main at heat.c:203`; `None`: it is not known.
pub fn line(path: &str, address: u64) -> Option<String> {
    static READER: OnceLock<Mutex<Option<Reader>>> = OnceLock::new();
    let reader = READER.get_or_init(|| Mutex::new(start()));
    let mut guard = reader.lock().unwrap_or_else(PoisonError::into_inner);
    let reader = guard.as_mut()?;
    let begun = Instant::now();
    let sent = reader.asks.send((path.to_owned(), address));
    let answer = sent.ok().and_then(|()| reader.answers.recv_timeout(reader.left).ok());
    reader.left = reader.left.saturating_sub(begun.elapsed());
    let Some(answer) = answer else {
        // What comes later is no answer to what is asked then.
        *guard = None;
        return None;
    };
    Some(answer).filter(|text| !text.is_empty())
}

fn start() -> Option<Reader> {
    let (asks, asked) = channel::<(String, u64)>();
    let (answer, answers) = channel();
    let read = move || {
        Set::all().mask();
        let symbols = Resolver::default();
        for (path, address) in asked {
            let found = place(Some((&path, address)), &symbols);
            // The file's name and the address are what the message says by itself.
            let found = if found.ends_with(&format!("+{address:#x}")) { String::new() } else { found };
            if answer.send(found).is_err() {
                break;
            }
        }
    };
    std::thread::Builder::new().name("oshrun-lines".into()).spawn(read).ok()?;
    Some(Reader { asks, answers, left: PATIENCE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_lines_is_none() {
        assert_eq!(line("/no/such/file", 0x1000), None);
        assert_eq!(line("/etc/passwd", 0x1000), None);
    }

    #[test]
    fn an_address_of_this_program_has_a_line() {
        let base = std::fs::read_to_string("/proc/self/maps").unwrap();
        let base = u64::from_str_radix(base.split('-').next().unwrap(), 16).unwrap();
        let here = an_address_of_this_program_has_a_line as fn() as usize as u64;
        let exe = std::env::current_exe().unwrap();
        let found = line(&exe.to_string_lossy(), here - base + 1).expect("the symbol table at least");
        assert!(found.contains("an_address_of_this_program_has_a_line"), "{found}");
    }
}

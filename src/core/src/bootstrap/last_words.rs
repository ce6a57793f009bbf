//! What PEs of a host have to say before they end the job because of a fault: often all of them the same, or the same
//! of other addresses. One of them, the first that has something to say, speaks for all: it waits for a moment, and
//! says each thing once with the PEs that it is true of. What one does not take over is said by whom it happened to.

use super::job::Job;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const WORDS: usize = 4096 - 8;

/// [`LastWords::state`]: something is there, and nobody has said it.
const THERE: u32 = 1;
/// Somebody says it.
const TAKEN: u32 = 2;
/// A thread writes it.
const WRITING: u32 = 3;
/// It could not be said: whoever looks after the job says it.
const UNHEARD: u32 = 4;

/// How long the others have to come with the same: they fail where this one did, each in its own time.
const OTHERS: Duration = Duration::from_millis(40);
/// How long one waits for whoever speaks: until that is done, since the end of this PE may be that of all.
const SPEAKER: Duration = Duration::from_secs(3);
const NAP: Duration = Duration::from_millis(2);
/// In [`Job::speaker`]: one has spoken. Whoever comes later speaks for itself.
const SPOKEN: u32 = u32::MAX;

/// What a PE has to say.
#[repr(C)]
pub(super) struct LastWords {
    state: AtomicU32,
    bytes: AtomicU32,
    text: [AtomicU8; WORDS],
}

impl LastWords {
    /// Once a PE: what another of its threads has put there stays, since it may be read just now. Whether it is this.
    fn put(&self, text: &str) -> bool {
        if self.state.compare_exchange(0, WRITING, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        let bytes = text.as_bytes();
        self.text.iter().zip(bytes).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        self.bytes.store(bytes.len() as u32, Ordering::Relaxed);
        self.state.store(THERE, Ordering::Release);
        true
    }

    /// Puts there what could not be said, as far as there is room, in place of what was. Once a PE.
    fn leave(&self, text: &str) {
        let write = |state| (!matches!(state, WRITING | UNHEARD)).then_some(WRITING);
        if self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, write).is_err() {
            return;
        }
        let bytes = &text.as_bytes()[..text.floor_char_boundary(WORDS)];
        self.text.iter().zip(bytes).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        self.bytes.store(bytes.len() as u32, Ordering::Relaxed);
        self.state.store(UNHEARD, Ordering::Release);
    }

    /// Whoever takes it says it.
    fn take(&self) -> Option<String> {
        self.state.compare_exchange(THERE, TAKEN, Ordering::AcqRel, Ordering::Acquire).ok()?;
        Some(self.text())
    }

    /// What is there, said or not.
    fn read(&self) -> Option<String> {
        matches!(self.state.load(Ordering::Acquire), THERE | TAKEN).then(|| self.text())
    }

    /// What was put there.
    fn text(&self) -> String {
        let bytes = self.text.iter().take(self.bytes.load(Ordering::Relaxed) as usize);
        let bytes: Vec<u8> = bytes.map(|byte| byte.load(Ordering::Relaxed)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Between what is wrong and where the call was made, in what a PE has to say.
pub const CALLED_FROM: char = '\0';

/// Something that is said once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// The PEs that it is true of.
    pub pes: Vec<u32>,
    /// Those of which it is true with other addresses.
    pub elsewhere: Vec<u32>,
    /// What is said.
    pub text: String,
}

impl Statement {
    /// Of one PE.
    fn of(pe: u32, text: &str) -> Statement {
        Statement { pes: vec![pe], elsewhere: Vec::new(), text: text.to_owned() }
    }
}

/// A text without its addresses. Those in files are places of the program, the same on each PE: they stay, as does all
/// that says where the call was made.
fn without_addresses(text: &str) -> Cow<'_, str> {
    let (fault, site) = text.split_at(text.find(CALLED_FROM).unwrap_or(text.len()));
    let mut parts = fault.split("0x");
    let first = parts.next().unwrap_or_default();
    let (mut kept, mut is_in_file) = (first.to_owned(), first.ends_with('+'));
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        kept += "0x";
        kept += if is_in_file { part } else { &part[digits..] };
        is_in_file = part.ends_with('+');
    }
    if kept.len() == fault.len() { Cow::Borrowed(text) } else { Cow::Owned(kept + site) }
}

/// What this PE is to say. Nothing where another one says it.
pub fn collect(job: &Job, pe: u32, fault: &str) -> Vec<Statement> {
    let alone = || vec![Statement::of(pe, fault)];
    // One of its own host alone, or with more to say than there is room for.
    if job.pes().len() == 1 || fault.len() > WORDS {
        return alone();
    }
    let (own, speaker) = (job.last_words(pe), job.speaker());
    let is_first = own.put(fault);
    if is_first && speaker.compare_exchange(0, pe + 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        return all(job, fault);
    }
    let begin = Instant::now();
    while speaker.load(Ordering::Acquire) != SPOKEN && begin.elapsed() < SPEAKER {
        std::thread::sleep(NAP);
    }
    let is_said = match is_first {
        true => own.take().is_none(),
        // Threads of a PE that fail together mostly do with the same.
        false => own.read().is_some_and(|said| without_addresses(&said) == without_addresses(fault)),
    };
    if is_said { Vec::new() } else { alone() }
}

/// All that [`collect`] gave is said: those for whom it was go on.
pub fn said(job: &Job, pe: u32) {
    let _ = job.speaker().compare_exchange(pe + 1, SPOKEN, Ordering::AcqRel, Ordering::Acquire);
}

/// Leaves a message that this PE cannot write, for whoever looks after the job; called before [`said`].
pub fn leave(job: &Job, pe: u32, message: &str) {
    job.last_words(pe).leave(message);
}

/// What PEs of this host have left because they could not write it.
pub fn unheard(job: &Job) -> Vec<String> {
    let words = job.pes().map(|pe| job.last_words(pe));
    words.filter(|words| words.state.load(Ordering::Acquire) == UNHEARD).map(LastWords::text).collect()
}

/// What all PEs of the host have to say within a moment, that of this one first; each has one thing to say. One that is
/// missing may have died: its launcher needs the moment to see that.
fn all(job: &Job, first: &str) -> Vec<Statement> {
    let begin = Instant::now();
    let mut said: Vec<(u32, String)> = Vec::new();
    loop {
        let is_over = begin.elapsed() >= OTHERS;
        said.extend(job.pes().filter_map(|pe| Some((pe, job.last_words(pe).take()?))));
        if is_over || said.len() == job.pes().len() {
            break;
        }
        std::thread::sleep(NAP);
    }
    said.sort_unstable();
    grouped(&said, first)
}

/// Each thing once, what `first` says before all else.
fn grouped(said: &[(u32, String)], first: &str) -> Vec<Statement> {
    let first = without_addresses(first);
    let mut groups: BTreeMap<(bool, Cow<'_, str>), Statement> = BTreeMap::new();
    for (pe, text) in said {
        let kind = without_addresses(text);
        let group = groups.entry((kind != first, kind));
        let group = group.or_insert_with(|| Statement { pes: Vec::new(), elsewhere: Vec::new(), text: text.clone() });
        let pes = if group.text == *text { &mut group.pes } else { &mut group.elsewhere };
        pes.push(*pe);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};

    #[test]
    fn each_thing_is_said_once() {
        let job = Arc::new(Job::create(4..12, 20).unwrap());
        let together = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (4..12)
            .map(|pe| {
                let (job, together) = (job.clone(), together.clone());
                std::thread::spawn(move || {
                    together.wait();
                    let words = collect(&job, pe, if pe == 9 { "other" } else { "same" });
                    super::said(&job, pe);
                    words
                })
            })
            .collect();
        let said: Vec<Statement> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        // Whoever comes late says it by itself: all is said, and nothing twice by one.
        let mut pes: Vec<u32> = said.iter().flat_map(|said| said.pes.clone()).collect();
        pes.sort_unstable();
        assert_eq!(pes, (4..12).collect::<Vec<_>>(), "{said:?}");
        assert!(said.iter().all(|said| (said.text == "other") == said.pes.contains(&9)), "{said:?}");
    }

    /// Two threads of each of two PEs, and a third PE that never comes: nothing replaces what is there, and the missing
    /// one is waited for.
    #[test]
    fn threads_of_a_pe_do_not_stand_for_other_pes() {
        let job = Arc::new(Job::create(0..3, 3).unwrap());
        let begin = Instant::now();
        let threads: Vec<_> = [(0, "same"), (0, "same"), (1, "same"), (1, "other")]
            .map(|(pe, fault)| {
                let job = job.clone();
                std::thread::spawn(move || {
                    let words = collect(&job, pe, fault);
                    super::said(&job, pe);
                    words
                })
            })
            .into_iter()
            .collect();
        let said: Vec<Statement> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert!(begin.elapsed() >= OTHERS);
        let pes = |text: &str| {
            let mut pes: Vec<u32> = said.iter().filter(|said| said.text == text).flat_map(|s| s.pes.clone()).collect();
            pes.sort_unstable();
            pes
        };
        assert_eq!((pes("same"), pes("other")), (vec![0, 1], vec![1]), "{said:?}");
    }

    #[test]
    fn what_differs_by_addresses_only_is_said_once() {
        let words = |addr: &str, site: &str| format!("shmem_p: dest = {addr} is not symmetric\0a.out+{site}");
        let said = [
            (0, words("0x7ffd10", "0x1200")),
            (1, words("0x7ffe2000", "0x1200")),
            (2, words("0x7ffd10", "0x1300")),
            (3, words("0x7ffd10", "0x1200")),
        ];
        let of = |pes: &[u32], elsewhere: &[u32], at: usize| Statement {
            pes: pes.to_vec(),
            elsewhere: elsewhere.to_vec(),
            text: said[at].1.clone(),
        };
        assert_eq!(grouped(&said, &said[2].1), [of(&[2], &[], 2), of(&[0, 3], &[1], 0)]);
        assert_eq!(grouped(&said, &said[1].1), [of(&[0, 3], &[1], 0), of(&[2], &[], 2)]);
    }

    #[test]
    fn what_could_not_be_said_is_left() {
        let job = Job::create(4..7, 7).unwrap();
        assert_eq!(collect(&job, 5, "words").len(), 1);
        assert!(unheard(&job).is_empty());
        leave(&job, 5, "PE 5: words");
        leave(&job, 5, "PE 5: more of another thread");
        leave(&job, 6, &format!("{}\u{e4}", "x".repeat(WORDS - 1)));
        assert_eq!(unheard(&job), ["PE 5: words".to_owned(), "x".repeat(WORDS - 1)]);
    }

    #[test]
    fn places_in_files_are_no_addresses() {
        for (text, without) in [
            ("no address", "no address"),
            ("a = 0x10 and b = 0xffe, c", "a = 0x and b = 0x, c"),
            ("0x1 of x+0x12 and y+0x13, 0x14", "0x of x+0x12 and y+0x13, 0x"),
            ("p = 0x1\0a+0x1, 0x2", "p = 0x\0a+0x1, 0x2"),
            ("0x", "0x"),
        ] {
            assert_eq!(without_addresses(text), without);
        }
    }

    #[test]
    fn whoever_is_alone_speaks_at_once() {
        let job = Job::create(0..1, 1).unwrap();
        assert_eq!(collect(&job, 0, "words"), [Statement::of(0, "words")]);
        let long = "x".repeat(WORDS + 1);
        let job = Job::create(0..2, 2).unwrap();
        assert_eq!(collect(&job, 1, &long), [Statement::of(1, &long)]);
    }
}

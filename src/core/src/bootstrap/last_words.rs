//! What PEs of a host have to say before they end the job because of a fault: often all of them the same. One of them,
//! the first that has something to say, speaks for all: it waits for a moment, and says each thing once with the PEs
//! that it is true of. What one does not take over is said by whom it happened to.

use super::job::Job;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

const WORDS: usize = 4096 - 8;

/// [`LastWords::state`]: something is there, and nobody has said it.
const THERE: u32 = 1;
/// Somebody says it.
const TAKEN: u32 = 2;

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
    fn put(&self, text: &str) {
        let bytes = text.as_bytes();
        self.text.iter().zip(bytes).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        self.bytes.store(bytes.len() as u32, Ordering::Relaxed);
        self.state.store(THERE, Ordering::Release);
    }

    /// Whoever takes it says it.
    fn take(&self) -> Option<String> {
        self.state.compare_exchange(THERE, TAKEN, Ordering::AcqRel, Ordering::Acquire).ok()?;
        let bytes = self.text.iter().take(self.bytes.load(Ordering::Relaxed) as usize);
        let bytes: Vec<u8> = bytes.map(|byte| byte.load(Ordering::Relaxed)).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What this PE is to say: texts, and the PEs whose they are. Nothing where another one says it.
pub fn collect(job: &Job, pe: u32, fault: &str) -> Vec<(Vec<u32>, String)> {
    let alone = || vec![(vec![pe], fault.to_owned())];
    // One of its own host alone, or with more to say than there is room for.
    if job.pes().len() == 1 || fault.len() > WORDS {
        return alone();
    }
    let own = job.last_words(pe);
    own.put(fault);
    let speaker = job.speaker();
    if speaker.compare_exchange(0, pe + 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        return all(job, fault);
    }
    let begin = Instant::now();
    while speaker.load(Ordering::Acquire) != SPOKEN && begin.elapsed() < SPEAKER {
        std::thread::sleep(NAP);
    }
    own.take().map_or_else(Vec::new, |_| alone())
}

/// All that [`collect`] gave is said: those for whom it was go on.
pub fn said(job: &Job, pe: u32) {
    let _ = job.speaker().compare_exchange(pe + 1, SPOKEN, Ordering::AcqRel, Ordering::Acquire);
}

/// What all PEs of the host have to say within a moment, that of this one first.
fn all(job: &Job, first: &str) -> Vec<(Vec<u32>, String)> {
    let begin = Instant::now();
    let mut groups: BTreeMap<(bool, String), Vec<u32>> = BTreeMap::new();
    loop {
        let is_over = begin.elapsed() >= OTHERS;
        for pe in job.pes() {
            if let Some(text) = job.last_words(pe).take() {
                groups.entry((text != first, text)).or_default().push(pe);
            }
        }
        let said: usize = groups.values().map(Vec::len).sum();
        if is_over || said == job.pes().len() {
            break;
        }
        std::thread::sleep(NAP);
    }
    let sorted = |mut pes: Vec<u32>| {
        pes.sort_unstable();
        pes
    };
    groups.into_iter().map(|((_, text), pes)| (sorted(pes), text)).collect()
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
        let mut said: Vec<(Vec<u32>, String)> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        said.sort();
        // Whoever comes late says it by itself: all is said, and nothing twice by one.
        let mut pes: Vec<u32> = said.iter().flat_map(|(pes, _)| pes.clone()).collect();
        pes.sort_unstable();
        assert_eq!(pes, (4..12).collect::<Vec<_>>(), "{said:?}");
        assert!(said.iter().all(|(pes, text)| (text == "other") == pes.contains(&9)), "{said:?}");
    }

    #[test]
    fn whoever_is_alone_speaks_at_once() {
        let job = Job::create(0..1, 1).unwrap();
        assert_eq!(collect(&job, 0, "words"), [(vec![0], "words".to_owned())]);
        let long = "x".repeat(WORDS + 1);
        let job = Job::create(0..2, 2).unwrap();
        assert_eq!(collect(&job, 1, &long), [(vec![1], long.clone())]);
    }
}

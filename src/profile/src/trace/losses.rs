//! Events that are not in a trace, by reason.

use std::io;

use crate::output::no_room;
use crate::segment::layout::SLOTS;

/// How many events are not there, and why.
#[derive(Debug, Default)]
pub struct Losses {
    /// Overwritten by newer ones; or, where there is an error, without room.
    pub room: u64,
    /// Why files could not grow as far as they might have.
    pub error: Option<io::Error>,
    /// Of signal handlers that came while their thread was writing another.
    pub interrupted: u64,
    /// Of threads beyond those that a PE can have files for.
    pub no_slot: u64,
    /// Of threads whose file could not be made or was cut.
    pub no_file: u64,
}

impl Losses {
    /// A phrase for each reason, with its number; empty where all events are there.
    pub fn phrases(&self) -> Vec<String> {
        let room = match &self.error {
            Some(error) => format!("{} are lost: {}", self.room, no_room(error)),
            None => format!("{} older ones were overwritten (SHMEM_TRACE_SIZE)", self.room),
        };
        let interrupted =
            format!("{} of signal handlers came while their thread was writing another", self.interrupted);
        let no_slot = format!("{} are of threads beyond the {SLOTS} that a PE can have in a trace", self.no_slot);
        let no_file = format!("{} had no file: it could not be made, or somebody cut it", self.no_file);
        let rows =
            [(self.room, room), (self.interrupted, interrupted), (self.no_slot, no_slot), (self.no_file, no_file)];
        rows.into_iter().filter(|(count, _)| *count > 0).map(|(_, phrase)| phrase).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_said_with_its_number() {
        assert_eq!(Losses::default().phrases(), [""; 0]);
        let all = Losses { room: 4, error: None, interrupted: 3, no_slot: 2, no_file: 1 };
        let phrases = all.phrases();
        assert_eq!(phrases.len(), 4);
        for (phrase, (number, word)) in
            phrases.iter().zip([("4", "SHMEM_TRACE_SIZE"), ("3", "signal handlers"), ("2", "256"), ("1", "file")])
        {
            assert!(phrase.starts_with(number) && phrase.contains(word), "{phrase}");
        }
        let full = Losses { error: Some(io::Error::from_raw_os_error(libc::ENOSPC)), ..all };
        assert!(!full.phrases()[0].contains("SHMEM_TRACE_SIZE"), "{:?}", full.phrases());
        let handlers = Losses { interrupted: 7, ..Losses::default() };
        assert!(!handlers.phrases().concat().contains("SHMEM_TRACE_SIZE"));
    }
}

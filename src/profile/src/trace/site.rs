//! Where calls return to: a difference in the record of a call, and which file an address is in.

use super::format::{KIND_MODULE, KIND_SITE};
use super::writer::Writer;
use crate::recorder::modules::{self, Object};

/// Files that a chunk is known to tell of.
const KNOWN: usize = 8;

/// Where the calls of a chunk return to.
#[derive(Default)]
pub(super) struct Place {
    /// The last; 0: none.
    pub last: u64,
    /// Where the code of its object begins, and how long it is: from one to another in it a difference tells.
    start: u64,
    length: u64,
    /// The objects that the chunk tells of, by number and one more, the last ones.
    told: [u32; KNOWN],
    next: usize,
    /// As of so many replacements of an object by another one.
    replacements: u32,
}

impl Writer {
    /// Makes sure that the record of a call at this site can tell it by a difference. False: there is no room.
    #[inline(always)]
    pub(super) fn at_site(&mut self, site: u64, now: u64) -> bool {
        let is_near = site == self.sites.last || site.wrapping_sub(self.sites.start) < self.sites.length;
        (is_near && self.sites.replacements == modules::replacements()) || self.enter(site, now)
    }

    /// The calls from here on are in another object, or the first ones of the chunk, or what is loaded where has
    /// changed.
    #[cold]
    #[inline(never)]
    fn enter(&mut self, site: u64, now: u64) -> bool {
        let (object, replacements) = (modules::object_of(site), modules::replacements());
        if self.sites.replacements != replacements {
            // What is told last is where the others were told to be.
            self.sites.told = [0; KNOWN];
        }
        // A note may begin a chunk, in which the others have to be told again.
        for _ in 0..3 {
            let begun = self.sequence;
            if let Some(object) = &object {
                self.tell(object, now);
            }
            self.note(KIND_SITE, "", site as i64, now);
            if self.at > self.last && !self.next_chunk(self.thread, now) {
                return false;
            }
            if self.sequence == begun || object.is_none() {
                let (start, length) = object.as_ref().map_or((site, 1), |object| (object.start, object.length));
                (self.sites.last, self.sites.start, self.sites.length) = (site, start, length);
                self.sites.replacements = replacements;
                return true;
            }
        }
        false
    }

    fn tell(&mut self, object: &Object, now: u64) {
        let number = object.number + 1;
        if self.sites.told.contains(&number) {
            return;
        }
        self.note(KIND_MODULE, &object.words(), object.start as i64, now);
        let next = self.sites.next;
        self.sites.told[next % KNOWN] = number;
        self.sites.next = next + 1;
    }
}

//! Messages of a PE that is killed while it sends them, in a job that goes on without it.
//!
//! Its cells are taken and will never be stamped, and whoever empties the ring would wait there for ever. So a sender
//! says in words of its own which cells it is about to take, before it takes them, until they are stamped. The receiver
//! that finds cells taken and not stamped looks who has said so: it waits for one that is there, and passes over the
//! cells of one that is lost.

use super::{CELL, CELLS, Lanes, View};
use crate::transport::Lane;
use crate::transport::shm::ring::{Cells, Ring};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a PE says which ring it takes cells of, counted from 1: behind the head of its requests. 0: of none.
const RING_OF: usize = CELL + 8;
/// The first of these cells.
const FIRST: usize = CELL + 16;
/// Behind the last one; 0 while the others are written.
const END: usize = CELL + 24;
/// 1: they are taken.
const TAKEN: usize = CELL + 32;

/// What one process says. One of its threads at a time sends.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    busy: AtomicBool,
}

/// The cells that a PE has said it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    first: u64,
    end: u64,
    taken: bool,
}

/// Holds from before cells are taken until they are stamped.
pub(super) struct Announcement<'a> {
    own: View,
    busy: &'a AtomicBool,
}

impl Announcement<'_> {
    /// About to take cells.
    pub fn tell(&self, first: u64, end: u64) {
        self.own.word(END).store(0, Ordering::Release);
        self.own.word(FIRST).store(first, Ordering::Release);
        self.own.word(END).store(end, Ordering::Release);
    }

    /// The cells that were told last are taken.
    pub fn took(&self) {
        self.own.word(TAKEN).store(1, Ordering::Release);
    }
}

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        self.own.word(RING_OF).store(0, Ordering::Release);
        self.busy.store(false, Ordering::Release);
    }
}

impl Lanes {
    /// This PE sends in a job that goes on without PEs that are lost.
    pub fn announce_claims(&self) {
        let _ = self.announcements.set(Announcements::default());
    }

    fn ring_number(&self, pe: i32, lane: Lane) -> u64 {
        (pe - self.memory.first) as u64 * 2 + lane as u64 + 1
    }

    /// Before cells of a ring are taken; `None` while another thread does so.
    pub(super) fn announce<'a>(&self, to: &'a Announcements, pe: i32, lane: Lane) -> Option<Announcement<'a>> {
        if to.busy.swap(true, Ordering::Acquire) {
            return None;
        }
        let own = self.view(self.me, Lane::Request);
        own.word(TAKEN).store(0, Ordering::Relaxed);
        own.word(END).store(0, Ordering::Release);
        own.word(RING_OF).store(self.ring_number(pe, lane), Ordering::Release);
        Some(Announcement { own, busy: &to.busy })
    }

    /// The cells of a ring of this PE's that another one has said it takes.
    fn claim_of(&self, pe: i32, lane: Lane) -> Option<Claim> {
        let view = self.view(pe, Lane::Request);
        if view.word(RING_OF).load(Ordering::Acquire) != self.ring_number(self.me, lane) {
            return None;
        }
        let end = view.word(END).load(Ordering::Acquire);
        let first = view.word(FIRST).load(Ordering::Acquire);
        let taken = view.word(TAKEN).load(Ordering::Acquire) != 0;
        Some(Claim { first, end, taken }).filter(|_| end != 0)
    }

    /// Passes over the cells in front of which this PE's ring stands still, since their PE is lost.
    pub fn pass_over_lost(&self, lane: Lane, is_lost: impl Fn(i32) -> bool) {
        let receiver = &self.receivers[lane as usize];
        let view = self.view(self.me, lane);
        let stands_still = || {
            let position = receiver.position.load(Ordering::Relaxed);
            let taken = view.tail().load(Ordering::Acquire) != position;
            (taken && !Ring(&view).is_ready(position)).then_some(position)
        };
        if stands_still().is_none() || receiver.busy.swap(true, Ordering::Acquire) {
            return;
        }
        let _taken = super::Taken(&receiver.busy);
        let Some(position) = stands_still() else { return };
        let Some(end) = self.end_of_lost(lane, position, is_lost) else { return };
        // Whoever had taken the cells may have stamped them between the two looks.
        if stands_still() == Some(position) {
            Ring(&view).release(position, end.wrapping_sub(position));
            receiver.position.store(end, Ordering::Relaxed);
        }
    }

    /// Behind the cells that a lost PE took, of which the one at a position is the first that is not stamped; `None`: a
    /// PE that is there took it.
    fn end_of_lost(&self, lane: Lane, position: u64, is_lost: impl Fn(i32) -> bool) -> Option<u64> {
        let pes = || (0..self.memory.count as i32).map(|i| self.memory.first + i);
        let claims = || pes().filter_map(|pe| Some((pe, self.claim_of(pe, lane)?)));
        let holds = |claim: &Claim| {
            let cells = claim.end.wrapping_sub(claim.first);
            cells <= CELLS as u64 && position.wrapping_sub(claim.first) < cells
        };
        if claims().any(|(pe, claim)| holds(&claim) && !is_lost(pe)) {
            return None;
        }
        let of_lost = || claims().map(|(_, claim)| claim).filter(holds);
        if let Some(sure) = of_lost().find(|claim| claim.taken) {
            return Some(sure.end);
        }
        // All of them were killed at the very step, and one of them has got the cells: the one behind whose cells there
        // is what comes next.
        let view = self.view(self.me, lane);
        let follows = |end: u64| {
            view.tail().load(Ordering::Acquire) == end
                || Ring(&view).is_ready(end)
                || claims().any(|(_, claim)| claim.first == end)
        };
        of_lost().map(|claim| claim.end).find(|end| follows(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Rings;
    use super::super::*;

    const LONG: [u8; 3000] = [7; 3000];

    fn message(payload: &[u8]) -> Outgoing<'_> {
        Outgoing { kind: MessageKind::Medium, handler: 3, args: &[1, 2], payload, target: LongTarget::NONE }
    }

    /// Takes cells for a message of PE 0's to PE 1 as [`Lanes::put`] does, and goes no further.
    fn die_in_send(rings: &Rings, cells: u64, sure: bool) {
        let lanes = &rings.lanes[0];
        let announcement = lanes.announce(lanes.announcements.get().unwrap(), 1, Lane::Request).unwrap();
        let view = lanes.view(1, Lane::Request);
        let claimed =
            Ring(&view).claim_announced(cells, &lanes.peers[1].seen[0], |first, end| announcement.tell(first, end));
        assert!(claimed.is_some());
        if sure {
            announcement.took();
        }
        std::mem::forget(announcement);
    }

    fn rings() -> Rings {
        let rings = Rings::new();
        rings.lanes.iter().for_each(Lanes::announce_claims);
        rings
    }

    fn take_all(lanes: &Lanes) -> usize {
        lanes.deliver(Lane::Request, 1 << 20, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn cells_of_a_lost_pe_are_passed_over_and_what_follows_comes() {
        for sure in [true, false] {
            let rings = rings();
            let (lost, receiver) = (&rings.lanes[0], &rings.lanes[1]);
            assert!(lost.try_send(Lane::Request, 1, &message(&LONG)));
            die_in_send(&rings, 20, sure);
            assert!(receiver.try_send(Lane::Request, 1, &message(&LONG)));
            assert_eq!(take_all(receiver), 1, "the first one came before");
            receiver.pass_over_lost(Lane::Request, |_| false);
            assert_eq!(take_all(receiver), 0, "its sender may be about to stamp it");
            receiver.pass_over_lost(Lane::Request, |pe| pe == 0);
            assert_eq!(take_all(receiver), 1);
            receiver.pass_over_lost(Lane::Request, |pe| pe == 0);
            assert_eq!(take_all(receiver), 0);
        }
    }

    #[test]
    fn a_ring_goes_on_for_laps_after_cells_were_passed_over() {
        let rings = rings();
        let receiver = &rings.lanes[1];
        die_in_send(&rings, 4000, true);
        receiver.pass_over_lost(Lane::Request, |pe| pe == 0);
        for _ in 0..5 * CELLS {
            assert!(receiver.try_send(Lane::Request, 1, &message(&LONG[..100])));
            assert_eq!(take_all(receiver), 1);
            receiver.pass_over_lost(Lane::Request, |pe| pe == 0);
        }
    }

    #[test]
    fn of_two_that_were_killed_at_the_step_the_cells_belong_to_the_one_that_fits() {
        let rings = rings();
        let receiver = &rings.lanes[1];
        // PE 1 stands for another lost one: it said that it takes as many others, and did not get them.
        let announcements = receiver.announcements.get().unwrap();
        let other = receiver.announce(announcements, 1, Lane::Request).unwrap();
        other.tell(0, 7);
        die_in_send(&rings, 20, false);
        receiver.pass_over_lost(Lane::Request, |_| true);
        assert_eq!(receiver.receivers[0].position.load(Ordering::Relaxed), 20);
        drop(other);
        assert!(receiver.try_send(Lane::Request, 1, &message(&LONG)));
        assert_eq!(take_all(receiver), 1);
    }

    #[test]
    fn only_one_thread_of_a_process_sends_at_a_time() {
        let rings = rings();
        let sender = &rings.lanes[0];
        let announcement = sender.announce(sender.announcements.get().unwrap(), 1, Lane::Request).unwrap();
        assert!(!sender.try_send(Lane::Request, 1, &message(&[])));
        assert!(sender.try_send(Lane::Reply, 1, &message(&[])), "a reply is kept back");
        drop(announcement);
        assert!(sender.try_send(Lane::Request, 1, &message(&[])));
        assert_eq!(take_all(&rings.lanes[1]), 1);
    }
}

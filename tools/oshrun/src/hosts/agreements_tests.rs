use super::*;
use pellucid_core::base::pe_list::PeList;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

fn proposal(pes: &[i32], number: u64, what: u8, word: u64) -> Proposal {
    Proposal { group: (1, 2), number, what, leaves: what > 2, pes: PeList::of(pes), words: vec![word] }
}

#[test]
fn an_agreement_ends_when_all_have_given_their_words_or_are_lost() {
    let mut all = Agreements::default();
    let members = [1, 3, 4];
    assert_eq!(all.give(1, 10, proposal(&members, 1, 0, 1)), []);
    assert_eq!(all.give(4, 11, proposal(&members, 1, 0, 4)), []);
    assert_eq!(all.lose(7), []);
    let told = all.lose(3);
    let outcome = Agreement { missing: vec![3], kinds: vec![(1, 0)], left: None, words: vec![5] };
    assert_eq!(told, [Decision { waiting: vec![(1, 10), (4, 11)], outcome }]);
    // What a PE had said before its end comes behind the news of it.
    assert_eq!(all.give(3, 12, proposal(&members, 1, 0, 2)), []);
    assert!(all.open.is_empty() && all.lost() == 2);
    // One that is lost after its word counts.
    assert_eq!(all.give(4, 13, proposal(&members, 2, 0, 8)), []);
    assert_eq!(all.lose(4), []);
    let told = all.give(1, 14, proposal(&members, 2, 1, 16));
    let kinds = vec![(4, 0), (1, 1)];
    assert_eq!(told[0].outcome, Agreement { missing: vec![3], kinds, left: None, words: vec![24] });
}

#[test]
fn who_leaves_keeps_nobody() {
    let mut all = Agreements::default();
    let leave = |number| Proposal { group: (9, 9), ..proposal(&[0, 1], number, 3, 0) };
    assert_eq!(all.give(0, 1, proposal(&[0, 1], 1, 0, 1)), []);
    let told = all.give(1, 2, leave(1));
    assert_eq!((told.len(), told[0].outcome.left, &told[0].waiting), (1, Some(1), &vec![(0, 1)]));
    // The other way round.
    assert_eq!(all.give(0, 3, proposal(&[0, 1], 2, 0, 1))[0].outcome.left, Some(1));
    assert_eq!(all.give(0, 4, leave(1))[0].outcome.left, None);
    // And again after that.
    assert_eq!(all.give(0, 5, proposal(&[0, 1], 3, 0, 1)), []);
    assert_eq!(all.give(1, 6, proposal(&[0, 1], 3, 0, 1))[0].outcome.left, None);
}

/// What reaches the head.
enum Event {
    Word(u32, u32, Proposal),
    Loss(u32),
}

/// Draws a number below `most`.
fn draw(state: &mut u64, most: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % most
}

/// A member: shrinks and agrees, as teams do, until its time has come. Gives what it was told, in order.
fn member(me: u32, pes: u32, dies_after: u64, to: &Sender<Event>, answers: &Receiver<Agreement>) -> Vec<Agreement> {
    let (mut team, mut told): (Vec<i32>, _) = ((0..pes as i32).collect(), Vec::new());
    for number in 1..=40 {
        if number > dies_after {
            to.send(Event::Loss(me)).unwrap();
            break;
        }
        let group = (team.len() as u64, 0);
        let words = vec![1 << me];
        let proposal = Proposal { group, number, what: 0, leaves: false, pes: PeList::of(&team), words };
        to.send(Event::Word(me, number as u32, proposal)).unwrap();
        if number == dies_after && me.is_multiple_of(2) {
            // In the middle, whether or not it hears of it.
            to.send(Event::Loss(me)).unwrap();
            break;
        }
        let outcome = answers.recv().unwrap();
        team.retain(|pe| !outcome.missing.contains(&(*pe as u32)));
        told.push(outcome);
    }
    told
}

#[test]
fn all_who_are_left_are_told_the_same_whoever_is_lost_and_when() {
    for seed in 1..=60_u64 {
        let mut state = seed;
        let pes = 2 + draw(&mut state, 7) as u32;
        let dies: Vec<u64> = (0..pes).map(|pe| if pe == 1 { 99 } else { draw(&mut state, 60) }).collect();
        let (to, events) = channel();
        let (ends, answers): (Vec<_>, Vec<_>) = (0..pes).map(|_| channel()).unzip();
        let members: Vec<_> = (answers.into_iter().enumerate())
            .map(|(me, answers)| {
                let (to, dies) = (to.clone(), dies[me]);
                thread::spawn(move || member(me as u32, pes, dies, &to, &answers))
            })
            .collect();
        drop(to);
        let mut all = Agreements::default();
        for event in events {
            let decisions = match event {
                Event::Word(pe, id, proposal) => all.give(pe, id, proposal),
                Event::Loss(pe) => all.lose(pe),
            };
            for decision in decisions {
                for (pe, _) in &decision.waiting {
                    // One that is lost does not want to know.
                    let _ = ends[*pe as usize].send(decision.outcome.clone());
                }
            }
        }
        let told: Vec<Vec<Agreement>> = members.into_iter().map(|member| member.join().unwrap()).collect();
        let longest = &told[1];
        assert_eq!(longest.len(), 40, "seed {seed}");
        for (pe, told) in told.iter().enumerate() {
            assert_eq!(told[..], longest[..told.len()], "seed {seed}, PE {pe}");
            // Its own word is in all that it was told.
            assert!(told.iter().all(|outcome| outcome.words[0] >> pe & 1 == 1), "seed {seed}, PE {pe}");
        }
        assert!(all.open.is_empty(), "seed {seed}");
    }
}

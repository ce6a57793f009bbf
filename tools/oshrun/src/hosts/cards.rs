//! The key-value space of the PEs' wire-up. Cards go to the root with the fence after which they may be asked for; a part
//! asks the root for those of other hosts when a PE wants one, each once.

use super::message::{Card, ToRoot};
use super::pack::Bytes;
use pellucid_core::bootstrap::talk::{Reply, Request};
use std::collections::HashMap;
use std::ops::Range;

type Name = (u32, String);

/// What a part does about a request.
#[derive(Debug)]
pub enum Do {
    /// Answers a PE.
    Answer(u32, Reply),
    /// Tells the root.
    Tell(ToRoot),
    /// Ends the job with this status, as a PE wishes.
    Abort(u32, i32, String),
}

/// A part's side.
pub struct PartCards {
    pes: Range<u32>,
    hosts: Vec<(u32, u32)>,
    /// Cards of this host's PEs, and of others that were asked for.
    known: HashMap<Name, Bytes>,
    /// Published since the last fence.
    fresh: Vec<Card>,
    /// Fences that each PE has come to.
    come: Vec<u64>,
    /// Fences that all PEs of this host have come to.
    reported: u64,
    /// Who waits for a card from the root.
    wanted: HashMap<Name, Vec<(u32, u32)>>,
}

impl PartCards {
    /// For these PEs.
    pub fn new(pes: Range<u32>, hosts: Vec<(u32, u32)>) -> Self {
        let come = vec![0; pes.len()];
        let (known, wanted) = (HashMap::new(), HashMap::new());
        Self { pes, hosts, known, fresh: Vec::new(), come, reported: 0, wanted }
    }

    /// A PE of this host has said something.
    pub fn request(&mut self, from: u32, request: Request) -> Vec<Do> {
        match request {
            Request::Publish { key, value } => {
                self.known.insert((from, key.clone()), Bytes(value.clone()));
                self.fresh.push(Card { pe: from, key, value: Bytes(value) });
                Vec::new()
            }
            Request::Fence => {
                self.come[(from - self.pes.start) as usize] += 1;
                if self.come.iter().all(|fences| *fences > self.reported) {
                    self.reported += 1;
                    return vec![Do::Tell(ToRoot::Fence { cards: std::mem::take(&mut self.fresh) })];
                }
                Vec::new()
            }
            Request::Card { id, pe, key } => {
                let name = (pe, key);
                if let Some(card) = self.known.get(&name) {
                    return vec![Do::Answer(from, Reply::Card { id, value: Some(card.0.clone()) })];
                }
                if self.pes.contains(&pe) {
                    return vec![Do::Answer(from, Reply::Card { id, value: None })];
                }
                let waiting = self.wanted.entry(name.clone()).or_default();
                waiting.push((from, id));
                let (pe, key) = name;
                if waiting.len() == 1 { vec![Do::Tell(ToRoot::Wanted { pe, key })] } else { Vec::new() }
            }
            Request::Hosts => vec![Do::Answer(from, Reply::Hosts(self.hosts.clone()))],
            Request::Abort { status, message } => vec![Do::Abort(from, status, message)],
            Request::Finish => Vec::new(),
        }
    }

    /// All hosts have come to the fence.
    pub fn fenced(&self) -> Vec<Do> {
        self.pes.clone().map(|pe| Do::Answer(pe, Reply::Fenced)).collect()
    }

    /// The root's answer.
    pub fn card(&mut self, pe: u32, key: String, value: Option<Bytes>) -> Vec<Do> {
        let name = (pe, key);
        let waiting = self.wanted.remove(&name).unwrap_or_default();
        let bytes = value.as_ref().map(|value| value.0.clone());
        if let Some(value) = value {
            self.known.insert(name, value);
        }
        waiting.into_iter().map(|(pe, id)| Do::Answer(pe, Reply::Card { id, value: bytes.clone() })).collect()
    }
}

/// The root's side.
#[derive(Default)]
pub struct RootCards {
    known: HashMap<Name, Bytes>,
    /// Fences that each host has come to.
    come: Vec<u64>,
    fenced: u64,
}

impl RootCards {
    /// For so many hosts.
    pub fn new(hosts: usize) -> Self {
        Self { come: vec![0; hosts], ..Self::default() }
    }

    /// A host has come to its next fence. True: all have.
    pub fn fence(&mut self, host: usize, cards: Vec<Card>) -> bool {
        self.known.extend(cards.into_iter().map(|card| ((card.pe, card.key), card.value)));
        self.come[host] += 1;
        let all = self.come.iter().all(|fences| *fences > self.fenced);
        self.fenced += u64::from(all);
        all
    }

    /// A card.
    pub fn get(&self, pe: u32, key: &str) -> Option<Bytes> {
        self.known.get(&(pe, key.to_owned())).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(actions: Vec<Do>) -> ToRoot {
        let mut actions = actions.into_iter();
        match (actions.next(), actions.next()) {
            (Some(Do::Tell(message)), None) => message,
            other => panic!("{other:?}"),
        }
    }

    fn answers(actions: Vec<Do>) -> Vec<(u32, Reply)> {
        let answer = |action| match action {
            Do::Answer(pe, reply) => (pe, reply),
            other => panic!("{other:?}"),
        };
        actions.into_iter().map(answer).collect()
    }

    fn publish(value: u8) -> Request {
        Request::Publish { key: "k".into(), value: vec![value] }
    }

    fn card(id: u32, pe: u32) -> Request {
        Request::Card { id, pe, key: "k".into() }
    }

    #[test]
    fn cards_reach_the_other_host_when_asked_for() {
        let mut parts = [PartCards::new(0..2, vec![(2, 2)]), PartCards::new(2..4, vec![(2, 2)])];
        let mut root = RootCards::new(2);
        for host in 0..2_u32 {
            let part = &mut parts[host as usize];
            for pe in 2 * host..2 * host + 2 {
                assert!(part.request(pe, publish(pe as u8)).is_empty());
            }
            assert!(part.request(2 * host, Request::Fence).is_empty());
            let ToRoot::Fence { cards } = told(part.request(2 * host + 1, Request::Fence)) else { panic!() };
            assert_eq!(cards.len(), 2);
            assert_eq!(root.fence(host as usize, cards), host == 1);
        }
        assert_eq!(answers(parts[0].fenced()), [(0, Reply::Fenced), (1, Reply::Fenced)]);
        // Within the host: at once. From the other one: the first request goes on, the second waits for the same answer.
        let part = &mut parts[0];
        assert_eq!(answers(part.request(0, card(1, 1))), [(0, Reply::Card { id: 1, value: Some(vec![1]) })]);
        assert!(matches!(told(part.request(0, card(2, 3))), ToRoot::Wanted { pe: 3, .. }));
        assert!(part.request(1, card(9, 3)).is_empty());
        let value = Some(vec![3]);
        assert_eq!(
            answers(part.card(3, "k".into(), root.get(3, "k"))),
            [(0, Reply::Card { id: 2, value: value.clone() }), (1, Reply::Card { id: 9, value: value.clone() })]
        );
        assert_eq!(answers(part.request(1, card(10, 3))), [(1, Reply::Card { id: 10, value })]);
    }

    #[test]
    fn a_card_that_is_not_there_is_said_to_be_missing() {
        let mut part = PartCards::new(0..1, vec![(2, 1)]);
        let root = RootCards::new(2);
        assert_eq!(answers(part.request(0, card(1, 0))), [(0, Reply::Card { id: 1, value: None })]);
        part.request(0, card(2, 1));
        assert_eq!(answers(part.card(1, "k".into(), root.get(1, "k"))), [(0, Reply::Card { id: 2, value: None })]);
        assert_eq!(answers(part.request(0, Request::Hosts)), [(0, Reply::Hosts(vec![(2, 1)]))]);
        assert!(matches!(
            part.request(0, Request::Abort { status: 3, message: "m".into() }).as_slice(),
            [Do::Abort(0, 3, message)] if message == "m"
        ));
    }

    #[test]
    fn a_host_may_be_a_fence_ahead() {
        let mut root = RootCards::new(2);
        assert!(!root.fence(0, Vec::new()));
        assert!(root.fence(1, Vec::new()));
        assert!(!root.fence(1, Vec::new()));
        assert!(root.fence(0, Vec::new()));
    }
}

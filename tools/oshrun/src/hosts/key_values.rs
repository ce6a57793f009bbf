//! The key-value space of the PEs' wire-up. Values go to the head with the fence after which they may be asked for; a
//! daemon asks the head for those of other hosts when a PE wants one, each once.

use super::message::{KeyValue, ToHead};
use super::pack::Bytes;
use pellucid_core::bootstrap::talk::{PeRequest, Reply};
use std::collections::HashMap;
use std::ops::Range;

type Name = (u32, String);

/// What a daemon does about a request.
#[derive(Debug)]
pub enum Do {
    /// Answers a PE.
    Answer(u32, Reply),
    /// Tells the head.
    Tell(ToHead),
    /// Ends the job with this status, as a PE wishes.
    Abort(u32, i32, String),
}

/// A daemon's side.
pub struct DaemonKeyValues {
    pes: Range<u32>,
    hosts: Vec<(u32, u32)>,
    /// Values of this host's PEs, and of others that were asked for.
    known: HashMap<Name, Bytes>,
    /// Published since the last fence.
    fresh: Vec<KeyValue>,
    /// Fences that each PE has come to.
    come: Vec<u64>,
    /// Fences that all PEs of this host have come to.
    reported: u64,
    /// Who waits for a value from the head.
    wanted: HashMap<Name, Vec<(u32, u32)>>,
}

impl DaemonKeyValues {
    /// For these PEs.
    pub fn new(pes: Range<u32>, hosts: Vec<(u32, u32)>) -> Self {
        let come = vec![0; pes.len()];
        let (known, wanted) = (HashMap::new(), HashMap::new());
        Self { pes, hosts, known, fresh: Vec::new(), come, reported: 0, wanted }
    }

    /// A PE of this host has said something.
    pub fn request(&mut self, from: u32, request: PeRequest) -> Vec<Do> {
        match request {
            PeRequest::Publish { key, value } => {
                self.known.insert((from, key.clone()), Bytes(value.clone()));
                self.fresh.push(KeyValue { pe: from, key, value: Bytes(value) });
                Vec::new()
            }
            PeRequest::Fence => {
                self.come[(from - self.pes.start) as usize] += 1;
                if self.come.iter().all(|fences| *fences > self.reported) {
                    self.reported += 1;
                    return vec![Do::Tell(ToHead::Fence { key_values: std::mem::take(&mut self.fresh) })];
                }
                Vec::new()
            }
            PeRequest::Lookup { id, pe, key } => {
                let name = (pe, key);
                if let Some(value) = self.known.get(&name) {
                    return vec![Do::Answer(from, Reply::Value { id, value: Some(value.0.clone()) })];
                }
                if self.pes.contains(&pe) {
                    return vec![Do::Answer(from, Reply::Value { id, value: None })];
                }
                let waiting = self.wanted.entry(name.clone()).or_default();
                waiting.push((from, id));
                let (pe, key) = name;
                if waiting.len() == 1 { vec![Do::Tell(ToHead::Wanted { pe, key })] } else { Vec::new() }
            }
            PeRequest::Hosts => vec![Do::Answer(from, Reply::Hosts(self.hosts.clone()))],
            PeRequest::Abort { status, message } => vec![Do::Abort(from, status, message)],
            PeRequest::Finish => Vec::new(),
            PeRequest::Unreached { pe, why } => vec![Do::Tell(ToHead::Unreached { pe, why })],
            PeRequest::Agree { id, proposal } => {
                vec![Do::Tell(ToHead::Agree { pe: from, id, proposal: Bytes(proposal.encode()) })]
            }
        }
    }

    /// All hosts have come to the fence.
    pub fn fenced(&self) -> Vec<Do> {
        self.pes.clone().map(|pe| Do::Answer(pe, Reply::Fenced)).collect()
    }

    /// The head's answer.
    pub fn lookup(&mut self, pe: u32, key: String, value: Option<Bytes>) -> Vec<Do> {
        let name = (pe, key);
        let waiting = self.wanted.remove(&name).unwrap_or_default();
        let bytes = value.as_ref().map(|value| value.0.clone());
        if let Some(value) = value {
            self.known.insert(name, value);
        }
        waiting.into_iter().map(|(pe, id)| Do::Answer(pe, Reply::Value { id, value: bytes.clone() })).collect()
    }
}

/// The head's side.
#[derive(Default)]
pub struct HeadKeyValues {
    known: HashMap<Name, Bytes>,
    /// Fences that each host has come to.
    come: Vec<u64>,
    fenced: u64,
}

impl HeadKeyValues {
    /// For so many hosts.
    pub fn new(hosts: usize) -> Self {
        Self { come: vec![0; hosts], ..Self::default() }
    }

    /// A host has come to its next fence. True: all have.
    pub fn fence(&mut self, host: usize, key_values: Vec<KeyValue>) -> bool {
        self.known.extend(key_values.into_iter().map(|value| ((value.pe, value.key), value.value)));
        self.come[host] += 1;
        let all = self.come.iter().all(|fences| *fences > self.fenced);
        self.fenced += u64::from(all);
        all
    }

    /// A value.
    pub fn get(&self, pe: u32, key: &str) -> Option<Bytes> {
        self.known.get(&(pe, key.to_owned())).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(actions: Vec<Do>) -> ToHead {
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

    fn publish(value: u8) -> PeRequest {
        PeRequest::Publish { key: "k".into(), value: vec![value] }
    }

    fn lookup(id: u32, pe: u32) -> PeRequest {
        PeRequest::Lookup { id, pe, key: "k".into() }
    }

    #[test]
    fn values_reach_the_other_host_when_asked_for() {
        let mut daemons = [DaemonKeyValues::new(0..2, vec![(2, 2)]), DaemonKeyValues::new(2..4, vec![(2, 2)])];
        let mut head = HeadKeyValues::new(2);
        for host in 0..2_u32 {
            let daemon = &mut daemons[host as usize];
            for pe in 2 * host..2 * host + 2 {
                assert!(daemon.request(pe, publish(pe as u8)).is_empty());
            }
            assert!(daemon.request(2 * host, PeRequest::Fence).is_empty());
            let ToHead::Fence { key_values } = told(daemon.request(2 * host + 1, PeRequest::Fence)) else { panic!() };
            assert_eq!(key_values.len(), 2);
            assert_eq!(head.fence(host as usize, key_values), host == 1);
        }
        assert_eq!(answers(daemons[0].fenced()), [(0, Reply::Fenced), (1, Reply::Fenced)]);
        // Within the host: at once. From the other one: the first request goes on, the second waits for the same
        // answer.
        let daemon = &mut daemons[0];
        assert_eq!(answers(daemon.request(0, lookup(1, 1))), [(0, Reply::Value { id: 1, value: Some(vec![1]) })]);
        assert!(matches!(told(daemon.request(0, lookup(2, 3))), ToHead::Wanted { pe: 3, .. }));
        assert!(daemon.request(1, lookup(9, 3)).is_empty());
        let value = Some(vec![3]);
        assert_eq!(
            answers(daemon.lookup(3, "k".into(), head.get(3, "k"))),
            [(0, Reply::Value { id: 2, value: value.clone() }), (1, Reply::Value { id: 9, value: value.clone() })]
        );
        assert_eq!(answers(daemon.request(1, lookup(10, 3))), [(1, Reply::Value { id: 10, value })]);
    }

    #[test]
    fn a_value_that_is_not_there_is_said_to_be_missing() {
        let mut daemon = DaemonKeyValues::new(0..1, vec![(2, 1)]);
        let head = HeadKeyValues::new(2);
        assert_eq!(answers(daemon.request(0, lookup(1, 0))), [(0, Reply::Value { id: 1, value: None })]);
        daemon.request(0, lookup(2, 1));
        assert_eq!(answers(daemon.lookup(1, "k".into(), head.get(1, "k"))), [(0, Reply::Value { id: 2, value: None })]);
        assert_eq!(answers(daemon.request(0, PeRequest::Hosts)), [(0, Reply::Hosts(vec![(2, 1)]))]);
        assert!(matches!(
            daemon.request(0, PeRequest::Abort { status: 3, message: "m".into() }).as_slice(),
            [Do::Abort(0, 3, message)] if message == "m"
        ));
    }

    #[test]
    fn a_host_may_be_a_fence_ahead() {
        let mut head = HeadKeyValues::new(2);
        assert!(!head.fence(0, Vec::new()));
        assert!(head.fence(1, Vec::new()));
        assert!(!head.fence(1, Vec::new()));
        assert!(head.fence(0, Vec::new()));
    }
}

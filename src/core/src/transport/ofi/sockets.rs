//! What the kernel says of PEs that a provider over TCP does not get through to.
//!
//! A connection is made by the kernels, before the programs hear of it: one that is established says that a process is
//! there which listens, though it may be stopped, and one that is refused, that there is none.

use crate::os::tcp::{self, Connection};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Between two looks; more where looking takes long.
const PERIOD: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3));
/// The share of the time that looking may take: one part of so many.
const SHARE: u32 = 100;

/// What is known of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its kernel keeps a connection: its process is there.
    Connected,
    /// There is no connection, and none that is waited for.
    Refused,
    /// A connection is asked for, and nobody answers.
    Unanswered,
    /// Nothing: the provider does not use TCP.
    Unknown,
}

/// This process's connections at the last look.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    next: Option<Instant>,
    established: Vec<Connection>,
    unanswered: bool,
}

impl Sockets {
    /// Looks, where the last look is some time ago.
    pub fn look(&mut self) -> &Self {
        let now = Instant::now();
        if self.next.is_none_or(|next| now >= next) {
            self.established = tcp::connections();
            self.unanswered = tcp::any_unanswered();
            self.next = Some(now + (now.elapsed() * SHARE).clamp(PERIOD.0, PERIOD.1));
        }
        self
    }

    /// What is known of a PE that listens at an address; `here`: the port that this one listens at, to which that one
    /// may have connected. Whom a connection without answer is to, the kernel does not tell.
    pub fn reach(&self, there: (IpAddr, u16), here: Option<u16>) -> Reach {
        let is_to = |c: &Connection| c.peer == there || here == Some(c.port) && c.peer.0 == there.0;
        match self.established.iter().any(is_to) {
            true => Reach::Connected,
            false if self.unanswered => Reach::Unanswered,
            false => Reach::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_either_way_says_that_a_pe_is_there() {
        let ip = |last: u8| IpAddr::from([10, 0, 0, last]);
        let connection = |port, peer| Connection { fd: 3, port, peer };
        let mut sockets = Sockets::default();
        assert_eq!(sockets.reach((ip(1), 700), Some(600)), Reach::Refused);
        sockets.unanswered = true;
        assert_eq!(sockets.reach((ip(1), 700), Some(600)), Reach::Unanswered);
        sockets.established = vec![connection(40_000, (ip(1), 700)), connection(600, (ip(2), 50_000))];
        let reach =
            [(1, 700), (1, 701), (2, 700), (3, 700)].map(|(last, port)| sockets.reach((ip(last), port), Some(600)));
        assert_eq!(reach, [Reach::Connected, Reach::Unanswered, Reach::Connected, Reach::Unanswered]);
        assert_eq!(sockets.reach((ip(2), 700), None), Reach::Unanswered);
    }

    #[test]
    fn looks_are_some_time_apart() {
        let mut sockets = Sockets::default();
        let next = sockets.look().next;
        assert!(next.is_some() && sockets.look().next == next);
    }
}

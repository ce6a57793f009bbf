//! Connections between hosts over which nothing is said while all is well: a host whose PEs are gone is known by their
//! end.
//!
//! Within a host the death of a PE is seen by those around it. What nobody sees there is the death of all of them, and
//! a PE that computes has no connection over the network that it would look at. So the first PE of each host has a
//! connection to that of the next host, the last one's to the first: whichever hosts are lost, one that is left is next
//! to them. A job in which some of these connections cannot be made (a firewall) goes on without.

use crate::os::socket;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// Bytes of what tells PEs of the job from others.
const TOKEN: usize = 16;
/// Bytes of a host's name.
const HOST: usize = 64;
/// What is said first: the token of the listener, the PE and how many its host has, the host's name.
const HELLO: usize = TOKEN + 4 + 4 + HOST;
/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections of which it is not known yet whose they are: how many, and how long they have to say it.
const STRANGERS: (usize, Duration) = (16, Duration::from_secs(1));

/// What a PE says of itself from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// It needs the others.
    Initialized = b'i',
    /// It has finalized: it may end.
    Finalized = b'f',
}

/// A host, as its first PE introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its first PE.
    pub pe: u32,
    /// PEs that it has.
    pub pes: u32,
    /// Its name.
    pub name: String,
}

/// Where the host before this one connects.
pub struct Listener {
    listener: TcpListener,
    token: [u8; TOKEN],
}

/// This host's two neighbours.
pub struct HostRing {
    listener: Option<Listener>,
    own: Host,
    next: Vec<u8>,
    neighbours: Vec<Neighbour>,
    strangers: Vec<(TcpStream, Vec<u8>, Instant)>,
}

struct Neighbour {
    stream: TcpStream,
    hello: Vec<u8>,
    stage: Stage,
}

impl Listener {
    /// Listens at this address of the host.
    pub fn new(address: IpAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(address, 0))?;
        listener.set_nonblocking(true)?;
        let mut token = [0; TOKEN];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut token)?;
        Ok(Self { listener, token })
    }

    /// What the host before has to know.
    pub fn contact(&self) -> Vec<u8> {
        let address = self.listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
        [self.token.as_slice(), address.as_bytes()].concat()
    }
}

impl HostRing {
    /// A ring to be joined: `next` is the contact of the host after this one.
    pub fn new(listener: Option<Listener>, own: Host, next: Vec<u8>) -> Self {
        Self { listener, own, next, neighbours: Vec::new(), strangers: Vec::new() }
    }

    /// Connects to the next host, and says who this is, so that an end is noticed from then on. Waits at most some
    /// seconds.
    pub fn join(&mut self) {
        if let Some((token, address)) = self.next.split_first_chunk::<TOKEN>()
            && let Some(address) = std::str::from_utf8(address).ok().and_then(|text| text.parse().ok())
            && let Ok(stream) = TcpStream::connect_timeout(&address, PATIENCE)
            && socket::send_all(&stream, &self.own.hello(token)).is_ok()
            && stream.set_nonblocking(true).is_ok()
        {
            self.neighbours.push(Neighbour { stream, hello: Vec::new(), stage: Stage::Initialized });
        }
    }

    /// What to wait for: input of any of these.
    pub fn fds(&self) -> Vec<RawFd> {
        let listener = self.listener.iter().map(|listener| listener.listener.as_raw_fd());
        let strangers = self.strangers.iter().map(|(stream, ..)| stream.as_raw_fd());
        listener.chain(strangers).chain(self.streams()).collect()
    }

    /// Whether time has to be looked at: somebody has not said who it is.
    pub fn is_waiting(&self) -> bool {
        !self.strangers.is_empty()
    }

    /// The connections to the neighbours.
    pub fn streams(&self) -> impl Iterator<Item = RawFd> {
        self.neighbours.iter().map(|neighbour| neighbour.stream.as_raw_fd())
    }

    /// Takes what has come. Gives the hosts whose first PE has gone before it had finalized.
    pub fn look(&mut self) -> Vec<Host> {
        self.accept_neighbour();
        let mut gone = Vec::new();
        self.neighbours.retain_mut(|neighbour| {
            let there = neighbour.read();
            // Whoever has not said who it is was not there yet.
            if !there && neighbour.stage == Stage::Initialized {
                gone.extend(Host::decode(&neighbour.hello));
            }
            there
        });
        gone
    }

    /// Lets the host before this one in.
    fn accept_neighbour(&mut self) {
        let Some(listener) = &self.listener else { return };
        while let Ok((stream, _)) = listener.listener.accept() {
            if self.strangers.len() < STRANGERS.0 && stream.set_nonblocking(true).is_ok() {
                self.strangers.push((stream, Vec::new(), Instant::now()));
            }
        }
        let mut found = None;
        self.strangers.retain_mut(|(stream, said, since)| {
            let there = receive(stream, said, HELLO);
            if said.len() == HELLO && said.starts_with(&listener.token) {
                found = stream.try_clone().ok().map(|stream| (stream, std::mem::take(said)));
                return false;
            }
            there && said.len() < HELLO && since.elapsed() < STRANGERS.1
        });
        if let Some((stream, hello)) = found {
            // One that has gone meanwhile does not hear it, and is missed when its connection is looked at.
            let _ = socket::send_all(&stream, &self.own.hello(&[0; TOKEN]));
            self.neighbours.push(Neighbour { stream, hello, stage: Stage::Initialized });
            // There is one only.
            self.listener = None;
            self.strangers.clear();
        }
    }
}

impl Neighbour {
    /// Takes what it says; false: it has gone.
    fn read(&mut self) -> bool {
        if self.hello.len() < HELLO && !receive(&self.stream, &mut self.hello, HELLO) {
            return false;
        }
        if self.hello.len() < HELLO {
            return true;
        }
        let mut said = Vec::new();
        let there = receive(&self.stream, &mut said, 4096);
        match said.last() {
            Some(&stage) if stage == Stage::Finalized as u8 => self.stage = Stage::Finalized,
            Some(_) => self.stage = Stage::Initialized,
            None => {}
        }
        there
    }
}

impl Host {
    fn hello(&self, token: &[u8; TOKEN]) -> Vec<u8> {
        let mut hello = token.to_vec();
        hello.extend(self.pe.to_le_bytes());
        hello.extend(self.pes.to_le_bytes());
        hello.extend(self.name.bytes().take(HOST));
        hello.resize(HELLO, 0);
        hello
    }

    fn decode(hello: &[u8]) -> Option<Self> {
        let (_, rest) = hello.split_first_chunk::<TOKEN>()?;
        let (pe, rest) = rest.split_first_chunk()?;
        let (pes, name) = rest.split_first_chunk()?;
        let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        Some(Self { pe: u32::from_le_bytes(*pe), pes: u32::from_le_bytes(*pes), name })
    }
}

/// Receives until there are `most` bytes in all, as far as they have come; false: the other end is closed.
fn receive(mut stream: &TcpStream, bytes: &mut Vec<u8>, most: usize) -> bool {
    while bytes.len() < most {
        let mut buffer = [0; HELLO];
        let room = buffer.len().min(most - bytes.len());
        match stream.read(&mut buffer[..room]) {
            Ok(0) => return false,
            Ok(count) => bytes.extend(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn host(pe: u32) -> Host {
        Host { pe, pes: 2, name: format!("host{pe}") }
    }

    /// Three hosts that have met.
    fn three() -> Vec<HostRing> {
        let listeners: Vec<Listener> = (0..3).map(|_| Listener::new("127.0.0.1".parse().unwrap()).unwrap()).collect();
        let contacts: Vec<Vec<u8>> = listeners.iter().map(Listener::contact).collect();
        let new = |(k, listener): (usize, Listener)| {
            HostRing::new(Some(listener), host(2 * k as u32), contacts[(k + 1) % 3].clone())
        };
        let mut rings: Vec<HostRing> = listeners.into_iter().enumerate().map(new).collect();
        rings.iter_mut().for_each(HostRing::join);
        let until = Instant::now() + Duration::from_secs(30);
        while rings.iter().any(|ring| ring.neighbours.iter().filter(|n| n.hello.len() == HELLO).count() < 2) {
            assert!(Instant::now() < until);
            rings.iter_mut().for_each(|ring| assert_eq!(ring.look(), []));
        }
        rings
    }

    fn wait_for(ring: &mut HostRing) -> Vec<Host> {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let gone = ring.look();
            if !gone.is_empty() || ring.neighbours.len() < 2 || Instant::now() > until {
                return gone;
            }
        }
    }

    #[test]
    fn both_neighbours_see_the_end_of_a_host() {
        let mut rings = three();
        drop(rings.remove(1));
        for ring in &mut rings {
            assert_eq!(wait_for(ring), [host(2)]);
        }
    }

    /// It has begun and ended before the other one has looked at the ring at all.
    #[test]
    fn a_host_that_ends_at_once_is_missed() {
        for connected in [false, true] {
            let listeners = [0, 1].map(|_| Listener::new("127.0.0.1".parse().unwrap()).unwrap());
            let contacts = [&listeners[0], &listeners[1]].map(Listener::contact);
            let [mine, theirs] = listeners;
            let mut other = HostRing::new(Some(theirs), host(2), contacts[0].clone());
            let mut own = HostRing::new(Some(mine), host(0), contacts[1].clone());
            if connected {
                own.join();
            }
            other.join();
            drop(other);
            let until = Instant::now() + Duration::from_secs(30);
            let mut gone = Vec::new();
            while gone.is_empty() && Instant::now() < until {
                gone = own.look();
            }
            assert_eq!(gone, [host(2)], "connected: {connected}");
        }
    }

    #[test]
    fn whoever_has_finalized_may_go() {
        let mut rings = three();
        let tell = |ring: &HostRing, stage: Stage| {
            ring.neighbours.iter().for_each(|n| (&n.stream).write_all(&[stage as u8]).unwrap());
        };
        tell(&rings[1], Stage::Finalized);
        tell(&rings[2], Stage::Finalized);
        tell(&rings[2], Stage::Initialized);
        let mut first = rings.remove(0);
        drop(rings.remove(0));
        assert_eq!(wait_for(&mut first), []);
        drop(rings);
        first.neighbours.iter().for_each(|n| n.stream.set_nonblocking(false).unwrap());
        assert_eq!(first.look(), [host(4)]);
    }

    #[test]
    fn strangers_do_not_get_in() {
        let listener = Listener::new("127.0.0.1".parse().unwrap()).unwrap();
        let address = listener.listener.local_addr().unwrap();
        let mut ring = HostRing::new(Some(listener), host(0), Vec::new());
        let mut strangers: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        strangers[0].write_all(&[7; HELLO]).unwrap();
        strangers[1].write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        // Who says something wrong is sent away, at once or in time.
        let until = Instant::now() + STRANGERS.1 + Duration::from_millis(300);
        while Instant::now() < until {
            assert_eq!(ring.look(), []);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(ring.neighbours.is_empty() && ring.strangers.is_empty() && ring.listener.is_some());
    }
}

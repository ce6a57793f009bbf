//! Connections to the head over which nobody has said who it is. Parts of the job say so at once; anybody on the
//! network may connect and say nothing.

use super::link::{Link, Listened};
use crate::sys::epoll::Epoll;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long somebody may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);
/// How many there may be beside one for each host.
const SPARE: usize = 32;

/// These connections, by token: those that were made first have the lowest.
pub struct Strangers {
    links: BTreeMap<u64, (Link, Listened)>,
    most: usize,
}

impl Strangers {
    /// None yet, of a job on so many hosts.
    pub fn new(hosts: usize) -> Self {
        Self { links: BTreeMap::new(), most: hosts + SPARE }
    }

    /// Somebody has connected. Where there are too many, the first goes.
    pub fn add(&mut self, token: u64, link: Link, epoll: &Epoll) {
        if self.links.len() >= self.most {
            self.drop_first(epoll);
        }
        self.links.insert(token, (link, Listened::since(Instant::now())));
    }

    /// One of them.
    pub fn get(&mut self, token: u64) -> Option<&mut Link> {
        self.links.get_mut(&token).map(|(link, _)| link)
    }

    /// One that is known from now on, or has no place here.
    pub fn take(&mut self, token: u64) -> Option<Link> {
        self.links.remove(&token).map(|(link, _)| link)
    }

    /// Drops the first. False: there is none.
    pub fn drop_first(&mut self, epoll: &Epoll) -> bool {
        let first = self.links.pop_first();
        first.iter().for_each(|(_, (link, _))| link.forget(epoll));
        first.is_some()
    }

    /// Drops those that have had their time.
    pub fn drop_late(&mut self, now: Instant, epoll: &Epoll) {
        self.links.retain(|_, (link, listened)| {
            let is_late = listened.look(now) >= GREETING;
            if is_late {
                link.forget(epoll);
            }
            !is_late
        });
    }

    /// Drops all.
    pub fn clear(&mut self, epoll: &Epoll) {
        while self.drop_first(epoll) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    /// So many, and their other ends.
    fn connected(strangers: &mut Strangers, epoll: &Epoll, count: u64) -> Vec<TcpStream> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = |token| {
            let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            strangers.add(token, Link::new(listener.accept().unwrap().0, token, epoll).unwrap(), epoll);
            theirs.set_nonblocking(true).unwrap();
            theirs
        };
        (0..count).map(connect).collect()
    }

    fn are_dropped(theirs: &[TcpStream]) -> usize {
        theirs.iter().filter(|stream| matches!((&**stream).read(&mut [0]), Ok(0))).count()
    }

    #[test]
    fn of_too_many_the_first_go() {
        let epoll = Epoll::new().unwrap();
        let mut strangers = Strangers::new(2);
        let theirs = connected(&mut strangers, &epoll, 100);
        assert_eq!((are_dropped(&theirs[..66]), are_dropped(&theirs[66..])), (66, 0));
        assert!(strangers.get(65).is_none() && strangers.get(66).is_some());
        assert!(strangers.take(70).is_some_and(|link| link.silent().is_zero()));
        strangers.clear(&epoll);
        assert_eq!(are_dropped(&theirs), 100);
        assert!(!strangers.drop_first(&epoll));
    }

    #[test]
    fn who_does_not_say_who_it_is_goes_whatever_else_it_says() {
        use std::io::Write;
        let epoll = Epoll::new().unwrap();
        let mut strangers = Strangers::new(2);
        let theirs = connected(&mut strangers, &epoll, 1);
        let mut now = Instant::now();
        let mut looks = 0;
        while are_dropped(&theirs) == 0 {
            // The length of a message, which does not come.
            (&theirs[0]).write_all(&[[100, 0, 0, 0, 1][looks]]).unwrap();
            epoll.wait(Some(Duration::from_secs(10))).unwrap();
            let link = strangers.get(0).unwrap();
            assert!(link.ready::<crate::hosts::message::ToHead>(&epoll).1.is_none());
            now += Duration::from_secs(1);
            looks += 1;
            strangers.drop_late(now, &epoll);
        }
        assert_eq!(looks, 5);
    }
}

//! Where daemons connect: at those addresses of this host under which their hosts reach it, and nowhere else. Each has
//! a port of its own.

use crate::sys::epoll::{Epoll, Interest};
use crate::sys::net;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

/// Listening sockets by address.
#[derive(Debug, Default)]
pub struct Listeners(BTreeMap<IpAddr, TcpListener>);

impl Listeners {
    /// Listens at these addresses. One that cannot be listened at is left out; error: that holds for all of them.
    pub fn open(addresses: impl IntoIterator<Item = IpAddr>) -> io::Result<Self> {
        let mut all = BTreeMap::new();
        let mut problem = io::Error::new(io::ErrorKind::AddrNotAvailable, "this host has no address");
        for address in addresses {
            if all.contains_key(&address) {
                continue;
            }
            let listener = TcpListener::bind((address, 0)).and_then(|listener| {
                listener.set_nonblocking(true)?;
                net::hold_back_silent(&listener);
                Ok(listener)
            });
            match listener {
                Ok(listener) => _ = all.insert(address, listener),
                Err(error) => problem = io::Error::new(error.kind(), format!("{address}: {error}")),
            }
        }
        if all.is_empty() { Err(problem) } else { Ok(Self(all)) }
    }

    /// Has them waited for.
    pub fn register(&self, epoll: &Epoll, token: u64) -> io::Result<()> {
        self.0.values().try_for_each(|listener| epoll.add(listener, token, Interest::Read))
    }

    /// Where to connect for these addresses, in their order.
    pub fn ports(&self, addresses: &[IpAddr]) -> Vec<SocketAddr> {
        addresses.iter().filter_map(|address| self.0.get(address)?.local_addr().ok()).collect()
    }

    /// Who has connected, one at each address. Error: nobody can be taken, as where there are too many open files.
    pub fn accept(&self) -> io::Result<Vec<TcpStream>> {
        let mut all = Vec::new();
        for listener in self.0.values() {
            match listener.accept() {
                Ok((stream, _)) => all.push(stream),
                Err(error) if is_lack(&error) && all.is_empty() => return Err(error),
                // Nobody is there, or who was there has gone.
                Err(_) => {}
            }
        }
        Ok(all)
    }

    /// Listens no longer.
    pub fn close(&mut self, epoll: &Epoll) {
        std::mem::take(&mut self.0).values().for_each(|listener| epoll.remove(listener));
    }
}

/// Whether it is this process or host that has too little of something.
fn is_lack(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn only_the_addresses_asked_for_are_listened_at() {
        let (one, two): (IpAddr, IpAddr) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        // That of nobody here (a documentation address) is left out.
        let nobody: IpAddr = "192.0.2.1".parse().unwrap();
        let mut listeners = Listeners::open([one, nobody, one]).unwrap();
        let ports = listeners.ports(&[nobody, one, two]);
        assert_eq!(ports.len(), 1, "{ports:?}");
        assert!(TcpStream::connect((two, ports[0].port())).is_err());
        let mut stream = TcpStream::connect(ports[0]).unwrap();
        stream.write_all(b"I am here").unwrap();
        assert_eq!([listeners.accept().unwrap().len(), listeners.accept().unwrap().len()], [1, 0]);
        listeners.close(&Epoll::new().unwrap());
        assert!(TcpStream::connect(ports[0]).is_err());
        let error = Listeners::open([nobody]).unwrap_err();
        assert!(error.to_string().starts_with("192.0.2.1: "), "{error}");
        assert!(Listeners::open([]).is_err());
    }
}

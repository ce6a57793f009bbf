//! Whose job has ended, and who serves its last numbers until they have been fetched, gives way to the next one of its
//! user that wants the same port: steps of a script begin one after another.
//!
//! It listens at a name of the network namespace, as its port is one of that; who asks and who answers is told by the
//! kernel.

use std::io;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use pellucid_profile::segment::handover;

/// How long who was asked may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

fn name(port: u16) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("pellucid-last-numbers-{port}"))
}

/// Asks whoever has an address and needs it no more to go, and binds it then.
///
/// # Errors
/// The one from before, where there is nobody to be asked; or that of the last attempt.
pub fn take_over<T>(address: &str, error: io::Error, bind: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let Some(port) = port.filter(|_| error.kind() == io::ErrorKind::AddrInUse) else { return Err(error) };
    let asked = name(port).and_then(|name| UnixStream::connect_addr(&name));
    let Ok(asked) = asked else { return Err(error) };
    if handover::peer(asked.as_fd())? != handover::user() {
        return Err(error);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match bind() {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            bound => return bound,
        }
    }
}

/// From now on somebody else may ask for the port, and is answered by [`Way::give`]. `None`: nobody can.
pub fn reserve(port: u16) -> Option<Way> {
    name(port).and_then(|name| UnixListener::bind_addr(&name)).ok().map(Way)
}

/// Where those who want the port ask for it.
pub struct Way(UnixListener);

impl Way {
    /// `go` is called when one of this user's has asked or asks for the port, in a thread. Where that cannot be, nobody
    /// is answered.
    pub fn give(self, go: impl Fn() + Send + 'static) {
        let wait = move || {
            for asks in self.0.incoming() {
                match asks.and_then(|asks| handover::peer(asks.as_fd())) {
                    Ok(user) if user == handover::user() => go(),
                    Ok(_) => {}
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        };
        let _ = std::thread::Builder::new().name("successor".into()).stack_size(64 << 10).spawn(wait);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn who_has_ended_gives_way_and_others_do_not() {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = first.local_addr().unwrap();
        let bind = || TcpListener::bind(address);
        let in_use = || bind().unwrap_err();
        let error = take_over(&address.to_string(), in_use(), bind).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "it serves");
        let first = Mutex::new(Some(first));
        let error = in_use();
        let way = reserve(address.port()).unwrap();
        way.give(move || drop(first.lock().unwrap().take()));
        assert_eq!(take_over(&address.to_string(), error, bind).unwrap().local_addr().unwrap(), address);
        let other = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(take_over("127.0.0.1:1", other, bind).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}

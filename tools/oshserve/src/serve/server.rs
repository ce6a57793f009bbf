//! Connections and their bounds. HTTP is hyper's, TLS is rustls'.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::{AbortHandle, LocalSet};
use tokio_rustls::TlsAcceptor;

use super::answer::{HttpRequest, answer, plain};
use super::config::Config;
use super::jobs::Jobs;
use super::sockets::clear;
use super::successor;
use super::{Listen, Pages};
use crate::say::Sparing;

/// Connections at a time. One more waits until one ends, or has had no request for [`IDLE`] and is closed.
const CONNECTIONS: usize = 64;
/// Connections that wait to be accepted.
const WAITING: i32 = 128;
/// How long a connection may have nothing to do where others wait.
const IDLE: Duration = Duration::from_secs(1);
/// Between two looks whether there is room for one that waits.
const PAUSE: Duration = Duration::from_millis(10);
/// Time for a request's head, and for the encryption's handshake.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection may be used.
const LIFE: Duration = Duration::from_secs(600);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 8 << 10;

/// What to do where somebody else listens there.
const IN_USE: &str = ": oshrun --metrics=HOST:PORT, or oshprof serve --listen HOST:PORT, takes another port, \
                      port 0 any that is free";

/// A socket that listens.
pub enum Listener {
    /// Address and port.
    Tcp(std::net::TcpListener),
    /// In the file system.
    Unix(std::os::unix::net::UnixListener, PathBuf),
}

impl Listener {
    /// Binds it.
    ///
    /// # Errors
    /// What is wrong, with the address.
    pub fn bind(to: &Listen) -> Result<Listener, String> {
        match to {
            Listen::Tcp(address) => {
                let failed = |error: io::Error| {
                    let hint = if error.kind() == io::ErrorKind::AddrInUse { IN_USE } else { "" };
                    format!("{address}: {error}{hint}")
                };
                let bind = || bind_tcp(address);
                let listener = bind().or_else(|error| successor::take_over(address, error, bind)).map_err(failed)?;
                listener.set_nonblocking(true).map_err(|error| format!("{address}: {error}"))?;
                Ok(Listener::Tcp(listener))
            }
            Listen::Unix(path) => {
                let failed = |error| format!("unix:{}: {error}", path.display());
                clear(path).map_err(failed)?;
                let listener = {
                    let _mask = crate::sys::Private::new(0o177);
                    std::os::unix::net::UnixListener::bind(path).map_err(failed)?
                };
                fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Listener::Unix(listener, path.clone()))
            }
        }
    }

    /// Its port, where it has one.
    pub fn port(&self) -> Option<u16> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok().map(|address| address.port()),
            Listener::Unix(..) => None,
        }
    }

    /// Whether others than this host can reach it.
    pub fn is_open_to_others(&self) -> bool {
        match self {
            Listener::Tcp(listener) => listener.local_addr().is_ok_and(|address| !address.ip().is_loopback()),
            Listener::Unix(..) => false,
        }
    }

    /// Where it listens.
    pub fn name(&self) -> String {
        match self {
            Listener::Tcp(listener) => listener.local_addr().map(|address| address.to_string()).unwrap_or_default(),
            Listener::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// What to type.
    pub fn url(&self, encrypted: bool) -> String {
        match self {
            Listener::Tcp(_) => self.root(encrypted) + "metrics",
            Listener::Unix(..) => self.name(),
        }
    }

    /// The beginning of all its addresses.
    pub fn root(&self, encrypted: bool) -> String {
        format!("http{}://{}/", if encrypted { "s" } else { "" }, self.name())
    }
}

/// Binds what an address says: without a host, all addresses of this one.
fn bind_tcp(address: &str) -> io::Result<std::net::TcpListener> {
    let Some(port) = address.strip_prefix(':').and_then(|port| port.parse().ok()) else {
        return std::net::TcpListener::bind(address);
    };
    match bind_all(port) {
        // There is no IPv6 here.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL)) => {
            std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
        }
        bound => bound,
    }
}

/// All addresses of IPv6 and of IPv4, whatever the system has as its default (`net.ipv6.bindv6only`).
fn bind_all(port: u16) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None)?;
    socket.set_only_v6(false)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)).into())?;
    socket.listen(WAITING)?;
    Ok(socket.into())
}

/// What every connection needs.
#[derive(Clone)]
struct Shared {
    jobs: Arc<Jobs>,
    config: Option<Arc<Config>>,
    name: Arc<str>,
    pages: Arc<Pages>,
    /// What is said of connections that are refused.
    refused: Arc<Sparing>,
}

/// A connection: since when it has had no request under way, and how to end it.
struct Open {
    number: u64,
    idle: Idle,
    handle: AbortHandle,
}

/// `None`: a request is under way.
type Idle = Rc<Cell<Option<Instant>>>;

/// Serves for ever.
///
/// # Errors
/// What the system refused at the start.
pub fn serve(listener: Listener, jobs: Arc<Jobs>, config: Option<Config>, pages: Pages) -> Result<Infallible, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(|error| error.to_string())?;
    let (config, name) = (config.map(Arc::new), listener.name().into());
    let shared = Shared { jobs, config, name, pages: Arc::new(pages), refused: Arc::default() };
    let local = LocalSet::new();
    runtime.block_on(local.run_until(accept(listener, shared))).map_err(|error| error.to_string())
}

async fn accept(listener: Listener, shared: Shared) -> std::io::Result<Infallible> {
    let open: Rc<RefCell<VecDeque<Open>>> = Rc::default();
    let (tcp, unix) = match listener {
        Listener::Tcp(listener) => (Some(TcpListener::from_std(listener)?), None),
        Listener::Unix(listener, _) => (None, Some(UnixListener::from_std(listener)?)),
    };
    let mut number = 0;
    loop {
        let accepted = match (&tcp, &unix) {
            (Some(tcp), _) => {
                tcp.accept().await.map(|(stream, from)| (Stream::Tcp(stream), Some(from.ip().to_canonical())))
            }
            (None, Some(unix)) => unix.accept().await.map(|(stream, _)| (Stream::Unix(stream), None)),
            (None, None) => std::future::pending().await,
        };
        let Ok((stream, from)) = accepted else {
            // Too many open files, as a rule: they become fewer.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // Others wait in the listener's queue meanwhile.
        while open.borrow().len() >= CONNECTIONS && !make_room(&open) {
            tokio::time::sleep(PAUSE).await;
        }
        number += 1;
        let idle = Rc::new(Cell::new(Some(Instant::now())));
        let (of, mine, shared, this) = (Rc::clone(&open), Rc::clone(&idle), shared.clone(), number);
        let task = tokio::task::spawn_local(async move {
            // Whatever comes of it, the other end is told.
            let _ = tokio::time::timeout(LIFE, serve_connection(stream, from, shared, mine)).await;
            of.borrow_mut().retain(|open| open.number != this);
        });
        open.borrow_mut().push_back(Open { number, idle, handle: task.abort_handle() });
    }
}

/// Closes the oldest connection that has had no request for some time: one that has just come has not asked yet, and
/// the answer to the last request may be on its way.
fn make_room(open: &RefCell<VecDeque<Open>>) -> bool {
    let mut open = open.borrow_mut();
    let is_idle = |one: &Open| one.idle.get().is_some_and(|since| since.elapsed() >= IDLE);
    let Some(at) = open.iter().position(is_idle) else { return false };
    if let Some(oldest) = open.remove(at) {
        oldest.handle.abort();
    }
    true
}

async fn serve_connection(stream: Stream, from: Option<IpAddr>, shared: Shared, idle: Idle) {
    let tls = match &shared.config {
        None => None,
        Some(config) => match config.tls() {
            Ok(tls) => tls,
            Err(error) => return shared.refused.complain(format_args!("serve: {error}")),
        },
    };
    match tls {
        None => converse(TokioIo::new(stream), from, shared, idle).await,
        Some(tls) => {
            let handshake = TlsAcceptor::from(tls).accept(stream);
            if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_TIME, handshake).await {
                converse(TokioIo::new(stream), from, shared, idle).await;
            }
        }
    }
}

async fn converse<T>(io: TokioIo<T>, from: Option<IpAddr>, shared: Shared, idle: Idle)
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, idle) = (shared.clone(), Rc::clone(&idle));
        async move {
            idle.set(None);
            let response = respond(request, from, shared).await;
            idle.set(Some(Instant::now()));
            Ok::<_, Infallible>(response)
        }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(io, service)
        .await;
}

/// Reads segments and compares passwords beside the thread that serves all connections.
async fn respond(request: Request<Incoming>, from: Option<IpAddr>, shared: Shared) -> Response<Full<Bytes>> {
    let (head, _) = request.into_parts();
    let asked = HttpRequest { method: head.method, path: head.uri.path().to_owned(), headers: head.headers, from };
    let work = move || {
        if let Some(config) = &shared.config {
            let authorization = asked.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
            if !config.admits(authorization) {
                let mut refused = plain(StatusCode::UNAUTHORIZED, "user or password is wrong\n");
                refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
                return refused;
            }
        }
        match &*shared.pages {
            Pages::Metrics => answer(&asked, &shared.jobs, &shared.name),
            Pages::Live(token) => crate::live::answer(&asked, &shared.jobs, token),
        }
    };
    let failed = || plain(StatusCode::INTERNAL_SERVER_ERROR, "the exporter could not answer\n");
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| failed()).map(|body| Full::new(Bytes::from(body)))
}

/// A connection of either kind.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_host_it_listens_at_all_addresses_of_both_kinds() {
        let listener = Listener::bind(&Listen::Tcp(":0".into())).unwrap();
        assert!(listener.is_open_to_others());
        let port = listener.port().unwrap();
        std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        if std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
            std::net::TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
        }
    }
}

//! Where something listens: one way to say it for all tools.

use std::net::Ipv6Addr;
use std::path::PathBuf;

/// Where something listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host, in brackets where it is an address of IPv6, empty for all addresses; and a port where one is given.
    Tcp(String, Option<u16>),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// `ADDR:PORT`, `:PORT`, `ADDR` or `unix:PATH`.
///
/// # Errors
/// What is wrong with it.
pub fn address(given: &str) -> Result<Address, String> {
    if let Some(path) = given.strip_prefix("unix:") {
        return if path.is_empty() { Err("unix: needs a path".into()) } else { Ok(Address::Unix(path.into())) };
    }
    if given.is_empty() {
        return Err("expected an address: 127.0.0.1, or : for all interfaces".into());
    }
    if given.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("expected ADDRESS:PORT, :PORT or unix:PATH".into());
    }
    // An address of IPv6 has colons, and brackets where a port follows.
    let (host, port) = match given.rsplit_once(':') {
        _ if given.ends_with(']') => (given, None),
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        Some(_) if is_ipv6(given) => return Ok(Address::Tcp(format!("[{given}]"), None)),
        Some(_) => return Err("expected ADDRESS:PORT ([ADDRESS]:PORT of IPv6)".into()),
        None => (given, None),
    };
    let number = |text: &str| text.parse::<u16>().map_err(|_| format!("port `{text}` is not 0 to 65535"));
    let port = match port {
        // All interfaces.
        Some("") if host.is_empty() => None,
        port => port.map(number).transpose()?,
    };
    Ok(Address::Tcp(host.to_owned(), port))
}

/// Whether that is an address of IPv6, which may name an interface.
pub fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

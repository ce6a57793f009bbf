//! `--metrics`, `--metrics-file`, `--metrics-push`, `--dashboard`: `oshprof` does it, in a process beside the job.

use crate::job::Failure;
use crate::profile::Profile;
use pellucid_profile::companion::{self, Companions, Destinations, VARIABLE};
use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// What the variables of the PEs ask for: options have become one of them.
pub fn wanted(environment: &[(OsString, OsString)]) -> Result<Destinations, Failure> {
    let given = environment.iter().rfind(|(name, _)| name == VARIABLE).map(|(_, value)| value.clone());
    let text = given.or_else(|| env::var_os(VARIABLE)).unwrap_or_default();
    let text = text.to_string_lossy();
    Destinations::parse(&text)
        .map_err(|expected| Failure { status: 1, message: format!("{VARIABLE} is {text:?}: {expected}") })
}

/// Starts it. Before orphans are adopted: it is to be nobody's child.
pub fn start(environment: &[(OsString, OsString)]) -> Result<Arc<Companions>, Failure> {
    let wanted = wanted(environment)?;
    let beside = env::current_exe().ok().and_then(|file| Some(file.parent()?.to_owned()));
    let tool = companion::tool(beside, env::var_os("PATH"));
    let started = Companions::start(&wanted, tool.as_deref());
    let companions = started.map_err(|error| Failure::needs("serve metrics, nothing was run", error))?;
    companion::announce("oshrun", &companions);
    Ok(Arc::new(companions))
}

/// Hands the job over.
pub fn take(companions: &Companions, profile: &Profile) {
    if let Err(error) = companions.take(profile.as_fd()) {
        pellucid_profile::say!("oshrun: no metrics: {error}");
    }
}

/// A value of `--metrics`: nothing, or an address.
pub fn address(value: &OsStr) -> Result<String, String> {
    let text = crate::values::text(value)?;
    if !text.is_empty() {
        pellucid_cli::address(text)?;
    }
    // As a value of SHMEM_METRICS it is one of several.
    let fits = !text.contains(char::is_whitespace) && !text.contains(',');
    fits.then(|| text.to_owned()).ok_or_else(|| "expected ADDRESS:PORT, :PORT or unix:PATH".into())
}

/// A value of `--metrics-push`.
pub fn target(value: &OsStr) -> Result<String, String> {
    let text = crate::values::text(value)?;
    // What is spoken there may be said before it.
    let spoken = ["otlp+", "pushgateway+"].iter().find_map(|spoken| text.strip_prefix(spoken));
    let place = spoken.unwrap_or(text).split_once("://").and_then(|(scheme, rest)| {
        let is_known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        place(rest).filter(|_| is_known)
    });
    match place {
        Some((_, Some(port))) if port.parse::<u16>().is_err() => Err("its port is not a number up to 65535".into()),
        None if text != companion::BY_VARIABLES => Err(format!(
            "expected http://HOST:PORT, https://HOST, or {} for what the OTEL_ variables say",
            companion::BY_VARIABLES
        )),
        _ => Ok(text.to_owned()),
    }
}

/// The host that what follows `http://` begins with, and the port where it has one.
fn place(rest: &str) -> Option<(&str, Option<&str>)> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !place.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    let is_plain = !rest.contains(|c: char| c.is_whitespace() || c.is_control());
    (is_plain && !host.is_empty()).then_some((host, port))
}

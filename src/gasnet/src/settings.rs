//! The environment variables of GASNet that are honoured, and a word on the others.

use crate::fail::refuse;
use crate::types::PAGE;
use pellucid_core::base::size;
use pellucid_core::runtime;

/// Variables that are honoured, and what for.
pub const KNOWN: [(&str, &str); 7] = [
    ("GASNET_PSHM_NODES", "PEs to start where no launcher has started the program"),
    ("GASNET_MAX_SEGSIZE", "bytes of a segment at most, with suffix k, m, g, t"),
    ("GASNET_EXITTIMEOUT", "seconds that gasnet_exit gives the other PEs to come to theirs, 4 at most"),
    ("GASNET_BACKTRACE", "1: a PE that ends the job because of a fault shows its stack, as with SHMEM_ABORT=trace"),
    ("GASNET_FREEZE_ON_ERROR", "1: gasnett_freezeForDebuggerErr waits for a debugger"),
    ("GASNET_VERBOSEENV", "1: show the variables that are honoured, at the start"),
    ("GASNET_QUIET", "1: say nothing of variables that are not honoured"),
];

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether a switch is on.
pub fn is_on(name: &str) -> bool {
    text(name).is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "0" | "no" | "n" | "off" | "false"))
}

/// PEs of `GASNET_PSHM_NODES`.
pub fn pshm_nodes(routine: &'static str) -> Option<u32> {
    let value = text("GASNET_PSHM_NODES")?;
    match value.trim().parse::<u32>() {
        Ok(count) if count > 0 => Some(count),
        _ => refuse(routine, format!("GASNET_PSHM_NODES={value}: expected a number of processes")),
    }
}

/// `GASNET_MAX_SEGSIZE` as a share of the host's memory or of something for all processes of a host: what cannot be
/// known before the job has begun, and memory that nobody touches is none.
fn share() -> Option<String> {
    let is_share = |value: &str| {
        let value = value.trim();
        let fraction = value.split('/').next().unwrap_or_default().parse::<f64>();
        value.ends_with("/H") || value.ends_with("/h") || fraction.is_ok_and(|fraction| fraction.fract() != 0.0)
    };
    text("GASNET_MAX_SEGSIZE").filter(|value| is_share(value))
}

/// Bytes of `GASNET_MAX_SEGSIZE`: whole pages, one at least.
pub fn max_segment(routine: &'static str) -> Option<u64> {
    if share().is_some() {
        return None;
    }
    let value = text("GASNET_MAX_SEGSIZE")?;
    let plain = value.trim().trim_end_matches("/P").trim_end_matches("/p");
    let plain = plain.strip_suffix(['B', 'b']).unwrap_or(plain);
    match size::parse(plain) {
        Ok(bytes) if bytes > 0 => Some((bytes & !(PAGE as u64 - 1)).max(PAGE as u64)),
        _ => refuse(
            routine,
            format!("GASNET_MAX_SEGSIZE={value}: expected bytes of each process, such as 512M or 2GB/P"),
        ),
    }
}

/// Seconds of `GASNET_EXITTIMEOUT`, where that is a number of them.
fn exit_seconds(value: &str) -> Option<f64> {
    value.trim().parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

/// Seconds of `GASNET_EXITTIMEOUT`: the job is to end within 5.
pub fn exit_timeout() -> f64 {
    text("GASNET_EXITTIMEOUT").and_then(|value| exit_seconds(&value)).unwrap_or(3.0).clamp(0.1, 4.0)
}

/// Refuses values that only later calls need.
pub fn check(routine: &'static str) {
    if let Some(value) = text("GASNET_EXITTIMEOUT").filter(|value| exit_seconds(value).is_none()) {
        refuse(routine, format!("GASNET_EXITTIMEOUT={value}: expected seconds, such as 3 or 0.5"))
    }
}

/// Shows the variables where that is asked for, and names those that do nothing, once a job.
pub fn tell() {
    if runtime::map().me != 0 {
        return;
    }
    if is_on("GASNET_VERBOSEENV") {
        for (name, what) in KNOWN {
            let value = text(name).unwrap_or_else(|| "not set".into());
            pellucid_core::say!("pellucid: {name}: {value} ({what})");
        }
    }
    if is_on("GASNET_QUIET") {
        return;
    }
    if let Some(value) = share() {
        pellucid_core::say!(
            "pellucid: GASNET_MAX_SEGSIZE={value}: shares of a host are not honoured: a segment has 1 GiB at most"
        );
    }
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let is_known = KNOWN.iter().any(|(known, _)| *known == name) || name.starts_with("GASNET_MAXIMIZE_");
        if name.starts_with("GASNET_") && !is_known {
            pellucid_core::say!("pellucid: {name} is set, and not honoured (docs/gasnet.md lists what is)");
        }
    }
}

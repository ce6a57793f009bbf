//! The environment variables of the library, as one table that yields look-up, checks, `SHMEM_INFO` text and warnings
//! of names that are not in it.

use super::{Cause, Fault};
use std::sync::atomic::{AtomicU64, Ordering};

/// One variable.
pub struct Var {
    /// Name without its prefix.
    pub name: &'static str,
    /// Whether the old `SMA_` form is read where `SHMEM_` is not set (Section 8, Annex F.2.9).
    pub sma: bool,
    /// Value in force when unset, as text.
    pub default: &'static str,
    /// What it does, one line.
    pub help: &'static str,
    /// What becomes of a value that cannot be used.
    pub wrong: Wrong,
}

/// What becomes of a value that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Every value is good.
    Never,
    /// It ends every job at its start.
    Refused,
    /// It names something of the system, which is looked up by jobs that need it: it ends those at their start.
    RefusedWhereUsed,
}

/// Every variable the library reads, in the order in which `SHMEM_INFO` lists them.
pub const TABLE: &[Var] = &[
    Var {
        name: "VERSION",
        sma: true,
        default: "",
        help: "set to anything: print the library version at start-up",
        wrong: Wrong::Never,
    },
    Var {
        name: "INFO",
        sma: true,
        default: "",
        help: "set to anything: print this list at start-up",
        wrong: Wrong::Never,
    },
    Var {
        name: "SYMMETRIC_SIZE",
        sma: true,
        default: "1G",
        help: "bytes of symmetric heap a PE: a number with an optional fraction and suffix k, m, g, t",
        wrong: Wrong::Refused,
    },
    Var {
        name: "DEBUG",
        sma: true,
        default: "",
        help: "set to anything: more checks of arguments, and messages",
        wrong: Wrong::Never,
    },
    Var {
        name: "ABORT",
        sma: false,
        default: "exit",
        help: "how a PE ends the job after a fault: exit, abort (a core dump, where ulimit -c permits), or trace (exit \
            after the C and Python stacks)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE",
        sma: false,
        default: "1",
        help: "profile level at start: off or 0, 1 (counts, bytes, latencies), as shmem_pcontrol sets it later",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TRACE",
        sma: false,
        default: "",
        help: "directory for a trace of every call (docs/traces.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TRACE_SIZE",
        sma: false,
        default: "64M",
        help: "bytes of trace that are kept of a thread, 1m at least: the newest; suffixes as for SHMEM_SYMMETRIC_SIZE",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TRACE_START",
        sma: false,
        default: "on",
        help: "off: trace only what the program switches on with shmem_pcontrol",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TRACE_DETAIL",
        sma: false,
        default: "auto",
        help: "full: each call of the trace has times of its own; auto: short calls in a row are folded \
            (docs/traces.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE_SAMPLING",
        sma: false,
        default: "1024",
        help: "how many short calls one timed call stands for at most; 1: each call is timed",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE_LONG",
        sma: false,
        default: "100000",
        help: "nanoseconds from which on a sampled call stands for itself only",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE_SITES",
        sma: false,
        default: "auto",
        help: "exact: each short call is counted by call site and peer; auto: where that takes more than 2 % of the \
            run, and of thousands of calls that only ask (`shmem_n_pes`), samples stand for them (docs/overhead.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE_PYTHON",
        sma: false,
        default: "on",
        help: "off: do not ask Python, at some of the samples, which lines of scripts the calls come from",
        wrong: Wrong::Refused,
    },
    Var {
        name: "COUNTERS",
        sma: false,
        default: "",
        help: "hardware and software counters around timed calls and regions, e.g. cycles,page-faults \
            (docs/counters.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "STATIC_SEGMENT",
        sma: false,
        default: "on",
        help: "off: leave .data and .bss of the executable private (static objects are then not symmetric)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "COLLECTIVES",
        sma: false,
        default: "auto",
        help: "algorithms by collective, e.g. barrier:dissemination,reduce:tree; auto chooses by size and PEs",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TRANSPORT",
        sma: false,
        default: "auto",
        help: "auto: memory within a host, the first transport between hosts that the machine has what it needs for; \
            the name of one: that one between all PEs",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROGRESS",
        sma: false,
        default: "calls",
        help: "who moves operations with handles and nonblocking collectives on while the program computes: calls \
            (nobody: calls of the library do), auto (the thread that serves the network; where there are fewer PEs \
            than cores on a host it also hands over to the network what has a handle, and collectives within the host \
            have a thread) or thread (as auto, however many cores there are)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "OFI_PROVIDER",
        sma: false,
        default: "",
        help: "libfabric provider, e.g. tcp;ofi_rxm (fi_info lists them); before FI_PROVIDER; otherwise the best one \
            that fits",
        wrong: Wrong::RefusedWhereUsed,
    },
    Var {
        name: "OFI_INTERFACE",
        sma: false,
        default: "",
        help: "network interface or domain to use, e.g. eth0 or mlx5_0, or an address of this host",
        wrong: Wrong::RefusedWhereUsed,
    },
    Var {
        name: "OFI_LIBRARY",
        sma: false,
        default: "",
        help: "libfabric to open, instead of the system's libfabric.so.1",
        wrong: Wrong::RefusedWhereUsed,
    },
    Var {
        name: "ATOMICS",
        sma: false,
        default: "cpu",
        help: "who does all atomics of a job with several hosts: cpu (of the word's host) or nic (the network card)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TOOLS",
        sma: false,
        default: "",
        help: "PSHMEM tools to load, a.so:b.so, each one's pshmem_ calls going to the next; oshrun --tool sets it",
        wrong: Wrong::Refused,
    },
    Var {
        name: "TOOLS_OPTIONAL",
        sma: false,
        default: "off",
        help: "on: go on without a tool that cannot be loaded; oshrun --tool-optional sets it",
        wrong: Wrong::Refused,
    },
    Var {
        name: "BOOTSTRAP",
        sma: false,
        default: "auto",
        help: "launcher to obey: oshrun, pmix, pmi2, pmi1, none (one PE), or auto: the one whose variables are there \
               (docs/launchers.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "SINGLETON",
        sma: false,
        default: "",
        help: "on: be a job of one PE even where a launcher has started several processes and offers no PMI (srun \
            --mpi=none)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PROFILE_DIR",
        sma: false,
        default: "",
        help: "directory for the profile of the job under launchers other than oshrun (docs/launchers.md), on all \
            hosts alike",
        wrong: Wrong::Refused,
    },
    Var {
        name: "METRICS",
        sma: false,
        default: "",
        help: "what becomes of the job's metrics: serve[=ADDRESS], file=FILE, push=URL, push, forget, page, separated \
            by commas (docs/metrics.md)",
        wrong: Wrong::Refused,
    },
    Var {
        name: "PMIX_LIBRARY",
        sma: false,
        default: "",
        help: "libpmix to open where the launcher speaks PMIx; unset: the one that the launcher itself has loaded, \
            else the system's",
        wrong: Wrong::RefusedWhereUsed,
    },
];

/// Variables without the prefix, by their whole names.
pub const OTHERS: &[Var] = &[
    Var {
        name: "PELLUCID_SERVE",
        sma: false,
        default: "/run/pellucid/serve.sock, $XDG_RUNTIME_DIR/pellucid/serve.sock",
        help: "socket at which jobs are handed over to this host's exporter of metrics (docs/metrics.md)",
        wrong: Wrong::Never,
    },
    Var {
        name: "PELLUCID_JOB_ID",
        sma: false,
        default: "",
        help: "what the job is called in its metrics, instead of the batch system's number, the launcher's name of the \
            job or HOST-PID-SECONDS",
        wrong: Wrong::Never,
    },
];

/// The value of `SHMEM_<name>`, or of `SMA_<name>` where the table allows it, with the full name under which it was
/// found. An empty value is none, but where every value is good: scripts set variables so that are not to say anything.
pub fn lookup(name: &str) -> Option<(String, String)> {
    let row = TABLE.iter().find(|v| v.name == name)?;
    given(row).filter(|(_, value)| row.wrong == Wrong::Never || !value.is_empty())
}

fn given(row: &Var) -> Option<(String, String)> {
    let name = row.name;
    let full = format!("SHMEM_{name}");
    if let Some(value) = std::env::var_os(&full) {
        return Some((full, value.to_string_lossy().into_owned()));
    }
    if row.sma {
        let old = format!("SMA_{name}");
        if let Some(value) = std::env::var_os(&old) {
            return Some((old, value.to_string_lossy().into_owned()));
        }
    }
    None
}

/// Whether a variable whose value does not matter is set.
pub fn is_set(name: &str) -> bool {
    lookup(name).is_some()
}

/// Bytes of symmetric heap where no variable names them; 0: those of the table.
static PREFERRED: AtomicU64 = AtomicU64::new(0);

/// Has the symmetric heap be of this size where no variable says which, instead of that of the table.
pub fn prefer_symmetric_size(bytes: u64) {
    PREFERRED.store(bytes, Ordering::Relaxed);
}

/// The variable by which whoever starts the program makes that smaller.
pub fn symmetric_size_by() -> &'static str {
    let is_preferred = PREFERRED.load(Ordering::Relaxed) > 0 && lookup("SYMMETRIC_SIZE").is_none();
    if is_preferred { "GASNET_MAX_SEGSIZE" } else { "SHMEM_SYMMETRIC_SIZE" }
}

/// The symmetric heap size in bytes a PE. Error: names the variable, its value and what is wrong with it.
pub fn symmetric_size() -> Result<u64, Fault> {
    let preferred = PREFERRED.load(Ordering::Relaxed);
    if preferred > 0 && lookup("SYMMETRIC_SIZE").is_none() {
        return Ok(preferred);
    }
    let (name, value) =
        lookup("SYMMETRIC_SIZE").unwrap_or(("SHMEM_SYMMETRIC_SIZE".into(), default_of("SYMMETRIC_SIZE")));
    super::size::parse(&value).map_err(|reason| Fault::from(Cause::Environment { name, value, reason: reason.into() }))
}

/// Whether `.data` and `.bss` are to be made symmetric.
pub fn static_segment() -> Result<bool, Fault> {
    switch("STATIC_SEGMENT")
}

fn switch(which: &str) -> Result<bool, Fault> {
    let (name, value) = lookup(which).unwrap_or((String::new(), default_of(which)));
    match value.to_ascii_lowercase().as_str() {
        "on" | "1" | "yes" | "true" => Ok(true),
        "off" | "0" | "no" | "false" => Ok(false),
        _ => Err(Fault::from(Cause::Environment { name, value, reason: "expected on or off".into() })),
    }
}

/// Who moves nonblocking collectives on while the program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressMode {
    /// Threads, where there are cores for them.
    Auto,
    /// Threads.
    Thread,
    /// Calls of the library only.
    Calls,
}

/// See [`ProgressMode`].
pub fn progress() -> Result<ProgressMode, Fault> {
    let which = word("PROGRESS", &["calls", "auto", "thread"], "expected calls, auto or thread")?;
    Ok([ProgressMode::Calls, ProgressMode::Auto, ProgressMode::Thread][which])
}

/// Whether the network card does the job's atomics.
pub fn atomics_by_nic() -> Result<bool, Fault> {
    word("ATOMICS", &["cpu", "nic"], "expected cpu or nic").map(|which| which == 1)
}

/// Whether the program goes on without a tool that cannot be loaded.
pub fn tools_optional() -> Result<bool, Fault> {
    switch("TOOLS_OPTIONAL")
}

/// How a PE ends the job after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Abort {
    /// With a status.
    Exit,
    /// By a signal that leaves a core dump.
    Signal,
    /// With a status, after the stack.
    Trace,
}

/// See [`Abort`].
pub fn abort() -> Result<Abort, Fault> {
    let which = word("ABORT", &["exit", "abort", "trace"], "expected exit, abort or trace")?;
    Ok([Abort::Exit, Abort::Signal, Abort::Trace][which])
}

/// Refuses values that cannot be used, whether or not this job would use them; but for those of variables that name
/// rows of a table (algorithms, transports), which whoever has the table reads.
pub fn check() -> Result<(), Fault> {
    symmetric_size()?;
    static_segment()?;
    abort()?;
    profile_level()?;
    trace_settings()?;
    sampling()?;
    exact_sites()?;
    python_lines()?;
    progress()?;
    atomics_by_nic()?;
    singleton()?;
    tools_optional().map(drop)
}

/// Whether this process is to be a job of its own even where a launcher has started several.
pub fn singleton() -> Result<bool, Fault> {
    lookup("SINGLETON").map_or(Ok(false), |_| switch("SINGLETON"))
}

/// Which of some words a variable holds.
fn word(which: &str, words: &[&str], reason: &'static str) -> Result<usize, Fault> {
    let (name, value) = lookup(which).unwrap_or((String::new(), default_of(which)));
    let found = words.iter().position(|word| value.eq_ignore_ascii_case(word));
    found.ok_or_else(|| Fault::from(Cause::Environment { name, value, reason: reason.into() }))
}

/// The profile level at start: 0 is off.
pub fn profile_level() -> Result<i32, Fault> {
    let (name, value) = lookup("PROFILE").unwrap_or((String::new(), default_of("PROFILE")));
    match value.to_ascii_lowercase().as_str() {
        "off" | "0" => Ok(0),
        "1" => Ok(1),
        _ => Err(Fault::from(Cause::Environment { name, value, reason: "expected off, 0 or 1".into() })),
    }
}

/// A trace, as it is asked for.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Directory of its files.
    pub directory: std::path::PathBuf,
    /// Bytes a thread.
    pub bytes: u64,
    /// Whether it is on from the start.
    pub on: bool,
    /// Whether each call has times of its own.
    pub full: bool,
}

/// The directory for the profile, where one is asked for: absolute, since programs move.
pub fn profile_directory() -> Option<std::path::PathBuf> {
    let directory = std::env::var_os("SHMEM_PROFILE_DIR").filter(|name| !name.is_empty())?;
    std::path::absolute(directory).ok()
}

/// The trace, where one is asked for.
pub fn trace() -> Result<Option<Trace>, Fault> {
    let (bytes, on, full) = trace_settings()?;
    let directory = std::env::var_os("SHMEM_TRACE").filter(|name| !name.is_empty());
    // Programs move.
    let absolute = |directory| std::path::absolute(&directory).unwrap_or_else(|_| std::path::PathBuf::from(directory));
    Ok(directory.map(|directory| Trace { directory: absolute(directory), bytes, on, full }))
}

/// Bytes a thread, whether it is on from the start, whether each call has times of its own.
fn trace_settings() -> Result<(u64, bool, bool), Fault> {
    let (name, value) = lookup("TRACE_SIZE").unwrap_or(("SHMEM_TRACE_SIZE".into(), default_of("TRACE_SIZE")));
    let bytes = match super::size::parse(&value) {
        Ok(bytes) if bytes >= 1 << 20 => bytes,
        Ok(_) => return Err(Fault::from(Cause::Environment { name, value, reason: "expected 1m or more".into() })),
        Err(reason) => return Err(Fault::from(Cause::Environment { name, value, reason: reason.into() })),
    };
    let (name, value) = lookup("TRACE_DETAIL").unwrap_or((String::new(), default_of("TRACE_DETAIL")));
    let full = match value.as_str() {
        "auto" => false,
        "full" => true,
        _ => return Err(Fault::from(Cause::Environment { name, value, reason: "expected auto or full".into() })),
    };
    Ok((bytes, switch("TRACE_START")?, full))
}

/// How calls are sampled: how many one sample stands for, and from how many nanoseconds on a call stands for itself.
pub fn sampling() -> Result<(u64, u64), Fault> {
    Ok((number("PROFILE_SAMPLING", 1 << 20)?, number("PROFILE_LONG", u64::MAX)?))
}

/// Whether each short call is counted by call site and peer, whatever it costs.
pub fn exact_sites() -> Result<bool, Fault> {
    word("PROFILE_SITES", &["auto", "exact"], "expected auto or exact").map(|which| which == 1)
}

/// Whether the lines of Python's scripts are to be noted.
pub fn python_lines() -> Result<bool, Fault> {
    switch("PROFILE_PYTHON")
}

/// Which counters are asked for: the name of the variable and its value.
pub fn counters() -> Option<(String, String)> {
    lookup("COUNTERS")
}

fn number(which: &str, most: u64) -> Result<u64, Fault> {
    let (name, value) = lookup(which).unwrap_or((String::new(), default_of(which)));
    let reason = "expected a whole number from 1 to 1048576";
    let reason = if most == u64::MAX { "expected a whole number above 0" } else { reason };
    let number = value.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| Fault::from(Cause::Environment { name, value, reason: reason.into() }))
}

fn default_of(name: &str) -> String {
    TABLE.iter().find(|v| v.name == name).map_or(String::new(), |v| v.default.to_string())
}

/// The `SHMEM_INFO` text: every variable with its value and where that came from.
pub fn info() -> String {
    let mut text = String::from("Environment variables of Pellucid (value in force, then what it does):\n");
    for var in TABLE {
        let (name, value) = match lookup(var.name) {
            Some((name, value)) => (name, format!("{value:?}")),
            None if var.default.is_empty() => (format!("SHMEM_{}", var.name), "(not set)".into()),
            None => (format!("SHMEM_{}", var.name), format!("{} (default)", var.default)),
        };
        text += &format!("  {name} = {value}\n      {}{}\n", var.help, if var.sma { "; also as SMA_" } else { "" });
    }
    for var in OTHERS {
        let value = std::env::var_os(var.name).map(|value| format!("{:?}", value.to_string_lossy()));
        let default = if var.default.is_empty() { "(not set)".into() } else { format!("{} (default)", var.default) };
        text += &format!("  {} = {}\n      {}\n", var.name, value.unwrap_or(default), var.help);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_lists_every_variable() {
        let text = info();
        for var in TABLE {
            assert!(text.contains(&format!("SHMEM_{}", var.name)) || text.contains(&format!("SMA_{}", var.name)));
        }
    }
}

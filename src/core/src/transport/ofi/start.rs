//! Opening libfabric and looking at its providers for the first time, with the settings that make it cheap.
//!
//! Measured with Debian's libfabric 1.17, in CPU time of each process, most of it in the kernel:
//!
//! | what | cost | and so |
//! |---|---|---|
//! | `verbs` reads the list of the kernel's symbols, twice | 90 ms | no setting prevents it |
//! | `ofi_rxm` fills 4096 receive buffers of 17 KiB with zeros | 45 ms and 52 MB | `FI_OFI_RXM_MSG_RX_SIZE` |
//! | two libraries for InfiniPath adapters, which libfabric is linked to, calibrate a clock in naps of 125 us | 15 ms | [`TimerSlackGuard`] |
//!
//! What is said by environment variables is said only where the user says nothing, and taken back at once.
#![allow(unsafe_code)]

use super::settings::Settings;
use crate::base::{Cause, Fault};
use libfabric_sys::Library;
use std::path::Path;

/// Receives that `ofi_rxm` posts to `tcp`, for all peers together. It has one taken in and posts it again before it
/// looks for the next, so that more of them only spoil the cache: with 4096, which take turns, a message takes 1 us
/// longer.
const RECEIVES: &str = "128";

/// Opens the library.
pub(super) fn open(settings: &Settings) -> Result<Library, Fault> {
    // The libraries for InfiniPath otherwise take over the handlers of six signals, and write files to the current
    // folder when the program crashes.
    let quiet = [("IPATH_NO_BACKTRACE", "1"), ("HFI_NO_BACKTRACE", "1")];
    let library = with(&quiet.map(|(name, value)| (name, value.to_owned())), || {
        let _drowsy = TimerSlackGuard::new();
        Library::open(settings.library.as_deref())
    });
    library.map_err(|error| {
        let named = if settings.library.is_some() { " (SHMEM_OFI_LIBRARY)" } else { "" };
        Fault::from(Cause::Network(format!("{error}{named}")))
    })
}

/// Runs the first look at the providers, at which libfabric reads its variables.
///
/// `FI_UNIVERSE_SIZE` is 256 where it is not set, and `ofi_rxm` makes its completion ring 8192 entries a peer long: 80
/// MiB, which become resident as completions walk through them.
pub(super) fn first_look<R>(settings: &Settings, npes: u32, look: impl FnOnce() -> R) -> R {
    let mut said = Vec::new();
    if npes < 256 {
        said.push(("FI_UNIVERSE_SIZE", npes.max(2).to_string()));
    }
    // The same variable is for `verbs`, whose receives are those of a connection.
    let asked = settings.provider.clone().or_else(|| std::env::var("FI_PROVIDER").ok());
    if asked.map_or_else(|| !has_rdma_devices(), |name| name.starts_with("tcp")) {
        said.push(("FI_OFI_RXM_MSG_RX_SIZE", RECEIVES.to_owned()));
    }
    with(&said, look)
}

/// Whether the kernel has RDMA devices, or might have.
fn has_rdma_devices() -> bool {
    ["/sys/class/infiniband", "/sys/class/infiniband_verbs"].iter().any(|class| Path::new(class).exists())
        || !Path::new("/sys/class").exists()
}

/// Runs `call` with environment variables set where they are not.
fn with<R>(variables: &[(&str, String)], call: impl FnOnce() -> R) -> R {
    let unset: Vec<_> = variables.iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    for (name, value) in &unset {
        // SAFETY: the library is being initialized, before which a program must not use it in other threads; a program
        // that reads or writes its environment in another thread just now would have the same trouble with any call of
        // the C library's that does. The variables are gone again before the caller goes on.
        unsafe { std::env::set_var(name, value) };
    }
    let result = call();
    for (name, _) in &unset {
        // SAFETY: as above.
        unsafe { std::env::remove_var(name) };
    }
    result
}

/// While it lives, this thread's naps end up to 5 ms late: a loop of short ones that waits for a time to pass takes a
/// few turns instead of hundreds.
struct TimerSlackGuard(libc::c_int);

impl TimerSlackGuard {
    fn new() -> Self {
        // SAFETY: asks for and sets a number of this thread.
        unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 5_000_000);
            Self(before)
        }
    }
}

impl Drop for TimerSlackGuard {
    fn drop(&mut self) {
        // SAFETY: as above; 0 is the default.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.0.max(0)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_libfabric_is_taken_back() {
        let (name, other) = ("PELLUCID_TEST_OF_START", "HOME");
        let home = std::env::var(other).ok();
        with(&[(name, "7".into()), (other, "8".into())], || {
            assert_eq!(std::env::var(name).as_deref(), Ok("7"));
            assert!(home.is_none() || std::env::var(other).ok() == home);
        });
        assert!(std::env::var(name).is_err());
        assert_eq!(std::env::var(other).ok(), home);
    }

    #[test]
    fn naps_are_exact_again() {
        // SAFETY: asks for a number of this thread.
        let slack = || unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
        let before = slack();
        {
            let _drowsy = TimerSlackGuard::new();
            assert_eq!(slack(), 5_000_000);
        }
        assert_eq!(slack(), before);
    }
}

//! Processes that have left their PE's process group and outlived their parents.

use crate::sys::process::{self, Wait};
use pellucid_core::os::proc;
use pellucid_profile::live::find;
use std::fs;
use std::process::id;

/// Sends a signal to every child of this process, after taking those that have ended. False: there is none.
///
/// Only for when PEs and watchdog are gone: what is left then was started by a PE, and was handed to us as the nearest
/// living ancestor.
pub fn signal(number: i32) -> bool {
    loop {
        match process::wait_any() {
            Wait::Child(..) => {}
            Wait::NoChild => return false,
            Wait::Running => break,
        }
    }
    for child in children_of(id()) {
        process::signal(child as i32, number);
    }
    true
}

/// Children of this process, as far as the system lists them.
pub fn children() -> Vec<i32> {
    let list = proc::read(format!("/proc/self/task/{}/children", id())).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether a process comes from what was started as this PE.
pub fn is_of(pid: i32, pe: u32) -> bool {
    let variable = format!("PELLUCID_PE={pe}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
}

fn children_of(parent: u32) -> impl Iterator<Item = u32> {
    find::processes().filter(move |pid| find::state(*pid).is_some_and(|(_, started_by)| started_by == parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(children_of(id()).any(|pid| pid == child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

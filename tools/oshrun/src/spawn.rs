//! Starting one PE.
#![allow(unsafe_code)]

use crate::plan::{Plan, rank_variables};
use crate::sys::limit::{self, Limit};
use crate::sys::process;
use crate::sys::signal::Set;
use crate::watchdog;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What every PE of a job gets.
pub struct Launch<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Where PEs announce their process groups.
    pub watchdog: RawFd,
    /// The limit of open files as the user had it.
    pub limit: Limit,
    /// The signal mask as the user had it.
    pub mask: Set,
}

/// A PE that was started.
pub struct Started {
    /// Its process, which leads a group of its own.
    pub pid: i32,
    /// What it writes.
    pub out: io::PipeReader,
    /// What it writes to standard error.
    pub err: io::PipeReader,
}

impl Launch<'_> {
    /// Starts one PE.
    pub fn start(&self, pe: u32, input: Stdio) -> io::Result<Started> {
        let (out, out_writer) = io::pipe()?;
        let (err, err_writer) = io::pipe()?;
        let mut command = Command::new(&self.plan.file);
        command
            .arg0(&self.plan.program)
            .args(&self.plan.args)
            .envs(self.plan.environment.iter().map(|(name, value)| (name, value)))
            .envs(rank_variables(pe))
            .stdin(input)
            .stdout(out_writer)
            .stderr(err_writer)
            .process_group(0);
        let (watchdog, limit, mask) = (self.watchdog, self.limit, self.mask);
        let sets = &self.plan.binding.sets;
        let cpus = sets.get(pe as usize).cloned();
        let launcher = process::id();
        // SAFETY: the closure makes system calls only (each function says that it is async-signal-safe) and does not allocate.
        unsafe {
            command.pre_exec(move || {
                watchdog::announce(watchdog);
                if !process::die_with(launcher) {
                    process::exit_now(1);
                }
                if let Some(cpus) = &cpus {
                    cpus.confine();
                }
                limit::set_open_files(limit);
                mask.mask();
                Ok(())
            });
        }
        let child = command.spawn()?;
        Ok(Started { pid: child.id() as i32, out, err })
    }
}

//! The key-value space of a job that is all on one host and yet uses a network: values lie in the job file.

use super::job::Job;
use super::oshrun::{check, no_value};
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use std::ops::Range;

/// The job file as a place for values. Each PE counts as a host of its own.
pub struct OnHost {
    job: Job,
    pe: u32,
}

impl OnHost {
    /// Values in this job file, which must have all PEs of the job.
    pub fn new(job: &Job, pe: u32) -> Result<Self, Fault> {
        Ok(Self { job: job.again()?, pe })
    }
}

impl Wireup for OnHost {
    fn name(&self) -> &'static str {
        "one host"
    }

    fn pe(&self) -> u32 {
        self.pe
    }

    fn npes(&self) -> u32 {
        self.job.npes()
    }

    fn local(&self) -> Range<u32> {
        self.pe..self.pe + 1
    }

    fn is_one_host(&self) -> bool {
        true
    }

    fn hosts(&self) -> Option<Vec<u32>> {
        Some((0..self.job.npes()).collect())
    }

    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault> {
        check(key, value)?;
        if self.job.key_values(self.pe).put(key, value) {
            return Ok(());
        }
        Err(Fault::from(Cause::Startup(format!("PE {} has no room for another value, {key:?}", self.pe))))
    }

    fn fence(&self) -> Result<(), Fault> {
        self.job.host_barrier();
        Ok(())
    }

    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        self.job.key_values(pe).get(key).ok_or_else(|| no_value(pe, key))
    }

    fn abort(&self, _status: i32, _message: &str) {
        // The launcher of this host reads the request in the job file, where whoever ends the job has put it.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pe_reads_the_cards_of_all() {
        let job = Job::create(0..4, 4).unwrap();
        let hosts: Vec<OnHost> = (0..4).map(|pe| OnHost::new(&job, pe).unwrap()).collect();
        std::thread::scope(|scope| {
            for host in &hosts {
                scope.spawn(move || {
                    for round in 0..20_u8 {
                        let value = vec![round; 400 - host.pe as usize];
                        host.publish("fabric", &value).unwrap();
                        host.publish("host", &[]).unwrap();
                        host.fence().unwrap();
                        for pe in 0..4 {
                            assert_eq!(host.lookup(pe, "fabric").unwrap(), vec![round; 400 - pe as usize]);
                            assert_eq!(host.lookup(pe, "host").unwrap(), b"");
                        }
                        host.fence().unwrap();
                    }
                });
            }
        });
        assert_eq!((hosts[2].local(), hosts[2].hosts()), (2..3, Some(vec![0, 1, 2, 3])));
        assert!(hosts[0].lookup(1, "other").unwrap_err().to_string().contains("PE 1"));
        assert!(hosts[0].publish("fabric", &[0; 401]).is_err());
        assert!((0..20).any(|i| hosts[0].publish(&format!("key {i}"), b"").is_err()));
    }
}

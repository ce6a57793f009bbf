//! Limits of memory, of CPU time and of processes, as a site or a container sets them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::system;

/// A period of CPU time, in microseconds.
const PERIOD: u64 = 100_000;

/// A control group with a limit, gone with this.
#[derive(Debug)]
pub struct Limit(PathBuf);

impl Limit {
    /// A group with a limit of memory in that of this process. Error: why there can be none.
    pub fn memory(name: &str, bytes: u64) -> Result<Limit, String> {
        Self::new(name, "memory", [("memory.limit_in_bytes", bytes.to_string())], ("memory.max", bytes.to_string()))
    }

    /// As [`Self::memory`], with the time of so many CPUs.
    pub fn cores(name: &str, cores: u64) -> Result<Limit, String> {
        let quota = cores * PERIOD;
        let before = [("cpu.cfs_period_us", PERIOD.to_string()), ("cpu.cfs_quota_us", quota.to_string())];
        Self::new(name, "cpu", before, ("cpu.max", format!("{quota} {PERIOD}")))
    }

    /// As [`Self::memory`], with so many processes and threads.
    pub fn processes(name: &str, most: u64) -> Result<Limit, String> {
        Self::new(name, "pids", [("pids.max", most.to_string())], ("pids.max", most.to_string()))
    }

    /// In a hierarchy of its own, a controller has the files `before`.
    fn new<const N: usize>(
        name: &str,
        controller: &str,
        before: [(&str, String); N],
        unified: (&str, String),
    ) -> Result<Limit, String> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = |is_it: &dyn Fn(&str) -> bool| {
            let mut lines = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
            lines.find(|(controllers, _)| is_it(controllers)).map(|(_, path)| path.trim_start_matches('/').to_owned())
        };
        let root = Path::new("/sys/fs/cgroup");
        let (place, files) = match own(&|list| list.split(',').any(|one| one == controller)) {
            Some(own) => (root.join(controller).join(own), before.to_vec()),
            None => (root.join(own(&str::is_empty).unwrap_or_default()), vec![unified]),
        };
        let group = Limit(place.join(format!("pellucid-test-{name}-{}", std::process::id())));
        let wrong = |error: std::io::Error| format!("{}: {error}", group.0.display());
        std::fs::create_dir(&group.0).map_err(wrong)?;
        files.iter().try_for_each(|(file, value)| std::fs::write(group.0.join(file), value)).map_err(wrong)?;
        Ok(group)
    }

    /// For `sh -c`: goes into the group, and becomes the program that is named after it.
    pub fn script(&self) -> String {
        format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display())
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let path = self.0.clone();
        system::wait_until(Duration::from_secs(5), || std::fs::remove_dir(&path).is_ok());
    }
}

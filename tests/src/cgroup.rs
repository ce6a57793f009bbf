//! Limits of memory, as a site sets them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::system;

/// A control group with a limit of memory, gone with this.
#[derive(Debug)]
pub struct MemoryLimit(PathBuf);

impl MemoryLimit {
    /// A group in that of this process. Error: why there can be none.
    pub fn new(name: &str, bytes: u64) -> Result<MemoryLimit, String> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = |controllers: &str| {
            let line = groups.lines().find_map(|line| line.split_once(':')?.1.strip_prefix(controllers));
            line.map(|path| path.trim_start_matches([':', '/']).to_owned())
        };
        let (place, limit) = match own("memory:") {
            Some(own) => (Path::new("/sys/fs/cgroup/memory").join(own), "memory.limit_in_bytes"),
            None => (Path::new("/sys/fs/cgroup").join(own(":").unwrap_or_default()), "memory.max"),
        };
        let group = MemoryLimit(place.join(format!("pellucid-test-{name}-{}", std::process::id())));
        let wrong = |error: std::io::Error| format!("{}: {error}", group.0.display());
        std::fs::create_dir(&group.0).map_err(wrong)?;
        std::fs::write(group.0.join(limit), bytes.to_string()).map_err(wrong)?;
        Ok(group)
    }

    /// For `sh -c`: goes into the group, and becomes the program that is named after it.
    pub fn script(&self) -> String {
        format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display())
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        let path = self.0.clone();
        system::wait_until(Duration::from_secs(5), || std::fs::remove_dir(&path).is_ok());
    }
}

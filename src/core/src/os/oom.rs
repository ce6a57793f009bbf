//! Kills by the kernel for want of memory, as the control group of a process counts them.

use super::cgroup;
use std::path::PathBuf;

/// The count of a process's control group.
#[derive(Debug)]
pub struct Kills {
    counter: PathBuf,
    limit: PathBuf,
    before: u64,
}

impl Kills {
    /// Of the group that a process is in now; `None`: no group counts, or it cannot be read.
    pub fn of(pid: i32) -> Option<Self> {
        let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        places(&groups).into_iter().find_map(|(counter, limit)| {
            let before = count(&std::fs::read_to_string(&counter).ok()?)?;
            Some(Self { counter, limit, before })
        })
    }

    /// Whether the kernel has killed since in the group. Gives what is to be said of it.
    pub fn since(&self) -> Option<String> {
        let now = count(&std::fs::read_to_string(&self.counter).ok()?)?;
        (now > self.before).then(|| self.text())
    }

    /// `out of memory: the limit of its cgroup is 512 MiB`
    fn text(&self) -> String {
        // Without a limit, the file has a word, or a number that no memory has.
        let limit = std::fs::read_to_string(&self.limit).ok().and_then(|text| text.trim().parse::<u64>().ok());
        match limit.filter(|limit| *limit < 1 << 50) {
            Some(limit) => format!("out of memory: the limit of its cgroup is {} MiB", limit >> 20),
            None => "out of memory".to_owned(),
        }
    }
}

/// Where the groups of `/proc/PID/cgroup` may be found: their counters and limits.
fn places(groups: &str) -> Vec<(PathBuf, PathBuf)> {
    let groups = cgroup::groups(groups, "memory").into_iter();
    let places = groups.flat_map(|group| {
        let (counter, limit) = match group.is_unified {
            true => ("memory.events", "memory.max"),
            false => ("memory.oom_control", "memory.limit_in_bytes"),
        };
        group.folders.map(|folder| (folder.join(counter), folder.join(limit)))
    });
    places.collect()
}

/// The line `oom_kill N` of a counter's file.
fn count(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_group_has_its_files() {
        let names = |groups| -> Vec<String> {
            let name = |(counter, limit): (PathBuf, PathBuf)| format!("{} {}", counter.display(), limit.display());
            places(groups).into_iter().map(name).collect()
        };
        assert_eq!(names("0::/a\n")[0], "/sys/fs/cgroup/a/memory.events /sys/fs/cgroup/a/memory.max");
        let before =
            ["memory.oom_control", "memory.limit_in_bytes"].map(|name| format!("/sys/fs/cgroup/memory/a/{name}"));
        assert_eq!(names("4:memory:/a\n0::/\n")[0], before.join(" "));
    }

    #[test]
    fn counters_are_read() {
        assert_eq!(count("low 0\noom 3\noom_kill 2\noom_group_kill 0\n"), Some(2));
        assert_eq!(count("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"), Some(0));
        assert_eq!(count("populated 1\n"), None);
    }
}

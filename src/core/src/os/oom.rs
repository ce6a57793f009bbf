//! Kills by the kernel for want of memory, as the control group of a process counts them.

use std::path::PathBuf;

/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

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

/// Where the groups of `/proc/PID/cgroup` may be found: their counters and limits. A container may see its own group as
/// the root.
fn places(groups: &str) -> Vec<(PathBuf, PathBuf)> {
    let mut places = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (mounts, counter, limit): (&[&str], _, _) = match controllers {
            "" => (&["", "unified"], "memory.events", "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                (&["memory"], "memory.oom_control", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for (mount, path) in mounts.iter().flat_map(|mount| [(mount, path.trim_start_matches('/')), (mount, "")]) {
            let group = PathBuf::from(MOUNT).join(mount).join(path);
            places.push((group.join(counter), group.join(limit)));
        }
    }
    places
}

/// The line `oom_kill N` of a counter's file.
fn count(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_groups_are_found() {
        let of = |groups| -> Vec<String> {
            places(groups).into_iter().map(|(counter, _)| counter.display().to_string()).collect()
        };
        assert_eq!(
            of("0::/slurm/job_1\n"),
            ["/slurm/job_1", "", "/unified/slurm/job_1", "/unified"].map(|p| format!("{MOUNT}{p}/memory.events"))
        );
        assert_eq!(
            of("8:pids:/\n4:memory:/a:b\n0::/\n")[..2],
            ["/memory/a:b", "/memory"].map(|p| format!("{MOUNT}{p}/memory.oom_control"))
        );
        assert!(of("nonsense\n").is_empty());
    }

    #[test]
    fn counters_are_read() {
        assert_eq!(count("low 0\noom 3\noom_kill 2\noom_group_kill 0\n"), Some(2));
        assert_eq!(count("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"), Some(0));
        assert_eq!(count("populated 1\n"), None);
    }
}

//! Control groups: what a container, or a job of a batch system, may take of its host.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// A group that a process is in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Where it may be: in the folder of its path, or in the root of its hierarchy, as which a container may see its
    /// own group.
    pub folders: [PathBuf; 2],
    /// Whether it is of the unified hierarchy (version 2).
    pub is_unified: bool,
}

/// The groups of `/proc/PID/cgroup` that may limit or count what a controller does, in the order of the file.
pub(super) fn groups(text: &str, controller: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let is_unified = controllers.is_empty();
        let mounts: &[&str] = match controllers {
            "" => &["", "unified"],
            list if list.split(',').any(|name| name == controller) => &[controller],
            _ => continue,
        };
        for mount in mounts {
            let root = Path::new(MOUNT).join(mount);
            let own = root.join(path.trim_start_matches('/'));
            groups.push(Group { folders: [own, root], is_unified });
        }
    }
    groups
}

/// CPUs' worth of time that this process's groups may take, as docker's `--cpus` and Kubernetes' limits set it; `None`:
/// as much as there is. A part of a CPU does not count, but for the first. What the process begins with counts.
pub fn cpu_quota() -> Option<u32> {
    static QUOTA: OnceLock<Option<u32>> = OnceLock::new();
    *QUOTA.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let read = |path: PathBuf| std::fs::read_to_string(path).ok();
        groups(&text, "cpu").iter().filter_map(|group| quota(group, read)).min()
    })
}

/// The least that a group and those that it is in may take.
fn quota(group: &Group, read: impl Fn(PathBuf) -> Option<String>) -> Option<u32> {
    let of = |folder: &Path| match group.is_unified {
        true => share(&read(folder.join("cpu.max"))?),
        false => {
            let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| read(folder.join(name)));
            share(&format!("{} {}", quota?.trim(), period?.trim()))
        }
    };
    let [own, root] = &group.folders;
    own.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(of).min()
}

/// `QUOTA PERIOD`: the time of all its processes in each period. Without a limit, the first is `max` or negative.
fn share(text: &str) -> Option<u32> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (Ok(quota), Ok(period)) = (numbers.next()?, numbers.next()?) else { return None };
    u32::try_from(quota.checked_div(period)?.max(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn both_kinds_of_groups_are_found() {
        let of = |text, controller| -> Vec<String> {
            let groups = groups(text, controller);
            groups.iter().flat_map(|group| group.folders.iter().map(|folder| folder.display().to_string())).collect()
        };
        let unified = ["/slurm/job_1", "/", "/unified/slurm/job_1", "/unified"].map(|path| match path {
            "/" => format!("{MOUNT}/"),
            path => format!("{MOUNT}{path}"),
        });
        assert_eq!(of("0::/slurm/job_1\n", "memory"), unified);
        assert_eq!(
            of("8:pids:/\n4:memory:/a:b\n0::/\n", "memory")[..2],
            ["/memory/a:b", "/memory"].map(|path| format!("{MOUNT}{path}"))
        );
        assert_eq!(of("3:cpu,cpuacct:/c\n", "cpu"), ["/cpu/c", "/cpu"].map(|path| format!("{MOUNT}{path}")));
        assert!(of("nonsense\n5:cpuset:/\n", "cpu").is_empty());
    }

    #[test]
    fn the_smallest_quota_of_a_group_and_those_above_counts() {
        let quota = |groups_text: &str, files: &[(&str, &str)]| {
            let files: HashMap<PathBuf, &str> =
                files.iter().map(|(path, text)| (PathBuf::from(format!("{MOUNT}/{path}")), *text)).collect();
            let read = |path: PathBuf| files.get(&path).map(|text| (*text).to_owned());
            groups(groups_text, "cpu").iter().filter_map(|group| quota(group, read)).min()
        };
        assert_eq!(quota("0::/a/b\n", &[]), None);
        assert_eq!(quota("0::/a/b\n", &[("a/b/cpu.max", "max 100000\n")]), None);
        assert_eq!(quota("0::/a/b\n", &[("a/b/cpu.max", "400000 100000\n"), ("a/cpu.max", "250000 100000")]), Some(2));
        // A container, with its own view of groups or without; half a CPU.
        assert_eq!(quota("0::/\n", &[("cpu.max", "50000 100000\n")]), Some(1));
        assert_eq!(quota("0::/docker/1\n", &[("cpu.max", "300000 100000\n")]), Some(3));
        let of_before = [("cpu/j/cpu.cfs_quota_us", "150000\n"), ("cpu/j/cpu.cfs_period_us", "50000\n")];
        assert_eq!(quota("2:cpu,cpuacct:/j\n0::/\n", &of_before), Some(3));
        let unlimited = [("cpu/j/cpu.cfs_quota_us", "-1\n"), ("cpu/j/cpu.cfs_period_us", "50000\n")];
        assert_eq!(quota("2:cpu:/j\n", &unlimited), None);
        assert_eq!(quota("0::/\n", &[("cpu.max", "1 0\n")]), None);
    }
}

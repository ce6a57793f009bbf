//! Why the system starts no further process or thread.

use super::cgroup::{self, Group};
use std::io;
use std::path::{Path, PathBuf};

/// The system's error where it has refused to start a process or a thread, with the limit that it has met: that of a
/// control group, or else, as it seems, that of the user.
///
/// `Resource temporarily unavailable (os error 11): the limit of processes of its cgroup is 64 (pids.max), and 64 are
/// there`
pub fn refused(error: &io::Error) -> String {
    if error.raw_os_error() != Some(libc::EAGAIN) {
        return error.to_string();
    }
    let read = |path: PathBuf| std::fs::read_to_string(path).ok();
    let groups = read("/proc/self/cgroup".into()).map(|text| cgroup::groups(&text, "pids")).unwrap_or_default();
    let reached = groups.iter().find_map(|group| reached(group, read));
    format!("{error}: {}", reached.unwrap_or_else(|| "the limit of processes, see ulimit -u".into()))
}

/// The same, of the error's number.
pub fn refused_code(error: i32) -> String {
    refused(&io::Error::from_raw_os_error(error))
}

/// Says which limit is reached, of a group and those that it is in. Threads are counted, too.
fn reached(group: &Group, read: impl Fn(PathBuf) -> Option<String>) -> Option<String> {
    let number = |path: PathBuf| read(path)?.trim().parse::<u64>().ok();
    let of = |folder: &Path| {
        let (most, there) = (number(folder.join("pids.max"))?, number(folder.join("pids.current"))?);
        // One of them may have ended since.
        let is_reached = there + 1 >= most;
        is_reached.then(|| format!("the limit of processes of its cgroup is {most} (pids.max), and {there} are there"))
    };
    let [own, root] = &group.folders;
    own.ancestors().take_while(|folder| folder.starts_with(root)).find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_group_whose_limit_is_reached_is_found() {
        let said = |text: &str, files: &[(&str, &str)]| {
            let files: HashMap<PathBuf, &str> =
                files.iter().map(|(path, text)| (Path::new("/sys/fs/cgroup").join(path), *text)).collect();
            let read = |path: PathBuf| files.get(&path).map(|text| (*text).to_owned());
            cgroup::groups(text, "pids").iter().find_map(|group| reached(group, read))
        };
        let is = |most, there| {
            Some(format!("the limit of processes of its cgroup is {most} (pids.max), and {there} are there"))
        };
        let of_before = [("pids/j/pids.max", "64\n"), ("pids/j/pids.current", "64\n")];
        assert_eq!(said("8:pids:/j\n0::/\n", &of_before), is(64, 64));
        let unified =
            [("a/b/pids.max", "max\n"), ("a/b/pids.current", "9\n"), ("a/pids.max", "10\n"), ("a/pids.current", "9\n")];
        assert_eq!(said("0::/a/b\n", &unified), is(10, 9));
        assert_eq!(said("0::/\n", &[("pids.max", "100\n"), ("pids.current", "9\n")]), None);
        assert_eq!(said("0::/\n", &[]), None);
    }

    #[test]
    fn other_errors_are_told_as_they_are() {
        let error = io::Error::from_raw_os_error(libc::ENOMEM);
        assert_eq!(refused(&error), error.to_string());
        let text = refused(&io::Error::from_raw_os_error(libc::EAGAIN));
        assert!(text.contains("the limit of processes"), "{text}");
    }
}

//! What the times of a run depend on beside the program.
#![allow(unsafe_code)]

use std::fs;

/// What is known of this machine, by name.
pub fn facts() -> Vec<(String, String)> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let turbo =
        match (read("/sys/devices/system/cpu/intel_pstate/no_turbo"), read("/sys/devices/system/cpu/cpufreq/boost")) {
            (off, _) if off == "1" => "off".to_owned(),
            (off, _) if off == "0" => "on".to_owned(),
            (_, on) if on == "1" => "on".to_owned(),
            (_, on) if on == "0" => "off".to_owned(),
            _ => String::new(),
        };
    let huge = read("/sys/kernel/mm/transparent_hugepage/enabled");
    let huge =
        huge.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(String::new(), |(on, _)| on.to_owned());
    let all = [
        ("cpu", field("model name")),
        ("cores", cores.to_string()),
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("turbo", turbo),
        ("huge pages", huge),
        ("address randomisation", read("/proc/sys/kernel/randomize_va_space")),
        ("load", read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned()),
    ];
    let known = |value: String| if value.is_empty() { "not known".to_owned() } else { value };
    all.into_iter().map(|(name, value)| (name.to_owned(), known(value))).collect()
}

fn fact<'f>(facts: &'f [(String, String)], name: &str) -> &'f str {
    facts.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
}

/// What times of different runs may be compared within: processor, cores, major version of the kernel.
pub fn class(facts: &[(String, String)]) -> String {
    let kernel: Vec<&str> = fact(facts, "kernel").split('.').take(2).collect();
    format!("{}, {} cores, Linux {}", fact(facts, "cpu"), fact(facts, "cores"), kernel.join("."))
}

/// What has to stay as it is from the first run to the last.
const FIXED: [&str; 7] = ["cpu", "cores", "kernel", "governor", "turbo", "huge pages", "address randomisation"];

/// What changed from the first run to the last: times before and after it are of two machines, and so are no pairs.
pub fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<String> {
    let differs = |name: &&str| fact(before, name) != fact(after, name);
    let text = |name: &str| {
        let (old, now) = (fact(before, name), fact(after, name));
        format!("the machine changed while programs were run: {name} was `{old}` and is `{now}`")
    };
    FIXED.into_iter().filter(differs).map(text).collect()
}

/// What makes times less certain.
pub fn doubts(facts: &[(String, String)], npes: u32) -> Vec<String> {
    let mut doubts = Vec::new();
    let cores: u32 = fact(facts, "cores").parse().unwrap_or(1);
    if npes > cores {
        doubts.push(format!("{npes} PEs on {cores} cores: times depend on the scheduler; counts do not"));
    }
    let load: f64 = fact(facts, "load").parse().unwrap_or(0.0);
    if load > f64::from(cores) / 2.0 {
        doubts.push(format!("the load was {load} on {cores} cores when it began: others were at work"));
    }
    if !["performance", "not known"].contains(&fact(facts, "governor")) {
        doubts
            .push(format!("the governor is {}: the clock of the processor follows the load", fact(facts, "governor")));
    }
    doubts
}

/// Sends a signal to a process and all of its group.
pub fn end_group(leader: u32, signal: i32) {
    // SAFETY: a plain system call. The group is that of a child which has not been waited for, so its number is not
    // another's.
    unsafe {
        libc::kill(-(leader as libc::pid_t), signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_to_doubt() {
        let of = |cores: &str, load: &str, governor: &str| {
            let facts = [("cores", cores), ("load", load), ("governor", governor)];
            doubts(&facts.map(|(name, value)| (name.to_owned(), value.to_owned())), 8).len()
        };
        assert_eq!((of("8", "0.5", "performance"), of("2", "3.0", "powersave")), (0, 3));
        assert!(class(&facts()).contains("cores, Linux"));
    }

    #[test]
    fn a_machine_that_changes_is_named() {
        let of = |governor: &str, load: &str| {
            [("cpu", "x"), ("governor", governor), ("load", load)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        assert_eq!(changes(&of("powersave", "0.1"), &of("powersave", "3.0")), Vec::<String>::new());
        let changed = changes(&of("powersave", "0.1"), &of("performance", "0.1"));
        assert!(
            changed.len() == 1 && changed[0].ends_with("governor was `powersave` and is `performance`"),
            "{changed:?}"
        );
        assert_eq!(changes(&facts(), &facts()), Vec::<String>::new());
    }
}

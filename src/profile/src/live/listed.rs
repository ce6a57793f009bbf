//! What PEs do, a line for those that do the same.

use crate::text::pe_list;

/// Lines that are shown.
const LINES: usize = 64;
/// Processes that are named in a line.
const PIDS: usize = 8;

/// What a PE does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPe {
    /// World number.
    pub pe: u32,
    /// Its process.
    pub pid: u32,
    /// What it does.
    pub text: String,
}

/// A line for PEs of which the same is true, but for how long: `PEs 0 to 2 of 4 (pids 7, 8, 9): in shmem_quiet for 1.9
/// to 2.0 s`. `of` follows the PEs: ` of 4 on host b`.
pub fn listed(lines: &[ListedPe], of: &str) -> Vec<String> {
    let mut groups: Vec<(Parts<'_>, Vec<&ListedPe>)> = Vec::new();
    for line in lines {
        let parts = Parts::of(&line.text);
        match groups.iter_mut().find(|(known, _)| known.is_like(&parts)) {
            Some((known, members)) => {
                known.join(&parts);
                members.push(line);
            }
            None => groups.push((parts, vec![line])),
        }
    }
    let mut text: Vec<String> = groups.iter().take(LINES).map(|(parts, members)| group(parts, members, of)).collect();
    if groups.len() > LINES {
        let more: usize = groups[LINES..].iter().map(|(_, members)| members.len()).sum();
        text.push(format!("and {more} more PEs"));
    }
    text
}

fn group(parts: &Parts<'_>, members: &[&ListedPe], of: &str) -> String {
    let pes: Vec<u32> = members.iter().map(|line| line.pe).collect();
    let pids: Vec<String> = members.iter().filter(|line| line.pid != 0).map(|line| line.pid.to_string()).collect();
    let pids = match pids.len() {
        0 => String::new(),
        1 => format!(" (pid {})", pids[0]),
        2..=PIDS => format!(" (pids {})", pids.join(", ")),
        _ => format!(" (pids {}, ...)", pids[..PIDS].join(", ")),
    };
    format!("{}{of}{pids}: {}", pe_list(&pes), parts.text())
}

/// A text before and after the first time in it, and the least and the greatest time.
struct Parts<'a> {
    before: &'a str,
    times: Option<(f64, f64, &'a str)>,
    after: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Parts<'a> {
        let whole = Parts { before: text, times: None, after: "" };
        let Some(at) = text.find(" for ").map(|at| at + " for ".len()) else { return whole };
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let unit = [" s", " ms"].into_iter().find(|unit| {
            let tail = rest[end..].strip_prefix(unit);
            tail.is_some_and(|tail| !tail.starts_with(char::is_alphanumeric))
        });
        let (Ok(time), Some(unit)) = (rest[..end].parse(), unit) else { return whole };
        Parts { before: &text[..at], times: Some((time, time, unit)), after: &rest[end + unit.len()..] }
    }

    fn is_like(&self, other: &Parts<'_>) -> bool {
        let unit = |parts: &Parts<'_>| parts.times.map(|(_, _, unit)| unit.to_owned());
        (self.before, self.after, unit(self)) == (other.before, other.after, unit(other))
    }

    fn join(&mut self, other: &Parts<'_>) {
        if let (Some((least, most, _)), Some((low, high, _))) = (&mut self.times, other.times) {
            (*least, *most) = (least.min(low), most.max(high));
        }
    }

    fn text(&self) -> String {
        let Parts { before, times, after } = self;
        match times {
            None => (*before).to_owned(),
            Some((least, most, " s")) if least == most => format!("{before}{least:.1} s{after}"),
            Some((least, most, " s")) => format!("{before}{least:.1} to {most:.1} s{after}"),
            Some((least, most, unit)) if least == most => format!("{before}{least:.0}{unit}{after}"),
            Some((least, most, unit)) => format!("{before}{least:.0} to {most:.0}{unit}{after}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_do_the_same_have_one_line() {
        let line = |pe, text: &str| ListedPe { pe, pid: 70 + pe, text: text.into() };
        let lines = [
            line(0, "in shmem_quiet for 1.9 s, called from f"),
            line(1, "in shmem_quiet for 2.0 s, called from g"),
            line(2, "in shmem_quiet for 2.1 s, called from f"),
            line(3, "stopped"),
            line(4, "waits for 7 stones"),
        ];
        assert_eq!(
            listed(&lines, " of 5"),
            [
                "PEs 0, 2 of 5 (pids 70, 72): in shmem_quiet for 1.9 to 2.1 s, called from f",
                "PE 1 of 5 (pid 71): in shmem_quiet for 2.0 s, called from g",
                "PE 3 of 5 (pid 73): stopped",
                "PE 4 of 5 (pid 74): waits for 7 stones",
            ]
        );
        let many: Vec<ListedPe> = (0..100).map(|pe| line(pe, "same")).collect();
        assert_eq!(listed(&many, ""), ["PEs 0 to 99 (pids 70, 71, 72, 73, 74, 75, 76, 77, ...): same"]);
        let many: Vec<ListedPe> = (0..100).map(|pe| line(pe, &pe.to_string())).collect();
        assert_eq!(listed(&many, "").last().unwrap(), "and 36 more PEs");
    }
}

//! Which hosts there are, and which PEs run where.

use crate::options::Options;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// A host, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// PEs that it is to have, where the user says so.
    pub slots: Option<u32>,
}

/// PEs of one host: consecutive numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Name of the host.
    pub host: String,
    /// Its PEs.
    pub pes: Range<u32>,
}

impl Placement {
    /// `PE 3`, or `PEs 4 to 7`
    pub fn pes_text(&self) -> String {
        pes_text(&self.pes)
    }
}

/// `PE 3`, or `PEs 4 to 7`
pub fn pes_text(pes: &Range<u32>) -> String {
    match pes.len() {
        1 => format!("PE {}", pes.start),
        _ => format!("PEs {} to {}", pes.start, pes.end - 1),
    }
}

/// More PEs than this are a typing error.
const MOST_PES: u64 = 1 << 24;
/// A list of more bytes is none.
const MOST_BYTES: u64 = 16 << 20;

/// Reads `a,b:8,[::1]:2`.
pub fn parse(text: &str) -> Result<Vec<Host>, String> {
    text.split(',').map(|part| host(part.trim())).collect()
}

/// Reads a host file: `name`, `name:8` or `name slots=8` on a line, comments from `#` on.
pub fn read(path: &Path) -> Result<Vec<Host>, String> {
    let problem = |what: String| format!("option --hostfile: {}: {what}", path.display());
    let text = text_of(path).map_err(|error| problem(error.to_string()))?;
    // Editors of other systems begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if !line.trim().is_empty() {
            hosts.push(host_line(line).map_err(|what| problem(format!("line {}: {what}", number + 1)))?);
        }
    }
    if hosts.is_empty() { Err(problem("names no host".into())) } else { Ok(hosts) }
}

/// The text of a file, or of a pipe, that lists hosts.
///
/// # Errors
/// It cannot be read, or is larger than any list of hosts, as a device without an end is.
pub fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        let what = format!("larger than {} MiB, which is no list of hosts", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

fn host_line(line: &str) -> Result<Host, String> {
    let mut words = line.split_whitespace();
    let mut result = host(words.next().unwrap_or_default())?;
    for word in words {
        match word.split_once('=') {
            Some(("slots", number)) => result.slots = Some(slots(number)?),
            // What Open MPI's files say besides: more PEs than slots are never started anyway.
            Some(("max_slots" | "max-slots", _)) => {}
            _ => return Err(format!("{word:?}: expected slots=NUMBER")),
        }
    }
    Ok(result)
}

fn host(text: &str) -> Result<Host, String> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, number) = match bracketed {
        Some((name, "")) => (name, None),
        Some((name, rest)) => {
            (name, Some(rest.strip_prefix(':').ok_or(format!("{text:?}: expected [ADDRESS]:SLOTS"))?))
        }
        // More than one colon: an address of IPv6 without slots.
        None if text.matches(':').count() > 1 => (text, None),
        None => text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number))),
    };
    if name.is_empty() {
        return Err("expected the name of a host".into());
    }
    if (bracketed.is_some() || name.contains([':', '[', ']'])) && !pellucid_cli::is_ipv6(name) {
        return Err("expected NAME, NAME:SLOTS, or [ADDRESS]:SLOTS of IPv6".into());
    }
    if name.starts_with('-') || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("{name:?} is no name of a host"));
    }
    Ok(Host { name: name.into(), slots: number.map(slots).transpose()? })
}

fn slots(text: &str) -> Result<u32, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u32>().is_err() {
        return Err(format!("{text:?}: too large, at most {MOST_PES} PEs make a job"));
    }
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("{text:?}: expected a number of PEs above 0"))
}

/// The hosts that the options name, or a batch system has given; `None`: none, so that the job runs here.
pub fn wanted(options: &Options) -> Result<Option<Vec<Host>>, String> {
    match (&options.hosts, &options.hostfile) {
        (Some(hosts), _) => Ok(Some(hosts.clone())),
        (None, Some(file)) => read(file).map(Some),
        (None, None) => Ok(options.allocation.as_ref().map(|allocation| allocation.hosts.clone())),
    }
}

/// How many PEs there are to be, and where.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish {
    /// In all.
    pub pes: Option<u32>,
    /// On a host at most, in place of its slots.
    pub ppn: Option<u32>,
    /// Hosts get more than their slots where there are to be more.
    pub oversubscribe: bool,
}

impl Wish {
    /// What the options say.
    pub fn of(options: &Options) -> Self {
        Self { pes: options.pes_given, ppn: options.ppn, oversubscribe: options.oversubscribe }
    }
}

/// Gives each host a block of PEs.
///
/// Without a number of PEs, every slot gets one; a host without a number of slots has one. With it, hosts are filled in
/// their order; those without a number of slots share what the others leave, as evenly as it goes. Where nobody has
/// room for the rest and it may be more, all share that.
pub fn place(hosts: &[Host], wish: &Wish) -> Result<Vec<Placement>, String> {
    let Wish { pes, ppn, oversubscribe } = *wish;
    let mut hosts = joined(hosts, ppn);
    let known: u64 = hosts.iter().filter_map(|host| host.slots).map(u64::from).sum();
    let open = hosts.iter().filter(|host| host.slots.is_none()).count() as u64;
    let all = pes.map_or(known + open, u64::from);
    if all > MOST_PES {
        return Err(format!("{all} PEs: at most {MOST_PES} make a job"));
    }
    if open == 0 && all > known && !oversubscribe {
        let count = hosts.len();
        return Err(match ppn {
            Some(_) => format!("option -n: {all} PEs, but --ppn allows {known} on {count} host(s)"),
            None => format!(
                "option -n: {all} PEs, but there are slots for {known} on {count} host(s); --ppn N or --oversubscribe \
                 gives hosts more"
            ),
        });
    }
    if open == 0 && all > known {
        add_slots(&mut hosts, all - known);
    }
    let known = if open == 0 { known.max(all) } else { known };
    let shared = all.saturating_sub(known.min(all));
    let (mut left, mut open_left, mut first) = (all, open, 0);
    let mut shared_left = shared;
    let mut placements = Vec::new();
    for host in hosts {
        let share = match host.slots {
            Some(slots) => u64::from(slots).min(left - shared_left.min(left)),
            None => {
                let share = shared_left.div_ceil(open_left);
                open_left -= 1;
                shared_left -= share;
                share
            }
        };
        left -= share;
        let end = first + share as u32;
        if share > 0 {
            placements.push(Placement { host: host.name, pes: first..end });
        }
        first = end;
    }
    Ok(placements)
}

/// Deals further slots out to the hosts, as evenly as it goes.
fn add_slots(hosts: &mut [Host], mut more: u64) {
    let mut left = hosts.len() as u64;
    for host in hosts {
        let share = more.div_ceil(left);
        host.slots = host.slots.map(|slots| slots + share as u32);
        (more, left) = (more - share, left - 1);
    }
}

/// Hosts that are named several times in a row become one, with a slot for each mention.
fn joined(hosts: &[Host], ppn: Option<u32>) -> Vec<Host> {
    let mut result: Vec<Host> = Vec::new();
    for host in hosts {
        match result.last_mut() {
            Some(last) if last.name == host.name => {
                last.slots = Some(last.slots.unwrap_or(1).saturating_add(host.slots.unwrap_or(1)));
            }
            _ => result.push(host.clone()),
        }
    }
    if ppn.is_some() {
        result.iter_mut().for_each(|host| host.slots = ppn);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn placed(hosts: &str, pes: Option<u32>, ppn: Option<u32>) -> Result<Vec<(String, Range<u32>)>, String> {
        of_wish(hosts, Wish { pes, ppn, oversubscribe: false })
    }

    fn of_wish(hosts: &str, wish: Wish) -> Result<Vec<(String, Range<u32>)>, String> {
        place(&parse(hosts)?, &wish).map(|all| all.into_iter().map(|p| (p.host, p.pes)).collect())
    }

    fn on(list: &[(&str, Range<u32>)]) -> Result<Vec<(String, Range<u32>)>, String> {
        Ok(list.iter().map(|(host, pes)| ((*host).to_string(), pes.clone())).collect())
    }

    #[test]
    fn hosts_are_filled_in_blocks() {
        assert_eq!(placed("a,b", None, None), on(&[("a", 0..1), ("b", 1..2)]));
        assert_eq!(placed("a:2,b:3", None, None), on(&[("a", 0..2), ("b", 2..5)]));
        assert_eq!(placed("a:2,b:3", Some(3), None), on(&[("a", 0..2), ("b", 2..3)]));
        assert_eq!(placed("a:2,b:3", Some(2), None), on(&[("a", 0..2)]));
        assert_eq!(placed("a,b", Some(5), None), on(&[("a", 0..3), ("b", 3..5)]));
        assert_eq!(placed("a:2,b,c", Some(7), None), on(&[("a", 0..2), ("b", 2..5), ("c", 5..7)]));
        assert_eq!(placed("b,a:2,c", Some(1), None), on(&[("a", 0..1)]));
        assert_eq!(placed("a,b,c", None, Some(2)), on(&[("a", 0..2), ("b", 2..4), ("c", 4..6)]));
        assert_eq!(placed("a:9,b", Some(3), Some(2)), on(&[("a", 0..2), ("b", 2..3)]));
        assert_eq!(placed("a,a,b", None, None), on(&[("a", 0..2), ("b", 2..3)]));
        assert_eq!(placed("a,b,a", None, None), on(&[("a", 0..1), ("b", 1..2), ("a", 2..3)]));
    }

    #[test]
    fn more_pes_than_slots_are_refused() {
        assert_eq!(
            placed("a:2,b:2", Some(5), None).unwrap_err(),
            "option -n: 5 PEs, but there are slots for 4 on 2 host(s); --ppn N or --oversubscribe gives hosts more"
        );
        assert!(placed("a,b", Some(5), Some(2)).unwrap_err().contains("--ppn allows 4"));
        assert!(placed("a:4294967295,b:4294967295", None, None).is_err());
    }

    #[test]
    fn more_than_slots_are_shared_where_that_is_asked_for() {
        let more = |hosts, pes, ppn| of_wish(hosts, Wish { pes: Some(pes), ppn, oversubscribe: true });
        assert_eq!(more("a:1", 4, None), on(&[("a", 0..4)]));
        assert_eq!(more("a:2,b:1", 8, None), on(&[("a", 0..5), ("b", 5..8)]));
        assert_eq!(more("a,b,c", 7, Some(2)), on(&[("a", 0..3), ("b", 3..5), ("c", 5..7)]));
        // There is room.
        assert_eq!(more("a:2,b:3", 3, None), on(&[("a", 0..2), ("b", 2..3)]));
        assert_eq!(more("a:2,b", 5, None), on(&[("a", 0..2), ("b", 2..5)]));
        assert!(more("a:1", 1 << 30, None).unwrap_err().contains("at most 16777216 make a job"));
    }

    #[test]
    fn names_and_slots() {
        let host = |name: &str, slots| Host { name: name.into(), slots };
        assert_eq!(
            parse("n1, n2:8,10.0.0.1:2,fe80::1,[::1]:4,[::2]").unwrap(),
            [
                host("n1", None),
                host("n2", Some(8)),
                host("10.0.0.1", Some(2)),
                host("fe80::1", None),
                host("::1", Some(4)),
                host("::2", None)
            ]
        );
        for wrong in ["", "a,,b", "a:", "a:0", "a:x", "a:-1", "-oProxyCommand=x", "[::1]8", "a b"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(
            parse("a:99999999999,b").unwrap_err(),
            "\"99999999999\": too large, at most 16777216 PEs make a job"
        );
    }

    #[test]
    fn host_files() {
        let file = std::env::temp_dir().join(format!("oshrun-hosts-{}", std::process::id()));
        fs::write(&file, "# all\nn1 slots=4 max_slots=9\n\n n2:2 # two\nn3\n").unwrap();
        let names: Vec<_> = read(&file).unwrap().into_iter().map(|host| (host.name, host.slots)).collect();
        assert_eq!(names, [("n1".into(), Some(4)), ("n2".into(), Some(2)), ("n3".to_string(), None)]);
        fs::write(&file, "\u{feff}n1\n").unwrap();
        assert_eq!(read(&file).unwrap(), [Host { name: "n1".into(), slots: None }]);
        fs::write(&file, "n1\nn2 cores=4\n").unwrap();
        assert!(read(&file).unwrap_err().contains("line 2: \"cores=4\""));
        fs::write(&file, "# none\n").unwrap();
        assert!(read(&file).unwrap_err().contains("names no host"));
        fs::remove_file(&file).unwrap();
        assert!(read(&file).unwrap_err().contains("No such file"));
        let endless = read(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(endless, "option --hostfile: /dev/zero: larger than 16 MiB, which is no list of hosts");
    }
}

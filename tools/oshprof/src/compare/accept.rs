//! `.pellucid-perf.toml`: changes that are accepted, each with a reason and a date at which the exception ends.
//!
//! ```toml
//! [[accept]]
//! key = "shmem_barrier_all@step#1/solve"   # as `oshprof diff` shows it; * stands for any text
//! reason = "the new solver needs it"
//! until = 2026-12-31
//! ```

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use toml::Value;

use super::counts::{Counts, set_effects};

/// Name of the file, looked for in the working directory.
pub const FILE: &str = ".pellucid-perf.toml";

/// One exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accept {
    /// Pattern of a key.
    pub key: String,
    /// Why.
    pub reason: String,
    /// Last day, as `YYYY-MM-DD`.
    pub until: String,
}

/// Reads the file. One that was not named and is not there accepts nothing.
///
/// # Errors
/// What is wrong with it.
pub fn read(named: Option<&Path>) -> Result<Vec<Accept>, String> {
    let path = named.unwrap_or(Path::new(FILE));
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text).map_err(|what| format!("{}: {what}", path.display())),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Understands the text.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Accept>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    if let Some(other) = table.keys().find(|key| *key != "accept") {
        return Err(format!("`{other}` is unknown; there are only [[accept]] tables"));
    }
    let Some(list) = table.get("accept") else { return Ok(Vec::new()) };
    let list = list.as_array().ok_or("`accept` is to be written as [[accept]]")?;
    list.iter()
        .enumerate()
        .map(|(at, entry)| one(entry).map_err(|what| format!("[[accept]] {}: {what}", at + 1)))
        .collect()
}

fn one(entry: &Value) -> Result<Accept, String> {
    let table = entry.as_table().ok_or("is no table")?;
    if let Some(other) = table.keys().find(|key| !["key", "reason", "until"].contains(&key.as_str())) {
        return Err(format!("`{other}` is unknown; there are key, reason, until"));
    }
    let text = |name: &str| -> Result<String, String> {
        let value = table.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        value.map(str::to_owned).ok_or_else(|| format!("`{name}` is missing, or no text"))
    };
    let until = match table.get("until") {
        Some(Value::Datetime(toml::value::Datetime { date: Some(date), .. })) => date.to_string(),
        _ => return Err("`until` is missing, or no date such as 2026-12-31: an exception has to end".to_owned()),
    };
    Ok(Accept { key: text("key")?, reason: text("reason")?, until })
}

/// Marks what is accepted. Gives what to say of exceptions that have ended.
pub fn apply(accepts: &[Accept], counts: &mut Counts, today: &str) -> Vec<String> {
    let (valid, ended): (Vec<&Accept>, Vec<&Accept>) =
        accepts.iter().partition(|accept| accept.until.as_str() >= today);
    for change in counts.changed.iter_mut().chain(&mut counts.varying) {
        let key = change.key();
        change.accepted =
            valid.iter().find(|a| matches(&a.key, &key)).map(|a| format!("{} (until {})", a.reason, a.until));
    }
    set_effects(&mut counts.changed);
    let meets = |accept: &&&Accept| counts.changed.iter().any(|change| matches(&accept.key, &change.key()));
    let told = ended.iter().filter(meets);
    told.map(|a| format!("the exception for {} ended on {}: {}", a.key, a.until, a.reason)).collect()
}

/// The day, as `YYYY-MM-DD`, in UTC.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    pellucid_profile::report::shown_date(seconds.saturating_mul(1_000_000_000))[..10].to_owned()
}

/// Whether a text is as a pattern says, in which `*` stands for any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut is_open = false;
    for part in parts {
        is_open = true;
        match rest.find(part) {
            Some(at) if !part.is_empty() => rest = &rest[at + part.len()..],
            Some(_) => {}
            None => return false,
        }
    }
    rest.is_empty() || (is_open && (pattern.ends_with('*') || text.ends_with(pattern.rsplit('*').next().unwrap_or(""))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::counts::Change;

    #[test]
    fn patterns() {
        for (pattern, text, is) in [
            ("a@b", "a@b", true),
            ("a@b", "a@bc", false),
            ("a@*", "a@bc", true),
            ("*@b", "a@b", true),
            ("*@b*", "a@b#1/c", true),
            ("a*c", "abcbc", true),
            ("a*c", "abcb", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn an_exception_ends() {
        let text = "[[accept]]\nkey = \"shmem_quiet@*\"\nreason = \"known\"\nuntil = 2026-06-30\n";
        let accepts = parse(text).unwrap();
        let change = Change { op: "shmem_quiet".into(), site: Some("f".into()), ordinal: 1, ..Change::default() };
        let mut counts = Counts { changed: vec![change], ..Counts::default() };
        assert!(apply(&accepts, &mut counts, "2026-06-30").is_empty());
        assert_eq!(counts.changed[0].accepted.as_deref(), Some("known (until 2026-06-30)"));
        assert_eq!(apply(&accepts, &mut counts, "2026-07-01").len(), 1);
        assert_eq!(counts.changed[0].accepted, None);
    }

    #[test]
    fn names_what_is_wrong() {
        for (text, part) in [
            ("accept = 1", "[[accept]]"),
            ("[[accep]]\nkey='a'", "`accep` is unknown"),
            ("[[accept]]\nkey='a'\nreason='b'", "`until` is missing"),
            ("[[accept]]\nkey='a'\nreason='b'\nuntil='2026-01-01'", "`until`"),
            ("[[accept]]\nkey='a'\nuntil=2026-01-01", "`reason` is missing"),
            ("[[accept]]\nkey=''\nreason='b'\nuntil=2026-01-01", "`key` is missing"),
            ("[[accept]]\nkeys='a'", "`keys` is unknown"),
            ("[[accept", "TOML"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert_eq!(parse(""), Ok(Vec::new()));
    }

    #[test]
    fn no_bytes_make_the_reader_fail_badly() {
        let mut random = fastrand::Rng::with_seed(1);
        let good = "[[accept]]\nkey = \"a@*\"\nreason = \"b\"\nuntil = 2026-06-30\n";
        for _ in 0..3000 {
            let mut bytes = good.as_bytes().to_vec();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(0..bytes.len());
                bytes[at] = random.u8(..);
            }
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}

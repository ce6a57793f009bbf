//! Settings of the profile: what follows the level in `--profile 1,sampling=16,long=50000`, and `--counters`.
//!
//! Each becomes the environment variable that the library reads, so that programs under other launchers have the same.

use crate::options::ProfileChoice;
use crate::values;

/// A variable and its value.
pub type Variable = (&'static str, String);

/// `LEVEL|off[,NAME=VALUE...]`
pub fn profile(text: &str) -> Result<(ProfileChoice, Vec<Variable>), String> {
    let mut level = ProfileChoice::Level(1);
    let mut variables = Vec::new();
    for (at, part) in text.split(',').enumerate() {
        match part.split_once('=') {
            None if at == 0 => level = values::level(part)?,
            Some((name, value)) => variables.push(setting(name, value)?),
            None => return Err(format!("{part:?}: expected NAME=VALUE; there are {NAMES}")),
        }
    }
    if level == ProfileChoice::Off && !variables.is_empty() {
        return Err("with off there is nothing to set".into());
    }
    Ok((level, variables))
}

const NAMES: &str = "sampling, long, sites, counters, trace-start, trace-detail";

fn setting(name: &str, value: &str) -> Result<Variable, String> {
    let number = |most: u64| match value.parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) => Ok(value.to_owned()),
        _ => Err(format!("{name}: expected a whole number from 1 to {most}")),
    };
    let one_of = |known: &[&str]| {
        if known.contains(&value) {
            Ok(value.to_owned())
        } else {
            Err(format!("{name}: expected {}", known.join(" or ")))
        }
    };
    match name {
        "sampling" => Ok(("SHMEM_PROFILE_SAMPLING", number(1 << 20)?)),
        "long" => Ok(("SHMEM_PROFILE_LONG", number(u64::MAX)?)),
        "sites" => Ok(("SHMEM_PROFILE_SITES", one_of(&["auto", "exact"])?)),
        "counters" => counters(&value.replace('+', ",")),
        "trace-start" => Ok(("SHMEM_TRACE_START", one_of(&["on", "off"])?)),
        "trace-detail" => Ok(("SHMEM_TRACE_DETAIL", one_of(&["auto", "full"])?)),
        _ => Err(format!("{name:?} is unknown; there are {NAMES}")),
    }
}

/// `--counters`: names, separated by commas.
pub fn counters(list: &str) -> Result<Variable, String> {
    pellucid_profile::counters::parse(list).map_err(str::to_owned)?;
    Ok(("SHMEM_COUNTERS", list.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_its_variable() {
        let (level, variables) = profile(
            "1,sampling=16,long=50000,sites=exact,counters=page-faults+cycles,trace-start=off,trace-detail=full",
        )
        .unwrap();
        assert_eq!(level, ProfileChoice::Level(1));
        let text: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            text,
            [
                "SHMEM_PROFILE_SAMPLING=16",
                "SHMEM_PROFILE_LONG=50000",
                "SHMEM_PROFILE_SITES=exact",
                "SHMEM_COUNTERS=page-faults,cycles",
                "SHMEM_TRACE_START=off",
                "SHMEM_TRACE_DETAIL=full",
            ]
        );
        assert_eq!(profile("sampling=1").unwrap().0, ProfileChoice::Level(1));
        for (text, part) in [
            ("1,sampling=0", "sampling: expected a whole number from 1"),
            ("1,long=x", "long: expected"),
            ("1,color=red", "\"color\" is unknown; there are sampling"),
            ("1,2", "expected NAME=VALUE"),
            ("1,trace-detail=some", "expected auto or full"),
            ("1,sites=some", "sites: expected auto or exact"),
            ("1,counters=bogus", "unknown counter"),
            ("off,sampling=2", "nothing to set"),
            ("x", "expected off or a level"),
        ] {
            let message = profile(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

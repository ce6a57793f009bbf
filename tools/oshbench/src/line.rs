//! The lines that the measuring programs print.
//!
//! `oshbench bench=put memory=heap bytes=8 pes=2 ns=4.2 limit=memcpy_call limit_ns=2.4` is a measurement,
//! `oshbench bench=p/off memory=heap bytes=8 instructions=9 limit_instructions=7` a count of instructions and
//! `oshbench note=TEXT` something to tell the user. Lines that do not begin with `oshbench ` are other output.

use std::collections::HashMap;

/// What was measured: equal keys are repetitions of one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Name of the operation.
    pub bench: String,
    /// `heap`, `static`, `private`, or `none` where no memory is concerned.
    pub memory: String,
    /// Size of one operation.
    pub bytes: u64,
    /// PEs of the job.
    pub pes: u32,
}

/// Time of one operation and, where there is one, of the limit it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What was measured.
    pub key: Key,
    /// Nanoseconds of one operation.
    pub ns: f64,
    /// Name and nanoseconds of what the machine needs for the same.
    pub limit: Option<(String, f64)>,
}

/// Machine instructions of one call, counted apart from its time (so with no number of PEs).
#[derive(Clone, Debug, PartialEq)]
pub struct Instructions {
    /// Name of the operation.
    pub bench: String,
    /// As in [`Key`].
    pub memory: String,
    /// As in [`Key`].
    pub bytes: u64,
    /// Of the call.
    pub count: f64,
    /// Of what it is compared with.
    pub limit: f64,
}

impl Instructions {
    /// Whether they are of what has this key.
    pub fn is_of(&self, key: &Key) -> bool {
        self.bench == key.bench && self.memory == key.memory && self.bytes == key.bytes
    }
}

/// One line of a program's output.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A time.
    Measurement(Measurement),
    /// A count of instructions.
    Instructions(Instructions),
    /// For the user.
    Note(String),
    /// Not meant for the driver.
    Other,
    /// Meant for the driver, but not understood; says why.
    Bad(String),
}

/// Reads one line.
pub fn parse(line: &str) -> Line {
    let Some(fields) = line.strip_prefix("oshbench ") else {
        return Line::Other;
    };
    if let Some(note) = fields.strip_prefix("note=") {
        return Line::Note(note.to_owned());
    }
    match parse_fields(fields) {
        Ok(parsed) => parsed,
        Err(why) => Line::Bad(format!("{why} in '{line}'")),
    }
}

fn parse_fields(text: &str) -> Result<Line, String> {
    let mut fields = HashMap::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("no '=' in '{word}'"))?;
        fields.insert(name, value);
    }
    let text_of = |name: &str| fields.get(name).map(|v| (*v).to_owned()).ok_or_else(|| format!("no {name}"));
    let number = |name: &str| -> Result<f64, String> {
        let text = text_of(name)?;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("{name} is '{text}'")),
        }
    };
    let whole = |name: &str| -> Result<u64, String> {
        let text = text_of(name)?;
        text.parse().map_err(|_| format!("{name} is '{text}'"))
    };

    if fields.contains_key("instructions") {
        return Ok(Line::Instructions(Instructions {
            bench: text_of("bench")?,
            memory: text_of("memory")?,
            bytes: whole("bytes")?,
            count: number("instructions")?,
            limit: number("limit_instructions")?,
        }));
    }
    let limit = match fields.get("limit") {
        Some(name) => Some(((*name).to_owned(), number("limit_ns")?)),
        None => None,
    };
    Ok(Line::Measurement(Measurement {
        key: Key {
            bench: text_of("bench")?,
            memory: text_of("memory")?,
            bytes: whole("bytes")?,
            pes: u32::try_from(whole("pes")?).map_err(|_| "pes too large".to_owned())?,
        },
        ns: number("ns")?,
        limit,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_with_and_without_limit() {
        let Line::Measurement(with) =
            parse("oshbench bench=put memory=heap bytes=8 pes=2 ns=4.25 limit=memcpy_call limit_ns=2.5")
        else {
            panic!("not a measurement");
        };
        assert_eq!(with.key.bench, "put");
        assert_eq!((with.key.bytes, with.key.pes), (8, 2));
        assert_eq!(with.ns, 4.25);
        assert_eq!(with.limit, Some(("memcpy_call".to_owned(), 2.5)));

        let Line::Measurement(without) = parse("oshbench bench=barrier memory=none bytes=0 pes=8 ns=9000") else {
            panic!("not a measurement");
        };
        assert_eq!(without.limit, None);
    }

    #[test]
    fn instructions_notes_and_other_output() {
        let Line::Instructions(count) =
            parse("oshbench bench=p/off memory=heap bytes=8 instructions=9.0 limit_instructions=7.0")
        else {
            panic!("not instructions");
        };
        assert_eq!((count.count, count.limit), (9.0, 7.0));
        assert_eq!(parse("oshbench note=no ptrace here"), Line::Note("no ptrace here".to_owned()));
        assert_eq!(parse("hello from PE 0"), Line::Other);
        assert_eq!(parse(""), Line::Other);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (line, why) in [
            ("oshbench bench=put memory=heap bytes=8 pes=2", "no ns"),
            ("oshbench bench=put memory=heap bytes=x pes=2 ns=1", "bytes is 'x'"),
            ("oshbench bench=put memory=heap bytes=8 pes=2 ns=nan", "ns is 'nan'"),
            ("oshbench bench=put memory=heap bytes=8 pes=2 ns=1 limit=memcpy", "no limit_ns"),
            ("oshbench bench", "no '='"),
        ] {
            let Line::Bad(message) = parse(line) else {
                panic!("accepted: {line}");
            };
            assert!(message.contains(why), "{message}");
        }
    }
}

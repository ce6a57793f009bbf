//! How long a collector may take: what the `OTEL_*` variables say of exports of spans, else the ten seconds of
//! OpenTelemetry's specification.

use std::io;
use std::time::{Duration, Instant};

use pellucid_cli::milliseconds;

/// In the order in which they count.
const VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];

/// The time of one request, from its begin to its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience(Duration);

impl Patience {
    /// From variables, in milliseconds.
    ///
    /// # Errors
    /// The name of a variable that cannot be used, its value, and why.
    pub(super) fn from(variable: impl Fn(&str) -> Option<String>) -> Result<Patience, String> {
        let set = |name| variable(name).filter(|value| !value.trim().is_empty()).map(|value| (name, value));
        let Some((name, value)) = VARIABLES.into_iter().find_map(set) else {
            return Ok(Patience(Duration::from_secs(10)));
        };
        milliseconds(name, &value).map(Patience)
    }

    /// From now on.
    pub(super) fn begin(self) -> Deadline {
        Deadline { patience: self, until: Instant::now().checked_add(self.0) }
    }
}

/// The end of it.
pub(super) struct Deadline {
    patience: Patience,
    /// `None`: so far off that no clock has it.
    until: Option<Instant>,
}

impl Deadline {
    /// What is left.
    ///
    /// # Errors
    /// Where nothing is.
    pub(super) fn left(&self) -> io::Result<Duration> {
        let left = self.until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() { Err(self.over()) } else { Ok(left) }
    }

    /// In the words of a user what a system call says in its own when time is up.
    pub(super) fn name(&self, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.over(),
            _ => error,
        }
    }

    fn over(&self) -> io::Error {
        let seconds = self.patience.0.as_secs_f64();
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {seconds} s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<u64, String> {
        let value = |wanted: &str| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned());
        Patience::from(value).map(|patience| patience.0.as_millis() as u64)
    }

    #[test]
    fn variables_say_how_long() {
        assert_eq!((of(&[]), of(&[(VARIABLES[1], " ")])), (Ok(10_000), Ok(10_000)));
        assert_eq!(of(&[(VARIABLES[1], "1500")]), Ok(1500));
        assert_eq!(of(&[(VARIABLES[1], "1500"), (VARIABLES[0], "70")]), Ok(70));
        for wrong in ["0", "1s", "-3"] {
            assert!(of(&[(VARIABLES[0], wrong)]).is_err_and(|why| why.contains(wrong) && why.contains(VARIABLES[0])));
        }
    }

    #[test]
    fn time_that_is_up_is_said_to_be() {
        let deadline = Patience(Duration::from_millis(1500)).begin();
        let said = deadline.name(io::Error::from_raw_os_error(libc::EAGAIN)).to_string();
        assert_eq!(said, "no answer within 1.5 s");
        assert!(deadline.left().is_ok() && Patience(Duration::ZERO).begin().left().is_err());
        assert!(Patience(Duration::MAX).begin().left().is_ok());
    }
}

//! How long something takes: one way to say it for all tools.

use std::time::Duration;

/// What times look like, for what is said of a wrong one.
pub const TIMES: &str = "seconds, 500ms, 5s, 2m, 1h, 1:30 or 1:00:00";

/// 31 years: beyond it, durations overflow in places.
const LONGEST: f64 = 1e9;

/// `1.5`, `500ms`, `5s`, `2m`, `1h`, `1:30`, `1:00:00`; `None`: it is no such time.
pub fn duration(text: &str) -> Option<Duration> {
    let seconds = seconds(text)?;
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST)))
}

/// A time that a variable of OpenTelemetry says: in milliseconds, above 0.
///
/// # Errors
/// The variable, its value, and why that cannot be used.
pub fn milliseconds(variable: &str, text: &str) -> Result<Duration, String> {
    let number = text.trim().parse::<u64>().ok().filter(|&number| number > 0);
    number
        .map(Duration::from_millis)
        .ok_or_else(|| format!("{variable} `{text}` is not a number of milliseconds above 0"))
}

fn seconds(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 1 {
        let whole = |part: &&str| part.parse::<u32>().ok().map(f64::from);
        let parts: Option<Vec<f64>> = parts.iter().map(whole).collect();
        return parts
            .filter(|parts| parts.len() <= 3)
            .map(|parts| parts.iter().fold(0.0, |sum, part| sum * 60.0 + part));
    }
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    units.iter().find_map(|(unit, scale)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_colons() {
        for (text, ms) in [
            ("1.5", 1500),
            ("500ms", 500),
            ("5s", 5000),
            ("2m", 120_000),
            ("0", 0),
            ("1h", 3_600_000),
            ("1:30", 90_000),
            ("1:00:00", 3_600_000),
        ] {
            assert_eq!(duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for wrong in ["", "soon", "-1", "nan", "1:x", "1:0:0:0", "5 s", "1d", ":", "m"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}

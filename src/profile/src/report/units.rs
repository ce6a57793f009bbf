//! Numbers for people: three digits and a unit.

/// A duration in nanoseconds.
pub fn time(ns: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    // The least unit in which the number rounds to less than 1000; seconds for all beyond.
    let (unit, size) = UNITS.into_iter().find(|(_, size)| ns / size < 999.5).unwrap_or(UNITS[3]);
    if unit == "ns" && ns.fract() == 0.0 {
        return format!("{ns} ns");
    }
    format!("{} {unit}", three_digits(ns / size))
}

/// A plain number, to four significant digits; whole ones as they are.
pub fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A number of bytes.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1023.5 && unit < UNITS.len() - 1 {
        value /= 1024.0;
        unit += 1;
    }
    let text = if value.fract() == 0.0 { format!("{value}") } else { three_digits(value) };
    format!("{text} {}", UNITS[unit])
}

/// A rate, of bytes in a nanosecond.
pub fn rate(bytes_per_ns: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("B/s", 1e-9), ("kB/s", 1e-6), ("MB/s", 1e-3), ("GB/s", 1.0)];
    let fits = |(_, size): &(&str, f64)| bytes_per_ns / size < 999.5;
    let (unit, size) = UNITS.into_iter().find(fits).unwrap_or(UNITS[3]);
    format!("{} {unit}", three_digits(bytes_per_ns / size))
}

/// `1 core`, `4 cores`
pub fn cores(cores: u32) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

/// A count: exact up to eight digits.
pub fn count(count: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)];
    if count < 100_000_000 {
        return count.to_string();
    }
    let value = count as f64;
    let (unit, size) = UNITS.into_iter().find(|(_, size)| value / size < 999.5).unwrap_or(UNITS[3]);
    format!("{}{unit}", three_digits(value / size))
}

/// A share in percent with one decimal; `-` where the whole is nothing.
pub(super) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}", 100.0 * part / whole) } else { "-".to_owned() }
}

/// A moment in nanoseconds since 1970, as UTC.
pub fn date(realtime_ns: u64) -> String {
    let seconds = realtime_ns / 1_000_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, with years that begin in March (Hinnant).
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (42.0, "42"),
            (-3.0, "-3"),
            (0.000_123_456, "0.0001235"),
            (1.234_567, "1.235"),
            (12345.678, "12346"),
            (-0.5, "-0.5000"),
            (1.5e-9, "1.500e-9"),
            (2.5e20, "2.500e20"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn times() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (7.0, "7 ns"),
            (7.25, "7.25 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 us"),
            (1500.0, "1.50 us"),
            (99_960.0, "100 us"),
            (12_345_678.0, "12.3 ms"),
            (999_499_999.0, "999 ms"),
            (1e9, "1.00 s"),
            (12_345e9, "12345 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn rates_have_three_digits_and_a_unit() {
        for (rate_per_ns, text) in [
            (0.0, "0.00 B/s"),
            (0.001_6, "1.60 MB/s"),
            (0.546_1, "546 MB/s"),
            (0.999_6, "1.00 GB/s"),
            (47.81, "47.8 GB/s"),
            (12_345.0, "12345 GB/s"),
            (2.5e-9, "2.50 B/s"),
            (1e-5, "10.0 kB/s"),
        ] {
            assert_eq!(rate(rate_per_ns), text);
        }
    }

    #[test]
    fn sizes_and_counts() {
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.50 KiB"),
            (1 << 30, "1 GiB"),
            (1_048_570, "1.00 MiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(bytes(u64::MAX), "16 EiB");
        for (n, text) in [(0, "0"), (99_999_999, "99999999"), (123_456_789, "123M"), (1_500_000_000, "1.50G")] {
            assert_eq!(count(n), text);
        }
        assert_eq!((percent(1.0, 3.0), percent(1.0, 0.0)), ("33.3".into(), "-".into()));
    }

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date(seconds * 1_000_000_000), text);
        }
    }
}

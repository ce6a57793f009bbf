//! Sizes as the specification writes them (Section 8): a number, possibly with a fraction, and a binary suffix.

/// Reads `"512M"`, `"1.5g"`, `"4096"` as bytes: the integer ceiling. Characters after the one suffix are ignored
/// (Section 8).
///
/// Errors: the text does not begin with a non-negative number, or the size does not fit 63 bits.
pub fn parse(text: &str) -> Result<u64, &'static str> {
    let text = text.trim();
    let end = number_length(text.as_bytes());
    let (number, rest) = text.split_at(end);
    if !number.bytes().any(|b| b.is_ascii_digit()) {
        return Err("expected a non-negative number with an optional suffix k, m, g or t");
    }
    let shift = match rest.bytes().next() {
        None => 0,
        Some(b'k' | b'K') => 10,
        Some(b'm' | b'M') => 20,
        Some(b'g' | b'G') => 30,
        Some(b't' | b'T') => 40,
        Some(_) => return Err("unknown suffix: expected k, m, g or t"),
    };
    let bytes = whole(number, shift)?.filter(|bytes| *bytes <= i64::MAX as u128);
    bytes.map(|bytes| bytes as u64).ok_or("too large: the limit is 2^63 - 1 bytes")
}

/// Digits of a number that are looked at: those beyond make a byte at most, or it is too large anyway.
const DIGITS: u32 = 24;

/// A number times `2^shift`, the integer ceiling of it; none where it is beyond all sizes. In whole numbers: what
/// reads floating-point numbers is a table of 10 KB.
fn whole(number: &str, shift: u32) -> Result<Option<u128>, &'static str> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if after.contains('.') {
        return Err("not a number: more than one decimal point");
    }
    if before.is_empty() && after.is_empty() {
        return Err("not a number: an exponent alone");
    }
    // An exponent that does not fit is as good as a large one.
    let largest = if exponent.starts_with('-') { i64::from(i32::MIN) } else { i64::from(i32::MAX) };
    let mut power = exponent.parse::<i32>().map_or(largest, i64::from) - after.len() as i64;
    let (mut value, mut digits, mut beyond) = (0_u128, 0, 0);
    for digit in before.bytes().chain(after.bytes()).map(|digit| u128::from(digit - b'0')) {
        if digits < DIGITS {
            value = 10 * value + digit;
            digits += u32::from(value > 0);
        } else {
            power += 1;
            beyond |= digit;
        }
    }
    let value = (value << shift) + u128::from(beyond > 0);
    let factor = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10_u128.checked_pow(power));
    Ok(match factor {
        _ if value == 0 => Some(0),
        Some(factor) if power < 0 => Some(value.div_ceil(factor)),
        Some(factor) => value.checked_mul(factor),
        None => (power < 0).then_some(1),
    })
}

/// Bytes of the number that a text begins with: digits, a decimal point, an exponent.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mantissa = text.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    if !matches!(text.get(mantissa), Some(b'e' | b'E')) {
        return mantissa;
    }
    let sign = usize::from(matches!(text.get(mantissa + 1), Some(b'+' | b'-')));
    match digits((mantissa + 1 + sign).min(text.len())) {
        0 => mantissa,
        exponent => mantissa + 1 + sign + exponent,
    }
}

/// Writes bytes with the largest binary suffix that divides them, as [`parse`] reads them.
pub fn show(bytes: u64) -> String {
    for (shift, suffix) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes != 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{suffix}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_fractions_and_trailing_text() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("1k", 1024),
            ("2M", 2 << 20),
            ("1.5g", 3 << 29),
            ("0.5T", 1 << 39),
            (".25k", 256),
            ("64MB", 64 << 20),
            (" 3K ", 3072),
            ("1e6", 1_000_000),
            ("2.5e-1k", 256),
            ("1e+3", 1000),
            ("5e-1", 1),
            ("1.5", 2),
            ("3.1M", 3_250_586),
            ("0e99999999999", 0),
            ("1e-99999999999t", 1),
            ("1.00000000000000000000000000000000000001k", 1025),
            ("0.00000000000000000000000000000000000001t", 1),
            ("00000000000000000000000000000000000002k", 2048),
            ("9223372036854775807", i64::MAX as u64),
            ("9.223372036854775807e18", i64::MAX as u64),
            ("123456789012345678901234567890e-20", 1_234_567_891),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for bad in [
            "",
            "x",
            "-1",
            "1q",
            "1e",
            "e5",
            "1.2.3k",
            ".",
            "99999999999999999999",
            "9000000000000000000T",
            "16777216T",
            "9223372036854775808",
            "1e400",
            "1e99999999999",
            "1e19",
            "1..5",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(show(3 << 20), "3M");
        assert_eq!(show(1000), "1000");
    }
}

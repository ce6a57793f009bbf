//! Sizes as the specification writes them (Section 8): a number, possibly with a fraction, and a binary suffix.

/// Reads `"512M"`, `"1.5g"`, `"4096"` as bytes. Characters after the one suffix are ignored (Section 8).
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
    const TOO_LARGE: &str = "too large: the limit is 2^63 - 1 bytes";
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).filter(|b| *b <= i64::MAX as u64).ok_or(TOO_LARGE);
    }
    let fraction: f64 = number.parse().map_err(|_| "not a number: more than one decimal point, or too many digits")?;
    let bytes = fraction * f64::from(1u32 << (shift / 2)) * f64::from(1u32 << (shift - shift / 2));
    if bytes < 9.2e18 { Ok(bytes as u64) } else { Err(TOO_LARGE) }
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
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(show(3 << 20), "3M");
        assert_eq!(show(1000), "1000");
    }
}

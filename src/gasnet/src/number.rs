//! Numbers in the environment, with fractions and suffixes of sizes, and how they are shown.
//!
//! Whole numbers stay whole numbers: beyond 2^53 a fraction of the machine's has no room for all of their digits.

/// A number of as many units, or of what its suffix says; with unit 0 there are neither suffixes nor fractions. `None`
/// where it is none, or one that 64 bits have no room for.
pub fn parse(value: &str, unit: u64) -> Option<i64> {
    let value = value.trim();
    let (is_negative, digits) = match value.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, value.strip_prefix('+').unwrap_or(value)),
    };
    if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        // All 64 bits, as of a mask, are a number, too.
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return if is_negative { i64::try_from(-i128::from(bits)).ok() } else { Some(bits as i64) };
    }
    if unit == 0 {
        return value.parse().ok();
    }
    let (digits, factor) = suffix(digits, unit)?;
    let size = times(digits.trim_end(), factor)?;
    i64::try_from(if is_negative { -size } else { size }).ok()
}

/// What the last letters of a size say: how many bytes one of it has.
fn suffix(value: &str, unit: u64) -> Option<(&str, u64)> {
    let plain = value.strip_suffix(['b', 'B']).unwrap_or(value);
    let shift = match plain.chars().last()?.to_ascii_lowercase() {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        't' => 40,
        _ if plain.len() < value.len() => return Some((plain, 1)),
        _ => return Some((plain, unit)),
    };
    Some((&plain[..plain.len() - 1], 1 << shift))
}

/// A decimal number, such as 12 or 1.5, times a factor, without what is less than one.
fn times(digits: &str, factor: u64) -> Option<i128> {
    let is_decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !is_decimal(whole) || !is_decimal(fraction) {
        // An exponent: nobody writes one for the sake of all digits.
        let count = digits.parse::<f64>().ok().filter(|count| count.is_finite())?;
        return Some((count * factor as f64) as i128);
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let factor = i128::from(factor);
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // A factor has 20 digits at most, and so has what is left of it after so many digits of the fraction.
    let fraction = &fraction[..fraction.len().min(18)];
    let part = match fraction.parse::<i128>() {
        Ok(part) => part * factor / 10i128.pow(fraction.len() as u32),
        Err(_) => 0,
    };
    whole.checked_mul(factor)?.checked_add(part)
}

/// A number in words; a size with its unit, where it is a multiple of that.
pub fn in_words(value: i64, is_size: bool) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    let unit = UNITS.iter().find(|(unit, _)| is_size && value != 0 && value.unsigned_abs().is_multiple_of(*unit));
    match unit {
        Some((unit, name)) => format!("{} {name}", value / *unit as i64),
        None if is_size => format!("{value} B"),
        None => value.to_string(),
    }
}

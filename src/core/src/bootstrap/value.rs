//! Values of any bytes as text that every launcher's key-value space takes: letters, digits, `-`, `_` and a point, in
//! pieces where its limit is small.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A value as texts of at most `room` bytes. The first one begins with the number of them and a point. `None`: `room`
/// is too small for anything.
pub(super) fn pieces(value: &[u8], room: usize) -> Option<Vec<String>> {
    let text = encode(value);
    // "999." fits before the first piece whatever their number.
    let room = room.checked_sub(4).filter(|room| *room > 0)?;
    let number = text.len().div_ceil(room).max(1);
    if number > 999 {
        return None;
    }
    let mut parts = text.as_bytes().chunks(room).map(|part| String::from_utf8_lossy(part).into_owned());
    let first = format!("{number}.{}", parts.next().unwrap_or_default());
    Some(std::iter::once(first).chain(parts).collect())
}

/// Puts pieces together: `get(k)` gives piece k.
pub(super) fn join<E>(mut get: impl FnMut(usize) -> Result<String, E>) -> Result<Option<Vec<u8>>, E> {
    let first = get(0)?;
    let Some((number, text)) = first.split_once('.') else { return Ok(None) };
    let Ok(number) = number.parse::<usize>() else { return Ok(None) };
    let mut text = text.to_owned();
    for piece in 1..number {
        text += &get(piece)?;
    }
    Ok(decode(&text))
}

/// The key under which a PE's value, or a further piece of it, is kept.
pub(super) fn key(key: &str, pe: u32, piece: usize) -> String {
    if piece == 0 { format!("{key}-{pe}") } else { format!("{key}-{pe}-{piece}") }
}

fn encode(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len().div_ceil(3) * 4);
    for group in value.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            bits = bits << 6 | DIGITS.iter().position(|digit| digit == byte)? as u32;
        }
        bits <<= 6 * (4 - group.len());
        let bytes = bits.to_be_bytes();
        value.extend_from_slice(&bytes[1..group.len().max(1)]);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_any_limit() {
        for len in [0, 1, 2, 3, 4, 5, 255, 256, 399, 400] {
            let value: Vec<u8> = (0..len).map(|i| (i * 151 + len) as u8).collect();
            for room in [5, 6, 7, 63, 64, 255, 1023] {
                let texts = pieces(&value, room).unwrap();
                for text in &texts {
                    assert!(text.len() <= room);
                    assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
                }
                let back = join(|piece| texts.get(piece).cloned().ok_or(())).unwrap();
                assert_eq!(back.as_deref(), Some(&value[..]), "{len} bytes in {room}");
            }
        }
    }

    #[test]
    fn what_others_wrote_is_no_value() {
        for text in ["", "x", "1", "x.AA", "1.A*", "1.A A"] {
            assert_eq!(join(|_| Ok::<_, ()>(text.to_owned())), Ok(None), "{text:?}");
        }
        assert_eq!(join(|piece| if piece == 0 { Ok("2.AAAA".to_owned()) } else { Err("gone") }), Err("gone"));
        assert_eq!(pieces(b"value", 4), None);
        assert_eq!(pieces(&[0; 1000], 5), None, "more pieces than there are numbers for");
    }
}

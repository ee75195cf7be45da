//! Base64 as RFC 4648 has it, with padding.
//!
//! In: bytes. Out: text, and back. Invariant: [`decode`] takes exactly what [`encode`] writes.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text of these bytes.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= group.len() { digit } else { b'=' });
        }
    }
}

/// The text of these bytes.
pub fn text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    encode(bytes, &mut out);
    out.into_iter().map(char::from).collect()
}

/// The bytes that a text stands for; none if it is no base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits: u32 = 0;
        for i in 0..4 {
            bits = bits << 6 | group.get(i).map_or(Some(0), |digit| value(*digit))?;
        }
        let taken = group.len() - 1;
        // What the padding leaves of the last digit is zero.
        if bits & (0xff_ffff >> (8 * taken)) != 0 {
            return None;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=taken]);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(match digit {
        b'A'..=b'Z' => u32::from(digit - b'A'),
        b'a'..=b'z' => u32::from(digit - b'a') + 26,
        b'0'..=b'9' => u32::from(digit - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_the_standard() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, expected) in pairs {
            assert_eq!(text(bytes.as_bytes()), expected);
            assert_eq!(decode(expected).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn all_bytes_come_back_and_nothing_else_is_taken() {
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for len in 0..bytes.len() {
            assert_eq!(decode(&text(&bytes[..len])).as_deref(), Some(&bytes[..len]));
        }
        for wrong in ["Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Z.==", "Zg==Zg==", "é==="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}

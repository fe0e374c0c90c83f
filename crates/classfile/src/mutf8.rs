//! Modified UTF-8 (JVMS 4.4.7): NUL as two bytes, supplementary characters as surrogate pairs.
//! Total: whatever is no character becomes U+FFFD.

/// Decodes bytes that are not plain UTF-8. The result has at most three bytes per byte of input.
pub(crate) fn decode(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    while !bytes.is_empty() {
        let (c, len) = first_char(bytes);
        text.push(c);
        bytes = &bytes[len..];
    }
    text
}

/// The first character and how many bytes it takes (at least one, at most all of them).
fn first_char(bytes: &[u8]) -> (char, usize) {
    match unit(bytes) {
        Some((high @ 0xd800..=0xdbff, len)) => match unit(&bytes[len..]) {
            Some((low @ 0xdc00..=0xdfff, low_len)) => (supplementary(high, low), len + low_len),
            _ => (char::REPLACEMENT_CHARACTER, len),
        },
        Some((unit, len)) => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), len),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// The first UTF-16 code unit and the length of its encoding.
fn unit(bytes: &[u8]) -> Option<(u32, usize)> {
    match *bytes {
        [a @ 0x00..=0x7f, ..] => Some((a.into(), 1)),
        [a @ 0xc0..=0xdf, b, ..] => Some((bits(a, 0x1f) << 6 | continuation(b)?, 2)),
        [a @ 0xe0..=0xef, b, c, ..] => {
            Some((bits(a, 0x0f) << 12 | continuation(b)? << 6 | continuation(c)?, 3))
        }
        _ => None,
    }
}

fn continuation(byte: u8) -> Option<u32> {
    (byte & 0xc0 == 0x80).then_some(bits(byte, 0x3f))
}

fn bits(byte: u8, mask: u8) -> u32 {
    (byte & mask).into()
}

fn supplementary(high: u32, low: u32) -> char {
    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn two_byte_nul_is_nul() {
        assert_eq!(decode(b"a\xc0\x80b"), "a\0b");
    }

    #[test]
    fn a_surrogate_pair_is_one_character() {
        assert_eq!(decode(b"<\xed\xa0\xbd\xed\xb8\x80>"), "<\u{1f600}>");
    }

    #[test]
    fn two_and_three_byte_characters_are_read() {
        assert_eq!(decode("\u{e9}\u{20ac}\u{ffff}".as_bytes()), "\u{e9}\u{20ac}\u{ffff}");
    }

    #[test]
    fn lone_surrogates_become_one_replacement_each() {
        assert_eq!(decode(b"\xed\xa0\xbdx"), "\u{fffd}x");
        assert_eq!(decode(b"\xed\xb8\x80x"), "\u{fffd}x");
        assert_eq!(decode(b"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"), "\u{fffd}\u{1f600}");
    }

    #[test]
    fn invalid_bytes_become_one_replacement_each() {
        assert_eq!(decode(b"\xffa\x80b\xf0"), "\u{fffd}a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_character_cut_short_does_not_swallow_what_follows() {
        assert_eq!(decode(b"\xe2\x82x"), "\u{fffd}\u{fffd}x");
        assert_eq!(decode(b"\xc3"), "\u{fffd}");
    }

    #[test]
    fn every_pair_of_bytes_decodes_to_at_most_six() {
        for pair in 0..=u16::MAX {
            assert!(decode(&pair.to_be_bytes()).len() <= 6);
        }
    }
}

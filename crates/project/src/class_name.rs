//! The internal name of a class, read from its bytes with the least work. Knows nothing else of class files.

/// `bank/Account` for the bytes of that class; `None` when they are no class file or end too early.
pub fn class_name(bytes: &[u8]) -> Option<String> {
    if bytes.get(..4)? != [0xCA, 0xFE, 0xBA, 0xBE] {
        return None;
    }
    let end = pool_entry(bytes, u16_at(bytes, 8)?)?;
    let class = pool_entry(bytes, u16_at(bytes, end + 2)?)?;
    if *bytes.get(class)? != 7 {
        return None;
    }
    let name = pool_entry(bytes, u16_at(bytes, class + 1)?)?;
    if *bytes.get(name)? != 1 {
        return None;
    }
    let len = usize::from(u16_at(bytes, name + 1)?);
    Some(modified_utf8(bytes.get(name + 3..name + 3 + len)?)).filter(|name| !name.is_empty())
}

/// Offset of constant `index`; with the pool's count as index, of what follows the pool.
fn pool_entry(bytes: &[u8], index: u16) -> Option<usize> {
    let mut at = 10;
    let mut current = 1;
    while current < index {
        let wide = matches!(bytes.get(at)?, 5 | 6);
        at += match bytes.get(at)? {
            1 => 3 + usize::from(u16_at(bytes, at + 1)?),
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 5,
            5 | 6 => 9,
            _ => return None,
        };
        current += if wide { 2 } else { 1 };
    }
    (index > 0).then_some(at)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// The JVM writes characters beyond U+FFFF as two three-byte surrogates and NUL as two bytes.
fn modified_utf8(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_string();
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let low = |i: usize| u16::from(bytes.get(at + i).copied().unwrap_or(0) & 0x3F);
        let first = u16::from(bytes[at]);
        let (unit, size) = match first {
            0..=0x7F => (first, 1),
            0xC0..=0xDF => ((first & 0x1F) << 6 | low(1), 2),
            _ => ((first & 0x0F) << 12 | low(1) << 6 | low(2), 3),
        };
        units.push(unit);
        at += size;
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::{class_name, modified_utf8};

    #[test]
    fn surrogates_and_nul_are_decoded() {
        let crab = [b'a', b'/', 0xED, 0xA0, 0xBE, 0xED, 0xB6, 0x80];
        assert_eq!(modified_utf8(&crab), "a/🦀");
        assert_eq!(modified_utf8(&[0xC0, 0x80]), "\0");
        assert_eq!(modified_utf8(&[b'x', 0xED]).chars().next(), Some('x'));
    }

    #[test]
    fn bytes_that_lie_give_no_name() {
        let head = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
        for rest in [
            &[][..],
            &[0, 0],
            &[0xFF, 0xFF, 1, 0xFF, 0xFF],
            &[0, 2, 7, 0, 1, 0, 0, 0, 1],
            &[0, 1, 0, 0, 0, 0],
        ] {
            assert_eq!(class_name(&[&head[..], rest].concat()), None, "{rest:?}");
        }
    }
}

//! The hash by which GitHub's code scanning knows a line again: of the next hundred characters that are no blanks, with a
//! count where several lines have the same. The function is GitHub's, bit by bit, so that its own answer is the same.

use std::collections::BTreeMap;

/// As many characters as go into one hash.
const WINDOW: usize = 100;
const FACTOR: u64 = 37;
/// What GitHub reads after the last character.
const END: u16 = u16::MAX;

/// For every line from 1, `hash:count`.
pub(crate) fn line_hashes(text: &str) -> Vec<String> {
    let mut rolling = Rolling::new();
    let mut is_after_return = false;
    for unit in text.encode_utf16().chain([END]) {
        let is_second_half = is_after_return && unit == u16::from(b'\n');
        is_after_return = unit == u16::from(b'\r');
        if is_second_half || unit == u16::from(b' ') || unit == u16::from(b'\t') {
            continue;
        }
        rolling.add(if is_after_return { u16::from(b'\n') } else { unit });
    }
    rolling.finish()
}

/// The last characters, which of them begin a line, and their hash.
struct Rolling {
    window: [u16; WINDOW],
    begins_line: [bool; WINDOW],
    at: usize,
    hash: u64,
    /// What the oldest character has been multiplied with when it leaves.
    leaving: u64,
    next_begins_line: bool,
    seen: BTreeMap<u64, usize>,
    hashes: Vec<String>,
}

impl Rolling {
    fn new() -> Rolling {
        Rolling {
            window: [0; WINDOW],
            begins_line: [false; WINDOW],
            at: 0,
            hash: 0,
            leaving: (0..WINDOW).fold(1, |power: u64, _| power.wrapping_mul(FACTOR)),
            next_begins_line: true,
            seen: BTreeMap::new(),
            hashes: vec![],
        }
    }

    fn add(&mut self, unit: u16) {
        self.tell();
        self.begins_line[self.at] = std::mem::replace(&mut self.next_begins_line, unit == u16::from(b'\n'));
        self.turn(unit);
    }

    /// The window is about to leave a place; if a line begins there, it has been seen in full.
    fn tell(&mut self) {
        if std::mem::take(&mut self.begins_line[self.at]) {
            let count = self.seen.entry(self.hash).or_default();
            *count += 1;
            self.hashes.push(format!("{:x}:{count}", self.hash));
        }
    }

    fn turn(&mut self, unit: u16) {
        let left = u64::from(std::mem::replace(&mut self.window[self.at], unit));
        let shifted = self.hash.wrapping_mul(FACTOR).wrapping_add(u64::from(unit));
        self.hash = shifted.wrapping_sub(self.leaving.wrapping_mul(left));
        self.at = (self.at + 1) % WINDOW;
    }

    fn finish(mut self) -> Vec<String> {
        for _ in 0..WINDOW {
            self.tell();
            self.turn(0);
        }
        self.hashes
    }
}

#[cfg(test)]
mod tests {
    use super::line_hashes;

    /// The values are those that GitHub's action asserts for itself.
    #[test]
    fn the_hashes_are_those_of_github() {
        assert_eq!(line_hashes(""), ["c129715d7a2bc9a3:1"]);
        assert_eq!(
            line_hashes(" a\nb\n  \t\tc\n d"),
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]
        );
        let lines = line_hashes(" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n");
        assert_eq!(lines[0], "e9496ae3ebfced30:1");
        assert_eq!(lines[5..], ["c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1"]);
    }

    #[test]
    fn the_kind_of_line_end_does_not_matter() {
        let text = "class A {\n  int n;\n}\n";
        assert_eq!(line_hashes(&text.replace('\n', "\r\n")), line_hashes(text));
        assert_eq!(line_hashes(&text.replace('\n', "\r")), line_hashes(text));
    }

    #[test]
    fn lines_that_hash_alike_are_counted() {
        let hashes = line_hashes(&"x\n".repeat(200));
        assert_eq!(hashes.len(), 201);
        let (hash, count) = hashes[0].split_once(':').expect("two parts");
        assert_eq!((count, hashes[1].as_str()), ("1", format!("{hash}:2").as_str()));
    }

    #[test]
    fn there_is_a_hash_for_every_line() {
        for text in ["a", "a\n", "\n\n\n", "\u{fffd}é𝒳\nb", &"long ".repeat(100)] {
            assert_eq!(line_hashes(text).len(), text.split('\n').count(), "{text:?}");
        }
    }
}

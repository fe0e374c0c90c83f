//! What an entry is known by. Knows nothing of files.

use std::fmt;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Names an entry: whatever was put under a key is right for whoever asks for it, so an entry is never wrong, only
/// unused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What the bytes are, a short word: `state`.
    pub kind: String,
    /// What they were made for.
    pub content: Hash,
    /// How the bytes are laid out; whoever reads and writes them counts it up with every change.
    pub format: u32,
    /// The Snarl that wrote them: another one may come to other results.
    pub snarl: String,
}

impl Key {
    pub fn new(kind: &str, content: Hash, format: u32) -> Key {
        Key { kind: kind.to_owned(), content, format, snarl: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// All of the key in one unambiguous run of bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in [&self.kind, &self.snarl] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(self.content.0.to_le_bytes());
        bytes.extend(self.format.to_le_bytes());
        bytes
    }

    /// The kind stands in front for people who look into the directory; the hash alone tells keys apart.
    pub(crate) fn file_name(&self) -> String {
        let kind: String = self.kind.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        format!("{kind}-{}.entry", Hash::of(&self.bytes()))
    }
}

/// A hash of content: 128 bits, so that no two contents meet by accident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub u128);

impl Hash {
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(xxh3_128(bytes))
    }

    /// Of a list of parts; other cuts of the same bytes give other hashes.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Hash {
        let mut hasher = Xxh3::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Hash(hasher.digest128())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

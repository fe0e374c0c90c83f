//! Java sources that people wrote, and chance. Knows nothing of what is tested with them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The Java sources of this repository, in order.
pub fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut todo: Vec<PathBuf> =
        ["compiler/src", "fixtures", "examples"].map(|name| root.join(name)).to_vec();
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(&path).expect("a directory");
            todo.extend(inside.map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "java")
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.push((path, text));
        }
    }
    found.sort();
    assert!(found.len() > 100, "{} sources", found.len());
    found
}

pub struct Chance(u64);

impl Chance {
    /// The same one unless `SNARL_SEED` says otherwise.
    pub fn new() -> Chance {
        Chance(number("SNARL_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Between two characters of a text.
    pub fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// How often something is tried with each source; `SNARL_EDITS` for long runs.
pub fn rounds() -> u64 {
    number("SNARL_EDITS", 1)
}

fn number(name: &str, usual: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

//! Finds the source file of a class below the project's directories, and reads such files. Looks at directories once,
//! when first asked; knows nothing of what is shown.

use crate::walk::survey;
use rustc_hash::FxHashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Larger sources are none.
const LARGEST: u64 = 64 << 20;

pub struct Sources {
    roots: Vec<PathBuf>,
    index: OnceLock<Index>,
}

#[derive(Default)]
struct Index {
    /// File name → files of that name, in order of the roots.
    by_name: FxHashMap<String, Vec<PathBuf>>,
    /// Every file, in order.
    all: Vec<PathBuf>,
}

impl Sources {
    pub fn new(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, index: OnceLock::new() }
    }

    /// `bank/Account.java`: package as directories, then the file name the class gives.
    pub fn find(&self, file: &str) -> Option<&Path> {
        let name = file.rsplit('/').next()?;
        let same_name = self.index().by_name.get(name)?;
        let in_package = same_name.iter().find(|path| path.ends_with(file));
        // Kotlin and Scala sources need not lie in a directory named like their package.
        let alone = same_name.first().filter(|_| same_name.len() == 1 && !name.ends_with(".java"));
        in_package.or(alone).map(PathBuf::as_path)
    }

    /// Every file, in order.
    pub fn all(&self) -> &[PathBuf] {
        &self.index().all
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| index(&self.roots))
    }
}

/// The text of a source; nothing if it cannot be read.
pub fn source_text(path: &Path) -> Option<String> {
    if fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    Some(match String::from_utf8(fs::read(path).ok()?) {
        Ok(text) => text,
        // Old sources are often Latin-1, in which every byte means something.
        Err(error) => error.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    })
}

fn index(roots: &[PathBuf]) -> Index {
    let mut index = Index::default();
    for root in roots {
        let files = if root.is_file() {
            vec![root.clone()]
        } else {
            let found = survey(root, &|_| false);
            found.java.into_iter().chain(found.other_sources).collect()
        };
        for path in files {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let known = index.by_name.entry(name.to_string()).or_default();
            if !known.contains(&path) {
                known.push(path);
            }
        }
    }
    index.all = index.by_name.values().flatten().cloned().collect();
    index.all.sort();
    index
}

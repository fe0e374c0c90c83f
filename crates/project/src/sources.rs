//! Finds the source file of a class below the project's directories, for showing it. Reads directories once,
//! when first asked; knows nothing of what is shown.

use crate::walk::survey;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub struct Sources {
    roots: Vec<PathBuf>,
    /// File name → files of that name, in order of the roots.
    by_name: OnceLock<FxHashMap<String, Vec<PathBuf>>>,
}

impl Sources {
    pub fn new(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, by_name: OnceLock::new() }
    }

    /// `bank/Account.java`: package as directories, then the file name the class gives.
    pub fn find(&self, file: &str) -> Option<&Path> {
        let name = file.rsplit('/').next()?;
        let same_name = self.by_name.get_or_init(|| index(&self.roots)).get(name)?;
        let in_package = same_name.iter().find(|path| path.ends_with(file));
        // Kotlin and Scala sources need not lie in a directory named like their package.
        let alone = same_name.first().filter(|_| same_name.len() == 1 && !name.ends_with(".java"));
        in_package.or(alone).map(PathBuf::as_path)
    }

    /// Every file, in order.
    pub fn all(&self) -> Vec<&Path> {
        let files = self.by_name.get_or_init(|| index(&self.roots)).values().flatten();
        let mut files: Vec<&Path> = files.map(PathBuf::as_path).collect();
        files.sort();
        files
    }
}

fn index(roots: &[PathBuf]) -> FxHashMap<String, Vec<PathBuf>> {
    let mut by_name: FxHashMap<String, Vec<PathBuf>> = FxHashMap::default();
    for root in roots {
        let files = if root.is_file() {
            vec![root.clone()]
        } else {
            let found = survey(root, &|_| false);
            found.java.into_iter().chain(found.other_sources).collect()
        };
        for path in files {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let known = by_name.entry(name.to_string()).or_default();
            if !known.contains(&path) {
                known.push(path);
            }
        }
    }
    by_name
}

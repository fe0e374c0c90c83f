//! What lies below a directory, by kind of file. Follows links without running in circles; opens nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A walk stops here: whoever names `/` wants a message, not an hour of waiting.
const MAX_FILES: usize = 1_000_000;
const MAX_DEPTH: usize = 128;

#[derive(Debug, Default)]
pub struct Survey {
    pub classes: Vec<PathBuf>,
    pub java: Vec<PathBuf>,
    /// Kotlin, Scala and Groovy.
    pub other_sources: Vec<PathBuf>,
    pub archives: Vec<PathBuf>,
    /// Files directly in a `META-INF/services`.
    pub services: Vec<PathBuf>,
    pub unreadable: Vec<PathBuf>,
    /// More files than anyone would analyse; the survey is incomplete.
    pub cut_short: bool,
}

/// Everything below `root`, sorted, without hidden directories and those `skip` names.
pub fn survey(root: &Path, skip: &dyn Fn(&Path) -> bool) -> Survey {
    let mut walk = Walk { found: Survey::default(), seen: BTreeSet::new(), files: 0, skip };
    walk.directory(root, 0);
    walk.found
}

struct Walk<'a> {
    found: Survey,
    seen: BTreeSet<PathBuf>,
    files: usize,
    skip: &'a dyn Fn(&Path) -> bool,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, depth: usize) {
        let first_visit = dir.canonicalize().is_ok_and(|real| self.seen.insert(real));
        let Ok(listing) = fs::read_dir(dir) else {
            self.found.unreadable.push(dir.to_path_buf());
            return;
        };
        if !first_visit {
            return;
        }
        let in_services = dir.ends_with("META-INF/services");
        let mut children: Vec<_> =
            listing.flatten().map(|entry| (entry.file_name(), entry.file_type())).collect();
        children.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in children {
            let child = dir.join(&name);
            if self.files >= MAX_FILES || depth >= MAX_DEPTH {
                self.found.cut_short = true;
                return;
            }
            self.files += 1;
            // The listing knows what is what, links aside; asking for each file would take most of the time.
            let kind = match kind {
                Ok(kind) if !kind.is_symlink() => Ok(kind),
                _ => fs::metadata(&child).map(|metadata| metadata.file_type()),
            };
            match kind {
                Ok(kind) if kind.is_dir() => {
                    let hidden = name.as_encoded_bytes().starts_with(b".");
                    if !hidden && !(self.skip)(&child) {
                        self.directory(&child, depth + 1);
                    }
                }
                // Pipes and devices may block whoever reads them.
                Ok(kind) if !kind.is_file() => {}
                Ok(_) => {
                    if let Some(list) = self.found.list_for(&name, in_services) {
                        list.push(child);
                    }
                }
                Err(_) if self.found.list_for(&name, in_services).is_some() => {
                    self.found.unreadable.push(child);
                }
                Err(_) => {}
            }
        }
    }
}

impl Survey {
    fn list_for(&mut self, name: &OsStr, in_services: bool) -> Option<&mut Vec<PathBuf>> {
        if in_services {
            return Some(&mut self.services);
        }
        match Path::new(name).extension()?.to_str()? {
            "class" => Some(&mut self.classes),
            "java" => Some(&mut self.java),
            "kt" | "scala" | "groovy" => Some(&mut self.other_sources),
            "jar" | "war" | "ear" => Some(&mut self.archives),
            _ => None,
        }
    }
}

/// What lies in a directory, sorted; nothing if it cannot be read.
pub fn children(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

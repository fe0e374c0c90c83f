//! Files of which the build makes more than the compiler finds in them, as annotation processors do: what that is, and
//! when such files are left to the build. Knows nothing of what the compiler is told, nor of how classes are composed.

use crate::Live;
use classfile::{ClassBytes, ClassSource};
use project::source_text;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Live {
    /// Files of which the build has made more than the compiler can, as annotation processors do.
    pub fn processed(&self) -> impl Iterator<Item = &PathBuf> {
        self.generated.iter().filter(|(_, generated)| !generated.is_empty()).map(|(path, _)| path)
    }

    /// The text of a file that a build has compiled, if it is still there.
    pub(crate) fn built_text(&self, path: &Path) -> Option<String> {
        let is_built = !self.built_of(path).is_empty() && !self.sources.is_stale_now(path);
        is_built.then(|| source_text(path)).flatten()
    }

    pub(crate) fn built_classes(&self, path: &Path) -> BTreeMap<String, ClassBytes> {
        let names = self.built_of(path).iter();
        names.filter_map(|name| Some((name.clone(), self.base.find(name)?))).collect()
    }

    /// Files that were never compared with the classes of a build, or whose classes are among these.
    pub(crate) fn to_compare(&self, classes: &[String]) -> BTreeSet<PathBuf> {
        let classes: BTreeSet<&String> = classes.iter().collect();
        let is_to_compare = |path: &&PathBuf| {
            let mut built = self.built_of(path).iter();
            !self.generated.contains_key(*path) || built.any(|name| classes.contains(name))
        };
        self.units.keys().chain(self.generated.keys()).filter(is_to_compare).cloned().collect()
    }

    /// Compares a file that may have been built, now if it is known as it was, and otherwise as soon as it is compiled.
    pub(crate) fn compare_again(&mut self, path: PathBuf, replaced: &mut BTreeSet<String>) {
        let Some(text) = self.built_text(&path) else { return };
        let before = self.generated.remove(&path);
        let built = self.built_classes(&path);
        match self.units.get_mut(&path) {
            Some(unit) if *unit.text == *text => {
                unit.compare(built);
                self.generated.insert(path.clone(), unit.generated.clone());
                // Its classes have what the build before has made.
                let is_kept = before.is_some_and(|before| !before.is_empty());
                if is_kept && !self.pending.contains_key(&path) {
                    self.give_back(path, replaced);
                }
            }
            unit => {
                let text = unit.map_or_else(|| text.into(), |unit| unit.text.clone());
                self.pending.entry(path).or_insert(Some(text));
            }
        }
    }

    /// Files that say what the build has compiled are taken as it has left them, where it can do more than we.
    pub(crate) fn leave_to_the_build(&mut self, replaced: &mut BTreeSet<String>) {
        let is_as_built = |path: &&PathBuf| {
            let known = || self.units.get(*path).map(|unit| unit.text.clone());
            let text = self.pending.get(*path).cloned().unwrap_or_else(known);
            text.is_some_and(|text| self.built_text(path).as_deref() == Some(&*text))
        };
        let as_built: Vec<PathBuf> = self.processed().filter(is_as_built).cloned().collect();
        as_built.into_iter().for_each(|path| self.give_back(path, replaced));
    }

    /// The classes of a file are those of the build again, and the compiler has to forget it.
    fn give_back(&mut self, path: PathBuf, replaced: &mut BTreeSet<String>) {
        let names = self.forget(&path).unwrap_or_default();
        let edited = Arc::make_mut(&mut self.edited);
        names.iter().for_each(|name| _ = edited.remove(name));
        replaced.extend(names);
        self.pending.insert(path, None);
    }

    /// Texts that have to wait, because the compiler does not know their files yet, or they were not compared since they
    /// were built. It is told those first that were built, which shows what only the build can make, and then what is
    /// edited.
    pub(crate) fn put_off(&mut self) -> BTreeMap<PathBuf, Option<Arc<str>>> {
        let mut put_off = BTreeMap::new();
        let mut pending = std::mem::take(&mut self.pending);
        for (path, text) in &mut pending {
            let is_compared = self.units.contains_key(path) && self.generated.contains_key(path);
            let Some(wanted) = text.as_ref().filter(|_| !is_compared) else { continue };
            if let Some(built) = self.built_text(path).filter(|built| **built != **wanted) {
                put_off.insert(path.clone(), text.replace(built.into()));
            }
        }
        self.pending = pending;
        put_off
    }
}

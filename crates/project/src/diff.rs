//! How one class path differs from an older one, by content: which names to look at, and what can be shared
//! between them. Knows nothing of files.

use crate::assemble::{COMPILED, Container, Items};
use crate::classpath::ClassPath;
use crate::index::{Index, Location};
use crate::notes::Notes;
use crate::shelf::Piece;
use std::sync::Arc;

impl ClassPath {
    /// A class path that takes the place of an older one, whose index it shares if names and places are the same.
    pub fn following(older: &ClassPath, containers: Vec<Container>) -> ClassPath {
        let pairs = || older.containers.iter().zip(&containers);
        let same = older.containers.len() == containers.len() && pairs().all(|(a, b)| has_same_names(a, b));
        let index = if same { older.index.clone() } else { Arc::new(Index::of(&containers)) };
        ClassPath { containers, index }
    }

    /// Names that need a closer look, sorted: all whose winning bytes or layer may have changed.
    pub fn names_to_compare(&self, older: &ClassPath) -> Vec<&str> {
        let mut names = Vec::new();
        if Arc::ptr_eq(&self.index, &older.index) {
            self.names_in_changed_files(older, &mut names);
        } else {
            let differs = |name: &str, location: &Location| match older.index.classes.get(name) {
                Some(before) => !self.is_same(*location, older, *before),
                None => true,
            };
            names.extend(
                self.index.classes.iter().filter(|(name, at)| differs(name, at)).map(|(name, _)| &**name),
            );
        }
        names.sort_unstable();
        names
    }

    /// Names this class path has and the other one has not, sorted.
    pub fn names_not_in(&self, other: &ClassPath) -> Vec<&str> {
        if Arc::ptr_eq(&self.index, &other.index) {
            return Vec::new();
        }
        let missing = self.index.classes.keys().filter(|name| !other.index.classes.contains_key(*name));
        let mut names: Vec<_> = missing.map(|name| &**name).collect();
        names.sort_unstable();
        names
    }

    /// Whether a class that is missing in the next class path may only be away for a moment although its file is
    /// there: on its way from one archive to another, in a source that an editor has emptied to write it anew, or
    /// in a module whose build file is half written. Classes inside others go with every other edit.
    pub fn may_come_back(&self, name: &str) -> bool {
        let container = |location: &Location| &self.containers[location.container as usize];
        let is_compiled = self.index.classes.get(name).is_some_and(|at| container(at).label == COMPILED);
        !(is_compiled && name.contains('$'))
    }

    pub fn has_same_resources(&self, older: &ClassPath, notes: &Notes) -> bool {
        let read = |classpath: &ClassPath, name: &str| classpath.resources(name, notes);
        let is_same = |name: &str| {
            let (new, old) = (self.index.resources.get(name), older.index.resources.get(name));
            let (Some(new), Some(old)) = (new, old) else { return false };
            let same_places = new.len() == old.len()
                && new.iter().zip(old).all(|(new, old)| self.is_same(*new, older, *old));
            same_places || read(self, name) == read(older, name)
        };
        self.index.resources.len() == older.index.resources.len()
            && self.index.resources.keys().all(|name| is_same(name))
    }

    /// The classes of files that hold other bytes, where the names are all the same.
    fn names_in_changed_files<'a>(&'a self, older: &ClassPath, names: &mut Vec<&'a str>) {
        for (number, (container, before)) in self.containers.iter().zip(&older.containers).enumerate() {
            let (Items::Classes(pieces, all), Items::Classes(old, _)) = (&container.items, &before.items)
            else {
                continue;
            };
            for (item, (piece, old)) in pieces.iter().zip(old).enumerate() {
                let name = all[item].as_str();
                let wins = |at: &Location| (at.container, at.item) == (number as u32, item as u32);
                if !is_same_piece(piece, old) && self.index.classes.get(name).is_some_and(wins) {
                    names.push(name);
                }
            }
        }
    }

    /// Certainly the same bytes of the same layer. Cheap: nothing is unpacked.
    fn is_same(&self, location: Location, older: &ClassPath, before: Location) -> bool {
        let items = &self.containers[location.container as usize].items;
        let old_items = &older.containers[before.container as usize].items;
        let (item, old_item) = (location.item as usize, before.item as usize);
        location.layer == before.layer
            && match (items, old_items) {
                (Items::Jar(jar), Items::Jar(old)) => {
                    let (new_archive, old_archive) = (&jar.archive, &old.archive);
                    Arc::ptr_eq(jar, old) && item == old_item
                        || new_archive.has_same(
                            &new_archive.entries[item],
                            old_archive,
                            &old_archive.entries[old_item],
                        )
                }
                (
                    Items::Classes(pieces, _) | Items::Services(pieces),
                    Items::Classes(old, _) | Items::Services(old),
                ) => is_same_piece(&pieces[item], &old[old_item]),
                _ => false,
            }
    }
}

fn is_same_piece(piece: &Piece, old: &Piece) -> bool {
    match (&piece.held, &old.held) {
        (Some(new), Some(old)) => Arc::ptr_eq(new, old) || new == old,
        _ => false,
    }
}

fn has_same_names(one: &Container, other: &Container) -> bool {
    let same_items = match (&one.items, &other.items) {
        (Items::Jar(one), Items::Jar(other)) => Arc::ptr_eq(one, other),
        (Items::Classes(_, one), Items::Classes(_, other)) => one == other,
        (Items::Services(one), Items::Services(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.path == other.path)
        }
        _ => false,
    };
    one.label == other.label && one.layer == other.layer && same_items
}

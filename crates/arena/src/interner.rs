//! Equal things get equal ids, in order of first appearance: the same input gives the same ids.

use crate::{Id, IndexVec, define_id};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;
use std::sync::Arc;

define_id! {
    /// An interned string.
    Name
}

#[derive(Clone)]
pub struct Interner<I, T> {
    ids: FxHashMap<T, I>,
    items: IndexVec<I, T>,
    /// Of things that were forgotten, to be used again.
    free: Vec<I>,
}

impl<I: Id, T: Clone + Eq + Hash> Interner<I, T> {
    pub fn new() -> Self {
        Interner { ids: FxHashMap::default(), items: IndexVec::new(), free: Vec::new() }
    }

    pub fn intern(&mut self, item: T) -> I {
        self.intern_new(item).0
    }

    /// The id, and whether the item was seen for the first time.
    pub fn intern_new(&mut self, item: T) -> (I, bool) {
        if let Some(&id) = self.ids.get(&item) {
            return (id, false);
        }
        let id = match self.free.pop() {
            Some(id) => {
                self.items[id] = item.clone();
                id
            }
            None => self.items.push(item.clone()),
        };
        self.ids.insert(item, id);
        (id, true)
    }

    /// Forgets all others. Their ids are used again, so nobody may speak of them any more.
    pub fn retain(&mut self, is_kept: impl Fn(I) -> bool) {
        self.ids.retain(|_, id| is_kept(*id));
        self.free = self.items.ids().filter(|&id| !is_kept(id)).collect();
    }

    /// How many things there are, without those that were forgotten.
    pub fn kept(&self) -> usize {
        self.items.len() - self.free.len()
    }

    pub fn get(&self, item: &T) -> Option<I> {
        self.ids.get(item).copied()
    }

    /// Gives the item of an id another content; `None` when no content leads to it any more.
    pub fn rename(&mut self, id: I, item: Option<T>) {
        let old = self.items[id].clone();
        if self.ids.get(&old) == Some(&id) {
            self.ids.remove(&old);
        }
        if let Some(item) = item {
            self.items[id] = item.clone();
            self.ids.insert(item, id);
        }
    }

    pub fn items(&self) -> &IndexVec<I, T> {
        &self.items
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<I: Id, T: Clone + Eq + Hash> Default for Interner<I, T> {
    fn default() -> Self {
        Interner::new()
    }
}

/// As the items, and those that no content leads to.
impl<I: Id + Serialize, T: Clone + Eq + Hash + Serialize> Serialize for Interner<I, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let leads_nowhere = |(id, item): (I, &T)| (self.ids.get(item) != Some(&id)).then_some(id);
        let forgotten: Vec<I> = self.items.iter().filter_map(leads_nowhere).collect();
        (&self.items, forgotten, &self.free).serialize(to)
    }
}

impl<'de, I: Id + Deserialize<'de>, T: Clone + Eq + Hash + Deserialize<'de>> Deserialize<'de>
    for Interner<I, T>
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (items, forgotten, free): (IndexVec<I, T>, Vec<I>, Vec<I>) = Deserialize::deserialize(from)?;
        let mut forgotten = forgotten.into_iter().peekable();
        let mut ids = FxHashMap::with_capacity_and_hasher(items.len(), Default::default());
        for (id, item) in items.iter() {
            if forgotten.next_if_eq(&id).is_none() {
                ids.insert(item.clone(), id);
            }
        }
        Ok(Interner { ids, items, free })
    }
}

impl<I: Id, T> std::ops::Index<I> for Interner<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id]
    }
}

/// Interned strings.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: FxHashMap<Arc<str>, Name>,
    items: IndexVec<Name, Arc<str>>,
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let text: Arc<str> = text.into();
        let id = self.items.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    pub fn get(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn text(&self, name: Name) -> &Arc<str> {
        &self.items[name]
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let items: IndexVec<Name, Arc<str>> = Deserialize::deserialize(from)?;
        let ids = items.iter().map(|(id, text)| (text.clone(), id)).collect();
        Ok(Names { ids, items })
    }
}

impl std::ops::Index<Name> for Names {
    type Output = str;
    fn index(&self, name: Name) -> &str {
        &self.items[name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    fn written_and_read<T: Serialize + DeserializeOwned>(item: &T) -> T {
        let bytes = postcard::to_stdvec(item).expect("bytes");
        postcard::from_bytes(&bytes).expect("the same")
    }

    #[test]
    fn an_interner_is_read_back_as_it_was() {
        let mut interner: Interner<Name, u32> = Interner::new();
        let [first, second, third] = [7, 8, 9].map(|item| interner.intern(item));
        interner.rename(first, None);
        interner.rename(second, Some(9));
        let read = written_and_read(&interner);
        assert_eq!(read.items(), interner.items());
        let found = |interner: &Interner<Name, u32>| [7, 8, 9].map(|item| interner.get(&item));
        assert_eq!(found(&read), [None, None, Some(second)]);
        assert_eq!(found(&read), found(&interner));
        assert_eq!(read[third], 9);
    }

    #[test]
    fn ids_of_what_was_forgotten_are_used_again() {
        let mut interner: Interner<Name, u32> = Interner::new();
        let [first, second] = [7, 8].map(|item| interner.intern(item));
        interner.retain(|id| id == second);
        let mut read = written_and_read(&interner);
        assert_eq!((read.get(&7), read.get(&8), read.kept()), (None, Some(second), 1));
        assert_eq!((read.intern(9), read.kept(), read.len()), (first, 2, 2));
    }

    #[test]
    fn names_are_read_back_as_they_were() {
        let mut names = Names::default();
        let [a, b] = ["a", ""].map(|text| names.intern(text));
        let mut read = written_and_read(&names);
        assert_eq!((&read[a], &read[b], read.get("b")), ("a", "", None));
        assert_eq!(read.intern("a"), a);
        assert_eq!(read.intern("b"), names.intern("b"));
    }
}

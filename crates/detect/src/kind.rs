//! Memory of one kind, whose pairs are looked at together: its locations, and the accesses to them, in the order of
//! content, so that the first of several witnesses is the same however ids were handed out. Judges nothing.

use crate::Stages;
use crate::access::{AccessId, Accesses, Location, What};
use happens_before::Content;
use ir::ClassId;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A field; or the elements or contents of objects of one class.
type Key = (What, Option<ClassId>);

pub(crate) struct Kind {
    /// Objects that exist once come first: they tell most.
    pub(crate) locations: Vec<Location>,
    ids: Vec<AccessId>,
    /// For each access the number of its statement.
    statements: Vec<u32>,
    /// For each location the accesses to it, as positions in `ids`; none where only one thread is at work.
    touching: Vec<Vec<u32>>,
}

/// For each location at which a statement is, where in the list of its accesses.
pub(crate) type Places = BTreeMap<usize, Vec<usize>>;

/// The locations by kind. Memory of one field (of one class, for elements and contents) is independent of all other.
pub(crate) fn kinds(stages: &Stages<'_>, content: &Content<'_>, accesses: &Accesses) -> Vec<Vec<Location>> {
    let mut kinds: BTreeMap<Key, Vec<Location>> = BTreeMap::new();
    for location in accesses.by_location.keys() {
        let class = match location.what {
            What::Elements | What::Contents => location.obj.map(|obj| stages.pointsto.object(obj).class),
            What::Field(_) | What::Static(_) => None,
        };
        kinds.entry((location.what, class)).or_default().push(*location);
    }
    let mut kinds: Vec<(Key, Vec<Location>)> = kinds.into_iter().collect();
    kinds.sort_by(|(a, _), (b, _)| keys(content, *a, *b));
    kinds.into_iter().map(|(_, locations)| locations).collect()
}

fn keys(content: &Content<'_>, (a, of): Key, (b, other): Key) -> Ordering {
    let number = |what: What| match what {
        What::Field(_) => 0,
        What::Static(_) => 1,
        What::Elements => 2,
        What::Contents => 3,
    };
    let by_class = || match (of, other) {
        (Some(class), Some(other)) => content.classes(class, other),
        (class, other) => class.is_some().cmp(&other.is_some()),
    };
    match (a, b) {
        (What::Field(a), What::Field(b)) | (What::Static(a), What::Static(b)) => content.fields(a, b),
        _ => number(a).cmp(&number(b)).then_with(by_class),
    }
}

impl Kind {
    pub(crate) fn new(
        stages: &Stages<'_>,
        content: &Content<'_>,
        accesses: &Accesses,
        locations: Vec<Location>,
    ) -> Kind {
        let exists_once = |obj| stages.happens_before.unique(obj);
        let last = |location: &Location| location.obj.is_some_and(|obj| !exists_once(obj));
        let mut locations: Vec<(bool, Location)> =
            locations.into_iter().map(|location| (last(&location), location)).collect();
        locations.sort_by(|(last, a), (other, b)| {
            let by_object = || match (a.obj, b.obj) {
                (Some(obj), Some(other)) => content.objects(obj, other),
                (obj, other) => obj.is_some().cmp(&other.is_some()),
            };
            last.cmp(other).then_with(by_object)
        });
        let locations: Vec<Location> = locations.into_iter().map(|(_, location)| location).collect();
        let touched = |location: &Location| {
            let ids = accesses.by_location[location].as_slice();
            if several_origins(stages, accesses, ids) { ids } else { &[] }
        };
        let mut ids: Vec<AccessId> = locations.iter().flat_map(touched).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        // In one statement of one activation they are numbered by its operands.
        ids.sort_by(|&a, &b| {
            let (left, right) = (&accesses.all[a], &accesses.all[b]);
            content.frames((left.act, left.stmt), (right.act, right.stmt)).then(a.cmp(&b))
        });
        let numbers: FxHashMap<AccessId, u32> = ids.iter().copied().zip(0..).collect();
        let touching = locations.iter().map(|location| {
            let mut touching: Vec<u32> = touched(location).iter().map(|id| numbers[id]).collect();
            touching.sort_unstable();
            touching
        });
        let touching = touching.collect();
        let statement = |at: usize| (accesses.all[ids[at]].method, accesses.all[ids[at]].stmt);
        let mut statements = Vec::with_capacity(ids.len());
        let mut number = 0;
        for at in 0..ids.len() {
            number += u32::from(at > 0 && statement(at) != statement(at - 1));
            statements.push(number);
        }
        Kind { locations, ids, statements, touching }
    }

    /// Each statement, with where it is.
    pub(crate) fn statements(&self) -> BTreeMap<u32, Places> {
        let mut places: BTreeMap<u32, Places> = BTreeMap::new();
        for (at, touching) in self.touching.iter().enumerate() {
            for (n, &access) in touching.iter().enumerate() {
                let statement = self.statements[access as usize];
                places.entry(statement).or_default().entry(at).or_default().push(n);
            }
        }
        places
    }

    /// The pairs on one location of a statement, which is at these places, with itself and with later ones; one of
    /// them a write, and one of them the user's.
    pub(crate) fn for_each_pair(
        &self,
        accesses: &Accesses,
        location: usize,
        own: &[usize],
        mut visit: impl FnMut((AccessId, AccessId), u32),
    ) {
        let touching = &self.touching[location];
        let mut look = |a: u32, b: u32, other: u32| {
            let (a, b) = (self.ids[a as usize], self.ids[b as usize]);
            let (left, right) = (&accesses.all[a], &accesses.all[b]);
            if (left.write || right.write) && (left.in_app || right.in_app) {
                visit((a, b), other);
            }
        };
        // The accesses of one statement stand together, and those of later ones after them.
        for &n in own {
            for &b in &touching[n..] {
                look(touching[n], b, self.statements[b as usize]);
            }
        }
    }
}

/// Can two threads be at work here at all?
fn several_origins(stages: &Stages<'_>, accesses: &Accesses, ids: &[AccessId]) -> bool {
    let hb = stages.happens_before;
    let mut origins = ids.iter().flat_map(|&id| hb.origins_of(accesses.all[id].act));
    let Some(&first) = origins.next() else { return false };
    hb.origins()[first].overlaps_itself || origins.any(|&origin| origin != first)
}

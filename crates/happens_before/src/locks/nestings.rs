//! All nestings, kept up to date: who is looked at again when something changes, and how what was found is told, with
//! positions and in the order of content. Knows nothing of how one holder is looked at.

use super::harmful::Harmful;
use super::held::Holding;
use super::keys::Keys;
use super::narrowed::Narrowed;
use super::nests::{Finder, Nest};
use super::passing::Passing;
use super::reached;
use super::room::Live;
use super::steps::{Steps, What};
use super::table::LockTable;
use super::telling::{Telling, Told};
use super::walk::Walker;
use super::wants::Wants;
use crate::origins::Origins;
use crate::types::{HeldLock, Nesting, Wanted};
use crate::world::World;
use ir::StmtId;
use pointsto::Act;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Sizes, note};

pub struct Nestings {
    wants: Wants,
    steps: Steps,
    passing: Passing,
    harmful: Harmful,
    narrowed: Narrowed,
    /// By holder.
    found: Memo<Act, Vec<Nest>>,
    told: Memo<Act, Vec<Nesting>>,
    all: Vec<Nesting>,
    follows: bool,
}

impl Nestings {
    pub fn new(follows: bool) -> Nestings {
        Nestings {
            wants: Wants::new(follows),
            steps: Steps::new(follows),
            passing: Passing::new(follows),
            harmful: Harmful::new(follows),
            narrowed: Narrowed::new(follows),
            found: Memo::new(Kind::Walks, follows),
            told: Memo::new(Kind::Nested, follows),
            all: Vec::new(),
            follows,
        }
    }

    pub fn all(&self) -> &[Nesting] {
        note(Read::all(Kind::Nestings));
        &self.all
    }

    /// `acts`: those whose locks are others than before.
    pub fn update<'w>(
        &mut self,
        keys: &Keys<'_, 'w>,
        told: &mut Told,
        holding: &Holding<'_, 'w>,
        origins: &Origins,
        acts: &BTreeSet<Act>,
        changes: &mut Changes,
    ) {
        let world = holding.world;
        let mut acts: BTreeSet<Act> = acts.iter().copied().filter(|&act| !world.is_jdk(act)).collect();
        if changes.contains(Read::all(Kind::Joins)) {
            acts.extend(holding.waiting());
        }
        let is_read = |read: Read| self.found.reads(read);
        self.passing.update(keys, is_read, changes);
        self.wants.update(holding, &told.table, &acts, self.follows, changes);
        self.steps.update(holding, &self.wants, is_read, changes);
        self.harmful.update(holding, &told.table, &mut self.wants, changes);
        self.narrowed.update(keys, told, &self.passing, changes);
        acts.extend(self.found.stale(changes));
        let mut differing: BTreeSet<Act> = BTreeSet::new();
        for act in acts {
            let Nestings { wants, steps, passing, harmful, narrowed, .. } = self;
            let telling = &mut Telling { keys, told };
            let walker = Walker { telling, passing };
            let mut finder = Finder { holding, harmful, wants, steps, narrowed, walker };
            let (found, reads) = self.found.record(|| finder.find(act));
            if self.found.peek(act).map_or(&[][..], Vec::as_slice) != found {
                differing.insert(act);
            }
            match found.is_empty() && holding.is_without_locks(act) {
                true => drop(self.found.remove(act)),
                false => drop(self.found.set(act, Some(found), reads)),
            }
        }
        let mut again: BTreeSet<Act> = self.told.stale(changes).into_iter().collect();
        again.extend(differing);
        self.tell(keys, &told.table, holding, origins, again, changes);
    }

    fn tell(
        &mut self,
        keys: &Keys<'_, '_>,
        table: &LockTable,
        holding: &Holding<'_, '_>,
        origins: &Origins,
        again: BTreeSet<Act>,
        changes: &mut Changes,
    ) {
        let mut differing: BTreeSet<Act> = BTreeSet::new();
        let mut new: Vec<Nesting> = Vec::new();
        for act in again {
            let (told, reads) = self.told.record(|| {
                let found = self.found.peek(act).map_or(&[][..], Vec::as_slice);
                found.iter().map(|nest| self.nesting(keys, table, holding, nest)).collect::<Vec<_>>()
            });
            if self.told.peek(act).map_or(&[][..], Vec::as_slice) != told {
                differing.insert(act);
                new.extend(told.iter().cloned());
            }
            match told.is_empty() {
                true => drop(self.told.remove(act)),
                false => drop(self.told.set(act, Some(told), reads)),
            }
        }
        if differing.is_empty() && !changes.everything {
            return;
        }
        changes.add(Read::all(Kind::Nestings));
        new.sort_by(|a, b| order(holding.world, origins, a, b));
        let mut kept = std::mem::take(&mut self.all);
        kept.retain(|nesting| !differing.contains(&holder(nesting)));
        self.all = merge(kept, new, |a, b| order(holding.world, origins, a, b));
    }

    fn nesting(
        &self,
        keys: &Keys<'_, '_>,
        table: &LockTable,
        holding: &Holding<'_, '_>,
        nest: &Nest,
    ) -> Nesting {
        let world = holding.world;
        let lock = |lock: &HeldLock| {
            // It is where its statement is now.
            note(Read::of(Kind::Body, world.pointsto.method(lock.act)));
            lock.clone()
        };
        let held = lock(table.lock(nest.held));
        let calls: Vec<(Act, StmtId)> = nest
            .route
            .calls
            .iter()
            .filter_map(|&call| Some((call.caller, self.steps.stmt(world, call)?)))
            .collect();
        let (stmt, wants) = match nest.what {
            What::Lock(wanted) => {
                let wanted = lock(table.lock(wanted));
                (wanted.stmt, Wanted::Lock(wanted))
            }
            What::End(n) => {
                let (stmt, ends) = holding.waits(nest.act)[n];
                (Some(stmt), Wanted::End(ends.to_vec()))
            }
        };
        let is_reached = match &wants {
            Wanted::Lock(wanted) => reached::is_reached(world, keys.paths, &held, wanted, &calls),
            Wanted::End(_) => false,
        };
        Nesting {
            origins: nest.origins.clone(),
            held,
            wants,
            act: nest.act,
            stmt,
            locks: table.locks(nest.locks).map(lock).collect(),
            calls,
            called_back: nest.route.called_back,
            choices: nest.route.choices,
            is_reached,
        }
    }

    /// Does a walk rest on this?
    pub fn reads(&self, read: Read) -> bool {
        self.found.reads(read)
    }

    /// What no walk asks any more is forgotten.
    pub fn forget_unread(&mut self, changes: &mut Changes) {
        let Nestings { found, told, .. } = self;
        let is_read = |read: Read| found.reads(read);
        self.passing.forget_unread(changes, is_read);
        self.steps.forget_unread(changes, is_read, |read| told.reads(read));
        self.harmful.forget_unread(changes, is_read);
        self.narrowed.forget_unread(changes, is_read);
    }

    pub fn show(&self, live: &mut Live) {
        for nest in self.found.iter().flat_map(|(_, nests)| nests) {
            live.add_set(nest.locks);
            live.add_lock(nest.held);
            if let What::Lock(lock) = nest.what {
                live.add_lock(lock);
            }
        }
        self.steps.show(live);
        self.harmful.show(live);
        self.narrowed.show(live);
        self.passing.show(live);
    }

    pub fn retain(&mut self, live: &Live) {
        self.passing.retain(live);
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.wants.sizes(sizes);
        self.steps.sizes(sizes);
        self.passing.sizes(sizes);
        self.harmful.sizes(sizes);
        self.narrowed.sizes(sizes);
        self.found.sizes(sizes);
        self.told.sizes(sizes);
    }
}

/// Who holds the lock: whoever makes the first call.
fn holder(nesting: &Nesting) -> Act {
    nesting.calls.first().map_or(nesting.act, |&(act, _)| act)
}

fn order(world: &World<'_>, origins: &Origins, a: &Nesting, b: &Nesting) -> Ordering {
    let ranks = |nesting: &Nesting| -> Vec<u32> {
        nesting.origins.iter().map(|&origin| origins.ranks[origin]).collect()
    };
    world.content.nestings(a, b).then_with(|| ranks(a).cmp(&ranks(b)))
}

/// Two sorted lists as one, of which the second is short.
fn merge<T>(long: Vec<T>, short: Vec<T>, order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let place = |item: &T| long.partition_point(|before| order(before, item).is_le());
    let places: Vec<usize> = short.iter().map(place).collect();
    let mut merged = Vec::with_capacity(long.len() + short.len());
    let (mut long, mut taken) = (long.into_iter(), 0);
    for (item, place) in short.into_iter().zip(places) {
        merged.extend(long.by_ref().take(place - taken));
        merged.push(item);
        taken = place;
    }
    merged.extend(long);
    merged
}

//! Which origins may be alive at which points of which others. Knows spawn sites, joins and reachability;
//! knows neither signals nor locks.

mod lives;
mod reaches;
mod serial;
mod together;
mod tree;

use crate::bits::Bits;
use crate::joins::Joins;
use crate::labels::{Labels, Way};
use crate::local::has_own_task;
use crate::origins::Origins;
use crate::types::{Origin, Point};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::StmtId;
use lives::Lives;
use pointsto::{Act, Obj};
use reaches::{Barriers, ReachId, Reaches};
use rustc_hash::FxHashMap;
use serial::serial_on;
use std::collections::BTreeMap;
use std::sync::Arc;
use together::Together;
use track::{Changes, Kind, Read, Single, Sizes, note};

/// May-overlap between origins, precomputed so that a question costs a few look-ups.
pub struct Overlap {
    follows: bool,
    reaches: Reaches,
    lives: Single<Lives>,
    together: Single<Together>,
    own: Single<IndexVec<Origin, Own>>,
    /// What is reached as a whole, by the number of the reach.
    labels: Labels,
    /// The lists of reaches that there are, as one.
    spans: FxHashMap<Vec<ReachId>, Arc<Span>>,
    /// Those of the lives.
    alive: IndexVec<Origin, FxHashMap<Origin, Arc<Span>>>,
}

/// What several reaches contain together.
#[derive(Debug, Default)]
struct Span {
    reaches: Bits,
    parts: FxHashMap<Act, Arc<Bits>>,
}

/// What is known of an origin by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Own {
    serial_on: Option<Obj>,
    each_serial: Option<Obj>,
    overlaps_itself: bool,
    own_task: bool,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap::new(false)
    }
}

impl Overlap {
    pub fn new(follows: bool) -> Overlap {
        Overlap {
            follows,
            reaches: Reaches::new(follows),
            lives: Single::default(),
            together: Single::default(),
            own: Single::default(),
            labels: Labels::new(Way::Down),
            spans: FxHashMap::default(),
            alive: IndexVec::new(),
        }
    }

    /// Follows a change of sites, joins and calls.
    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        joins: &Joins,
        unique: &Unique,
        changes: &mut Changes,
    ) {
        if changes.everything {
            *self = Overlap::new(self.follows);
        }
        self.reaches.look(changes);
        let barriers = &Barriers::new(world, self.follows);
        let find = |reaches: &mut Reaches| Lives::new(barriers, origins, joins, unique, reaches);
        let (follows, reaches) = (self.follows, &mut self.reaches);
        let mut before = self.lives.update(follows, changes, || find(reaches));
        if before.is_none() {
            // The same is asked as before; if there are other answers, something else may be asked.
            reaches.refresh(barriers, origins, changes);
            before = self.lives.update(follows, changes, || find(reaches));
        }
        if before.is_some() {
            reaches.forget();
        }
        let lives_before = before.filter(|before| *before != self.lives.value);
        self.label(world, lives_before.is_some(), changes);
        let mut together = std::mem::take(&mut self.together);
        let before = together.update(follows, changes, || Together::new(world, origins, joins, unique, self));
        self.together = together;
        let together_before = before.filter(|before| *before != self.together.value);
        if lives_before.is_some() || together_before.is_some() {
            changes.add(Read::all(Kind::Origins));
            self.tell_meetings(lives_before.as_ref(), together_before.as_ref(), changes);
        }
    }

    /// Tells which origins meet otherwise than before.
    fn tell_meetings(&self, lives: Option<&Lives>, together: Option<&Together>, changes: &mut Changes) {
        if changes.everything {
            return;
        }
        let mut tell = |a: Origin, b: Origin| changes.add(meeting(a, b));
        if let Some(before) = lives {
            before.differing(&self.lives.value).for_each(|(a, b)| tell(a, b));
        }
        if let Some(before) = together {
            before.differing(&self.together.value).for_each(|(a, b)| tell(a, b));
        }
    }

    /// Writes down which origins overlap themselves.
    pub fn tell(&mut self, world: &World<'_>, origins: &mut Origins, unique: &Unique, changes: &mut Changes) {
        let together = &self.together.value.together;
        let before = self.own.update(self.follows, changes, || {
            note(Read::all(Kind::Origins));
            let own = |origin: Origin| {
                let executor = serial_on(world, origins, origin);
                let (serial_on, each_serial) = match executor.is_some_and(|one| unique.contains(one)) {
                    true => (executor, None),
                    false => (None, executor),
                };
                let overlaps_itself = together[origin].contains(origin.index()) && serial_on.is_none();
                let own_task = overlaps_itself && has_own_task(world, origins, unique, origin);
                Own { serial_on, each_serial, overlaps_itself, own_task }
            };
            origins.info.ids().map(own).collect()
        });
        if before.is_some_and(|before| before != self.own.value) {
            changes.add(Read::all(Kind::Origins));
        }
        for (origin, own) in self.own.value.iter() {
            let info = &mut origins.info[origin];
            info.serial_on = own.serial_on;
            info.each_serial = own.each_serial;
            info.overlaps_itself = own.overlaps_itself;
            info.own_task = own.own_task;
        }
    }

    /// May the points overlap without one's origin being the other's ancestor?
    pub fn are_together(&self, a: &Point, b: &Point) -> bool {
        note(meeting(a.origin, b.origin));
        self.together.value.together[a.origin].contains(b.origin.index())
            && !self.is_joined(a.origin, b)
            && !self.is_joined(b.origin, a)
    }

    /// Has whoever comes to the point joined an origin that it has not started?
    pub fn is_joined(&self, ended: Origin, point: &Point) -> bool {
        note(meeting(ended, point.origin));
        let joined = self.together.value.joined.get(&(ended, point.origin));
        joined.is_some_and(|&reach| !self.contains(&[reach], point.act, point.stmt))
    }

    /// May `child` be alive when `ancestor` is at this statement?
    pub fn is_alive(&self, ancestor: Origin, act: Act, stmt: StmtId, child: Origin) -> bool {
        note(meeting(ancestor, child));
        self.alive[ancestor].get(&child).is_some_and(|span| self.is_in(span, act, stmt))
    }

    pub fn is_ancestor(&self, ancestor: Origin, child: Origin) -> bool {
        note(meeting(ancestor, child));
        self.alive[ancestor].contains_key(&child)
    }

    /// May the two be alive at the same time, wherever they are?
    pub fn may_overlap(&self, a: Origin, b: Origin) -> bool {
        note(meeting(a, b));
        let is_together = self.together.value.together[a].contains(b.index());
        is_together || self.is_ancestor(a, b) || self.is_ancestor(b, a)
    }

    pub fn are_related(&self, a: Origin, b: Origin) -> bool {
        note(meeting(a, b));
        self.together.value.related[a].contains(b.index())
    }

    /// Is the statement in one of these?
    fn contains(&self, reaches: &[ReachId], act: Act, stmt: StmtId) -> bool {
        self.spans.get(reaches).is_some_and(|span| self.is_in(span, act, stmt))
    }

    fn is_in(&self, span: &Span, act: Act, stmt: StmtId) -> bool {
        note(Read::of(Kind::Alive, act));
        self.labels.of(act).is_some_and(|labels| labels.intersects(&span.reaches)) || {
            note(Read::pair(Kind::Alive, act, stmt));
            span.parts.get(&act).is_some_and(|stmts| stmts.contains(stmt.index()))
        }
    }

    /// Brings what is reached as a whole up to date, and tells where that differs.
    fn label(&mut self, world: &World<'_>, is_other_life: bool, changes: &mut Changes) {
        let differing = self.reaches.take_differing();
        if changes.everything {
            self.labels.put_all(world.pointsto, world.components, self.reaches.roots());
        } else {
            let own = differing.roots.iter().map(|&act| (act, self.reaches.rooted_at(act))).collect();
            for act in self.labels.put(world.pointsto, world.components, own) {
                changes.add(Read::of(Kind::Alive, act));
            }
            let parts = differing.parts.iter();
            parts.for_each(|&(act, stmt)| changes.add(Read::pair(Kind::Alive, act, stmt)));
        }
        if changes.everything || differing.is_any || is_other_life {
            self.spans = self.reaches.spans(self.lives.value.lists());
            let of_origin = |alive: &BTreeMap<Origin, Vec<ReachId>>| {
                alive.iter().map(|(&child, list)| (child, self.spans[list].clone())).collect()
            };
            self.alive = self.lives.value.alive.iter().map(|(_, alive)| of_origin(alive)).collect();
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.reaches.sizes(sizes);
        self.labels.sizes(sizes);
        sizes.add("spans", self.spans.len());
    }
}

/// Whatever is asked about two origins, in either order.
fn meeting(a: Origin, b: Origin) -> Read {
    Read::pair(Kind::Meeting, a.min(b), a.max(b))
}

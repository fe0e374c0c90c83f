//! Crowds of pairs that differ in nothing but their statements, as methods of a thousand accesses have them: only
//! those are told that a finding can tell. Knows what a finding tells; judges nothing itself.

use crate::access::AccessId;
use crate::anchor::{Anchor, Level};
use crate::finding::MOST_ALSO;
use crate::memory::{KindId, TouchId};
use crate::pair::{Judge, Pair, Witness};
use crate::race::Races;
use findings::{Confidence, Place};
use happens_before::Origin;
use ir::{FieldId, StmtId, Var};
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Sizes};

/// Fewer pairs than this are no crowd.
const SMALL: usize = 512;
/// A finding tells its best pair, and others that are not that one, whichever side comes first.
const TOLD: usize = MOST_ALSO + 2;

/// The pairs that are left out, for each kind of memory that has too many.
pub(crate) struct Crowds {
    left_out: Memo<KindId, BTreeSet<Pair>>,
}

impl Crowds {
    pub(crate) fn new(follows: bool) -> Crowds {
        Crowds { left_out: Memo::new(Kind::Crowd, follows) }
    }

    /// Follows pairs that come out otherwise; those that are left out now, or no longer.
    pub(crate) fn update(
        &mut self,
        judge: &Judge<'_>,
        races: &Races,
        differing: &BTreeSet<Pair>,
        changes: &Changes,
    ) -> BTreeSet<Pair> {
        let mut kinds: BTreeSet<KindId> = differing.iter().map(|pair| judge.memory.kind_of(pair.0)).collect();
        kinds.extend(self.left_out.stale(changes));
        let mut flipped = BTreeSet::new();
        for kind in kinds {
            let is_crowd = races.surviving(kind) > SMALL;
            let before = if is_crowd {
                let (left_out, reads) = self.left_out.record(|| left_out(judge, races, kind));
                self.left_out.set(kind, Some(left_out), reads)
            } else {
                self.left_out.remove(kind)
            };
            let (before, now) = (before.unwrap_or_default(), self.left_out.peek(kind));
            flipped.extend(before.symmetric_difference(now.unwrap_or(&BTreeSet::new())));
        }
        flipped
    }

    pub(crate) fn leave_out(&self, kind: KindId, pair: Pair) -> bool {
        self.left_out.peek(kind).is_some_and(|left_out| left_out.contains(&pair))
    }

    /// Does anything here rest on this?
    pub(crate) fn reads(&self, read: Read) -> bool {
        self.left_out.reads(read)
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.left_out.sizes(sizes);
    }
}

/// All that grouping and ranking ask of one side of a pair, but for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Side {
    act: Act,
    write: bool,
    origin: Origin,
    locked: bool,
}

type Class = (Side, Side, Option<Obj>, Confidence);
/// A way without the statement at its end, and without what that calls the objects.
type Shape = (Vec<Level>, Vec<FieldId>, Vec<usize>);
type Member<'r> = (Pair, &'r Witness);

/// Of each crowd the first pair and those on the earliest lines are told.
fn left_out(judge: &Judge<'_>, races: &Races, kind: KindId) -> BTreeSet<Pair> {
    let mut classes: FxHashMap<Class, Vec<Member<'_>>> = FxHashMap::default();
    for (pair, witness) in races.of_kind(kind) {
        classes.entry(class(judge, witness)).or_default().push((pair, witness));
    }
    let mut left_out = BTreeSet::new();
    for mut members in classes.into_values().filter(|members| members.len() > SMALL) {
        put_in_order(judge, &mut members);
        for crowd in by_shape(&members) {
            let mut told = earliest(judge, &crowd);
            told.extend(crowd.first().map(|&(pair, _)| pair));
            left_out.extend(crowd.iter().map(|&(pair, _)| pair).filter(|pair| !told.contains(pair)));
        }
    }
    left_out
}

fn class(judge: &Judge<'_>, witness: &Witness) -> Class {
    let side = |access: AccessId, write: bool, origin: Origin| {
        let locked = judge.stages.happens_before.holds_any(&access.by(origin));
        Side { act: access.act, write, origin, locked }
    };
    let ((p, q), (writes, also_writes)) = (witness.origins, witness.writes);
    (side(witness.a, writes, p), side(witness.b, also_writes, q), witness.location.obj, witness.confidence)
}

/// By content of their statements.
fn put_in_order(judge: &Judge<'_>, members: &mut [Member<'_>]) {
    let mut touches: Vec<TouchId> = members.iter().flat_map(|(pair, _)| [pair.0, pair.1]).collect();
    touches.sort_unstable();
    touches.dedup();
    touches.sort_by(|&a, &b| judge.memory.statements(&judge.describe.content, a, b));
    let ranks: FxHashMap<TouchId, usize> = touches.into_iter().zip(0..).collect();
    members.sort_by_cached_key(|(pair, _)| {
        let (one, other) = (ranks[&pair.0], ranks[&pair.1]);
        (one.min(other), one.max(other))
    });
}

/// Pairs whose objects come through the same callers.
fn by_shape<'r>(members: &[Member<'r>]) -> Vec<Vec<Member<'r>>> {
    let mut crowds: BTreeMap<Option<(Shape, Shape)>, Vec<Member<'r>>> = BTreeMap::new();
    for &(pair, witness) in members {
        let shapes = witness.anchors.as_ref().map(|ways| (shape(&ways.0), shape(&ways.1)));
        crowds.entry(shapes).or_default().push((pair, witness));
    }
    crowds.into_values().collect()
}

fn shape(way: &Anchor) -> Shape {
    let mut levels = way.levels.clone();
    let end = (levels[0].act, levels[0].stmt);
    for level in levels.iter_mut().filter(|level| (level.act, level.stmt) == end) {
        (level.stmt, level.base) = (StmtId(0), Var(0));
    }
    (levels, way.fields.clone(), way.locked.clone())
}

/// The members on the earliest lines, one for each pair of lines.
fn earliest(judge: &Judge<'_>, crowd: &[Member<'_>]) -> BTreeSet<Pair> {
    // The callers are the same, so that each access is shown in one place, whatever it meets.
    let mut shown: [BTreeMap<AccessId, Place>; 2] = Default::default();
    for (_, witness) in crowd {
        let ways = witness.anchors.as_ref();
        let (p, q) = witness.origins;
        let sides = [(witness.a, p, ways.map(|ways| &ways.0)), (witness.b, q, ways.map(|ways| &ways.1))];
        for (places, (id, origin, way)) in shown.iter_mut().zip(sides) {
            places.entry(id).or_insert_with(|| {
                let (act, stmt) = judge.describe.shown(id.by(origin), way);
                judge.describe.place(act, stmt)
            });
        }
    }
    let ranks = shown.map(|places| {
        let order: BTreeSet<&Place> = places.values().collect();
        let order: BTreeMap<&Place, usize> = order.into_iter().enumerate().map(|(n, at)| (at, n)).collect();
        places.iter().map(|(&id, place)| (id, order[place])).collect::<BTreeMap<AccessId, usize>>()
    });
    let mut earliest: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
    for &(pair, witness) in crowd {
        let lines = (ranks[0][&witness.a], ranks[1][&witness.b]);
        if earliest.len() < TOLD || earliest.last_key_value().is_some_and(|(last, _)| lines < *last) {
            earliest.entry(lines).or_insert(pair);
            if earliest.len() > TOLD {
                earliest.pop_last();
            }
        }
    }
    earliest.into_values().collect()
}

//! Crowds of pairs that differ in nothing but their statements, as methods of a thousand accesses have them: only
//! those are kept that a finding can tell. Knows what a finding tells; judges nothing itself.

use crate::access::{Access, AccessId, Location};
use crate::anchor::{Anchor, Level};
use crate::describe::Describe;
use crate::group::MOST_ALSO;
use crate::race::{Best, Judge};
use findings::{Confidence, Place};
use happens_before::{Origin, Point};
use ir::{FieldId, StmtId, Var};
use pointsto::Act;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer pairs than this are no crowd.
const SMALL: usize = 512;
/// A finding tells its best pair, and others that are not that one, whichever side comes first.
const TOLD: usize = MOST_ALSO + 2;

/// All that grouping and ranking ask of one side of a pair, but for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    act: Act,
    write: bool,
    origin: Origin,
    locked: bool,
}

type Class = (Side, Side, u32, Confidence);
/// A way without the statement at its end, and without what that calls the objects.
type Shape = (Vec<Level>, Vec<FieldId>, Vec<usize>);

/// Keeps, of each crowd, the first pair and those on the earliest lines. The order stays.
pub(crate) fn thin(
    judge: &mut Judge<'_>,
    describe: &Describe<'_>,
    locations: &[Location],
    pairs: Vec<Best>,
) -> Vec<Best> {
    if pairs.len() <= SMALL {
        return pairs;
    }
    let mut classes: BTreeMap<Class, Vec<usize>> = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        classes.entry(class(judge, pair)).or_default().push(at);
    }
    let mut kept = BTreeSet::new();
    for members in classes.into_values() {
        if members.len() <= SMALL {
            kept.extend(members);
            continue;
        }
        for crowd in by_shape(judge, locations, &pairs, members) {
            kept.extend(crowd.first());
            kept.extend(earliest(judge, describe, locations, &pairs, &crowd));
        }
    }
    let pairs = pairs.into_iter().enumerate();
    pairs.filter(|(at, _)| kept.contains(at)).map(|(_, pair)| pair).collect()
}

fn class(judge: &Judge<'_>, pair: &Best) -> Class {
    let side = |access: &Access, origin: Origin| {
        let point = Point { origin, act: access.act, stmt: access.stmt };
        let locked = judge.stages.happens_before.holds_any(&point);
        Side { act: access.act, write: access.write, origin, locked }
    };
    let all = &judge.accesses.all;
    let (p, q) = pair.origins;
    (side(&all[pair.a], p), side(&all[pair.b], q), pair.location, pair.confidence)
}

/// Pairs whose objects come through the same callers.
fn by_shape(
    judge: &mut Judge<'_>,
    locations: &[Location],
    pairs: &[Best],
    members: Vec<usize>,
) -> Vec<Vec<usize>> {
    // Statics come from nowhere.
    if members.first().is_some_and(|&at| locations[pairs[at].location as usize].obj.is_none()) {
        return vec![members];
    }
    let mut crowds: BTreeMap<Option<(Shape, Shape)>, Vec<usize>> = BTreeMap::new();
    for at in members {
        let ways = judge.anchors(locations, &pairs[at]);
        crowds.entry(ways.map(|(x, y)| (shape(x), shape(y)))).or_default().push(at);
    }
    crowds.into_values().collect()
}

fn shape(mut way: Anchor) -> Shape {
    let end = (way.levels[0].act, way.levels[0].stmt);
    for level in way.levels.iter_mut().filter(|level| (level.act, level.stmt) == end) {
        (level.stmt, level.base) = (StmtId(0), Var(0));
    }
    (way.levels, way.fields, way.locked)
}

/// The members on the earliest lines, one for each pair of lines.
fn earliest(
    judge: &mut Judge<'_>,
    describe: &Describe<'_>,
    locations: &[Location],
    pairs: &[Best],
    crowd: &[usize],
) -> Vec<usize> {
    // The callers are the same, so that each access is shown in one place, whatever it meets.
    let mut shown: [BTreeMap<AccessId, Place>; 2] = Default::default();
    for &at in crowd {
        let &Best { a, b, origins, .. } = &pairs[at];
        if shown[0].contains_key(&a) && shown[1].contains_key(&b) {
            continue;
        }
        let (x, y) = judge.anchors(locations, &pairs[at]).unzip();
        for (side, id, origin, way) in [(0, a, origins.0, x), (1, b, origins.1, y)] {
            let access = &judge.accesses.all[id];
            let point = Point { origin, act: access.act, stmt: access.stmt };
            let last = describe.way(point, way.as_ref()).last().copied();
            let place = last.map(|(act, stmt)| describe.place(act, stmt)).unwrap_or_default();
            shown[side].insert(id, place);
        }
    }
    let ranks = shown.map(|places| {
        let order: BTreeSet<&Place> = places.values().collect();
        let order: BTreeMap<&Place, usize> = order.into_iter().enumerate().map(|(n, at)| (at, n)).collect();
        places.iter().map(|(&id, place)| (id, order[place])).collect::<BTreeMap<AccessId, usize>>()
    });
    let mut earliest: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for &at in crowd {
        let lines = (ranks[0][&pairs[at].a], ranks[1][&pairs[at].b]);
        if earliest.len() < TOLD || earliest.last_key_value().is_some_and(|(last, _)| lines < *last) {
            earliest.entry(lines).or_insert(at);
            if earliest.len() > TOLD {
                earliest.pop_last();
            }
        }
    }
    earliest.into_values().collect()
}

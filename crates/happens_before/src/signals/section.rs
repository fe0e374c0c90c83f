//! What runs under one lock, known as one object everywhere: where it comes to be held, where it no longer is, and
//! what is called meanwhile. Knows nothing of what the lock is for.

use super::flags::Scene;
use super::looks::Looks;
use crate::bits::Bits;
use crate::flow::Flow;
use crate::locks::Locks;
use crate::reach::{Barrier, Kills, Seed, Start, Walk};
use crate::types::{HeldLock, LockKey, LockKind, Point};
use arena::Id;
use ir::{StmtId, StmtKind};
use pointsto::{Act, Obj};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Where a lock comes to be held, and where it no longer is.
#[derive(Debug, PartialEq, Eq)]
pub struct Section {
    pub entered: Vec<Start>,
    pub left: Kills,
}

impl Section {
    pub fn new(scene: &Scene<'_, '_>, looks: &Looks, lock: &Common) -> Section {
        let locks = scene.guards.locks;
        let mut section = Section { entered: Vec::new(), left: Kills::default() };
        let mut acts = BTreeSet::new();
        for (act, stmt, taken) in locks.taken() {
            let may_be = taken.keys.contains(&lock.key)
                || taken.kind == lock.kind
                    && taken.objects.iter().any(|object| lock.objects.contains(object));
            // What is held already is not taken anew.
            let is_held = |point: Point| {
                let is_own = |held: &&HeldLock| stmt.is_none() && (held.act, held.stmt) == (act, None);
                locks.held(&point).filter(|held| !is_own(held)).any(|held| is(held, &lock.key))
            };
            let at = stmt.unwrap_or(StmtId(0));
            if may_be && !scene.points_at(act, at).all(is_held) {
                section.entered.push(stmt.map_or(Start::Entry(act), |stmt| Start::After(act, stmt, None)));
                acts.insert(act);
            }
        }
        // A wait gives it up meanwhile.
        let is_held = |act, stmt| scene.points_at(act, stmt).any(|point| holds(locks, &point, &lock.key));
        for &(act, stmt) in looks.waiting().iter().filter(|&&(act, stmt)| is_held(act, stmt)) {
            section.entered.push(Start::After(act, stmt, None));
        }
        section.entered.sort_unstable();
        section.entered.dedup();
        for act in acts {
            let Some(flow) = scene.world.flow(act) else { continue };
            let is_left = |stmt: StmtId| {
                let next = following(flow, stmt);
                is_held(act, stmt) && !next.is_empty() && !next.iter().any(|&next| is_held(act, next))
            };
            for (stmt, info) in flow.body.stmts.iter() {
                // What is called still runs under the lock, before it is given up.
                let left = match info.kind {
                    StmtKind::Call { .. } if !scene.world.pointsto.callees(act, stmt).is_empty() => {
                        &mut section.left.returns
                    }
                    StmtKind::Call { .. } | StmtKind::MonitorExit { .. } => &mut section.left.stmts,
                    _ => continue,
                };
                if is_left(stmt) {
                    left.push((act, stmt));
                }
            }
        }
        section
    }
}

/// What is reached while a lock is held, from these places on: in their bodies, in what is called meanwhile, and after
/// calls that are made under it. What takes the lock anew is another section; calls that a kill may end are not
/// passed, and what is left out is not entered. `None` if more than `most` are.
pub fn within(
    barrier: &Barrier<'_, '_>,
    starts: &[Start],
    is_held: &dyn Fn(Act, StmtId) -> bool,
    is_left_out: &dyn Fn(Act) -> bool,
    most: usize,
) -> Option<FxHashMap<Act, Bits>> {
    let pointsto = barrier.world.pointsto;
    let mut walks: FxHashMap<(Act, bool), Walk<'_>> = FxHashMap::default();
    let place = |&start: &Start| match start {
        Start::Entry(act) => (act, Seed::Entry, false),
        Start::After(act, stmt, _) => (act, Seed::After(stmt), true),
        Start::Inside(act, stmt) => (act, Seed::After(stmt), false),
    };
    let mut left: Vec<(Act, Seed, bool)> = starts.iter().map(place).collect();
    let mut seen: FxHashSet<(Act, Seed, bool)> = left.iter().copied().collect();
    while let Some((act, seed, returns)) = left.pop() {
        let known = walks.remove(&(act, returns));
        let Some(mut walk) = known.or_else(|| barrier.narrow_walk(act)) else { continue };
        walk.go(seed);
        let mut go_on = |place| {
            if seen.insert(place) {
                left.push(place);
            }
        };
        for (stmt, callee) in pointsto.calls(act) {
            let is_new = walk.reached.contains(stmt.index()) && !walk.called.contains(stmt.index());
            let is_entered = || !is_left_out(callee) && is_held(callee, StmtId(0));
            if is_new && is_held(act, stmt) && is_entered() {
                go_on((callee, Seed::Entry, false));
            }
        }
        walk.called = walk.reached.clone();
        if returns && walk.exits.any() {
            let calls = pointsto.callers(act).iter().filter(|&&(caller, stmt)| is_held(caller, stmt));
            for &(caller, stmt) in calls {
                if walk.exits.normal && barrier.kills.passed().all(|kill| kill != (caller, stmt)) {
                    go_on((caller, Seed::After(stmt), true));
                }
                if walk.exits.thrown {
                    go_on((caller, Seed::Thrown(stmt), true));
                }
            }
        }
        walks.insert((act, returns), walk);
        if walks.len() > most {
            return None;
        }
    }
    let mut reached: FxHashMap<Act, Bits> = FxHashMap::default();
    for ((act, _), walk) in walks {
        reached.entry(act).or_default().union_with(&walk.reached);
    }
    Some(reached)
}

/// A lock that is known as one object everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Common {
    pub key: LockKey,
    pub kind: LockKind,
    pub objects: Vec<Obj>,
}

/// Locks held at all of these points.
pub fn common_locks(locks: &Locks, points: &[Point]) -> Vec<Common> {
    let Some((first, rest)) = points.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    for held in locks.held(first).filter(|held| !held.shared) {
        let known = held.keys.iter().filter(|key| !matches!(key, LockKey::Path { .. }));
        let common = known.filter(|key| rest.iter().all(|point| holds(locks, point, key)));
        found.extend(common.map(|key| Common {
            key: key.clone(),
            kind: held.kind,
            objects: held.objects.clone(),
        }));
    }
    found
}

pub fn holds(locks: &Locks, point: &Point, key: &LockKey) -> bool {
    locks.held(point).any(|held| is(held, key))
}

fn is(held: &HeldLock, key: &LockKey) -> bool {
    !held.shared && held.keys.contains(key)
}

/// Statements that may come next if nothing is thrown; none if that is not known.
fn following(flow: &Flow, stmt: StmtId) -> Vec<StmtId> {
    if let Some(next) = flow.body.next_in_block(stmt) {
        return vec![next];
    }
    let block = &flow.body.blocks[flow.body.stmts[stmt].block];
    let next = block.succs.iter().map(|&to| &flow.body.blocks[to]);
    let known: Option<Vec<StmtId>> = next.map(|to| (to.first < to.end).then_some(StmtId(to.first))).collect();
    known.unwrap_or_default()
}

//! Two locks whose order a condition chooses, perhaps always the same one: `first = c ? a : b; second = c ? b : a`, or
//! two branches that lock the same two in opposite order. Knows bodies, and where locks are taken in them.

use crate::Stages;
use crate::anchor::plain;
use happens_before::{HeldLock, Nesting, Origin, Point, Wanted};
use ir::{BlockId, Body, MethodId, StmtId, StmtKind, Var};
use pointsto::{Act, Site};
use std::collections::BTreeSet;
use track::{Asked, Changes, Kind, Read, Sizes};

/// Where a lock is taken; without a statement by a synchronized method.
type Taken = (Act, Option<StmtId>);

/// Where an origin takes one lock and then another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Turns {
    origin: Origin,
    held: Taken,
    wanted: Taken,
}

impl Turns {
    pub(super) fn new(nesting: &Nesting, origin: Origin) -> Option<Turns> {
        let Wanted::Lock(wanted) = &nesting.wants else { return None };
        let taken = |lock: &HeldLock| (lock.act, lock.stmt);
        Some(Turns { origin, held: taken(&nesting.held), wanted: taken(wanted) })
    }
}

pub(super) struct Chosen {
    known: Asked<Turns, bool>,
}

impl Chosen {
    pub(super) fn new(follows: bool) -> Chosen {
        Chosen { known: Asked::new(Kind::Chosen, follows) }
    }

    /// What no search has read is forgotten.
    pub(super) fn update(
        &mut self,
        stages: &Stages<'_>,
        is_read: impl Fn(Read) -> bool,
        changes: &mut Changes,
    ) {
        self.known.forget_unread(changes, is_read);
        self.known.refresh(changes, |turns| is_chosen(stages, turns));
    }

    pub(super) fn contains(&self, stages: &Stages<'_>, turns: Turns) -> bool {
        self.known.ask(&turns, || is_chosen(stages, &turns))
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.known.sizes(sizes);
    }
}

/// Questions outlive what they were about: statements need not be there any more.
fn is_chosen(stages: &Stages<'_>, turns: &Turns) -> bool {
    change_places(stages, turns).unwrap_or(false) || is_mirrored(stages, turns).unwrap_or(false)
}

/// Are the held and the wanted lock two values that change places: `first = c ? a : b; second = c ? b : a`?
fn change_places(stages: &Stages<'_>, turns: &Turns) -> Option<bool> {
    let (held, wanted) = (lock_var(stages, turns.held)?, lock_var(stages, turns.wanted)?);
    let (first, second) = (choice(stages, turns.origin, held)?, choice(stages, turns.origin, wanted)?);
    Some(first.0 == second.0 && first.1.len() == 2 && first.1 == second.1)
}

/// Does the method take the two in the opposite order on another branch: `if (c) { lock a, b } else { lock b, a }`?
fn is_mirrored(stages: &Stages<'_>, turns: &Turns) -> Option<bool> {
    let (act, held) = (turns.held.0, turns.held.1?);
    if turns.wanted.0 != act {
        return None;
    }
    let body = stages.program.lowered(stages.pointsto.method(act))?;
    let own = stages.happens_before.acquisitions_of(act);
    let lock = |stmt: StmtId| own.iter().find(|taken| taken.stmt == Some(stmt)).map(|taken| &taken.lock);
    let (first, second) = (lock(held)?, lock(turns.wanted.1?)?);
    let is_same = |a: &HeldLock, b: &HeldLock| a.keys.iter().any(|key| b.keys.contains(key));
    let block = body.stmts.get(held)?.block;
    let is_elsewhere = |stmt: StmtId| {
        let other = body.stmts[stmt].block;
        !leads(body, block, other) && !leads(body, other, block)
    };
    let is_mirror = |stmt: StmtId| {
        let point = Point { origin: turns.origin, act, stmt };
        let held = stages.happens_before.held(&point);
        is_elsewhere(stmt) && held.iter().any(|lock| lock.act == act && is_same(lock, second))
    };
    Some(own.iter().any(|taken| is_same(&taken.lock, first) && taken.stmt.is_some_and(is_mirror)))
}

/// Does the one block lead to the other, unless something is thrown?
fn leads(body: &Body, from: BlockId, to: BlockId) -> bool {
    let mut seen = BTreeSet::new();
    let mut left = vec![from];
    while let Some(block) = left.pop() {
        if seen.insert(block) {
            left.extend(&body.blocks[block].succs);
        }
    }
    seen.contains(&to)
}

/// The values that a variable is one of. What a task has captured was chosen where the task was made.
fn choice(stages: &Stages<'_>, origin: Origin, (act, var): (Act, Var)) -> Option<(MethodId, BTreeSet<Var>)> {
    let method = stages.pointsto.method(act);
    let body = stages.program.lowered(method)?;
    let info = stages.happens_before.origin(origin);
    let var = plain(body, var);
    let (method, body, var) = match (body.params.iter().position(|&param| param == var), info.task) {
        (Some(param), Some(task)) if act == info.entry => {
            let Site::Alloc(method, made) = stages.pointsto.object(task).site else { return None };
            let body = stages.program.lowered(method)?;
            let StmtKind::Lambda { captures, .. } = &body.stmts[made].kind else { return None };
            (method, body, plain(body, *captures.get(param)?))
        }
        _ => (method, body, var),
    };
    // `first.lock`: the lock was chosen with what has it.
    let whole = match &body.stmts[body.vars[var].def?].kind {
        StmtKind::Load { base, .. } => plain(body, *base),
        _ => var,
    };
    let StmtKind::Phi { srcs, .. } = &body.stmts[body.vars[whole].def?].kind else { return None };
    Some((method, srcs.iter().map(|&src| plain(body, src)).collect()))
}

/// The variable that was locked, with who runs the statement.
fn lock_var(stages: &Stages<'_>, (act, stmt): Taken) -> Option<(Act, Var)> {
    let body = stages.program.lowered(stages.pointsto.method(act))?;
    match &body.stmts.get(stmt?)?.kind {
        StmtKind::MonitorEnter { lock: var } => Some((act, *var)),
        StmtKind::Call { args, .. } => Some((act, *args.first()?)),
        _ => None,
    }
}

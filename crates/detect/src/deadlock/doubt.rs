//! How sure a deadlock is: what is assumed in its favour, each assumption with its words.

use super::cycles::Side;
use super::lock_site;
use crate::Stages;
use crate::anchor::plain;
use crate::confidence::is_merged;
use findings::Confidence;
use happens_before::{HeldLock, LockNode, Nesting, Origin, Point, Wanted};
use ir::{BlockId, Body, MethodId, StmtId, StmtKind, Var};
use pointsto::{Act, Site};
use std::collections::BTreeSet;

/// A call that may lead to more methods than this says little about any of them.
const MANY_CHOICES: usize = 8;

/// A reason to believe a deadlock a little less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The threads may meet on different locks from one allocation site.
    ManyLocks,
    /// Parents before children, one node of a list after the other: an order that seldom turns around.
    Downwards,
    /// Which of the two comes first is chosen by a condition: perhaps always in one order.
    Chosen,
    /// Code that is not analysed has to call back.
    CalledBack,
    /// One of the calls on the way may lead to many methods.
    ManyChoices,
    /// Code of several threads is analysed together.
    MergedCode,
    /// The wait gives up after a time.
    Timed,
    /// What is waited for may be another from the same place.
    OtherEnd,
}

impl Doubt {
    fn limit(self) -> Confidence {
        match self {
            Doubt::ManyLocks | Doubt::Timed | Doubt::OtherEnd => Confidence::Medium,
            Doubt::Downwards | Doubt::Chosen | Doubt::CalledBack | Doubt::ManyChoices | Doubt::MergedCode => {
                Confidence::Low
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Doubt::ManyLocks => {
                "several lock objects are allocated there; the threads may not meet on the same ones".into()
            }
            Doubt::Downwards => {
                "the second object is reached from the first, as a child from its parent".into()
            }
            Doubt::Chosen => {
                "a condition chooses which of the two objects is locked first, perhaps always in one order"
                    .into()
            }
            Doubt::CalledBack => {
                "code that is not analysed is taken to call an object that was passed to it".into()
            }
            Doubt::ManyChoices => {
                "a call on the way may lead to many methods, and has to lead to this one".into()
            }
            Doubt::MergedCode => "the code of several threads is analysed together here".into(),
            Doubt::Timed => {
                "the wait gives up when its time is over: until then, both threads stand still".into()
            }
            Doubt::OtherEnd => {
                "what is waited for may be another thread or executor that was made in the same place".into()
            }
        }
    }
}

pub(crate) fn of(doubts: &[Doubt]) -> Confidence {
    doubts.iter().map(|doubt| doubt.limit()).max().unwrap_or(Confidence::High)
}

pub(crate) fn doubts(stages: &Stages<'_>, sides: &[Side<'_>]) -> Vec<Doubt> {
    let many = |node: LockNode| !stages.happens_before.is_one_lock(node);
    let is_one_kind = |side: &Side<'_>| lock_site(stages, side.from) == lock_site(stages, side.to);
    let downwards = |side: &Side<'_>| is_one_kind(side) && side.nesting.is_reached;
    let mut doubts = Vec::new();
    let mut doubt = |doubt: Doubt, applies: bool| doubts.extend(applies.then_some(doubt));
    doubt(Doubt::ManyLocks, sides.iter().any(|side| many(side.from)));
    doubt(Doubt::Downwards, sides.iter().any(downwards));
    let is_chosen = |side: &Side<'_>| is_chosen(stages, side) || is_mirrored(stages, side).unwrap_or(false);
    doubt(Doubt::Chosen, sides.iter().all(is_chosen));
    doubt(Doubt::CalledBack, sides.iter().any(|side| side.nesting.called_back));
    doubt(Doubt::ManyChoices, sides.iter().any(|side| side.nesting.choices > MANY_CHOICES));
    doubt(Doubt::MergedCode, sides.iter().any(|side| is_in_merged_code(stages, side)));
    doubts
}

/// Doubts that a cycle has whoever else is in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Forced(u8);

const MANY_LOCKS: u8 = 1;

impl Forced {
    /// By one nesting.
    pub(crate) fn new(stages: &Stages<'_>, nesting: &Nesting, from: LockNode, to: LockNode) -> Forced {
        let is_one_kind = || lock_site(stages, from) == lock_site(stages, to);
        let is_merged = |&origin: &Origin| is_merged(stages, nesting.act, origin);
        let has_merged = !stages.happens_before.is_one_lock(from) && nesting.origins.iter().all(is_merged);
        let doubts = [
            nesting.is_reached && is_one_kind(),
            nesting.called_back,
            nesting.choices > MANY_CHOICES,
            has_merged,
        ];
        Forced(doubts.iter().fold(0, |all, &doubt| (all | u8::from(doubt)) << 1))
    }

    /// By locks that stand for many.
    pub(crate) fn many(applies: bool) -> Forced {
        Forced(if applies { MANY_LOCKS } else { 0 })
    }

    pub(crate) fn with(self, other: Forced) -> Forced {
        Forced(self.0 | other.0)
    }

    pub(crate) fn common(self, other: Forced) -> Forced {
        Forced(self.0 & other.0)
    }

    pub(crate) fn is_likely(self) -> bool {
        self.0 & !MANY_LOCKS == 0
    }

    /// How sure a cycle is at best, and how many doubts there are at least.
    pub(crate) fn rank(self) -> (Confidence, usize) {
        let confidence = match self.0 {
            0 => Confidence::High,
            MANY_LOCKS => Confidence::Medium,
            _ => Confidence::Low,
        };
        (confidence, self.0.count_ones() as usize)
    }
}

pub(crate) fn is_in_merged_code(stages: &Stages<'_>, side: &Side<'_>) -> bool {
    !stages.happens_before.is_one_lock(side.from) && is_merged(stages, side.nesting.act, side.origin)
}

/// Are the held and the wanted lock two values that change places: `first = c ? a : b; second = c ? b : a`?
fn is_chosen(stages: &Stages<'_>, side: &Side<'_>) -> bool {
    let Wanted::Lock(wanted) = &side.nesting.wants else { return false };
    let chosen = || {
        let (held, wanted) = (lock_var(stages, &side.nesting.held)?, lock_var(stages, wanted)?);
        let (first, second) = (choice(stages, side.origin, held)?, choice(stages, side.origin, wanted)?);
        Some(first.0 == second.0 && first.1.len() == 2 && first.1 == second.1)
    };
    chosen().unwrap_or(false)
}

/// Does the method take the two in the opposite order on another branch: `if (c) { lock a, b } else { lock b, a }`?
fn is_mirrored(stages: &Stages<'_>, side: &Side<'_>) -> Option<bool> {
    let (Wanted::Lock(wanted), held) = (&side.nesting.wants, &side.nesting.held) else { return None };
    let act = held.act;
    let body = stages.program.lowered(stages.pointsto.method(act))?;
    let acquisitions = stages.happens_before.acquisitions();
    let from = acquisitions.partition_point(|taken| taken.act < act);
    let own = acquisitions[from..].iter().take_while(|taken| taken.act == act);
    let lock = |stmt: StmtId| own.clone().find(|taken| taken.stmt == Some(stmt)).map(|taken| &taken.lock);
    if wanted.act != act {
        return None;
    }
    let (first, second) = (lock(held.stmt?)?, lock(wanted.stmt?)?);
    let is_same = |a: &HeldLock, b: &HeldLock| a.keys.iter().any(|key| b.keys.contains(key));
    let block = body.stmts[held.stmt?].block;
    let is_elsewhere = |stmt: StmtId| {
        let other = body.stmts[stmt].block;
        !leads(body, block, other) && !leads(body, other, block)
    };
    let is_mirror = |stmt: StmtId| {
        let point = Point { origin: side.origin, act, stmt };
        let held = stages.happens_before.held(&point);
        is_elsewhere(stmt) && held.iter().any(|lock| lock.act == act && is_same(lock, second))
    };
    Some(own.clone().any(|taken| is_same(&taken.lock, first) && taken.stmt.is_some_and(is_mirror)))
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
fn lock_var(stages: &Stages<'_>, lock: &HeldLock) -> Option<(Act, Var)> {
    let body = stages.program.lowered(stages.pointsto.method(lock.act))?;
    match &body.stmts[lock.stmt?].kind {
        StmtKind::MonitorEnter { lock: var } => Some((lock.act, *var)),
        StmtKind::Call { args, .. } => Some((lock.act, *args.first()?)),
        _ => None,
    }
}

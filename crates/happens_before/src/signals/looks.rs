//! Where branches look at fields, and which calls wait: what flags are found by. Kept by method and by activation, so
//! that an edit asks only those it touches. Knows no flag as such.

use super::flags::{Guards, Place, base, object_of, slots};
use crate::branches::{Test, tests};
use crate::origins::Origins;
use crate::types::Point;
use crate::world::World;
use ir::{MethodId, StmtId, StmtKind, access};
use pointsto::{Act, PointsToDelta, Slot};
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo};

pub struct Looks {
    follows: bool,
    methods: Memo<MethodId, Looking>,
    acts: Memo<Act, Vec<Seen>>,
}

/// What a method looks at.
#[derive(Debug, PartialEq, Eq)]
struct Looking {
    /// Loads with the branches that test what they load.
    tests: Vec<(StmtId, Test)>,
    /// Calls that declare that they may be interrupted.
    waits: Vec<StmtId>,
}

/// A look at what may be a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub slot: Slot,
    pub place: Place,
    pub test: Test,
}

impl Looks {
    pub fn new(follows: bool) -> Looks {
        let (methods, acts) = (Memo::new(Kind::Other, follows), Memo::new(Kind::Other, follows));
        Looks { follows, methods, acts }
    }

    /// True if something is looked at otherwise, or waited for.
    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        guards: &Guards<'_>,
        delta: &PointsToDelta,
        changes: &Changes,
    ) -> bool {
        let mut acts: BTreeSet<Act> = delta.acts.added.iter().chain(&delta.acts.removed).copied().collect();
        let methods: BTreeSet<MethodId> = if changes.everything {
            *self = Looks::new(self.follows);
            world.methods().into_iter().collect()
        } else {
            let begun = acts.iter().map(|&act| world.pointsto.method(act));
            begun.chain(self.methods.stale(changes)).collect()
        };
        let methods: Vec<MethodId> = methods.into_iter().collect();
        // What is read here is read by nobody else.
        let mut own = Changes::default();
        let differing = self.methods.update(&methods, &mut own, |method| looking(world, method));
        acts.extend(differing.iter().flat_map(|&method| world.acts_of(method)));
        acts.extend(self.acts.stale(changes));
        let acts: Vec<Act> = acts.into_iter().collect();
        let seen = self.acts.update(&acts, &mut own, |act| {
            let looking = self.methods.peek(world.pointsto.method(act))?;
            Some(seen(world, origins, guards, act, &looking.tests)).filter(|seen| !seen.is_empty())
        });
        !differing.is_empty() || !seen.is_empty()
    }

    /// In the order of activations.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen: Vec<(Act, &Vec<Seen>)> = self.acts.iter().collect();
        seen.sort_unstable_by_key(|&(act, _)| act);
        seen.into_iter().flat_map(|(_, seen)| seen).copied().collect()
    }

    /// Methods with calls that wait, ascending.
    pub fn waits(&self) -> Vec<(MethodId, &[StmtId])> {
        let waiting = self.methods.iter().filter(|(_, looking)| !looking.waits.is_empty());
        let mut waits: Vec<(MethodId, &[StmtId])> =
            waiting.map(|(method, looking)| (method, looking.waits.as_slice())).collect();
        waits.sort_unstable_by_key(|&(method, _)| method);
        waits
    }
}

/// `None` for the library, for what nobody runs, and for what looks at nothing.
fn looking(world: &World<'_>, method: MethodId) -> Option<Looking> {
    if world.is_jdk_method(method) || world.acts_of(method).is_empty() {
        return None;
    }
    let flow = world.method_flow(method)?;
    let interrupted = world.program.find_class("java/lang/InterruptedException");
    let is_wait = |kind: &StmtKind| match kind {
        StmtKind::Call { target, .. } => {
            world.declared(*target).iter().any(|&class| Some(class) == interrupted)
        }
        _ => false,
    };
    let load = |test: Test| {
        let (stmt, kind) = flow.definition(test.value)?;
        let is_load = matches!(kind, StmtKind::Load { .. } | StmtKind::LoadStatic { .. });
        is_load.then_some((stmt, test))
    };
    let looking = Looking {
        tests: tests(flow).into_iter().filter_map(load).collect(),
        waits: flow.body.stmts.iter().filter(|(_, info)| is_wait(&info.kind)).map(|(at, _)| at).collect(),
    };
    Some(looking).filter(|looking| !looking.tests.is_empty() || !looking.waits.is_empty())
}

/// Tests of volatile fields, and of others that are loaded under a lock.
fn seen(
    world: &World<'_>,
    origins: &Origins,
    guards: &Guards<'_>,
    act: Act,
    tests: &[(StmtId, Test)],
) -> Vec<Seen> {
    let is_run = !tests.is_empty() && world.pointsto.runs(act) && !origins.of(act).is_empty();
    let Some(flow) = world.flow(act).filter(|_| is_run) else { return Vec::new() };
    let is_locked = |stmt: StmtId| {
        let mut origins = origins.of(act).iter();
        origins.all(|&origin| guards.locks.held(&Point { origin, act, stmt }).next().is_some())
    };
    let look = |&(stmt, test): &(StmtId, Test)| {
        let field = flow.field(stmt)?;
        let flags = world.program.field(field).access;
        if flags & access::VOLATILE == 0 && (flags & access::FINAL != 0 || !is_locked(stmt)) {
            return None;
        }
        let kind = &flow.body.stmts[stmt].kind;
        let [slot] = slots(world, act, kind, field)[..] else { return None };
        let is_one = object_of(slot).is_none_or(|obj| guards.unique.contains(obj));
        is_one.then_some(Seen { slot, place: Place { act, stmt, base: base(kind) }, test })
    };
    tests.iter().filter_map(look).collect()
}

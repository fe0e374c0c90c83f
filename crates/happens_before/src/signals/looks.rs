//! Where branches look at fields, and which calls wait: what flags are found by. Kept by method and by activation, so
//! that an edit asks only those it touches. Knows no flag as such.

use super::flags::{Place, Scene, base, object_of, slots};
use super::{Subject, SubjectId, Subjects};
use crate::branches::{Test, tests};
use crate::types::Point;
use crate::world::World;
use ir::{MethodId, StmtId, StmtKind, access};
use models::Step;
use pointsto::{Act, PointsToDelta, Slot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Single, Sizes, note};

pub struct Looks {
    follows: bool,
    methods: Memo<MethodId, Looking>,
    acts: Memo<Act, Vec<Seen>>,
    /// Who looks at what.
    looking: FxHashMap<SubjectId, BTreeSet<Act>>,
    waiting: Single<Vec<(Act, StmtId)>>,
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
        Looks {
            follows,
            methods: Memo::new(Kind::Other, follows),
            acts: Memo::new(Kind::Other, follows),
            looking: FxHashMap::default(),
            waiting: Single::default(),
        }
    }

    /// Tells what is looked at otherwise, and whether other calls wait; returns the former.
    pub fn update(
        &mut self,
        scene: &Scene<'_, '_>,
        subjects: &mut Subjects,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) -> BTreeSet<SubjectId> {
        let world = scene.world;
        let mut acts: BTreeSet<Act> = delta.acts.added.iter().chain(&delta.acts.removed).copied().collect();
        let methods: BTreeSet<MethodId> = if changes.everything {
            world.methods().into_iter().collect()
        } else {
            let begun = acts.iter().map(|&act| world.pointsto.method(act));
            begun.chain(self.methods.stale(changes)).collect()
        };
        let methods: Vec<MethodId> = methods.into_iter().collect();
        // What is read here is read by nobody else.
        let mut own = Changes::default();
        let differing = self.methods.redo(&methods, &mut own, |method| looking(world, method));
        let waits =
            |looking: Option<&Looking>| looking.map(|looking| looking.waits.clone()).unwrap_or_default();
        for (method, before) in &differing {
            acts.extend(world.acts_of(*method));
            if waits(before.as_ref()) != waits(self.methods.peek(*method)) {
                changes.add(Read::all(Kind::Looks));
            }
        }
        acts.extend(self.acts.stale(changes));
        let acts: Vec<Act> = acts.into_iter().collect();
        let redone = self.acts.redo(&acts, &mut own, |act| {
            let looking = self.methods.peek(world.pointsto.method(act))?;
            Some(seen(scene, act, &looking.tests)).filter(|seen| !seen.is_empty())
        });
        let mut touched = BTreeSet::new();
        for (act, before) in redone {
            for seen in before.iter().flatten() {
                let subject = subjects.intern(Subject::Flag(seen.slot));
                self.looking.entry(subject).or_default().remove(&act);
                touched.insert(subject);
            }
            for seen in self.acts.peek(act).into_iter().flatten() {
                let subject = subjects.intern(Subject::Flag(seen.slot));
                self.looking.entry(subject).or_default().insert(act);
                touched.insert(subject);
            }
        }
        touched.iter().for_each(|&subject| changes.add(Read::of(Kind::LooksAt, subject)));
        self.wait(scene, changes);
        touched
    }

    /// Looks at a flag, in the order of activations.
    pub fn at(&self, subject: SubjectId, slot: Slot) -> Vec<(Place, Test)> {
        note(Read::of(Kind::LooksAt, subject));
        let acts = self.looking.get(&subject).into_iter().flatten();
        let seen = acts.flat_map(|&act| self.acts.peek(act).into_iter().flatten());
        seen.filter(|seen| seen.slot == slot).map(|seen| (seen.place, seen.test)).collect()
    }

    /// Calls that may give up a lock for a while: they wait.
    pub fn waiting(&self) -> &[(Act, StmtId)] {
        note(Read::all(Kind::Waiting));
        &self.waiting.value
    }

    fn wait(&mut self, scene: &Scene<'_, '_>, changes: &mut Changes) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let before = waiting.update(self.follows, changes, || self.find_waiting(scene));
        if before.is_some_and(|before| before != waiting.value) {
            changes.add(Read::all(Kind::Waiting));
        }
        self.waiting = waiting;
    }

    fn find_waiting(&self, scene: &Scene<'_, '_>) -> Vec<(Act, StmtId)> {
        note(Read::all(Kind::Looks));
        let world = scene.world;
        let waits = self.methods.iter().flat_map(|(method, looking)| {
            let acts = if looking.waits.is_empty() { &[] } else { world.acts_of(method) };
            acts.iter().flat_map(|&act| looking.waits.iter().map(move |&stmt| (act, stmt)))
        });
        let awaits = world.syncing().filter(|&act| !world.is_jdk(act)).flat_map(|act| {
            let awaits = world.sync(act).iter().filter(|(_, step)| matches!(step, Step::Await { .. }));
            awaits.map(move |&(stmt, _)| (act, stmt))
        });
        let mut waiting: Vec<(Act, StmtId)> =
            waits.chain(awaits).filter(|&(act, _)| !scene.origins.of(act).is_empty()).collect();
        waiting.sort_unstable();
        waiting.dedup();
        waiting
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.methods.sizes(sizes);
        self.acts.sizes(sizes);
        sizes.add("looked at", self.looking.len());
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
fn seen(scene: &Scene<'_, '_>, act: Act, tests: &[(StmtId, Test)]) -> Vec<Seen> {
    let Scene { world, origins, guards } = *scene;
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

//! Objects that only the thread that made them ever gets to: kept in variables of which each thread has its own
//! value, and nowhere else. Knows all ways from one thread to another; knows no order.

use crate::bits::Bits;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::world::World;
use arena::{Id, IdSet};
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use models::Step;
use pointsto::{Act, Obj, PointsToDelta, Site, Slot};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Single, Sizes, note, unnoted};

/// An object is confined if it comes out of something with a value for each thread, or is held by what does, and
/// no thread can hand it to another.
pub struct Confined {
    follows: bool,
    /// Objects that have a value for each thread.
    per_thread: Single<Bits>,
    /// What activations get out of these.
    taken_out: BTreeMap<Act, Vec<Obj>>,
    /// That, and all that is held by it.
    candidates: Single<Bits>,
    /// Activations with a variable that holds a candidate.
    parts: Memo<Act, Part>,
    objects: Single<Bits>,
    variables: FxHashSet<(Act, Var)>,
}

/// What an activation of application code has to do with candidates.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    losses: Vec<Loss>,
    /// Variables that hold candidates only.
    variables: Vec<(Var, Vec<Obj>)>,
}

/// Candidates that may come to another thread.
#[derive(Debug, PartialEq, Eq)]
struct Loss {
    objects: Vec<Obj>,
    /// Not if all of these are confined, and there are any.
    unless: Vec<Obj>,
}

impl Confined {
    pub fn new(follows: bool) -> Confined {
        Confined {
            follows,
            per_thread: Single::default(),
            taken_out: BTreeMap::new(),
            candidates: Single::default(),
            parts: Memo::new(Kind::Other, follows),
            objects: Single::default(),
            variables: FxHashSet::default(),
        }
    }

    /// Does the variable of application code hold such objects only?
    pub fn contains(&self, act: Act, var: Var) -> bool {
        self.variables.contains(&(act, var))
    }

    /// Follows a change, and tells whose variables differ.
    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        owners: &Owners,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        if changes.everything {
            *self = Confined::new(self.follows);
        }
        let before = self.per_thread.update(self.follows, changes, || find_per_thread(world));
        let is_anew = changes.everything || before.is_some_and(|before| before != self.per_thread.value);
        if is_anew {
            self.taken_out.clear();
            self.parts.clear();
        }
        if self.per_thread.value.is_empty() {
            self.keep(FxHashSet::default(), changes);
            return;
        }
        let anew = Changes::everything();
        let mut touched: BTreeSet<Act> = if is_anew { all(world) } else { touched(world, delta, changes) };
        self.take_out(world, &touched, changes);
        let (taken_out, per_thread) = (&self.taken_out, &self.per_thread.value);
        let scope = if is_anew { &anew } else { &*changes };
        let before = self.candidates.update(self.follows, scope, || find_candidates(world, taken_out));
        let now = &self.candidates.value;
        let differing: Vec<usize> = before.map_or(Vec::new(), |before| before.differing(now).collect());
        // Who holds what came or went is touched anyway.
        let comes_or_goes = |at: &usize| {
            let obj = Obj::new(*at);
            delta.objects.added.contains(&obj) || delta.objects.removed.contains(&obj)
        };
        let mut is_other = !differing.is_empty();
        if !is_anew && !differing.iter().all(comes_or_goes) {
            touched = all(world);
        }
        touched.extend(self.parts.stale(changes));
        let candidates = &self.candidates.value;
        for act in touched {
            is_other |= match is_touched(world, candidates, act) {
                true => {
                    let (part, reads) = self.parts.record(|| Part::new(world, candidates, per_thread, act));
                    let is_same = self.parts.peek(act) == Some(&part);
                    self.parts.set(act, Some(part), reads);
                    !is_same
                }
                false => self.parts.remove(act).is_some(),
            };
        }
        if is_other {
            changes.add(Read::all(Kind::Confined));
        }
        let scope = if is_anew { &anew } else { &*changes };
        let parts = &self.parts;
        let before = self.objects.update(self.follows, scope, || {
            let mut finder = Finder { world, owners, per_thread, objects: candidates.clone() };
            finder.run(origins, parts);
            finder.objects
        });
        if is_other || before.is_some_and(|before| before != self.objects.value) {
            let objects = &self.objects.value;
            let are_confined = |held: &[Obj]| held.iter().all(|obj| objects.contains(obj.index()));
            let of_act = |(act, part): (Act, &Part)| {
                let variables = part.variables.iter().filter(|(_, held)| are_confined(held));
                variables.map(|&(var, _)| (act, var)).collect::<Vec<_>>()
            };
            let variables = self.parts.iter().flat_map(of_act).collect();
            self.keep(variables, changes);
        }
    }

    fn keep(&mut self, variables: FxHashSet<(Act, Var)>, changes: &mut Changes) {
        let before = std::mem::replace(&mut self.variables, variables);
        for &(act, _) in before.symmetric_difference(&self.variables) {
            changes.add(Read::of(Kind::Fresh, act));
        }
    }

    fn take_out(&mut self, world: &World<'_>, acts: &BTreeSet<Act>, changes: &mut Changes) {
        for &act in acts {
            let taken = taken_out(world, &self.per_thread.value, act);
            let before = match taken.is_empty() {
                true => self.taken_out.remove(&act).unwrap_or_default(),
                false => self.taken_out.insert(act, taken.clone()).unwrap_or_default(),
            };
            if before != taken {
                changes.add(Read::all(Kind::TakenOut));
            }
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.parts.sizes(sizes);
        sizes.add("taken out", self.taken_out.len());
        sizes.add("confined variables", self.variables.len());
    }
}

fn all(world: &World<'_>) -> BTreeSet<Act> {
    world.pointsto.acts().collect()
}

/// Activations that hold something else, or have other variables.
fn touched(world: &World<'_>, delta: &PointsToDelta, changes: &Changes) -> BTreeSet<Act> {
    let edited = world.edited(changes);
    let acts = delta.values.iter().chain(&delta.acts.added).chain(&delta.acts.removed);
    acts.chain(&edited).copied().collect()
}

fn find_per_thread(world: &World<'_>) -> Bits {
    let mut per_thread = Bits::new();
    for act in world.syncing() {
        for (stmt, step) in world.sync(act) {
            if let Step::PerThread { of } = step {
                per_thread.insert_all(world.operand(act, *stmt, of).iter().map(|obj| obj.index()));
            }
        }
    }
    per_thread
}

/// What calls return that are made on something with a value for each thread.
fn taken_out(world: &World<'_>, per_thread: &Bits, act: Act) -> Vec<Obj> {
    let mut taken = Vec::new();
    if !world.pointsto.runs(act) || world.is_jdk(act) {
        return taken;
    }
    let Some(flow) = world.flow(act) else { return taken };
    for (_, info) in flow.body.stmts.iter() {
        if let StmtKind::Call { dst: Some(dst), args, .. } = &info.kind
            && args.first().is_some_and(|&base| has_all(per_thread, world.pointsto.pts(act, base)))
        {
            taken.extend(world.pointsto.pts(act, *dst).iter());
        }
    }
    taken
}

fn find_candidates(world: &World<'_>, taken_out: &BTreeMap<Act, Vec<Obj>>) -> Bits {
    note(Read::all(Kind::TakenOut));
    let mut candidates = Bits::new();
    let mut left: Vec<Obj> = taken_out.values().flatten().copied().collect();
    while let Some(obj) = left.pop() {
        let is_one = matches!(world.pointsto.object(obj).site, Site::Alloc(..) | Site::Model(..));
        if is_one && candidates.insert(obj.index()) {
            left.extend(world.slots_of(obj).flat_map(|(_, held)| held.iter()));
        }
    }
    candidates
}

/// Has an activation of application code a variable with a candidate in it? Asked again whenever it holds something
/// else, so that nothing need be noted.
fn is_touched(world: &World<'_>, candidates: &Bits, act: Act) -> bool {
    unnoted(|| {
        let is_run = world.pointsto.runs(act) && !world.is_jdk(act);
        world.flow(act).filter(|_| is_run).is_some_and(|flow| {
            let mut refs = flow.body.vars.ids().filter(|&var| flow.body.vars[var].is_ref);
            refs.any(|var| has_any(candidates, world.pointsto.pts(act, var)))
        })
    })
}

impl Part {
    /// Loses candidates that the library gives to application code, other than from a candidate or from what
    /// has a value for each thread, and those that lambdas carry away.
    fn new(world: &World<'_>, candidates: &Bits, per_thread: &Bits, act: Act) -> Part {
        let mut part = Part { losses: Vec::new(), variables: Vec::new() };
        let Some(flow) = world.flow(act) else { return part };
        let body = &flow.body;
        let pts = |var: Var| world.pointsto.pts(act, var);
        let those = |var: Var| pts(var).iter().filter(|obj| candidates.contains(obj.index()));
        let all = |var: Var| match has_all(candidates, pts(var)) {
            true => pts(var).iter().collect(),
            false => Vec::new(),
        };
        let mut lose = |objects: Vec<Obj>, unless: Vec<Obj>| {
            if !objects.is_empty() {
                part.losses.push(Loss { objects, unless });
            }
        };
        let is_from_library = |&(caller, stmt): &(Act, StmtId)| {
            world.is_jdk(caller) || !world.bindings_are_plain(caller, stmt, act)
        };
        let received: Vec<Obj> = body.params.iter().flat_map(|&param| those(param)).collect();
        if !received.is_empty() && world.pointsto.callers(act).iter().any(is_from_library) {
            lose(received, Vec::new());
        }
        let is_used = |dst| body.stmts.iter().any(|(_, info)| info.kind.uses().any(|var| var == dst));
        for (stmt, info) in body.stmts.iter() {
            match &info.kind {
                StmtKind::Lambda { dst, captures, .. } => {
                    lose(captures.iter().flat_map(|&var| those(var)).collect(), all(*dst));
                }
                StmtKind::Call { dst: Some(dst), args, .. } if body.vars[*dst].is_ref => {
                    let base = args.first().copied();
                    if has_any(candidates, pts(*dst))
                        && !base.is_some_and(|base| has_all(per_thread, pts(base)))
                        && is_library_call(world, act, stmt)
                        && is_used(*dst)
                    {
                        lose(those(*dst).collect(), base.map(all).unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
        let refs = body.vars.ids().filter(|&var| body.vars[var].is_ref);
        part.variables = refs.map(|var| (var, all(var))).filter(|(_, held)| !held.is_empty()).collect();
        part
    }
}

/// Greatest solution: begins with all, takes away until nothing changes.
struct Finder<'a, 'w> {
    world: &'a World<'w>,
    owners: &'a Owners,
    per_thread: &'a Bits,
    objects: Bits,
}

impl Finder<'_, '_> {
    fn run(&mut self, origins: &Origins, parts: &Memo<Act, Part>) {
        note(Read::all(Kind::Confined));
        let world = self.world;
        for act in origins.entries() {
            for &param in world.flow(act).map_or(&[][..], |flow| &flow.body.params) {
                self.remove_all(world.pointsto.pts(act, param).iter());
            }
        }
        loop {
            let mut lost: Vec<Obj> =
                self.objects.iter().map(Obj::new).filter(|&obj| self.is_held_elsewhere(obj)).collect();
            for loss in parts.iter().flat_map(|(_, part)| &part.losses) {
                let is_safe = |obj: &Obj| self.objects.contains(obj.index());
                if loss.unless.is_empty() || !loss.unless.iter().all(is_safe) {
                    lost.extend(&loss.objects);
                }
            }
            if !self.remove_all(lost) {
                return;
            }
        }
    }

    fn remove_all(&mut self, objects: impl IntoIterator<Item = Obj>) -> bool {
        objects.into_iter().fold(false, |any, obj| self.objects.remove(obj.index()) | any)
    }

    /// In a static, or in an object of the application that is no candidate itself. What the library keeps
    /// is nobody's until it is given out again.
    fn is_held_elsewhere(&self, obj: Obj) -> bool {
        let is_safe = |slot: &Slot| match *slot {
            Slot::Static(_) => false,
            Slot::Field(base, _) | Slot::Elements(base) => {
                let at = base.index();
                self.objects.contains(at) || self.per_thread.contains(at) || is_library(self.world, base)
            }
        };
        !self.owners.all(obj).iter().all(is_safe)
    }
}

fn has_any(known: &Bits, objects: &IdSet<Obj>) -> bool {
    objects.iter().any(|obj| known.contains(obj.index()))
}

fn has_all(known: &Bits, objects: &IdSet<Obj>) -> bool {
    !objects.is_empty() && objects.iter().all(|obj| known.contains(obj.index()))
}

fn is_library_call(world: &World<'_>, act: Act, stmt: StmtId) -> bool {
    let mut callees = world.pointsto.callees(act, stmt).iter();
    !world.pointsto.models_at(act, stmt).is_empty() || callees.any(|&callee| world.is_jdk(callee))
}

/// Made by the library for itself, or of one of its classes.
fn is_library(world: &World<'_>, obj: Obj) -> bool {
    let object = world.pointsto.object(obj);
    let by_library = match object.site {
        Site::Alloc(method, _) => world.is_jdk_method(method),
        _ => false,
    };
    let class = world.program.class(object.class);
    by_library || class.layer == Layer::Jdk && !class.is_array
}

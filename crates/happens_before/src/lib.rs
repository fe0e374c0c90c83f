//! Which pieces of code may run at the same time, and which locks are certainly held: origins (threads and
//! tasks), may-overlap between them, must-held locksets. Knows accesses only as statements; reports nothing.

mod above;
mod bits;
mod both;
mod branches;
mod components;
mod confined;
mod content;
mod digest;
mod ends;
mod flow;
mod fresh;
mod joins;
mod kept;
mod labels;
mod leading;
mod loads;
mod local;
mod locks;
mod origins;
mod overlap;
mod owners;
mod programs;
mod reach;
mod resolver;
mod signals;
mod starts;
mod stores;
mod swaps;
mod tarjan;
mod types;
mod unique;
mod world;

pub use content::{Calls, Content};
pub use digest::Digest;
pub use types::*;

use arena::{Id, IndexVec};
use both::{both, is_small};
use ends::Ends;
use fresh::Fresh;
use ir::{FieldId, MethodId, Program, StmtId, Var};
use kept::Kept;
use local::Local;
use locks::paths::Paths;
use locks::protect::{Facts, Sets};
use locks::{Grounds, Locks};

use models::Models;
use origins::Origins;
use owners::Owners;
use pointsto::{Act, Obj, PointsTo, PointsToDelta};
use reach::Throws;
use signals::{Guards, Signals};
use starts::Starts;
use swaps::Swaps;
use track::{Changes, Kind, Read, Sizes, note};
use unique::Unique;
use world::World;

/// An access with what of locks is known about it whatever it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Holder {
    access: AccessPoint,
    sets: Sets,
    loaded: Option<swaps::LoadedFrom>,
}

/// Order and mutual exclusion of one program.
pub struct HappensBefore {
    follows: bool,
    kept: Kept,
    origins: Origins,
    ends: Ends,
    signals: Signals,
    starts: Starts,
    unique: Unique,
    owners: Owners,
    throws: Throws,
    paths: Paths,
    locks: Locks,
    fresh: Fresh,
    local: Local,
    swaps: Swaps,
    methods: IndexVec<Act, MethodId>,
}

impl HappensBefore {
    /// `follows`: changes will come, so that what was read is remembered.
    pub fn new(follows: bool) -> HappensBefore {
        HappensBefore {
            follows,
            kept: Kept::new(follows),
            origins: Origins::default(),
            ends: Ends::new(follows),
            signals: Signals::new(follows),
            starts: Starts::default(),
            unique: Unique::new(follows),
            owners: Owners::new(follows),
            throws: Throws::new(follows),
            paths: Paths::new(follows),
            locks: Locks::new(follows),
            fresh: Fresh::new(follows),
            local: Local::new(follows),
            swaps: Swaps::new(follows),
            methods: IndexVec::new(),
        }
    }

    /// Brings the state up to date with the stages before, given what changed there. To that is added what changes
    /// here.
    pub fn apply(
        &mut self,
        program: &Program,
        models: &Models,
        pointsto: &PointsTo,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        if changes.everything {
            *self = HappensBefore::new(self.follows);
        }
        let resolved = self.kept.update(program, models, pointsto, delta, changes);
        for act in (self.methods.len()..pointsto.act_bound()).map(|at| Act(at as u32)) {
            self.methods.push(pointsto.method(act));
        }
        let world = World::new(program, models, pointsto, &self.kept, &resolved);
        self.origins.update(&world, delta, self.follows, changes);
        self.unique.update(&world, &self.origins, delta, changes);
        for origin in self.origins.there().map(|(origin, _)| origin).collect::<Vec<_>>() {
            let handle = self.origins.only_handle(origin);
            let info = &mut self.origins.info[origin];
            let runs_once = self.unique.runs_once(info.entry)
                || info.kind == OriginKind::Initialization
                || handle.is_some_and(|handle| self.unique.contains(handle));
            if std::mem::replace(&mut info.runs_once, runs_once) != runs_once {
                changes.add(Read::all(Kind::Origins));
            }
        }
        for (origin, programs) in programs::programs(&world, &self.origins).iter() {
            self.origins.info[origin].programs.clone_from(programs);
        }
        let settled = self.owners.stores.update(&world, delta, changes);
        self.owners.update(&world, delta, changes);
        self.paths.update(&world, &self.owners.stores, &settled, delta, changes);
        self.throws.update(&world, delta, changes);
        let world = world.with_throws(&self.throws);
        // What stays unpublished has nothing to do with order and locks.
        let (unique, owners, paths) = (&self.unique, &self.owners, &self.paths);
        let mut fresh_changes = changes.clone();
        self.fresh.update(&world, &self.origins, owners, delta, &mut fresh_changes);
        let grounds = Grounds { world: &world, unique, owners, paths };
        let (origins, locks, ends) = (&self.origins, &mut self.locks, &mut self.ends);
        let mut end_changes = changes.clone();
        let is_small = is_small(&world, changes);
        both(
            is_small,
            || ends.update(&world, origins, unique, paths, &mut end_changes),
            || locks.update(&grounds, origins, delta, changes),
        );
        changes.extend(end_changes);
        ends.overlap.tell(&world, &mut self.origins, unique, changes);
        let (origins, joins) = (&self.origins, &ends.joins.value);
        let (starts, local, swaps) = (&mut self.starts, &mut self.local, &mut self.swaps);
        let mut other_changes = changes.clone();
        both(
            is_small,
            || locks.update_nestings(&grounds, origins, joins, changes),
            || {
                starts.update(&world, origins, delta, &mut other_changes);
                local.update(&world, origins, owners, delta, &mut other_changes);
                swaps.update(&world, delta, &mut other_changes);
            },
        );
        changes.extend(other_changes);
        let guards = Guards { locks: &self.locks, methods: &self.methods, owners, unique, paths };
        self.signals.update(&world, &self.origins, &guards, delta, changes);
        changes.extend(fresh_changes);
        self.origins.tell(changes);
    }

    /// All origins there are. What is known of one is asked for one by one, see [`HappensBefore::origin`].
    pub fn origins(&self) -> impl Iterator<Item = Origin> + '_ {
        note(Read::all(Kind::Roots));
        self.origins.there().map(|(origin, _)| origin)
    }

    /// Every origin has a number below this.
    pub fn origin_bound(&self) -> usize {
        self.origins.info.len()
    }

    pub fn origin(&self, origin: Origin) -> &OriginInfo {
        note(Read::of(Kind::Origin, origin));
        &self.origins.info[origin]
    }

    /// Does the origin run the activation?
    pub fn executes(&self, origin: Origin, act: Act) -> bool {
        note(Read::of(Kind::OriginsOf, act));
        self.origins.runs[origin].contains(act.index())
    }

    /// Origins that execute an activation, ascending.
    pub fn origins_of(&self, act: Act) -> &[Origin] {
        self.origins.of(act)
    }

    /// Activations of a method that run, ascending.
    pub fn acts_of(&self, method: MethodId) -> &[Act] {
        note(Read::of(Kind::ActsOf, method));
        self.kept.acts_of.get(&method).map_or(&[], Vec::as_slice)
    }

    /// Who calls whom, in the order of content.
    pub fn calls<'a>(&'a self, content: Content<'a>) -> Calls<'a> {
        Calls::new(content, &self.kept.calls)
    }

    /// The place of an origin among all, by content: origins are compared by this wherever one is chosen.
    pub fn rank(&self, origin: Origin) -> u32 {
        self.origins.ranks[origin]
    }

    /// Why the points never run at the same time; `None` if they may.
    pub fn ordered(&self, a: &Point, b: &Point) -> Option<Ordered> {
        let (first, second) = (self.origin(a.origin), self.origin(b.origin));
        let is_init = |info: &OriginInfo| info.kind == OriginKind::Initialization;
        if is_init(first) || is_init(second) {
            return Some(Ordered::ClassInitialization);
        }
        if let (Some(executor), Some(other)) = (first.serial_on, second.serial_on)
            && executor == other
        {
            return Some(Ordered::SerialExecutor(executor));
        }
        if a.origin == b.origin && !first.overlaps_itself {
            return Some(Ordered::SameOrigin);
        }
        let is_once = || self.signals.precedes_once(a, b) || self.signals.precedes_once(b, a);
        if a.origin == b.origin {
            return is_once().then_some(Ordered::SignalAwait);
        }
        let overlaps = self.ends.overlap.are_together(a, b)
            || self.ends.overlap.is_alive(a.origin, a.act, a.stmt, b.origin)
            || self.ends.overlap.is_alive(b.origin, b.act, b.stmt, a.origin);
        if !overlaps {
            let is_ancestor = self.ends.overlap.is_ancestor(a.origin, b.origin)
                || self.ends.overlap.is_ancestor(b.origin, a.origin);
            let is_joined =
                self.ends.overlap.is_joined(a.origin, b) || self.ends.overlap.is_joined(b.origin, a);
            return Some(if is_ancestor || is_joined {
                Ordered::BeforeStartOrAfterJoin
            } else if self.ends.overlap.are_related(a.origin, b.origin) {
                Ordered::Sequential
            } else {
                Ordered::DifferentPrograms
            });
        }
        let signalled = self.signals.precedes(a, b) || self.signals.precedes(b, a) || is_once();
        signalled.then_some(Ordered::SignalAwait)
    }

    /// May the two origins ever run at the same time?
    pub fn may_overlap(&self, a: Origin, b: Origin) -> bool {
        let is_serial = match (self.origin(a).serial_on, self.origin(b).serial_on) {
            (Some(executor), Some(other)) => executor == other,
            _ => false,
        };
        !is_serial && self.ends.overlap.may_overlap(a, b)
    }

    /// Does a signal come after the first point and an await of it before the second, whenever both run?
    pub fn is_signalled(&self, first: &Point, second: &Point) -> bool {
        self.signals.precedes(first, second) || self.signals.precedes_once(first, second)
    }

    /// In one execution of the method, may the origin (or one that leads to it) have been started before the
    /// statement runs?
    pub fn started_before(&self, act: Act, stmt: StmtId, origin: Origin) -> bool {
        self.starts.before(&self.kept.flows, (self.methods[act], act, stmt), origin)
    }

    /// May the origin, or one that leads to it, be started while the statement runs?
    pub fn starts_during(&self, act: Act, stmt: StmtId, origin: Origin) -> bool {
        self.starts.during(act, stmt, origin)
    }

    /// The same as [`HappensBefore::started_before`] for any origin.
    pub fn anything_started_before(&self, act: Act, stmt: StmtId) -> bool {
        self.starts.any_before(&self.kept.flows, (self.methods[act], act, stmt))
    }

    /// Is any lock certainly held before the statement runs?
    pub fn holds_any(&self, point: &Point) -> bool {
        self.locks.held(point).next().is_some()
    }

    /// Locks certainly held before the statement runs, callers' locks first.
    pub fn held(&self, point: &Point) -> Vec<&HeldLock> {
        self.locks.held(point).collect()
    }

    /// A number for the locks that callers certainly hold when the origin comes to the activation.
    pub fn held_by_callers(&self, origin: Origin, act: Act) -> u32 {
        self.locks.held_by_callers(origin, act)
    }

    /// The ways from what a variable refers to, to a lock that is held there. For who asks now and then: nothing is
    /// remembered.
    pub fn ways_to(&self, act: Act, base: Var, lock: &HeldLock) -> Vec<Vec<PathStep>> {
        self.locks.ways_to(&self.facts(), (act, base), lock)
    }

    /// One side of the question whether locks keep two accesses apart: many are asked about against many.
    pub fn holder(&self, access: AccessPoint) -> Holder {
        let loaded = self.swaps.loaded(&self.facts(), &access);
        Holder { access, sets: self.locks.held_sets(&access.point), loaded }
    }

    /// Do locks keep two accesses to the same object apart?
    pub fn protects(&self, a: &Holder, b: &Holder) -> Protection<'_> {
        let facts = self.facts();
        let protection = self.locks.protects_by(&facts, (&a.access, a.sets), (&b.access, b.sets));
        match protection {
            Protection::Yes(_) => protection,
            _ => {
                let (one, other) = ((&a.access, a.loaded), (&b.access, b.loaded));
                self.swaps.protects(&facts, &self.locks, one, other).unwrap_or(protection)
            }
        }
    }

    /// The same for accesses of which it is not known whether they are to one object: do both hold one lock?
    pub fn share(&self, a: &Holder, b: &Holder) -> Option<Guard<'_>> {
        self.locks.share(a.sets, b.sets).ok()
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            flows: &self.kept.flows,
            methods: &self.methods,
            owners: &self.owners,
            unique: &self.unique,
            paths: &self.paths,
        }
    }

    /// Every lock taken, outside the JDK.
    pub fn acquisitions(&self) -> &[Acquisition] {
        self.locks.acquisitions()
    }

    /// Those of one activation.
    pub fn acquisitions_of(&self, act: Act) -> &[Acquisition] {
        self.locks.acquisitions_of(act)
    }

    /// Every lock taken, and every wait for an origin's end, while another lock is held, as far as the two may
    /// be part of a circle. A lock that is held already is not taken again.
    pub fn nestings(&self) -> &[Nesting] {
        self.locks.nestings()
    }

    /// Does the abstract lock stand for at most one lock?
    pub fn is_one_lock(&self, node: LockNode) -> bool {
        match node {
            LockNode::Object(object) | LockNode::Part { object, .. } | LockNode::Explicit { object, .. } => {
                self.unique(object)
            }
            LockNode::Class(_) => true,
        }
    }

    /// Does the abstract object stand for at most one object?
    pub fn unique(&self, obj: Obj) -> bool {
        self.unique.contains(obj)
    }

    /// Does the statement of this activation execute at most once?
    pub fn executes_once(&self, act: Act, stmt: StmtId) -> bool {
        let flow = self.kept.flows.get(&self.methods[act]);
        self.unique.runs_once(act) && flow.is_some_and(|flow| !flow.in_loop(stmt))
    }

    /// Does every object in this field belong to one holder only, ever?
    pub fn is_private(&self, field: FieldId) -> bool {
        self.owners.is_private(field)
    }

    /// The objects of which this one is a private part, up to those that are nobody's part: itself if it is none.
    pub fn wholes(&self, obj: Obj) -> Vec<Obj> {
        self.owners.tops(obj)
    }

    /// The objects of which this one is a private part, one step up; none if it is no part.
    pub fn parts_of(&self, obj: Obj) -> Vec<Obj> {
        self.owners.wholes(obj).unwrap_or_default()
    }

    /// Is the object held by private fields only?
    pub fn is_part(&self, obj: Obj) -> bool {
        self.owners.wholes(obj).is_some()
    }

    /// Is the object in `base` unknown to other origins when the statement runs?
    pub fn fresh(&self, act: Act, stmt: StmtId, base: Var) -> Freshness {
        self.fresh.of(act, stmt, base)
    }

    /// Does each instance of an origin that overlaps itself have its own of these?
    pub fn instance_local(&self, origin: Origin, obj: Obj) -> bool {
        self.local.contains(origin, obj)
    }

    /// How many entries each table has.
    pub fn sizes(&self, sizes: &mut Sizes) {
        self.kept.sizes(sizes);
        self.origins.sizes(sizes);
        self.ends.sizes(sizes);
        self.signals.sizes(sizes);
        self.starts.sizes(sizes);
        self.unique.sizes(sizes);
        self.owners.sizes(sizes);
        self.throws.sizes(sizes);
        self.paths.sizes(sizes);
        self.locks.sizes(sizes);
        self.fresh.sizes(sizes);
        self.local.sizes(sizes);
        self.swaps.sizes(sizes);
    }
}

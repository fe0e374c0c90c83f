//! Which pieces of code may run at the same time, and which locks are certainly held: origins (threads and
//! tasks), may-overlap between them, must-held locksets. Knows accesses only as statements; reports nothing.

mod bits;
mod branches;
mod components;
mod confined;
mod content;
mod flow;
mod fresh;
mod joins;
mod kept;
mod local;
mod locks;
mod origins;
mod overlap;
mod owners;
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
pub use types::*;

use arena::{IdSet, IndexVec};
use confined::Confined;
use fresh::Fresh;
use ir::{FieldId, MethodId, Program, StmtId, Var};
use joins::Joins;
use kept::Kept;
use local::Local;
use locks::Locks;
use locks::keys::Keys;
use locks::paths::Paths;
use locks::protect::Facts;

use models::Models;
use origins::Origins;
use overlap::Overlap;
use owners::Owners;
use pointsto::{Act, Obj, PointsTo, PointsToDelta};
use reach::Throws;
use signals::{Guards, Signals};
use starts::Starts;
use std::sync::Arc;
use swaps::Swaps;
use track::Changes;
use unique::Unique;
use world::World;

/// Order and mutual exclusion of one program.
pub struct HappensBefore {
    follows: bool,
    kept: Kept,
    origins: Origins,
    overlap: Overlap,
    signals: Signals,
    starts: Starts,
    unique: Unique,
    owners: Owners,
    throws: Throws,
    paths: Arc<Paths>,
    locks: Locks,
    nestings: Vec<Nesting>,
    fresh: Fresh,
    local: Local,
    swaps: Swaps,
    methods: IndexVec<Act, MethodId>,
}

/// What keeps points apart: who runs when, and under which locks.
struct Order {
    origins: Origins,
    overlap: Overlap,
    starts: Starts,
    locks: Locks,
    nestings: Vec<Nesting>,
    local: Local,
    signals: Signals,
}

impl Order {
    fn new(
        world: &World<'_>,
        mut origins: Origins,
        unique: &Unique,
        owners: &Owners,
        paths: &Arc<Paths>,
        methods: &IndexVec<Act, MethodId>,
    ) -> Order {
        let keys = Keys::new(world, unique, paths, owners);
        let ends = || {
            let joins = Joins::new(world, &origins, unique, paths);
            let overlap = Overlap::new(world, &origins, &joins, unique);
            (joins, overlap)
        };
        let ((joins, overlap), (locks, mut telling)) =
            rayon::join(ends, || Locks::new(world, &origins, &keys, paths.clone()));
        overlap.tell(world, &mut origins, unique);
        let guards = Guards { locks: &locks, methods, owners, unique };
        let (nestings, (starts, local, signals)) = rayon::join(
            || locks.nestings(world, &origins, unique, &joins, &mut telling),
            || {
                let starts = Starts::new(world, &origins);
                let local = Local::new(world, &origins, owners);
                (starts, local, Signals::new(world, &origins, &guards))
            },
        );
        Order { origins, overlap, starts, locks, nestings, local, signals }
    }
}

impl HappensBefore {
    /// `follows`: changes will come, so that what was read is remembered.
    pub fn new(follows: bool) -> HappensBefore {
        HappensBefore {
            follows,
            kept: Kept::new(follows),
            origins: Origins::default(),
            overlap: Overlap::default(),
            signals: Signals::default(),
            starts: Starts::default(),
            unique: Unique::new(follows),
            owners: Owners::new(follows),
            throws: Throws::default(),
            paths: Arc::new(Paths::new(follows)),
            locks: Locks::default(),
            nestings: Vec::new(),
            fresh: Fresh::new(follows),
            local: Local::default(),
            swaps: Swaps::default(),
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
        self.kept.update(program, models, pointsto, delta, changes);
        for act in (self.methods.len()..pointsto.act_bound()).map(|at| Act(at as u32)) {
            self.methods.push(pointsto.method(act));
        }
        let resolved = self.kept.resolve(program, models);
        let world = World::new(program, models, pointsto, &self.kept, &resolved);
        self.origins.update(&world, delta, self.follows, changes);
        self.unique.update(&world, &self.origins, delta, changes);
        for origin in self.origins.info.ids().collect::<Vec<_>>() {
            let info = &mut self.origins.info[origin];
            info.runs_once = self.unique.runs_once(info.entry) || info.kind == OriginKind::Initialization;
        }
        let settled = self.owners.stores.update(&world, delta, changes);
        self.owners.update(&world, delta, changes);
        self.locks = Locks::default();
        if let Some(paths) = Arc::get_mut(&mut self.paths) {
            paths.update(&world, &self.owners.stores, &settled, delta, changes);
        }
        self.throws = Throws::new(&world);
        let world = world.with_throws(&self.throws);
        // What stays unpublished has nothing to do with order and locks.
        let (origins, unique, owners) = (std::mem::take(&mut self.origins), &self.unique, &self.owners);
        let entries: IdSet<Act> = origins.entries().into_iter().collect();
        let fresh = &mut self.fresh;
        let mut fresh_changes = changes.clone();
        let confined = Confined::new(&world, &entries);
        fresh.update(&world, &origins, owners, &confined, &mut fresh_changes);
        let order = Order::new(&world, origins, unique, owners, &self.paths, &self.methods);
        let Order { origins, overlap, starts, locks, nestings, local, signals } = order;
        self.swaps = Swaps::new(&world);
        self.origins = origins;
        self.overlap = overlap;
        self.starts = starts;
        self.locks = locks;
        self.nestings = nestings;
        self.local = local;
        self.signals = signals;
        changes.extend(fresh_changes);
        changes.everything = true;
    }

    pub fn origins(&self) -> &IndexVec<Origin, OriginInfo> {
        &self.origins.info
    }

    pub fn executes(&self, origin: Origin) -> &IdSet<Act> {
        &self.origins.executes[origin]
    }

    /// Origins that execute an activation, ascending.
    pub fn origins_of(&self, act: Act) -> &[Origin] {
        self.origins.of(act)
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
        let (first, second) = (&self.origins.info[a.origin], &self.origins.info[b.origin]);
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
        let overlaps = self.overlap.are_together(a, b)
            || self.overlap.is_alive(a.origin, a.act, a.stmt, b.origin)
            || self.overlap.is_alive(b.origin, b.act, b.stmt, a.origin);
        if !overlaps {
            let is_ancestor =
                self.overlap.is_ancestor(a.origin, b.origin) || self.overlap.is_ancestor(b.origin, a.origin);
            let is_joined = self.overlap.is_joined(a.origin, b) || self.overlap.is_joined(b.origin, a);
            return Some(if is_ancestor || is_joined {
                Ordered::BeforeStartOrAfterJoin
            } else if self.overlap.are_related(a.origin, b.origin) {
                Ordered::Sequential
            } else {
                Ordered::DifferentPrograms
            });
        }
        let signalled = self.signals.precedes(a, b) || self.signals.precedes(b, a) || is_once();
        signalled.then_some(Ordered::SignalAwait)
    }

    /// In one execution of the method, may the origin (or one that leads to it) have been started before the
    /// statement runs?
    pub fn started_before(&self, act: Act, stmt: StmtId, origin: Origin) -> bool {
        let flow = self.kept.flows.get(&self.methods[act]);
        flow.is_none_or(|flow| self.starts.before(flow, act, stmt, origin))
    }

    /// The same for any origin.
    pub fn anything_started_before(&self, act: Act, stmt: StmtId) -> bool {
        let flow = self.kept.flows.get(&self.methods[act]);
        flow.is_none_or(|flow| self.starts.any_before(flow, act, stmt))
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

    /// Do locks keep two accesses to the same object apart?
    pub fn protects(&self, a: &AccessPoint, b: &AccessPoint) -> Protection<'_> {
        let facts = Facts {
            flows: &self.kept.flows,
            methods: &self.methods,
            owners: &self.owners,
            unique: &self.unique,
        };
        let protection = self.locks.protects(&facts, a, b);
        match protection {
            Protection::Yes(_) => protection,
            _ => self.swaps.protects(&facts, &self.locks, a, b).unwrap_or(protection),
        }
    }

    /// Every lock taken, outside the JDK.
    pub fn acquisitions(&self) -> &[Acquisition] {
        self.locks.acquisitions()
    }

    /// Every lock taken, and every wait for an origin's end, while another lock is held, as far as the two may
    /// be part of a circle. A lock that is held already is not taken again.
    pub fn nestings(&self) -> &[Nesting] {
        &self.nestings
    }

    /// Does the abstract lock stand for at most one lock?
    pub fn is_one_lock(&self, node: LockNode) -> bool {
        match node {
            LockNode::Object(object) | LockNode::Part { object, .. } => self.unique(object),
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
}

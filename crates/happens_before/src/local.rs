//! Objects that belong to one instance of an origin that runs several times at once. Knows who allocated what
//! and what the origin loads from elsewhere.

mod parts;
mod sharing;

use crate::bits::Bits;
use crate::flow::{after, from_entry};
use crate::loads::Loads;
use crate::origins::Origins;
use crate::owners::{Owners, allocation};
use crate::reach::{Barrier, Kills, Start, climb};
use crate::types::{Origin, OriginInfo};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{MethodId, StmtId, StmtKind};
use parts::Parts;
use pointsto::{Act, Context, Ctx, Obj, PointsToDelta};
use rustc_hash::FxHashMap;
use sharing::{Grounds, Sharing};
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Sizes, note};

/// Beyond this many activations around an allocation, what happens between it and a spawn is not followed.
const MOST_CALLERS: usize = 1500;

pub struct Local {
    loads: Loads,
    /// For origins that overlap themselves: objects that their instances make, or run on.
    made: IndexVec<Origin, Bits>,
    sharing: Sharing,
    parts: Parts,
    /// Of what is made, and of its parts, what no two instances share.
    objects: Memo<Origin, Bits>,
}

impl Local {
    pub fn new(follows: bool) -> Local {
        Local {
            loads: Loads::new(follows),
            made: IndexVec::new(),
            sharing: Sharing::new(follows),
            parts: Parts::new(follows),
            objects: Memo::new(Kind::Other, follows),
        }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        owners: &Owners,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        self.loads.update(world, delta, changes);
        if changes.everything {
            self.objects.clear();
        }
        let Local { loads, made, sharing, parts, objects: own } = self;
        let on = Grounds { world, origins, owners, loads };
        let is_read = |read: Read| own.reads(read);
        sharing.update(on, is_read, changes);
        parts.update(world, owners, is_read, changes);
        let mut stale: BTreeSet<Origin> = own.stale(changes).into_iter().collect();
        let objects = &delta.objects;
        let is_other = !objects.added.is_empty() || !objects.removed.is_empty() || !delta.renamed.is_empty();
        if is_other || changes.contains(Read::all(Kind::Origins)) {
            let before = std::mem::replace(made, find_made(world, origins));
            let origins = (0..before.len().max(made.len())).map(Origin::new);
            stale.extend(
                origins.filter(|&origin| changes.everything || before.get(origin) != made.get(origin)),
            );
        }
        let stale: Vec<Origin> = stale.into_iter().collect();
        // What is read here is read by nobody else.
        let redone = own.redo(&stale, &mut Changes::default(), |origin| {
            let mut own = made.get(origin)?.clone();
            remove_shared(on, sharing, origin, &mut own);
            add_parts(on, parts, &mut own);
            Some(own)
        });
        if changes.everything {
            return;
        }
        let none = Bits::new();
        for (origin, before) in redone {
            let [before, now] = [before.as_ref(), own.peek(origin)].map(|own| own.unwrap_or(&none));
            let differing = before.differing(now);
            differing.for_each(|obj| changes.add(Read::pair(Kind::Local, origin, Obj::new(obj))));
        }
    }

    pub fn contains(&self, origin: Origin, obj: Obj) -> bool {
        note(Read::pair(Kind::Local, origin, obj));
        self.objects.peek(origin).is_some_and(|objects| objects.contains(obj.index()))
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.loads.sizes(sizes);
        self.sharing.sizes(sizes);
        self.parts.sizes(sizes);
        self.objects.sizes(sizes);
    }
}

/// By origin: what is made in the context of its task.
fn find_made(world: &World<'_>, origins: &Origins) -> IndexVec<Origin, Bits> {
    let mut made_in: FxHashMap<Obj, Vec<Obj>> = FxHashMap::default();
    let mut tasks: FxHashMap<Ctx, Option<Obj>> = FxHashMap::default();
    for obj in world.pointsto.objects() {
        let ctx = world.pointsto.object(obj).ctx;
        let task = *tasks.entry(ctx).or_insert_with(|| task_of(world, ctx, 8));
        if let Some(task) = task {
            made_in.entry(task).or_default().push(obj);
        }
    }
    let own = |info: &OriginInfo| {
        let mut own = Bits::new();
        if let (true, Some(task)) = (info.overlaps_itself, info.task) {
            own.insert_all(made_in.get(&task).into_iter().flatten().map(|obj| obj.index()));
            if info.own_task {
                own.insert(task.index());
            }
        }
        own
    };
    origins.info.iter().map(|(_, info)| own(info)).collect()
}

/// o stays local iff no load executed by the origin from a static, or from an object that is not local itself, may
/// yield it.
fn remove_shared(on: Grounds<'_, '_>, sharing: &Sharing, origin: Origin, own: &mut Bits) {
    let held = |at: usize| (at, sharing.holders(on, origin, Obj::new(at)));
    let mut left: Vec<(usize, Arc<[Option<Obj>]>)> = own.iter().map(held).collect();
    loop {
        let is_shared = |holders: &[Option<Obj>]| {
            holders.iter().any(|holder| holder.is_none_or(|holder| !own.contains(holder.index())))
        };
        let (lost, kept): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, holders)| is_shared(holders));
        if lost.is_empty() {
            return;
        }
        for (at, _) in lost {
            own.remove(at);
        }
        left = kept;
    }
}

/// An object held only by local ones is local too if each of them gets its own.
fn add_parts(on: Grounds<'_, '_>, parts: &Parts, local: &mut Bits) {
    let mut left: Vec<Obj> = local.iter().map(Obj::new).collect();
    while let Some(holder) = left.pop() {
        let parts = parts.of(on.world, on.owners, holder);
        left.extend(parts.iter().filter(|part| local.insert(part.index())));
    }
}

/// The task in whose origin a context's code runs.
fn task_of(world: &World<'_>, ctx: Ctx, depth: usize) -> Option<Obj> {
    if depth == 0 {
        return None;
    }
    match world.pointsto.context(ctx) {
        Context::Origin(task) => Some(task),
        Context::Container(container) | Context::Made(container) => {
            task_of(world, world.pointsto.object(container).ctx, depth - 1)
        }
        Context::Call(outer, ..) | Context::Inherited(outer, _) | Context::Helper(outer, ..) => {
            task_of(world, outer, depth - 1)
        }
        Context::Shared | Context::Entry | Context::Main(_) => None,
    }
}

/// Does every instance run on a task of its own: is the spawn not reachable from itself without passing the
/// statement that allocates the task?
pub fn has_own_task(world: &World<'_>, origins: &Origins, unique: &Unique, origin: Origin) -> bool {
    let info = &origins.info[origin];
    let Some(task) = info.task else { return false };
    if unique.contains(task) {
        note(Read::of(Kind::Once, info.entry));
        return info.runs_once;
    }
    let handle = origins.only_handle(origin);
    // It starts at most once.
    if handle == Some(task) {
        return true;
    }
    let Some((method, stmt)) = allocation(world, task) else { return false };
    if handle.is_some_and(|handle| is_made_for_handle(world, handle, method, stmt)) {
        return true;
    }
    let mut kills = Kills::default();
    kills.stmts.extend(world.acts_of(method).iter().map(|&act| (act, stmt)));
    kills.sort();
    if origins.sites_of[origin].iter().any(|&at| origins.sites[at].together) {
        return false;
    }
    // Allocated in the method that starts it: then that method alone decides.
    if let Some(is_own) = is_made_before_start(world, origins, origin, method, stmt) {
        return is_own;
    }
    if world.callers_of(world.acts_of(method).iter().copied()).count() > MOST_CALLERS {
        return false;
    }
    // Whoever executes the sites, the code is the same.
    let mut runs = Bits::new();
    let mut starts = Vec::new();
    for by in &info.spawned_by {
        runs.union_with(&origins.runs[by.parent]);
        starts.push(Start::After(by.act, by.stmt, Some(task)));
    }
    starts.sort_unstable();
    starts.dedup();
    let climb = climb(info.entry, &runs, &starts, &Barrier::new(world, kills));
    let reached = |act: Act, stmt: StmtId| climb.contains(world, act, stmt);
    origins.sites_of[origin].iter().map(|&at| &origins.sites[at]).all(|site| {
        let mut events = site.events.iter();
        let is_again = site.is_repeated || events.any(|&(act, stmt)| reached(act, stmt));
        !(reached(site.act, site.stmt) && is_again)
    })
}

/// Is the task allocated anew before each construction of a handle, which starts at most once?
fn is_made_for_handle(world: &World<'_>, handle: Obj, method: MethodId, made: StmtId) -> bool {
    let Some((constructing, allocated)) = allocation(world, handle) else { return false };
    let Some(flow) = world.method_flow(method).filter(|_| constructing == method) else { return false };
    let constructor = match flow.body.stmts.get(allocated).map(|info| &info.kind) {
        Some(&StmtKind::New { dst, .. }) => flow.constructor(dst),
        _ => None,
    };
    let Some(constructor) = constructor else { return false };
    !from_entry(flow, Some(made)).contains(constructor.index())
        && !after(flow, [constructor], Some(made)).contains(constructor.index())
}

/// If all sites are in the method that allocates the task: does each way to a site, from the entry or from a
/// site, pass the allocation?
fn is_made_before_start(
    world: &World<'_>,
    origins: &Origins,
    origin: Origin,
    method: MethodId,
    made: StmtId,
) -> Option<bool> {
    let sites: BTreeSet<(Act, StmtId)> =
        origins.sites_of[origin].iter().map(|&at| (origins.sites[at].act, origins.sites[at].stmt)).collect();
    if !sites.iter().all(|&(act, _)| world.pointsto.method(act) == method) {
        return None;
    }
    let flow = world.method_flow(method)?;
    let starts: BTreeSet<StmtId> = sites.iter().map(|&(_, stmt)| stmt).collect();
    let from_entry = from_entry(flow, Some(made));
    let again = after(flow, starts.iter().copied(), Some(made));
    Some(starts.iter().all(|stmt| !from_entry.contains(stmt.index()) && !again.contains(stmt.index())))
}

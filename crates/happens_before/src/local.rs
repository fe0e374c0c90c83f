//! Objects that belong to one instance of an origin that runs several times at once. Knows who allocated what
//! and what the origin loads from elsewhere.

use crate::bits::Bits;
use crate::flow::{after, from_entry};
use crate::loads::{Load, Loads};
use crate::origins::Origins;
use crate::owners::{Owners, allocation};
use crate::reach::{Barrier, Kills, Start, climb};
use crate::types::{Origin, OriginInfo};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{MethodId, StmtId, Var};
use pointsto::{Act, Context, Ctx, Obj, PointsToDelta, Slot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Read, Single, note};

/// Beyond this many activations around an allocation, what happens between it and a spawn is not followed.
const MOST_CALLERS: usize = 1500;

pub struct Local {
    follows: bool,
    loads: Loads,
    /// For origins that overlap themselves: objects that their instances make, or run on.
    made: IndexVec<Origin, Bits>,
    /// Of these, and of their parts, those that no two instances share.
    objects: Single<IndexVec<Origin, Bits>>,
}

impl Local {
    pub fn new(follows: bool) -> Local {
        Local { follows, loads: Loads::new(follows), made: IndexVec::new(), objects: Single::default() }
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
        let objects = &delta.objects;
        let is_other = !objects.added.is_empty() || !objects.removed.is_empty() || !delta.renamed.is_empty();
        if is_other || changes.contains(Read::all(Kind::Origins)) {
            let before = std::mem::replace(&mut self.made, made(world, origins));
            if before != self.made {
                changes.add(Read::all(Kind::Made));
            }
        }
        let shared = Shared { world, origins, owners, loads: &self.loads };
        let before = self.objects.update(self.follows, changes, || {
            note(Read::all(Kind::Made));
            let own = |(origin, made): (Origin, &Bits)| {
                let mut own = made.clone();
                shared.remove(origin, &mut own);
                add_parts(world, owners, &mut own);
                own
            };
            self.made.iter().map(own).collect()
        });
        if let Some(before) = before.filter(|_| !changes.everything) {
            self.tell(&before, changes);
        }
    }

    fn tell(&self, before: &IndexVec<Origin, Bits>, changes: &mut Changes) {
        let none = Bits::new();
        for origin in (0..before.len().max(self.objects.value.len())).map(Origin::new) {
            let [before, now] = [before, &self.objects.value].map(|own| own.get(origin).unwrap_or(&none));
            let gone = before.iter().filter(|&obj| !now.contains(obj));
            let new = now.iter().filter(|&obj| !before.contains(obj));
            gone.chain(new).for_each(|obj| changes.add(Read::pair(Kind::Local, origin, Obj::new(obj))));
        }
    }

    pub fn contains(&self, origin: Origin, obj: Obj) -> bool {
        note(Read::pair(Kind::Local, origin, obj));
        self.objects.value.get(origin).is_some_and(|objects| objects.contains(obj.index()))
    }
}

/// By origin: what is made in the context of its task.
fn made(world: &World<'_>, origins: &Origins) -> IndexVec<Origin, Bits> {
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

/// What instances of an origin may get from each other.
struct Shared<'a, 'w> {
    world: &'a World<'w>,
    origins: &'a Origins,
    owners: &'a Owners,
    loads: &'a Loads,
}

impl Shared<'_, '_> {
    /// o stays local iff no load executed by the origin from a static, or from an object that is not local itself,
    /// may yield it.
    fn remove(&self, origin: Origin, own: &mut Bits) {
        let mut known: FxHashMap<Slot, bool> = FxHashMap::default();
        let mut is_loaded = |slot: Slot| *known.entry(slot).or_insert_with(|| self.is_loaded(origin, slot));
        loop {
            let is_own = |slot: Slot| base(slot).is_some_and(|base| own.contains(base.index()));
            let mut is_shared =
                |obj: Obj| self.owners.all(obj).iter().copied().any(|slot| !is_own(slot) && is_loaded(slot));
            let lost: Vec<usize> = own.iter().filter(|&at| is_shared(Obj::new(at))).collect();
            if lost.is_empty() {
                return;
            }
            for at in lost {
                own.remove(at);
            }
        }
    }

    /// Does the origin load references from the slot?
    fn is_loaded(&self, origin: Origin, slot: Slot) -> bool {
        let runs = |act: Act| self.origins.of(act).contains(&origin);
        let has_base = |act: Act, var: Option<Var>| match (base(slot), var) {
            (Some(base), Some(var)) => self.world.pointsto.pts(act, var).contains(base),
            (base, _) => base.is_none(),
        };
        let loads = |(method, var): Load| {
            self.world.acts_of(method).iter().any(|&act| runs(act) && has_base(act, var))
        };
        self.loads.of(slot).any(loads) || self.loads.modelled(slot).any(runs)
    }
}

fn base(slot: Slot) -> Option<Obj> {
    match slot {
        Slot::Field(base, _) | Slot::Elements(base) => Some(base),
        Slot::Static(_) => None,
    }
}

/// An object held only by local ones is local too if each of them gets its own: it is made for a private field,
/// or in the method that makes the holder, anew for each holder.
fn add_parts(world: &World<'_>, owners: &Owners, local: &mut Bits) {
    let mut left: Vec<Obj> = local.iter().map(Obj::new).collect();
    while let Some(holder) = left.pop() {
        for obj in world.slots_of(holder).flat_map(|(_, held)| held.iter()) {
            let Some(&[Slot::Field(only, field)]) = owners.of(obj) else { continue };
            let is_own = only == holder && (owners.is_private(field) || is_made_with(world, obj, holder));
            if is_own && local.insert(obj.index()) {
                left.push(obj);
            }
        }
    }
}

/// Is the holder never made twice in one execution of its method without the object being made in between?
fn is_made_with(world: &World<'_>, obj: Obj, holder: Obj) -> bool {
    let (Some((method, part)), Some((maker, whole))) = (allocation(world, obj), allocation(world, holder))
    else {
        return false;
    };
    let Some(flow) = world.method_flow(method).filter(|_| method == maker) else { return false };
    // In another execution of the method the object is another one as well.
    !after(flow, [whole], Some(part)).contains(whole.index())
        && !flow.body.params.iter().any(|&param| {
            world.acts_of(method).iter().any(|&act| world.pointsto.pts(act, param).contains(obj))
        })
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
    // A thread starts at most once.
    let thread = world.program.find_class("java/lang/Thread");
    if thread.is_some_and(|thread| world.program.is_subtype_loaded(world.pointsto.object(task).class, thread))
    {
        return true;
    }
    let Some((method, stmt)) = allocation(world, task) else { return false };
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
        !(reached(site.act, site.stmt) && events.any(|&(act, stmt)| reached(act, stmt)))
    })
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

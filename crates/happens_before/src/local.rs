//! Objects that belong to one instance of an origin that runs several times at once. Knows who allocated what
//! and what the origin loads from elsewhere.

use crate::bits::Bits;
use crate::flow::{after, from_entry};
use crate::origins::Origins;
use crate::owners::{Owners, allocation};
use crate::reach::{Barrier, Kills, Start, reach};
use crate::types::Origin;
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{MethodId, StmtId, StmtKind};
use pointsto::{Act, Context, Ctx, Obj, Slot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Beyond this many activations around an allocation, what happens between it and a spawn is not followed.
const MOST_CALLERS: usize = 1500;

#[derive(Debug, Default)]
pub struct Local {
    /// For origins that overlap themselves: objects no two instances share.
    objects: IndexVec<Origin, Bits>,
}

impl Local {
    pub fn new(world: &World<'_>, origins: &Origins, owners: &Owners) -> Local {
        let mut made_in: FxHashMap<Obj, Vec<Obj>> = FxHashMap::default();
        let mut tasks: FxHashMap<Ctx, Option<Obj>> = FxHashMap::default();
        for obj in world.pointsto.objects() {
            let ctx = world.pointsto.object(obj).ctx;
            let task = *tasks.entry(ctx).or_insert_with(|| task_of(world, ctx, 8));
            if let Some(task) = task {
                made_in.entry(task).or_default().push(obj);
            }
        }
        let tasks = origins.info.iter().filter_map(|(_, info)| info.task).map(|task| task.index()).collect();
        let held = elsewhere(world, &tasks);
        let mut local = Local::default();
        for (origin, info) in origins.info.iter() {
            let bits = local.objects.at(origin);
            let (true, Some(task)) = (info.overlaps_itself, info.task) else { continue };
            let mut own: Bits = made_in.get(&task).into_iter().flatten().map(|obj| obj.index()).collect();
            if info.own_task {
                own.insert(task.index());
            }
            *bits = remove_shared(world, origins, origin, own, &held);
            add_parts(world, owners, bits);
        }
        local
    }

    pub fn contains(&self, origin: Origin, obj: Obj) -> bool {
        self.objects.get(origin).is_some_and(|objects| objects.contains(obj.index()))
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

/// Objects that are held by a slot of an object of another context, and tasks, which are made in their parent's,
/// with those slots.
fn elsewhere(world: &World<'_>, tasks: &Bits) -> FxHashMap<Obj, Vec<Slot>> {
    let mut held: FxHashMap<Obj, Vec<Slot>> = FxHashMap::default();
    for (slot, objects) in world.pointsto.slots() {
        let ctx = match slot {
            Slot::Field(base, _) | Slot::Elements(base) => Some(world.pointsto.object(base).ctx),
            Slot::Static(_) => None,
        };
        for obj in objects.iter() {
            if Some(world.pointsto.object(obj).ctx) != ctx || tasks.contains(obj.index()) {
                held.entry(obj).or_default().push(slot);
            }
        }
    }
    held
}

/// o stays local iff no load executed by the origin from a static, or from an object that is not local itself,
/// may yield it.
fn remove_shared(
    world: &World<'_>,
    origins: &Origins,
    origin: Origin,
    mut own: Bits,
    held: &FxHashMap<Obj, Vec<Slot>>,
) -> Bits {
    let is_own = |own: &Bits, slot: &Slot| match slot {
        Slot::Field(base, _) | Slot::Elements(base) => own.contains(base.index()),
        Slot::Static(_) => false,
    };
    let escaped: Vec<usize> = own
        .iter()
        .filter(|&at| {
            held.get(&Obj::new(at)).is_some_and(|slots| slots.iter().any(|slot| !is_own(&own, slot)))
        })
        .collect();
    if escaped.is_empty() {
        return own;
    }
    let loaded = loads(world, origins, origin);
    loop {
        let mut lost = Vec::new();
        for &slot in loaded.iter().filter(|slot| !is_own(&own, slot)) {
            lost.extend(world.pointsto.held(slot).iter().filter(|obj| own.contains(obj.index())));
        }
        if lost.is_empty() {
            return own;
        }
        for obj in lost {
            own.remove(obj.index());
        }
    }
}

/// Slots that the origin loads references from.
fn loads(world: &World<'_>, origins: &Origins, origin: Origin) -> Vec<Slot> {
    let mut slots = Vec::new();
    for act in origins.runs[origin].iter().map(Act::new) {
        let Some(body) = world.program.lowered(world.pointsto.method(act)) else { continue };
        for (stmt, info) in body.stmts.iter() {
            match info.kind {
                StmtKind::Load { dst, base, field } if body.vars[dst].is_ref => {
                    let Some(field) = world.resolve_field(field) else { continue };
                    slots.extend(world.pointsto.pts(act, base).iter().map(|obj| Slot::Field(obj, field)));
                }
                StmtKind::LoadElem { dst, base, .. } if body.vars[dst].is_ref => {
                    slots.extend(world.pointsto.pts(act, base).iter().map(Slot::Elements));
                }
                StmtKind::LoadStatic { dst, field } if body.vars[dst].is_ref => {
                    slots.extend(world.resolve_field(field).map(Slot::Static));
                }
                StmtKind::Call { .. } => modelled_loads(world, act, stmt, &mut slots),
                _ => {}
            }
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// A modelled call that passes something on may have it from any field of what it is called on.
fn modelled_loads(world: &World<'_>, act: Act, stmt: StmtId, slots: &mut Vec<Slot>) {
    use models::{Source, Step};
    for step in world.steps(act, stmt) {
        let value = match step {
            Step::Assign { src: Source::Copy(value), .. } => {
                let copied = world.operand(act, stmt, value);
                slots.extend(copied.iter().flat_map(|obj| world.slots_of(obj).map(|(slot, _)| slot)));
                continue;
            }
            Step::Assign { src: Source::Value(value), .. } if !value.path.is_empty() => value,
            _ => continue,
        };
        // The slots themselves cannot be named without the model's fields; their contents can be compared.
        let part = |len: usize| {
            let path = value.path[..len].to_vec();
            world.operand(act, stmt, &models::Operand { root: value.root, path })
        };
        for len in 0..value.path.len() {
            let inner = part(len + 1);
            for base in part(len).iter() {
                let holding = world.slots_of(base).filter(|(_, objects)| objects.intersects(&inner));
                slots.extend(holding.map(|(slot, _)| slot));
            }
        }
    }
}

/// Does every instance run on a task of its own: is the spawn not reachable from itself without passing the
/// statement that allocates the task?
pub fn has_own_task(world: &World<'_>, origins: &Origins, unique: &Unique, origin: Origin) -> bool {
    let info = &origins.info[origin];
    let Some(task) = info.task else { return false };
    if unique.contains(task) {
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
    if world.callers_of(world.acts_of(method).iter().copied()).iter().count() > MOST_CALLERS {
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
    let reached = reach(world, info.entry, &runs, &starts, &Barrier::new(world, kills));
    origins.sites_of[origin].iter().map(|&at| &origins.sites[at]).all(|site| {
        let mut events = site.events.iter();
        !(reached.contains(site.act, site.stmt) && events.any(|&(act, stmt)| reached.contains(act, stmt)))
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

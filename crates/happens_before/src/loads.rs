//! Who loads references from where: the other way round from a body, which says what it loads. Knows fields, elements
//! and what models pass on; knows no origin.

use crate::world::World;
use ir::{FieldId, MethodId, StmtId, StmtKind, Var};
use models::{Operand, Source, Step};
use pointsto::{Act, PointsToDelta, Slot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Sizes, note};

/// A method that loads, and the variable it loads from unless that is a static.
pub type Load = (MethodId, Option<Var>);

/// What a method loads: the field, unless it is an element, and the variable it loads from unless it is a static.
type Loaded = (Option<FieldId>, Option<Var>);

pub struct Loads {
    follows: bool,
    methods: Memo<MethodId, Vec<Loaded>>,
    by_field: FxHashMap<Option<FieldId>, BTreeSet<Load>>,
    /// What models load.
    acts: Memo<Act, BTreeSet<Slot>>,
    by_slot: FxHashMap<Slot, BTreeSet<Act>>,
}

impl Loads {
    pub fn new(follows: bool) -> Loads {
        Loads {
            follows,
            methods: Memo::new(Kind::Other, follows),
            by_field: FxHashMap::default(),
            acts: Memo::new(Kind::Other, follows),
            by_slot: FxHashMap::default(),
        }
    }

    /// Follows a change of bodies and models; tells of which slots there are other loads.
    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        let mut acts: BTreeSet<Act> = delta.acts.added.iter().chain(&delta.acts.removed).copied().collect();
        let mut methods: BTreeSet<MethodId> = acts.iter().map(|&act| world.pointsto.method(act)).collect();
        if changes.everything {
            *self = Loads::new(self.follows);
            methods = world.methods().into_iter().collect();
            acts = world.pointsto.acts().collect();
        }
        methods.extend(self.methods.stale(changes));
        acts.extend(self.acts.stale(changes));
        acts.extend(&delta.models);
        // What is read here is read by nobody else.
        let mut own = Changes::default();
        let methods: Vec<MethodId> = methods.into_iter().collect();
        let redone = self.methods.redo(&methods, &mut own, |method| loads(world, method));
        for (method, before) in redone {
            let now = self.methods.peek(method);
            for &(field, var) in before.iter().flatten() {
                self.by_field.entry(field).or_default().remove(&(method, var));
                changes.add(read(field));
            }
            for &(field, var) in now.into_iter().flatten() {
                self.by_field.entry(field).or_default().insert((method, var));
                changes.add(read(field));
            }
        }
        // Most have no models that load: of these, nothing need be remembered but that.
        let acts: Vec<Act> =
            acts.into_iter().filter(|&act| self.acts.peek(act).is_some() || passes_on(world, act)).collect();
        for (act, before) in self.acts.redo(&acts, &mut own, |act| modelled(world, act)) {
            let now = self.acts.peek(act);
            for slot in before.iter().flatten() {
                self.by_slot.entry(*slot).or_default().remove(&act);
                changes.add(modelled_read(*slot));
            }
            for slot in now.into_iter().flatten() {
                self.by_slot.entry(*slot).or_default().insert(act);
                changes.add(modelled_read(*slot));
            }
        }
    }

    /// Loads of this field, or of elements.
    pub fn of(&self, field: Option<FieldId>) -> impl Iterator<Item = Load> + '_ {
        note(read(field));
        self.by_field.get(&field).into_iter().flatten().copied()
    }

    /// Who runs calls whose models may load from the slot.
    pub fn modelled(&self, slot: Slot) -> impl Iterator<Item = Act> + '_ {
        note(modelled_read(slot));
        self.by_slot.get(&slot).into_iter().flatten().copied()
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.methods.sizes(sizes);
        self.acts.sizes(sizes);
        sizes.add("loaded fields", self.by_field.len());
        sizes.add("loaded slots", self.by_slot.len());
    }
}

/// None for elements.
pub fn field_of(slot: Slot) -> Option<FieldId> {
    match slot {
        Slot::Field(_, field) | Slot::Static(field) => Some(field),
        Slot::Elements(_) => None,
    }
}

fn read(field: Option<FieldId>) -> Read {
    field.map_or(Read::all(Kind::Loads), |field| Read::of(Kind::Loads, field))
}

fn modelled_read(slot: Slot) -> Read {
    match slot {
        Slot::Field(obj, _) | Slot::Elements(obj) => Read::of(Kind::Modelled, obj),
        Slot::Static(field) => Read::pair(Kind::Modelled, field, field),
    }
}

fn loads(world: &World<'_>, method: MethodId) -> Option<Vec<Loaded>> {
    if world.acts_of(method).is_empty() {
        return None;
    }
    let body = world.program.lowered(method)?;
    let load = |kind: &StmtKind| match *kind {
        StmtKind::Load { dst, base, field } if body.vars[dst].is_ref => {
            Some((Some(world.resolve_field(field)?), Some(base)))
        }
        StmtKind::LoadStatic { dst, field } if body.vars[dst].is_ref => {
            Some((Some(world.resolve_field(field)?), None))
        }
        StmtKind::LoadElem { dst, base, .. } if body.vars[dst].is_ref => Some((None, Some(base))),
        _ => None,
    };
    let mut found: Vec<_> = body.stmts.iter().filter_map(|(_, info)| load(&info.kind)).collect();
    found.sort_unstable();
    found.dedup();
    Some(found).filter(|found| !found.is_empty())
}

/// The operand that a step loads from.
fn loaded(step: &Step) -> Option<(&Operand, bool)> {
    match step {
        Step::Assign { src: Source::Copy(value), .. } => Some((value, true)),
        Step::Assign { src: Source::Value(value), .. } if !value.path.is_empty() => Some((value, false)),
        _ => None,
    }
}

fn calls(world: &World<'_>, act: Act) -> Vec<StmtId> {
    let Some(body) = world.program.lowered(world.pointsto.method(act)) else { return Vec::new() };
    let calls = body.stmts.iter().filter(|(_, info)| matches!(info.kind, StmtKind::Call { .. }));
    calls.map(|(stmt, _)| stmt).collect()
}

/// Are there models at its calls that load?
fn passes_on(world: &World<'_>, act: Act) -> bool {
    let loads = |stmt: StmtId| world.steps(act, stmt).any(|step| loaded(step).is_some());
    world.pointsto.runs(act) && calls(world, act).into_iter().any(loads)
}

/// A modelled call that passes something on may have it from any field of what it is called on.
fn modelled(world: &World<'_>, act: Act) -> Option<BTreeSet<Slot>> {
    if !world.pointsto.runs(act) {
        return None;
    }
    let mut slots = BTreeSet::new();
    for stmt in calls(world, act) {
        for (value, copies) in world.steps(act, stmt).filter_map(loaded) {
            if copies {
                let copied = world.operand(act, stmt, value);
                slots.extend(copied.iter().flat_map(|obj| world.slots_of(obj).map(|(slot, _)| slot)));
                continue;
            }
            // The slots themselves cannot be named without the model's fields; their contents can be compared.
            let part = |len: usize| {
                let path = value.path[..len].to_vec();
                world.operand(act, stmt, &Operand { root: value.root, path })
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
    Some(slots).filter(|slots| !slots.is_empty())
}

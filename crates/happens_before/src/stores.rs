//! Who stores what into which field, and what that says about the field: that it never changes, that what it holds
//! belongs to its holder alone. Knows bodies; of the heap only what is copied as a whole.

use crate::flow::after;
use crate::world::World;
use arena::Id;
use ir::{Body, Const, FieldId, MethodId, StmtId, StmtKind, Var};
use models::{Source, Step};
use pointsto::{PointsToDelta, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Single, Sizes, note};

pub struct Stores {
    methods: Memo<MethodId, Vec<Stored>>,
    fields: FxHashMap<FieldId, Field>,
    /// Fields of objects of which shallow copies are made: the copies hold the same.
    copied: Single<FxHashSet<FieldId>>,
    follows: bool,
}

/// One store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub field: FieldId,
    pub stmt: StmtId,
    what: Stuff,
    /// By a constructor of the class into `this`, or by the class initialiser.
    by_maker: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stuff {
    /// No reference.
    Plain,
    /// Null, or an object that the method has just made and gives to nobody else.
    Own,
    Shared,
}

#[derive(Default)]
struct Field {
    stores: Vec<(MethodId, Stored)>,
    is_private: bool,
    is_stable: bool,
    is_single: bool,
}

impl Stores {
    pub fn new(follows: bool) -> Stores {
        let methods = Memo::new(Kind::Stores, follows);
        Stores { methods, fields: FxHashMap::default(), copied: Single::default(), follows }
    }

    /// Returns the fields that are stable now, or no longer.
    pub fn update(
        &mut self,
        world: &World<'_>,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) -> Vec<FieldId> {
        let mut settled = Vec::new();
        let methods: Vec<MethodId> = if changes.everything {
            *self = Stores::new(self.follows);
            world.methods()
        } else {
            let acts = delta.acts.added.iter().chain(&delta.acts.removed);
            let methods = acts.map(|&act| world.pointsto.method(act)).chain(self.methods.stale(changes));
            methods.collect::<BTreeSet<_>>().into_iter().collect()
        };
        let mut touched: BTreeSet<FieldId> = BTreeSet::new();
        let redone = self.methods.redo(&methods, changes, |method| {
            if world.acts_of(method).is_empty() { None } else { stores(world, method) }
        });
        for (method, before) in redone {
            for stored in before.into_iter().flatten() {
                self.fields.entry(stored.field).or_default().stores.retain(|&(other, _)| other != method);
                touched.insert(stored.field);
            }
            for &stored in self.methods.peek(method).into_iter().flatten() {
                self.fields.entry(stored.field).or_default().stores.push((method, stored));
                touched.insert(stored.field);
            }
        }
        if let Some(before) = self.copied.update(self.follows, changes, || copied(world)) {
            touched.extend(before.symmetric_difference(&self.copied.value));
        }
        for id in touched {
            changes.add(Read::pair(Kind::StoresTo, id, id));
            let is_copied = self.copied.value.contains(&id);
            let field = self.fields.entry(id).or_default();
            let all = |what: fn(&Stored) -> bool| field.stores.iter().all(|(_, stored)| what(stored));
            let any = |what: fn(&Stored) -> bool| field.stores.iter().any(|(_, stored)| what(stored));
            let is_private = any(|stored| stored.what == Stuff::Own)
                && all(|stored| stored.what != Stuff::Shared)
                && !is_copied;
            let is_stable = !field.stores.is_empty() && all(|stored| stored.by_maker);
            if std::mem::replace(&mut field.is_private, is_private) != is_private {
                changes.add(Read::of(Kind::Private, id));
            }
            if std::mem::replace(&mut field.is_stable, is_stable) != is_stable {
                changes.add(Read::of(Kind::Stable, id));
                settled.push(id);
            }
            let is_single = field.stores.len() == 1;
            if std::mem::replace(&mut field.is_single, is_single) != is_single {
                changes.add(Read::of(Kind::StoresTo, id));
            }
        }
        settled
    }

    /// Does every object in this field belong to one holder only, ever? Every store to it stores null, or an object
    /// that the storing method has just made and gives to nobody else: then no two objects ever hold the same one
    /// in it, and none gets it a second time.
    pub fn is_private(&self, field: FieldId) -> bool {
        note(Read::of(Kind::Private, field));
        self.fields.get(&field).is_some_and(|field| field.is_private)
    }

    /// It is stored only by constructors of its class on `this` (a static field: only by the class initialiser).
    pub fn is_stable(&self, field: FieldId) -> bool {
        note(Read::of(Kind::Stable, field));
        self.fields.get(&field).is_some_and(|field| field.is_stable)
    }

    /// Fields that the method stores into.
    pub fn of(&self, method: MethodId) -> &[Stored] {
        self.methods.get(method).map_or(&[], Vec::as_slice)
    }

    /// The stores to a field.
    pub fn to(&self, field: FieldId) -> impl Iterator<Item = (MethodId, StmtId)> + '_ {
        note(Read::pair(Kind::StoresTo, field, field));
        let stores = self.fields.get(&field).into_iter().flat_map(|field| &field.stores);
        stores.map(|&(method, stored)| (method, stored.stmt))
    }

    /// Is there one store to the field only?
    pub fn is_single(&self, field: FieldId) -> bool {
        note(Read::of(Kind::StoresTo, field));
        self.fields.get(&field).is_some_and(|field| field.is_single)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.methods.sizes(sizes);
        sizes.add("stored fields", self.fields.len());
    }
}

fn stores(world: &World<'_>, method: MethodId) -> Option<Vec<Stored>> {
    let body = world.program.lowered(method)?;
    let info = world.program.method_ref(method);
    let name = world.program.selector_text(info.selector).0;
    let mut found = Vec::new();
    for (stmt, kind) in body.stmts.iter().map(|(stmt, info)| (stmt, &info.kind)) {
        let (field, src, maker, on_this) = match kind {
            StmtKind::Store { base, field, src } => {
                (*field, *src, "<init>", body.params.first() == Some(base))
            }
            StmtKind::StoreStatic { field, src } => (*field, *src, "<clinit>", true),
            _ => continue,
        };
        let Some(field) = world.resolve_field(field) else { continue };
        let is_own = || {
            is_null(body, src)
                || is_made_for(world, body, stmt, src) && !is_repeated(world, method, stmt, src)
        };
        let what = match body.vars[src].is_ref {
            false => Stuff::Plain,
            true if is_own() => Stuff::Own,
            true => Stuff::Shared,
        };
        let by_maker = name == maker && on_this && world.program.field_ref(field).class == info.class;
        found.push(Stored { field, stmt, what, by_maker });
    }
    (!found.is_empty()).then_some(found)
}

fn copied(world: &World<'_>) -> FxHashSet<FieldId> {
    let mut copied = FxHashSet::default();
    for (act, stmt, step) in world.copies() {
        let Step::Assign { src: Source::Copy(original), .. } = step else { continue };
        for obj in world.operand(act, stmt, original).iter() {
            copied.extend(world.slots_of(obj).filter_map(|(slot, _)| match slot {
                Slot::Field(_, field) => Some(field),
                Slot::Elements(_) | Slot::Static(_) => None,
            }));
        }
    }
    copied
}

fn is_null(body: &Body, var: Var) -> bool {
    let def = body.vars[var].def.map(|def| &body.stmts[def].kind);
    matches!(def, Some(StmtKind::Const { value: Const::Null, .. }))
}

/// Is the stored value allocated in this body and used, besides by its constructor and as a receiver, only by
/// this store?
fn is_made_for(world: &World<'_>, body: &Body, store: StmtId, var: Var) -> bool {
    let def = body.vars[var].def.map(|def| &body.stmts[def].kind);
    if !matches!(def, Some(StmtKind::New { .. } | StmtKind::NewArray { .. })) {
        return false;
    }
    let constructs = |target: ir::MethodRef| world.program.selector_text(target.selector).0 == "<init>";
    body.stmts.iter().all(|(stmt, info)| match &info.kind {
        StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. } => *src != var || stmt == store,
        StmtKind::StoreElem { src, .. } => *src != var,
        StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. } => *src != var,
        StmtKind::Phi { srcs, .. } => !srcs.contains(&var),
        StmtKind::Call { target, args, .. } if args.first() == Some(&var) && constructs(*target) => {
            !args[1..].contains(&var)
        }
        StmtKind::Call { args, .. } => !args.contains(&var),
        StmtKind::Lambda { captures, .. } => !captures.contains(&var),
        StmtKind::Return { value } => *value != Some(var),
        StmtKind::Throw { value } => *value != var,
        _ => true,
    })
}

/// May one object be stored twice?
fn is_repeated(world: &World<'_>, method: MethodId, store: StmtId, var: Var) -> bool {
    world.method_flow(method).is_none_or(|flow| {
        flow.in_loop(store) && after(flow, [store], flow.body.vars[var].def).contains(store.index())
    })
}

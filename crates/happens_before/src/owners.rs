//! Which heap locations hold which objects, as far as there are few: who owns what. Knows the solved heap and
//! the fields that only ever get objects nobody else has; knows no lock and no origin.

use crate::bits::Bits;
use crate::flow::after;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{Body, Const, FieldId, MethodId, StmtId, StmtKind, Var};
use models::{Source, Step};
use pointsto::{Obj, Site, Slot};

/// More holders than this are not told apart.
const FEW: usize = 8;
/// Longest chain of parts of parts.
const DEEPEST: usize = 4;

#[derive(Debug, Default)]
pub struct Owners {
    held_by: IndexVec<Obj, Holders>,
    private: Bits,
}

/// The heap locations that hold an object, up to a few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Holders {
    #[default]
    Nobody,
    Few(Vec<Slot>),
    Many,
}

impl Owners {
    pub fn new(world: &World<'_>) -> Owners {
        let mut owners = Owners { held_by: IndexVec::new(), private: private_fields(world) };
        for obj in world.pointsto.objects() {
            owners.held_by.at(obj);
        }
        for (slot, objects) in world.pointsto.slots() {
            for obj in objects.iter() {
                let holders = &mut owners.held_by[obj];
                match holders {
                    Holders::Nobody => *holders = Holders::Few(vec![slot]),
                    Holders::Few(slots) if slots.len() < FEW => slots.push(slot),
                    Holders::Few(_) => *holders = Holders::Many,
                    Holders::Many => {}
                }
            }
        }
        for at in 0..owners.held_by.len() {
            if let Holders::Few(slots) = &mut owners.held_by[Obj::new(at)] {
                slots.sort_unstable();
            }
        }
        owners
    }

    /// All heap locations that hold the object; `None` if there are too many.
    pub fn of(&self, obj: Obj) -> Option<&[Slot]> {
        match self.held_by.get(obj) {
            None | Some(Holders::Nobody) => Some(&[]),
            Some(Holders::Few(slots)) => Some(slots),
            Some(Holders::Many) => None,
        }
    }

    /// Does every object in this field belong to one holder only, ever?
    pub fn is_private(&self, field: FieldId) -> bool {
        self.private.contains(field.index())
    }

    /// The abstract objects of which the object is a private part, if it always is one.
    pub fn wholes(&self, obj: Obj) -> Option<Vec<Obj>> {
        let slots = self.of(obj).filter(|slots| !slots.is_empty())?;
        let whole = |slot: &Slot| match *slot {
            Slot::Field(whole, field) if self.is_private(field) => Some(whole),
            _ => None,
        };
        slots.iter().map(whole).collect()
    }

    /// The same, up to wholes that are nobody's part. `obj` itself if it is no part.
    pub fn tops(&self, obj: Obj) -> Vec<Obj> {
        let mut tops = vec![obj];
        for _ in 0..DEEPEST {
            let up = |&obj: &Obj| self.wholes(obj).unwrap_or_else(|| vec![obj]);
            let mut next: Vec<Obj> = tops.iter().flat_map(up).collect();
            next.sort_unstable();
            next.dedup();
            if next == tops {
                break;
            }
            tops = next;
        }
        tops
    }
}

/// A field is private if every store to it stores null, or an object that the storing method has just made and
/// gives to nobody else: then no two objects ever hold the same one in it, and none gets it a second time.
fn private_fields(world: &World<'_>) -> Bits {
    let mut private = Bits::new();
    let mut shared = Bits::new();
    for method in world.methods() {
        let Some(body) = world.program.lowered(method) else { continue };
        for (stmt, info) in body.stmts.iter() {
            let (StmtKind::Store { field, src, .. } | StmtKind::StoreStatic { field, src }) = info.kind
            else {
                continue;
            };
            if !body.vars[src].is_ref {
                continue;
            }
            let Some(field) = world.resolve_field(field) else { continue };
            if is_null(body, src)
                || is_made_for(world, body, stmt, src) && !is_repeated(world, method, stmt, src)
            {
                private.insert(field.index());
            } else {
                shared.insert(field.index());
            }
        }
    }
    for field in shared.iter().chain(copied_fields(world).iter()) {
        private.remove(field);
    }
    private
}

/// Fields of objects of which shallow copies are made: the copies hold the same.
fn copied_fields(world: &World<'_>) -> Bits {
    let mut copied = Bits::new();
    for act in world.pointsto.acts() {
        let Some(body) = world.program.lowered(world.pointsto.method(act)) else { continue };
        let calls = body.stmts.iter().filter(|(_, info)| matches!(info.kind, StmtKind::Call { .. }));
        for (stmt, _) in calls {
            for step in world.steps(act, stmt) {
                let Step::Assign { src: Source::Copy(original), .. } = step else { continue };
                for obj in world.operand(act, stmt, original).iter() {
                    copied.insert_all(world.slots_of(obj).filter_map(|(slot, _)| match slot {
                        Slot::Field(_, field) => Some(field.index()),
                        Slot::Elements(_) | Slot::Static(_) => None,
                    }));
                }
            }
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

/// The statement that allocates an object.
pub fn allocation(world: &World<'_>, obj: Obj) -> Option<(MethodId, StmtId)> {
    match world.pointsto.object(obj).site {
        Site::Alloc(method, stmt) => Some((method, stmt)),
        _ => None,
    }
}

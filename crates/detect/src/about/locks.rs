//! Locks that are held at one place, whoever gets there, and what each is called from the object that is touched. Knows
//! nothing of what they are compared for.

use crate::Stages;
use crate::describe::Describe;
use arena::Name;
use findings::{Held, LockUse, Place};
use happens_before::{HeldLock, LockKey, PathStep};
use ir::{Body, FieldId, MethodId, StmtId, StmtKind, Var};
use pointsto::{Act, Obj, Site};
use std::collections::BTreeSet;

/// A lock as one activation holds it, or as several do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    lock: LockUse,
    /// In terms of one method.
    keys: Vec<LockKey>,
    /// The statement that takes it, or the synchronized method, if it is one.
    taken: Option<(MethodId, Option<StmtId>)>,
    known_as: BTreeSet<String>,
}

impl Hold {
    /// A lock that is held where the object in the variable is touched, or a static field.
    pub fn of(
        describe: &Describe<'_>,
        stages: &Stages<'_>,
        (act, base): (Act, Option<Var>),
        lock: &HeldLock,
    ) -> Hold {
        let mut known_as: BTreeSet<String> =
            lock.keys.iter().filter_map(|key| global_name(describe, stages, key)).collect();
        let ways = base.map_or_else(Vec::new, |base| stages.happens_before.ways_to(act, base, lock));
        known_as.extend(ways.iter().filter_map(|way| name_of_way(stages, way)));
        Hold {
            lock: describe.lock(lock),
            keys: lock.keys.clone(),
            taken: Some((stages.pointsto.method(lock.act), lock.stmt)),
            known_as,
        }
    }

    pub fn tell(self) -> Held {
        Held { lock: self.lock, known_as: self.known_as.into_iter().collect() }
    }

    /// What is true of it here and there, whoever comes first; nothing if it is not one lock.
    fn and(&self, other: &Hold) -> Option<Hold> {
        let keys: Vec<LockKey> = self.keys.iter().filter(|key| other.keys.contains(key)).cloned().collect();
        let taken = self.taken.filter(|_| self.taken == other.taken);
        let shared = self.lock.shared || other.lock.shared;
        let lock = LockUse { shared, ..(&self.lock).min(&other.lock).clone() };
        let known_as = self.known_as.intersection(&other.known_as).cloned().collect();
        (taken.is_some() || !keys.is_empty()).then_some(Hold { lock, keys, taken, known_as })
    }
}

/// What is taken again while it is held is one lock, told where it is first.
pub(super) fn once_each(held: impl Iterator<Item = Hold>) -> Vec<Hold> {
    let mut held: Vec<Hold> = held.collect();
    held.sort_by(|a, b| a.lock.cmp(&b.lock));
    let mut each: Vec<Hold> = Vec::new();
    for hold in held {
        let is_again = |known: &&mut Hold| {
            known.lock.shared == hold.lock.shared && known.keys.iter().any(|key| hold.keys.contains(key))
        };
        match each.iter_mut().find(is_again) {
            Some(known) => known.known_as.extend(hold.known_as),
            None => each.push(hold),
        }
    }
    each
}

/// Keeps what is held here too.
pub(super) fn meet(common: &mut Option<Vec<Hold>>, held: Vec<Hold>) {
    let Some(before) = common.take() else {
        *common = Some(held);
        return;
    };
    let both = |hold: &Hold| held.iter().find_map(|other| hold.and(other));
    *common = Some(before.iter().filter_map(both).collect());
}

/// The field that a lock is known by.
pub(super) fn field_of(key: &LockKey) -> Option<FieldId> {
    let named = |steps: &[PathStep]| steps.iter().rfind(|step| **step != PathStep::Explicit).copied();
    match key {
        LockKey::Path { steps, .. } | LockKey::Static { steps, .. } if named(steps).is_some() => {
            match named(steps) {
                Some(PathStep::Field(field)) => Some(field),
                _ => None,
            }
        }
        LockKey::Static { field, .. } => Some(*field),
        _ => None,
    }
}

/// What the same lock is called everywhere.
fn global_name(describe: &Describe<'_>, stages: &Stages<'_>, key: &LockKey) -> Option<String> {
    let program = stages.program;
    match key {
        LockKey::Unique(obj) | LockKey::UniqueExplicit(obj) => object_name(describe, stages, *obj),
        LockKey::Class(class) => Some(format!("{}.class", program.class_display(*class))),
        LockKey::Text(text) => Some(format!("\"{}\"", &program.names[*text])),
        LockKey::Static { field, steps } => below(stages, program.field_display(*field), steps),
        LockKey::Path { .. } => None,
    }
}

/// An object that exists once: `lock made at bank/Main.java:8`.
fn object_name(describe: &Describe<'_>, stages: &Stages<'_>, obj: Obj) -> Option<String> {
    let program = stages.program;
    let object = stages.pointsto.object(obj);
    let variable = match object.site {
        Site::Literal(class) => return Some(format!("{}.class", program.class_display(class))),
        Site::Alloc(method, stmt) => program.lowered(method).and_then(|body| variable(body, stmt)),
        _ => None,
    };
    let name = match variable {
        Some(name) => program.names[name].to_string(),
        None => program.class_display(object.class),
    };
    let Place { file, line } = describe.object_place(obj)?;
    Some(format!("{name} made at {file}:{line}"))
}

/// The variable that gets what a statement makes.
fn variable(body: &Body, stmt: StmtId) -> Option<Name> {
    match body.stmts.get(stmt)?.kind {
        StmtKind::New { dst, .. } => body.vars[dst].name,
        _ => None,
    }
}

/// From the object that is touched: up to those that have it in a field, and down to the lock.
fn name_of_way(stages: &Stages<'_>, way: &[PathStep]) -> Option<String> {
    let is_up = |step: &&PathStep| matches!(step, PathStep::Owner(_) | PathStep::OwnerArray);
    let up = way.iter().take_while(is_up).count();
    let top = match way[..up].last() {
        None => "this".to_owned(),
        Some(PathStep::Owner(field)) => {
            format!("{}.this", stages.program.class_display(stages.program.field_ref(*field).class))
        }
        Some(_) => return None,
    };
    below(stages, top, &way[up..])
}

fn below(stages: &Stages<'_>, top: String, steps: &[PathStep]) -> Option<String> {
    steps.iter().try_fold(top, |name, step| match *step {
        PathStep::Field(field) => Some(format!("{name}.{}", field_name(stages, field))),
        PathStep::Made(method, var) => {
            let body = stages.program.lowered(method)?;
            Some(format!("{name}.{}", &stages.program.names[body.vars.get(var)?.name?]))
        }
        PathStep::Explicit => Some(name),
        PathStep::Capture(_) | PathStep::Owner(_) | PathStep::OwnerArray => None,
    })
}

fn field_name<'a>(stages: &Stages<'a>, field: FieldId) -> &'a str {
    &stages.program.names[stages.program.field_ref(field).name]
}

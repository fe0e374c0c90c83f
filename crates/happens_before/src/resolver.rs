//! Symbolic references resolved against what is loaded already. Knows classes, fields and declarations; no body.

use ir::{ClassId, FieldId, FieldRef, MethodId, MethodRef, Program, StmtKind};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use track::{Kind, Read, note, unnoted};

pub struct Resolver<'a> {
    pub program: &'a Program,
    found: Mutex<Found>,
    exception: Option<ClassId>,
    runtime: Option<ClassId>,
    interrupted: Option<ClassId>,
}

/// What was found so far. What was not is looked for again: who asks is told so.
#[derive(Default)]
struct Found {
    fields: FxHashMap<FieldRef, FieldId>,
    methods: FxHashMap<MethodRef, MethodId>,
}

impl<'a> Resolver<'a> {
    pub fn new(program: &'a Program) -> Resolver<'a> {
        Resolver {
            program,
            found: Mutex::default(),
            exception: program.find_class("java/lang/Exception"),
            runtime: program.find_class("java/lang/RuntimeException"),
            interrupted: program.find_class("java/lang/InterruptedException"),
        }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn field(&self, field: FieldRef) -> Option<FieldId> {
        note(Read::of(Kind::FieldsIn, field.class));
        if let Some(&known) = self.found().fields.get(&field) {
            return Some(known);
        }
        let program = self.program;
        let found = unnoted(|| {
            let declared = |class| program.declared_field(FieldRef { class, ..field });
            let above = || program.supertypes(field.class).find_map(declared);
            program.superclasses(field.class).find_map(declared).or_else(above)
        });
        match found {
            Some(found) => _ = self.found().fields.insert(field, found),
            None => note(Read::all(Kind::Loaded)),
        }
        found
    }

    pub fn method(&self, method: MethodRef) -> Option<MethodId> {
        note(Read::of(Kind::MethodsIn, method.class));
        if let Some(&known) = self.found().methods.get(&method) {
            return Some(known);
        }
        let program = self.program;
        let found = unnoted(|| {
            let declared = |class| program.declared_method(MethodRef { class, ..method });
            let above = || program.supertypes(method.class).find_map(declared);
            program.superclasses(method.class).find_map(declared).or_else(above)
        });
        match found {
            Some(found) => _ = self.found().methods.insert(method, found),
            None => note(Read::all(Kind::Loaded)),
        }
        found
    }

    pub fn field_of(&self, kind: &StmtKind) -> Option<FieldId> {
        match *kind {
            StmtKind::Load { field, .. }
            | StmtKind::Store { field, .. }
            | StmtKind::LoadStatic { field, .. }
            | StmtKind::StoreStatic { field, .. } => self.field(field),
            _ => None,
        }
    }

    /// Does the call declare an interrupt?
    pub fn is_interruptible(&self, target: MethodRef) -> bool {
        let throws = self.method(target).map(|method| self.program.method(method).throws.as_slice());
        throws.unwrap_or_default().iter().any(|&class| Some(class) == self.interrupted)
    }

    /// May the call throw something a handler of this checked class catches?
    pub fn compatible(&self, target: MethodRef, caught: ClassId) -> bool {
        let Some(method) = self.method(target) else { return true };
        let throws = &self.program.method(method).throws;
        throws.iter().any(|&class| {
            self.program.is_subtype_loaded(class, caught) || self.program.is_subtype_loaded(caught, class)
        })
    }

    /// May the call throw something such a handler catches that is not an interrupt?
    pub fn catches_failure(&self, target: MethodRef, caught: ClassId) -> bool {
        // What is only declared may not have been loaded: then its superclasses are not known.
        let is_wide = self.exception.is_some_and(|class| self.program.is_subtype_loaded(class, caught));
        is_wide || Some(caught) != self.interrupted && self.compatible(target, caught)
    }

    pub fn is_checked(&self, class: ClassId) -> bool {
        // It is caught more often than thrown, so that it may not have been loaded.
        if Some(class) == self.interrupted {
            return true;
        }
        let (Some(exception), Some(runtime)) = (self.exception, self.runtime) else {
            note(Read::all(Kind::Loaded));
            return false;
        };
        class != exception
            && self.program.is_subtype_loaded(class, exception)
            && !self.program.is_subtype_loaded(class, runtime)
    }
}

//! What differs between the program as it is and as it will be, class by class and body by body. Plain data: how it
//! is found and made true is next door, in [`change`](crate::change).

use crate::align::Alignment;
use crate::body::Body;
use crate::load::Stage;
use crate::program::{Class, ClassId, Field, FieldId, Method, MethodId, Program, access};
use std::sync::Arc;
use track::{Changes, Kind, Read};

/// Made by [`Program::diff`](crate::Program::diff), made true by [`Program::commit`](crate::Program::commit).
#[derive(Default)]
pub struct ProgramDelta {
    /// Lowered bodies that mean something else, come or go; by method.
    pub bodies: Vec<BodyChange>,
    /// Lowered bodies of which only lines, offsets, names of variables or problems differ; by method.
    pub moved: Vec<(MethodId, Arc<Body>)>,
    /// Loaded classes that differ in more than code; by class.
    pub classes: Vec<ClassChange>,
    /// The body of every method that was lowered and belongs to a class read again.
    pub(crate) settled: Vec<(MethodId, Option<Arc<Body>>)>,
    /// The new class path with all classes that are read again, come in with them or stand below them.
    pub(crate) stage: Option<Stage>,
    /// Classes that may have changed and were not loaded.
    pub(crate) unloaded: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct BodyChange {
    pub method: MethodId,
    pub old: Option<Arc<Body>>,
    pub new: Option<Arc<Body>>,
    /// Of nothing with all of `new` if there was no body before, and the other way round.
    pub alignment: Alignment,
}

#[derive(Debug, Clone)]
pub struct ClassChange {
    pub class: ClassId,
    pub old: Class,
    pub new: Class,
    /// Methods added, removed or changed other than in their code; by id.
    pub methods: Vec<MemberChange<MethodId, Method>>,
    /// Fields added, removed or changed; by id.
    pub fields: Vec<MemberChange<FieldId, Field>>,
}

/// Added without `old`, removed without `new`.
#[derive(Debug, Clone)]
pub struct MemberChange<I, T> {
    pub id: I,
    pub old: Option<T>,
    pub new: Option<T>,
}

impl ProgramDelta {
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.moved.is_empty() && self.classes.is_empty()
    }

    /// What became of classes and declarations, by what queries note. Of the program as it is afterwards; bodies are
    /// told by who follows them.
    pub fn tell(&self, program: &Program, changes: &mut Changes) {
        for change in &self.classes {
            // Whose code it is decides what is looked at in the first place.
            changes.everything |= change.layer_changed() && !change.presence_changed();
            if change.says_otherwise() {
                changes.add(Read::of(Kind::Class, change.class));
            }
            change.methods.iter().for_each(|method| changes.add(Read::of(Kind::Method, method.id)));
            change.fields.iter().for_each(|field| changes.add(Read::of(Kind::Field, field.id)));
        }
        let below = |is_such: &dyn Fn(&ClassChange) -> bool| {
            let such = self.classes.iter().filter(|change| is_such(change));
            program.loaded_subtypes(&such.map(|change| change.class).collect::<Vec<_>>())
        };
        let moves = |change: &ClassChange| change.supers_changed() || change.presence_changed();
        for class in below(&moves) {
            changes.add(Read::of(Kind::Supers, class));
            changes.add(Read::all(Kind::Supers));
        }
        let finds_fields = |change: &ClassChange| moves(change) || come_or_go(&change.fields);
        for class in below(&finds_fields) {
            changes.add(Read::of(Kind::FieldsIn, class));
        }
        let finds_methods = |change: &ClassChange| moves(change) || come_or_go(&change.methods);
        for class in below(&finds_methods) {
            changes.add(Read::of(Kind::MethodsIn, class));
        }
    }
}

fn come_or_go<I, T>(members: &[MemberChange<I, T>]) -> bool {
    members.iter().any(|member| member.is_added() || member.is_removed())
}

impl BodyChange {
    pub(crate) fn new(method: MethodId, old: Option<Arc<Body>>, new: Option<Arc<Body>>) -> BodyChange {
        let nothing = Body::default();
        let alignment = Alignment::of(old.as_deref().unwrap_or(&nothing), new.as_deref().unwrap_or(&nothing));
        BodyChange { method, old, new, alignment }
    }
}

impl ClassChange {
    /// It exists now and did not, or the other way round.
    pub fn presence_changed(&self) -> bool {
        self.old.loaded != self.new.loaded
    }

    pub fn supers_changed(&self) -> bool {
        self.old.super_class != self.new.super_class || self.old.interfaces != self.new.interfaces
    }

    pub fn layer_changed(&self) -> bool {
        self.old.layer != self.new.layer
    }

    pub fn access_changed(&self) -> bool {
        self.old.access != self.new.access
    }

    /// Anything but members.
    pub fn header_changed(&self) -> bool {
        let (methods, fields) = (self.old.methods.clone(), self.old.fields.clone());
        self.old != Class { methods, fields, ..self.new.clone() }
    }

    /// Anything but supertypes and members.
    fn says_otherwise(&self) -> bool {
        let Class { super_class, interfaces, methods, fields, .. } = self.old.clone();
        self.old != Class { super_class, interfaces, methods, fields, ..self.new.clone() }
    }

    /// Anything at all; in which order members are declared is nothing.
    pub(crate) fn is_any(&self) -> bool {
        self.header_changed() || !self.methods.is_empty() || !self.fields.is_empty()
    }
}

impl MemberChange<MethodId, Method> {
    /// Whether nothing but its own lock has changed: who calls it finds it as before.
    pub fn is_of_lock(&self) -> bool {
        self.old.as_ref().zip(self.new.as_ref()).is_some_and(|(old, new)| {
            let access = old.access ^ access::SYNCHRONIZED;
            *new == Method { access, ..old.clone() }
        })
    }
}

impl<I, T> MemberChange<I, T> {
    pub fn is_added(&self) -> bool {
        self.old.is_none()
    }

    pub fn is_removed(&self) -> bool {
        self.new.is_none()
    }
}

//! What a program and its settings declare about threads, as both engines read it: memory that no two threads can race
//! on, and methods that never run in parallel. Reads declarations; knows no bodies.

use crate::knowledge::{Knowledge, Says};
use ir::{Annotation, ClassId, FieldId, MethodId, Program};

/// Why memory that is declared so is no matter of two threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared {
    /// One thread has it to itself.
    Confined,
    /// Nothing that matters changes after construction.
    Immutable,
}

impl Knowledge {
    /// What a field says, or the class that declares it.
    pub fn declared_field(&self, program: &Program, field: FieldId) -> Option<Declared> {
        let entry = program.field_ref(field);
        let is_assumed =
            || self.assumed.is_confined_field(program.class_name(entry.class), &program.names[entry.name]);
        let is_annotated = || self.says_any(program, &program.field(field).annotations, Says::Confined);
        match is_annotated() || is_assumed() {
            true => Some(Declared::Confined),
            false => self.declared_class(program, entry.class),
        }
    }

    /// What a class says of its objects; what its supertypes say is about theirs.
    pub fn declared_class(&self, program: &Program, class: ClassId) -> Option<Declared> {
        let annotations = &program.class(class).annotations;
        let says = |meaning: Says| self.says_any(program, annotations, meaning);
        match () {
            () if says(Says::Confined) => Some(Declared::Confined),
            () if self.assumed.is_confined_class(program.class_name(class)) => Some(Declared::Confined),
            () if says(Says::Immutable) => Some(Declared::Immutable),
            () => None,
        }
    }

    /// The groups of methods that never run in parallel to which a method belongs, ascending.
    pub fn exclusive_groups(&self, program: &Program, method: MethodId) -> &[u32] {
        let entry = program.method_ref(method);
        self.assumed.groups_of(program.class_name(entry.class), program.selector_text(entry.selector).0)
    }

    /// Is there an annotation of this meaning?
    pub fn says_any(&self, program: &Program, annotations: &[Annotation], meaning: Says) -> bool {
        annotations.iter().any(|note| self.says(&program.names[note.class]).contains(&meaning))
    }
}

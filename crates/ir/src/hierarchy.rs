//! Subtyping, member resolution and dispatch, as the JVM specification defines them (sections 5.4.3, 5.4.6).

use crate::program::{ClassId, FieldId, FieldRef, MethodId, MethodRef, Program, Selector};

impl Program {
    /// Is every `sub` a `sup`? Loads what it needs; arrays are covariant; a missing class is assumed to be a
    /// subtype of anything it may be compared with (so that filters never lose objects).
    pub fn is_subtype(&mut self, sub: ClassId, sup: ClassId) -> bool {
        let _ = (sub, sup);
        todo!()
    }

    /// The method a symbolic reference means: superclasses first, then (default) superinterface methods.
    pub fn resolve_method(&mut self, method: MethodRef) -> Option<MethodId> {
        let _ = method;
        todo!()
    }

    /// The method that runs for `selector` on an object of `class` (never abstract). Cached.
    pub fn dispatch(&mut self, class: ClassId, selector: Selector) -> Option<MethodId> {
        let _ = (class, selector);
        todo!()
    }

    /// The declared field, looked up through superinterfaces and superclasses.
    pub fn resolve_field(&mut self, field: FieldRef) -> Option<FieldId> {
        let _ = field;
        todo!()
    }

    /// The single abstract method of a functional interface, if there is exactly one.
    pub fn functional_method(&mut self, interface: ClassId) -> Option<MethodId> {
        let _ = interface;
        todo!()
    }
}

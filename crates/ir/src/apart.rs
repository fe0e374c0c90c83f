//! Bodies of one class lowered by themselves, in ids of their own, so that many classes can be lowered at the same
//! time; and the way from those ids to the program's. Knows no other class and no hierarchy.

use crate::body::Body;
use crate::lower::lower_member;
use crate::parsed::ParsedClass;
use crate::program::{ClassId, FieldRef, MethodId, MethodRef, Program, Selector};
use arena::Name;
use classfile::ClassBytes;
use rustc_hash::FxHashMap;

/// A class file whose methods are lowered without the program.
pub struct Apart {
    ids: Program,
    parsed: ParsedClass,
}

impl Apart {
    /// `None` if the bytes are no class file.
    pub fn parse(found: ClassBytes) -> Option<Apart> {
        let parsed = ParsedClass::parse(found).ok()?;
        Some(Apart { ids: Program::new(crate::kept::no_source()), parsed })
    }

    /// How many methods it has, those without code included.
    pub fn len(&self) -> usize {
        self.parsed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body of the method at this position in the class file, in ids that are valid here only; `None` for methods
    /// without code, or with code that cannot be understood.
    pub fn body(&mut self, position: usize) -> Option<Body> {
        lower_member(&mut self.ids, &self.parsed.member(position)?).ok()?
    }

    /// From the ids used here to those of the program.
    pub fn renaming<'a>(&'a self, to: &'a mut Program) -> Renaming<'a> {
        let (classes, selectors, names) = Default::default();
        Renaming { from: &self.ids, to, classes, selectors, names }
    }
}

/// Ids of a class by itself as ids of the program, which are given out when they are first asked for.
pub struct Renaming<'a> {
    from: &'a Program,
    to: &'a mut Program,
    classes: FxHashMap<ClassId, ClassId>,
    selectors: FxHashMap<Selector, Selector>,
    names: FxHashMap<Name, Name>,
}

impl Renaming<'_> {
    pub fn class(&mut self, class: ClassId) -> ClassId {
        let (from, to) = (self.from, &mut *self.to);
        *self.classes.entry(class).or_insert_with(|| to.class_id(from.class_name(class)))
    }

    pub fn selector(&mut self, selector: Selector) -> Selector {
        let (from, to) = (self.from, &mut *self.to);
        *self.selectors.entry(selector).or_insert_with(|| {
            let (name, descriptor) = from.selector_text(selector);
            to.selector(name, descriptor)
        })
    }

    pub fn name(&mut self, name: Name) -> Name {
        let (from, to) = (self.from, &mut *self.to);
        *self.names.entry(name).or_insert_with(|| to.names.intern(&from.names[name]))
    }

    pub fn method(&mut self, method: MethodRef) -> MethodRef {
        MethodRef { class: self.class(method.class), selector: self.selector(method.selector) }
    }

    pub fn field(&mut self, field: FieldRef) -> FieldRef {
        FieldRef {
            class: self.class(field.class),
            name: self.name(field.name),
            descriptor: self.name(field.descriptor),
        }
    }
}

impl Program {
    /// Where a method stands in the file of its class.
    pub fn position(&self, method: MethodId) -> usize {
        self.method_index[method] as usize
    }
}

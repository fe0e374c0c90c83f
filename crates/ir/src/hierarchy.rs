//! Subtyping, member resolution and dispatch, as the JVM specification defines them (sections 5.4.3, 5.4.6).
//! Knows classes and their members; what calls mean to an analysis is not decided here.

use crate::descriptor;
use crate::program::{
    ClassId, FieldId, FieldRef, Loaded, Method, MethodId, MethodRef, OBJECT_CLASS, Program, Selector, access,
};
use arena::IdSet;
use serde::{Deserialize, Serialize};
use track::{Kind, Read};

/// The supertypes of a loaded class.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Kin {
    /// Itself, its superclasses and all superinterfaces.
    supers: IdSet<ClassId>,
    /// The class or one of its superclasses is missing: it may be a subtype of any open class.
    missing_class: bool,
    /// One of its superinterfaces is missing: it may be a subtype of any interface.
    missing_interface: bool,
}

impl Kin {
    /// From the kin of its direct supertypes, which must be loaded.
    pub(crate) fn of(program: &Program, class: ClassId) -> Kin {
        let entry = program.class(class);
        let mut kin = entry.super_class.and_then(|up| program.kin.get(up)).cloned().unwrap_or_default();
        for &interface in &entry.interfaces {
            if let Some(other) = program.kin.get(interface) {
                kin.supers.union_with(&other.supers);
                kin.missing_interface |= other.missing_class || other.missing_interface;
            }
        }
        kin.supers.insert(class);
        // Without a JDK even Object is missing, which says nothing about its subclasses.
        kin.missing_class |= entry.loaded == Loaded::Missing && class != OBJECT_CLASS;
        kin
    }
}

impl Program {
    /// Is every `sub` a `sup`? Loads what it needs; arrays are covariant; a missing class is assumed to be a
    /// subtype of anything it may be compared with (so that filters never lose objects).
    pub fn is_subtype(&mut self, sub: ClassId, sup: ClassId) -> bool {
        self.load(sub);
        self.load(sup);
        self.is_subtype_loaded(sub, sup)
    }

    /// As [`Program::is_subtype`], for classes that are both loaded already.
    pub fn is_subtype_loaded(&self, mut sub: ClassId, mut sup: ClassId) -> bool {
        loop {
            if sub == sup || sup == OBJECT_CLASS {
                return true;
            }
            track::note(Read::of(Kind::Supers, sub));
            let Some(kin) = self.kin.get(sub) else {
                track::note(Read::all(Kind::Loaded));
                return true;
            };
            if kin.supers.contains(sup) {
                return true;
            }
            let (below, above) = (&self.classes[sub], &self.classes[sup]);
            if below.loaded == Loaded::No || above.loaded == Loaded::No {
                track::note(Read::all(Kind::Loaded));
            }
            if below.is_array && above.is_array {
                let (Some(element), Some(wanted)) = (below.element, above.element) else { return false };
                (sub, sup) = (element, wanted);
                continue;
            }
            if !kin.missing_class && !kin.missing_interface {
                return false;
            }
            track::note(Read::of(Kind::Class, sup));
            track::note(Read::of(Kind::Supers, sup));
            let is_below = self.kin.get(sup).is_some_and(|kin| kin.supers.contains(sub));
            if is_below || above.is_array {
                return false;
            }
            let is_missing = above.loaded == Loaded::Missing;
            let is_interface = above.access & access::INTERFACE != 0;
            let is_final = above.access & access::FINAL != 0;
            return is_missing || is_interface || kin.missing_class && !is_final;
        }
    }

    /// All supertypes of a loaded class, itself included.
    pub fn supertypes(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        track::note(Read::of(Kind::Supers, class));
        self.kin.get(class).into_iter().flat_map(|kin| kin.supers.iter())
    }

    /// All classes that were ever named.
    pub fn class_ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        self.classes.ids()
    }

    /// Is `above` among its supertypes, as far as these are there? What is missing is not assumed to be anything.
    pub fn has_supertype(&self, class: ClassId, above: ClassId) -> bool {
        track::note(Read::of(Kind::Supers, class));
        self.kin.get(class).is_some_and(|kin| kin.supers.contains(above))
    }

    /// The loaded ones among these classes and all loaded classes below them, arrays of them included; ascending.
    /// What members a class has, what it inherits and what it is a subtype of depends on these alone.
    pub fn loaded_subtypes(&self, classes: &[ClassId]) -> Vec<ClassId> {
        if classes.is_empty() {
            return Vec::new();
        }
        let mut above = IdSet::new();
        classes.iter().for_each(|&class| {
            above.insert(class);
        });
        let is_below = |class: ClassId| self.kin.get(class).is_some_and(|kin| kin.supers.intersects(&above));
        let elements =
            |class: ClassId| std::iter::successors(Some(class), |&class| self.classes[class].element);
        self.classes.ids().filter(|&class| elements(class).any(is_below)).collect()
    }

    /// The method a symbolic reference means: superclasses first, then (default) superinterface methods.
    pub fn resolve_method(&mut self, method: MethodRef) -> Option<MethodId> {
        if let Some(&found) = self.resolve_cache.get(&method) {
            return found;
        }
        self.load(method.class);
        let found = self
            .superclasses(method.class)
            .find_map(|class| self.declared_or_polymorphic(class, method.selector))
            .or_else(|| self.resolve_in_interfaces(method));
        self.resolve_cache.insert(method, found);
        found
    }

    /// The method that runs for `selector` on an object of `class` (never abstract). Cached.
    pub fn dispatch(&mut self, class: ClassId, selector: Selector) -> Option<MethodId> {
        let key = MethodRef { class, selector };
        if let Some(&found) = self.dispatch_cache.get(&key) {
            return found;
        }
        self.load(class);
        let found = self.select(class, selector).filter(|&method| !self.methods[method].is_abstract());
        self.dispatch_cache.insert(key, found);
        found
    }

    /// The method that runs when `target` is called virtually on an object of class `receiver`. Beyond
    /// [`Program::dispatch`] it heeds what `target` resolves to: private methods are not overridden,
    /// package-private ones only within their package.
    pub fn dispatch_call(&mut self, receiver: ClassId, target: MethodRef) -> Option<MethodId> {
        let Some(resolved) = self.resolve_method(target) else {
            return self.dispatch(receiver, target.selector);
        };
        let method = &self.methods[resolved];
        let (owner, selector) = (method.class, method.selector);
        if method.access & access::PRIVATE != 0 {
            return Some(resolved).filter(|_| !method.is_abstract());
        }
        if method.access & (access::PUBLIC | access::PROTECTED) != 0 {
            return self.dispatch(receiver, selector);
        }
        self.load(receiver);
        let overrides = |&class: &ClassId| class == owner || self.same_package(class, owner);
        let found =
            self.superclasses(receiver).filter(overrides).find_map(|class| self.overriding(class, selector));
        found.filter(|&method| !self.methods[method].is_abstract())
    }

    /// The declared field, looked up through superinterfaces and superclasses.
    pub fn resolve_field(&mut self, field: FieldRef) -> Option<FieldId> {
        if let Some(&found) = self.field_cache.get(&field) {
            return found;
        }
        self.load(field.class);
        let declared = |class: ClassId| self.field_ids.get(&FieldRef { class, ..field }).copied();
        let found = self.superclasses(field.class).find_map(|class| {
            declared(class).or_else(|| {
                // Preorder over the superinterfaces of this class.
                let mut left: Vec<ClassId> = self.classes[class].interfaces.iter().rev().copied().collect();
                let mut seen = IdSet::new();
                while let Some(interface) = left.pop() {
                    if !seen.insert(interface) {
                        continue;
                    }
                    if let Some(found) = declared(interface) {
                        return Some(found);
                    }
                    left.extend(self.classes[interface].interfaces.iter().rev());
                }
                None
            })
        });
        self.field_cache.insert(field, found);
        found
    }

    /// The declared field, if [`Program::resolve_field`] was asked for it before.
    pub fn find_field(&self, field: FieldRef) -> Option<FieldId> {
        track::note(Read::of(Kind::FieldsIn, field.class));
        let found = self.field_cache.get(&field).copied().flatten();
        if found.is_none() {
            track::note(Read::all(Kind::Loaded));
        }
        found
    }

    /// The single abstract method of a functional interface, if there is exactly one.
    pub fn functional_method(&mut self, interface: ClassId) -> Option<MethodId> {
        self.load(interface);
        self.load(OBJECT_CLASS);
        let mut candidates: Vec<MethodId> = Vec::new();
        for class in self.supertypes_by_name(interface).into_iter().filter(|&class| class != OBJECT_CLASS) {
            candidates.extend(self.classes[class].methods.iter().filter(|&&method| {
                let method = &self.methods[method];
                let of_object = MethodRef { class: OBJECT_CLASS, selector: method.selector };
                method.is_abstract() && !self.method_ids.contains_key(&of_object)
            }));
        }
        // A redeclaration lower down counts instead; where generics were filled in it has other erased types.
        let all = candidates.clone();
        candidates.retain(|&method| {
            let upper = &self.methods[method];
            let overridden_by_default = self
                .select(interface, upper.selector)
                .is_some_and(|chosen| chosen != method && !self.methods[chosen].is_abstract());
            let redeclared = all.iter().any(|&other| {
                let lower = &self.methods[other];
                lower.class != upper.class
                    && self.same_shape(lower, upper)
                    && self.is_subtype_loaded(lower.class, upper.class)
            });
            !overridden_by_default && !redeclared
        });
        let first = *candidates.first()?;
        candidates
            .iter()
            .all(|&other| self.same_shape(&self.methods[other], &self.methods[first]))
            .then_some(first)
    }

    /// The class itself and its superclasses, upwards.
    pub fn superclasses(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        track::note(Read::of(Kind::Supers, class));
        std::iter::successors(Some(class), |&class| self.classes[class].super_class)
    }

    fn same_shape(&self, left: &Method, right: &Method) -> bool {
        let name = |method: &Method| self.selectors[method.selector].0;
        name(left) == name(right) && left.params.len() == right.params.len()
    }

    fn declared(&self, class: ClassId, selector: Selector) -> Option<MethodId> {
        self.method_ids.get(&MethodRef { class, selector }).copied()
    }

    fn declared_or_polymorphic(&self, class: ClassId, selector: Selector) -> Option<MethodId> {
        self.declared(class, selector).or_else(|| self.signature_polymorphic(class, selector))
    }

    /// Methods of MethodHandle and VarHandle that accept a call with any descriptor (section 2.9.3).
    fn signature_polymorphic(&self, class: ClassId, selector: Selector) -> Option<MethodId> {
        let entry = &self.classes[class];
        if !matches!(&self.names[entry.name], "java/lang/invoke/MethodHandle" | "java/lang/invoke/VarHandle")
        {
            return None;
        }
        let wanted = self.selectors[selector].0;
        entry.methods.iter().copied().find(|&method| {
            let method = &self.methods[method];
            let (name, descriptor) = self.selectors[method.selector];
            name == wanted
                && method.access & access::NATIVE != 0
                && self.names[descriptor].starts_with("([Ljava/lang/Object;)")
        })
    }

    /// Section 5.4.3.3, step 3, and 5.4.3.4 for interfaces.
    fn resolve_in_interfaces(&self, method: MethodRef) -> Option<MethodId> {
        let found = self.maximally_specific(method.class, method.selector);
        // Any of them will do for the JVM, but it has to be the same one however the classes came to be loaded.
        let name = |method: &MethodId| &self.names[self.classes[self.methods[*method].class].name];
        self.only_concrete(&found).or_else(|| found.iter().copied().min_by(|a, b| name(a).cmp(name(b))))
    }

    /// Section 5.4.6: the first superclass that overrides, then the one maximally-specific default method.
    fn select(&self, class: ClassId, selector: Selector) -> Option<MethodId> {
        self.superclasses(class)
            .find_map(|class| self.overriding(class, selector))
            .or_else(|| self.only_concrete(&self.maximally_specific(class, selector)))
            // Only a private method is left: the caller means that one.
            .or_else(|| {
                self.superclasses(class).find_map(|class| self.declared_or_polymorphic(class, selector))
            })
    }

    fn overriding(&self, class: ClassId, selector: Selector) -> Option<MethodId> {
        self.declared(class, selector)
            .filter(|&method| self.methods[method].access & (access::PRIVATE | access::STATIC) == 0)
    }

    /// As [`Program::supertypes`], in an order that does not depend on what was loaded first.
    fn supertypes_by_name(&self, class: ClassId) -> Vec<ClassId> {
        let mut supers: Vec<ClassId> = self.supertypes(class).collect();
        supers.sort_by(|&left, &right| {
            self.names[self.classes[left].name].cmp(&self.names[self.classes[right].name])
        });
        supers
    }

    /// Methods of superinterfaces that no other superinterface overrides (section 5.4.3.3).
    fn maximally_specific(&self, class: ClassId, selector: Selector) -> Vec<MethodId> {
        let found: Vec<MethodId> = self
            .supertypes(class)
            .filter(|&class| self.classes[class].access & access::INTERFACE != 0)
            .filter_map(|interface| self.overriding(interface, selector))
            .collect();
        let class_of = |method: MethodId| self.methods[method].class;
        let overridden = |&method: &MethodId| {
            found.iter().any(|&other| {
                class_of(other) != class_of(method)
                    && self.kin[class_of(other)].supers.contains(class_of(method))
            })
        };
        found.iter().copied().filter(|method| !overridden(method)).collect()
    }

    fn only_concrete(&self, methods: &[MethodId]) -> Option<MethodId> {
        let mut concrete = methods.iter().copied().filter(|&method| !self.methods[method].is_abstract());
        match (concrete.next(), concrete.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    fn same_package(&self, left: ClassId, right: ClassId) -> bool {
        let package = |class: ClassId| {
            let name = &self.names[self.classes[class].name];
            name.rfind('/').map_or("", |at| &name[..at])
        };
        package(left) == package(right)
    }

    /// Is a value of this descriptor a reference? Malformed descriptors count as references.
    pub fn is_ref_descriptor(&self, descriptor: arena::Name) -> bool {
        descriptor::field_type(&self.names[descriptor]).is_none_or(|found| found.is_ref())
    }
}

impl Method {
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    pub fn is_abstract(&self) -> bool {
        self.access & access::ABSTRACT != 0
    }

    pub fn is_synchronized(&self) -> bool {
        self.access & access::SYNCHRONIZED != 0
    }
}

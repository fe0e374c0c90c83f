//! All classes, methods and fields by stable id, loaded from a [`ClassSource`] when first asked for.
//! Owns loading and naming; lowering and hierarchy questions live next door.

use crate::body::Body;
use crate::hierarchy::Kin;
use crate::lower;
use crate::parsed::ParsedClasses;
use crate::slots::Undeclared;
use arena::{IndexVec, Name, Names, define_id};
use classfile::{ClassSource, Layer};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use track::{Kind, Read};

define_id! {
    /// A class, interface or array class by name; may not be loaded yet, or be missing.
    ClassId
}
define_id! {
    /// A method declared by a loaded class; the same in every version of the class.
    MethodId
}
define_id! {
    /// A field declared by a loaded class, or a field invented by a model; the same in every version of the class.
    FieldId
}
define_id! {
    /// Method name plus descriptor, interned.
    Selector
}

/// `java/lang/Object`, in every program.
pub const OBJECT_CLASS: ClassId = ClassId(0);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MethodRef {
    pub class: ClassId,
    pub selector: Selector,
}

/// A symbolic field reference as it stands in the bytecode; resolve with [`Program::resolve_field`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FieldRef {
    pub class: ClassId,
    pub name: Name,
    pub descriptor: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loaded {
    /// Only named so far.
    No,
    Yes,
    /// Looked for and not found, or unreadable; behaves as an empty subclass of Object.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Internal name: `java/lang/String`, `[Ljava/lang/String;`, `[I`.
    pub name: Name,
    pub loaded: Loaded,
    #[serde(with = "crate::kept::LayerAsIs")]
    pub layer: Layer,
    pub access: u16,
    pub super_class: Option<ClassId>,
    pub interfaces: Vec<ClassId>,
    pub methods: Vec<MethodId>,
    pub fields: Vec<FieldId>,
    /// Array classes: the element class; `None` for arrays of primitives and for ordinary classes.
    pub element: Option<ClassId>,
    pub is_array: bool,
    pub is_record: bool,
    /// `Account.java`
    pub source_file: Option<Name>,
    pub outer_class: Option<ClassId>,
    pub annotations: Vec<Annotation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// Internal name of the annotation type.
    pub class: Name,
    pub values: Vec<(Name, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    pub class: ClassId,
    pub selector: Selector,
    pub access: u16,
    /// Declared types of reference parameters (`this` included for instance methods), `None` for primitives.
    pub params: Vec<Option<ClassId>>,
    /// Declared type of a reference result.
    pub result: Option<ClassId>,
    pub has_code: bool,
    /// Declared checked exceptions.
    pub throws: Vec<ClassId>,
    pub annotations: Vec<Annotation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub class: ClassId,
    pub name: Name,
    pub descriptor: Name,
    pub access: u16,
    /// Declared class of a reference field.
    pub class_of: Option<ClassId>,
    pub annotations: Vec<Annotation>,
}

pub mod access {
    //! Access flags of the JVM specification.
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const BRIDGE: u16 = 0x0040;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ENUM: u16 = 0x4000;
}

/// What the loader noticed; becomes notes in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    MissingClass(ClassId),
    CorruptClass(ClassId, String),
    NewerVersion(ClassId, u16),
    CyclicHierarchy(ClassId),
    Body(MethodId, String),
}

#[derive(Serialize, Deserialize)]
pub struct Program {
    pub names: Names,
    pub problems: Vec<Problem>,
    #[serde(skip, default = "crate::kept::no_source")]
    pub(crate) source: Arc<dyn ClassSource>,
    pub(crate) classes: IndexVec<ClassId, Class>,
    pub(crate) class_ids: FxHashMap<Name, ClassId>,
    pub(crate) methods: IndexVec<MethodId, Method>,
    pub(crate) method_ids: FxHashMap<MethodRef, MethodId>,
    pub(crate) fields: IndexVec<FieldId, Field>,
    pub(crate) field_ids: FxHashMap<FieldRef, FieldId>,
    pub(crate) undeclared: Undeclared,
    pub(crate) selectors: IndexVec<Selector, (Name, Name)>,
    pub(crate) selector_ids: FxHashMap<(Name, Name), Selector>,
    pub(crate) bodies: FxHashMap<MethodId, Option<Arc<Body>>>,
    /// Whose bodies were asked for and not told yet.
    #[serde(skip)]
    pub(crate) lowered: Vec<MethodId>,
    pub(crate) dispatch_cache: FxHashMap<MethodRef, Option<MethodId>>,
    pub(crate) resolve_cache: FxHashMap<MethodRef, Option<MethodId>>,
    pub(crate) field_cache: FxHashMap<FieldRef, Option<FieldId>>,
    /// Supertypes of loaded classes.
    pub(crate) kin: IndexVec<ClassId, Kin>,
    /// Position of each method in its class file.
    pub(crate) method_index: IndexVec<MethodId, u32>,
    #[serde(skip)]
    pub(crate) parsed: ParsedClasses,
    /// Of the bytes of loaded classes.
    pub(crate) digests: IndexVec<ClassId, Option<u64>>,
    /// How often a class was put in.
    pub(crate) loads: usize,
    /// Of the resources that were asked for, by path.
    pub(crate) resources: BTreeMap<String, u64>,
}

impl Program {
    pub fn new(source: Arc<dyn ClassSource>) -> Program {
        let mut program = Program {
            names: Names::default(),
            problems: Vec::new(),
            source,
            classes: IndexVec::new(),
            class_ids: FxHashMap::default(),
            methods: IndexVec::new(),
            method_ids: FxHashMap::default(),
            fields: IndexVec::new(),
            field_ids: FxHashMap::default(),
            undeclared: Undeclared::default(),
            selectors: IndexVec::new(),
            selector_ids: FxHashMap::default(),
            bodies: FxHashMap::default(),
            lowered: Vec::new(),
            dispatch_cache: FxHashMap::default(),
            resolve_cache: FxHashMap::default(),
            field_cache: FxHashMap::default(),
            kin: IndexVec::new(),
            method_index: IndexVec::new(),
            parsed: ParsedClasses::default(),
            digests: IndexVec::new(),
            loads: 0,
            resources: BTreeMap::new(),
        };
        let object = program.class_id("java/lang/Object");
        debug_assert_eq!(object, OBJECT_CLASS);
        program
    }

    pub fn source(&self) -> &Arc<dyn ClassSource> {
        &self.source
    }

    /// The id of a class by internal name, without loading it.
    pub fn class_id(&mut self, name: &str) -> ClassId {
        let name = self.names.intern(name);
        *self.class_ids.entry(name).or_insert_with(|| self.classes.push(Class::named(name)))
    }

    /// The id if the class was ever named.
    pub fn find_class(&self, name: &str) -> Option<ClassId> {
        let class = self.names.get(name).and_then(|name| self.class_ids.get(&name).copied());
        if class.is_none() {
            track::note(Read::all(Kind::Loaded));
        }
        class
    }

    /// Grows whenever a class is loaded.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// Supertypes and members are for those who follow no changes, see [`Program::supertypes`].
    pub fn class(&self, class: ClassId) -> &Class {
        let entry = &self.classes[class];
        track::note(Read::of(Kind::Class, class));
        if entry.loaded == Loaded::No {
            track::note(Read::all(Kind::Loaded));
        }
        entry
    }

    pub fn method(&self, method: MethodId) -> &Method {
        track::note(Read::of(Kind::Method, method));
        &self.methods[method]
    }

    pub fn field(&self, field: FieldId) -> &Field {
        track::note(Read::of(Kind::Field, field));
        &self.fields[field]
    }

    /// The class that declares a method, and its name there. These are the same in every version of it.
    pub fn method_ref(&self, method: MethodId) -> MethodRef {
        let Method { class, selector, .. } = self.methods[method];
        MethodRef { class, selector }
    }

    /// The same for a field.
    pub fn field_ref(&self, field: FieldId) -> FieldRef {
        let Field { class, name, descriptor, .. } = self.fields[field];
        FieldRef { class, name, descriptor }
    }

    /// The internal name of a class, the same in every version of it.
    pub fn class_name(&self, class: ClassId) -> &str {
        &self.names[self.classes[class].name]
    }

    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Every method there ever was, also those no longer declared.
    pub fn methods(&self) -> &IndexVec<MethodId, Method> {
        &self.methods
    }

    pub fn selector(&mut self, name: &str, descriptor: &str) -> Selector {
        let key = (self.names.intern(name), self.names.intern(descriptor));
        *self.selector_ids.entry(key).or_insert_with(|| self.selectors.push(key))
    }

    /// The selector if it was ever named.
    pub fn find_selector(&self, name: &str, descriptor: &str) -> Option<Selector> {
        self.selector_ids.get(&(self.names.get(name)?, self.names.get(descriptor)?)).copied()
    }

    /// The method declared by exactly this class, if it is loaded and declares it.
    pub fn declared_method(&self, method: MethodRef) -> Option<MethodId> {
        track::note(Read::of(Kind::MethodsIn, method.class));
        self.method_ids.get(&method).copied()
    }

    /// The field declared by exactly this class, if it is loaded and declares it.
    pub fn declared_field(&self, field: FieldRef) -> Option<FieldId> {
        track::note(Read::of(Kind::FieldsIn, field.class));
        self.field_ids.get(&field).copied()
    }

    /// Every selector that was ever named.
    pub fn selectors(&self) -> impl Iterator<Item = Selector> + use<> {
        self.selectors.ids()
    }

    /// Name and descriptor of a selector.
    pub fn selector_text(&self, selector: Selector) -> (&str, &str) {
        let (name, descriptor) = self.selectors[selector];
        (&self.names[name], &self.names[descriptor])
    }

    /// The SSA body, lowered on first use; `None` for abstract, native and unreadable methods.
    pub fn body(&mut self, method: MethodId) -> Option<Arc<Body>> {
        if let Some(body) = self.bodies.get(&method) {
            return body.clone();
        }
        let body = match lower::lower(self, method) {
            Ok(body) => body.map(Arc::new),
            Err(why) => {
                self.problems.push(Problem::Body(method, why));
                None
            }
        };
        self.bodies.insert(method, body.clone());
        self.lowered.push(method);
        body
    }

    /// Methods whose bodies were asked for since the last time: who looked for them before found none.
    pub fn take_lowered(&mut self) -> Vec<MethodId> {
        std::mem::take(&mut self.lowered)
    }

    /// The body if it was lowered before.
    pub fn lowered(&self, method: MethodId) -> Option<&Arc<Body>> {
        track::note(Read::of(Kind::Body, method));
        self.bodies.get(&method)?.as_ref()
    }

    /// How many methods were lowered so far.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// A field that exists only in models (`$task`), declared on `class`; it holds any reference.
    pub fn model_field(&mut self, class: ClassId, name: &str) -> FieldId {
        let name = self.names.intern(name);
        let descriptor = self.names.intern("Ljava/lang/Object;");
        let (access, class_of) = (access::SYNTHETIC, Some(OBJECT_CLASS));
        let key = FieldRef { class, name, descriptor };
        if let Some(&known) = self.field_ids.get(&key) {
            return known;
        }
        let id = self.field_slot(key);
        self.declare_field(id, Field { class, name, descriptor, access, class_of, annotations: Vec::new() });
        id
    }
}

impl Class {
    pub(crate) fn named(name: Name) -> Class {
        Class {
            name,
            loaded: Loaded::No,
            layer: Layer::Jdk,
            access: 0,
            super_class: None,
            interfaces: Vec::new(),
            methods: Vec::new(),
            fields: Vec::new(),
            element: None,
            is_array: false,
            is_record: false,
            source_file: None,
            outer_class: None,
            annotations: Vec::new(),
        }
    }
}

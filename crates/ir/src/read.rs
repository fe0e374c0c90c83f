//! Class bytes to [`Class`], [`Method`] and [`Field`] entries that are not yet part of the program; only names and ids
//! are given out. Whatever is missing or unreadable becomes a [`Problem`]; nothing here looks into method bodies.

use crate::descriptor;
use crate::parsed::ParsedClass;
use crate::program::{
    Annotation, Class, ClassId, Field, FieldId, FieldRef, Loaded, Method, MethodId, MethodRef, OBJECT_CLASS,
    Problem, Program, access,
};
use classfile::{ClassBytes, ClassFile, ClassSource, Layer, NEWEST_KNOWN_MAJOR};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A class as it will be once it is installed.
#[derive(Clone)]
pub(crate) struct Staged {
    pub(crate) entry: Class,
    /// `None` for arrays, and for classes of which only the place in the hierarchy is looked at again.
    pub(crate) content: Option<Content>,
    pub(crate) problems: Vec<Problem>,
}

/// What the class file holds; nothing if there is none.
#[derive(Clone, Default)]
pub(crate) struct Content {
    pub(crate) digest: Option<u64>,
    pub(crate) parsed: Option<Arc<ParsedClass>>,
    /// With their positions in the class file.
    pub(crate) methods: Vec<(MethodId, u32, Method)>,
    pub(crate) fields: Vec<(FieldId, Field)>,
}

/// By which two versions of a class are told apart.
pub(crate) fn digest(found: &ClassBytes) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(digest_of_bytes(&found.bytes));
    found.earlier.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn digest_of_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.write_usize(bytes.len());
    hasher.finish()
}

impl Staged {
    pub(crate) fn of(entry: Class) -> Staged {
        Staged { entry, content: None, problems: Vec::new() }
    }
}

impl Program {
    /// The class as this class path has it.
    pub(crate) fn read(&mut self, class: ClassId, source: &dyn ClassSource) -> Staged {
        let name = self.names.text(self.classes[class].name).clone();
        match descriptor::element(&name) {
            Some(element) => Staged::of(self.read_array(class, element)),
            None => self.read_bytes(class, source.find(&name)),
        }
    }

    pub(crate) fn read_bytes(&mut self, class: ClassId, found: Option<ClassBytes>) -> Staged {
        let name = self.classes[class].name;
        let Some(found) = found else {
            return self.missing(class, Problem::MissingClass(class), None);
        };
        let (layer, digest) = (found.layer, Some(digest(&found)));
        let wrong = match ParsedClass::parse(found) {
            Ok(parsed) if *parsed.file().name == self.names[name] => {
                return self.read_file(class, Arc::new(parsed), layer, digest);
            }
            Ok(parsed) => format!("holds class {}", parsed.file().name),
            Err(error) => error.to_string(),
        };
        self.missing(class, Problem::CorruptClass(class, wrong), digest)
    }

    fn read_array(&mut self, class: ClassId, element: Option<&str>) -> Class {
        let interfaces = vec![self.class_id("java/lang/Cloneable"), self.class_id("java/io/Serializable")];
        Class {
            loaded: Loaded::Yes,
            is_array: true,
            access: access::PUBLIC | access::FINAL | access::ABSTRACT,
            element: element.map(|name| self.class_id(name)),
            super_class: Some(OBJECT_CLASS),
            interfaces,
            ..Class::named(self.classes[class].name)
        }
    }

    fn missing(&self, class: ClassId, problem: Problem, digest: Option<u64>) -> Staged {
        let super_class = (class != OBJECT_CLASS).then_some(OBJECT_CLASS);
        let entry = Class { loaded: Loaded::Missing, super_class, ..Class::named(self.classes[class].name) };
        Staged { entry, content: Some(Content { digest, ..Content::default() }), problems: vec![problem] }
    }

    fn read_file(
        &mut self,
        class: ClassId,
        parsed: Arc<ParsedClass>,
        layer: Layer,
        digest: Option<u64>,
    ) -> Staged {
        let file = parsed.file();
        let mut problems = Vec::new();
        if file.major > NEWEST_KNOWN_MAJOR {
            problems.push(Problem::NewerVersion(class, file.major));
        }
        let super_class = match &file.super_name {
            _ if class == OBJECT_CLASS => None,
            Some(name) => Some(self.class_id(name)),
            None => Some(OBJECT_CLASS),
        };
        // Nothing is above Object, whatever it says.
        let interfaces = file.interfaces.iter().filter(|_| class != OBJECT_CLASS);
        let interfaces = interfaces.map(|name| self.class_id(name)).collect();
        let source_file = file.source_file.as_ref().map(|name| self.names.intern(name));
        let outer_class = file.outer_class.as_ref().map(|name| self.class_id(name));
        let annotations = self.annotations(&file.annotations);
        let fields = self.read_fields(class, file);
        let methods = self.read_methods(class, &parsed, &mut problems);
        let entry = Class {
            loaded: Loaded::Yes,
            layer,
            access: file.access,
            super_class,
            interfaces,
            methods: methods.iter().map(|&(id, ..)| id).collect(),
            fields: fields.iter().map(|&(id, _)| id).collect(),
            is_record: file.is_record,
            source_file,
            outer_class,
            annotations,
            ..Class::named(self.classes[class].name)
        };
        Staged { entry, content: Some(Content { digest, parsed: Some(parsed), methods, fields }), problems }
    }

    fn read_fields(&mut self, class: ClassId, file: &ClassFile<'_>) -> Vec<(FieldId, Field)> {
        let (mut fields, mut seen) = (Vec::with_capacity(file.fields.len()), FxHashSet::default());
        // Scala's lazy values: its compiler guards each with a volatile bit beside it.
        let lazy: FxHashSet<&str> =
            file.methods.iter().filter_map(|method| method.name.strip_suffix("$lzycompute")).collect();
        for field in &file.fields {
            let name = self.names.intern(&field.name);
            let descriptor = self.names.intern(&field.descriptor);
            let id = self.field_slot(FieldRef { class, name, descriptor });
            // The first of two equal declarations counts, here and for methods; the JVM would refuse the class.
            if !seen.insert(id) {
                continue;
            }
            let declared = descriptor::field_type(&field.descriptor).and_then(|found| found.class());
            let class_of = declared.map(|name| self.class_id(name));
            let annotations = self.annotations(&field.annotations);
            let is_lazy = lazy.contains(&*field.name);
            let access = if is_lazy { field.access | access::SYNTHETIC } else { field.access };
            fields.push((id, Field { class, name, descriptor, access, class_of, annotations }));
        }
        fields
    }

    fn read_methods(
        &mut self,
        class: ClassId,
        parsed: &ParsedClass,
        problems: &mut Vec<Problem>,
    ) -> Vec<(MethodId, u32, Method)> {
        let (mut methods, mut seen) = (Vec::with_capacity(parsed.len()), FxHashSet::default());
        for (index, member) in parsed.members().enumerate() {
            let method = member.head;
            let selector = self.selector(&method.name, &method.descriptor);
            let id = self.method_slot(MethodRef { class, selector });
            if !seen.insert(id) {
                continue;
            }
            let is_static = method.access & access::STATIC != 0;
            let receiver = (!is_static).then_some(Some(class));
            let declared = descriptor::parameters(&method.descriptor)
                .map(|declared| declared.class().map(|name| self.class_id(name)));
            let params = receiver.into_iter().chain(declared).collect();
            let result = descriptor::result(&method.descriptor).flatten().and_then(|found| found.class());
            let result = result.map(|name| self.class_id(name));
            let throws = method.exceptions.iter().map(|name| self.class_id(name)).collect();
            let annotations = self.annotations(&method.annotations);
            let has_code = member.code.code.is_some();
            let access = method.access;
            if !has_code && access & (access::ABSTRACT | access::NATIVE) == 0 {
                problems.push(Problem::Body(id, "no readable code".to_owned()));
            }
            let entry = Method { class, selector, access, params, result, has_code, throws, annotations };
            methods.push((id, index as u32, entry));
        }
        methods
    }

    fn annotations(&mut self, annotations: &[classfile::Annotation<'_>]) -> Vec<Annotation> {
        let read = |annotation: &classfile::Annotation<'_>| {
            let class = descriptor::field_type(&annotation.descriptor)?.class()?;
            let values = annotation.values.iter();
            Some(Annotation {
                class: self.names.intern(class),
                values: values.map(|(name, value)| (self.names.intern(name), value.clone())).collect(),
            })
        };
        annotations.iter().filter_map(read).collect()
    }
}

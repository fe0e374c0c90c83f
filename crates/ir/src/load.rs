//! Loading: class bytes to [`Class`], [`Method`] and [`Field`] entries, supertypes first. Whatever is missing,
//! unreadable or cyclic becomes a [`Problem`]; nothing here looks into method bodies.

use crate::descriptor;
use crate::hierarchy::Kin;
use crate::parsed::ParsedClass;
use crate::program::{
    Annotation, Class, ClassId, Field, Loaded, Method, MethodRef, OBJECT_CLASS, Problem, Program, access,
};
use classfile::{ClassFile, Layer, NEWEST_KNOWN_MAJOR};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A class whose supertypes are being loaded.
struct Pending {
    class: ClassId,
    /// Supertypes, and for arrays the element, that must be loaded first.
    needs: Vec<ClassId>,
    next: usize,
}

impl Program {
    /// Loads the class and all its supertypes if that has not happened; afterwards `class(id).loaded != No`.
    pub fn load(&mut self, class: ClassId) -> &Class {
        if self.classes[class].loaded == Loaded::No {
            self.load_with_supertypes(class);
        }
        &self.classes[class]
    }

    /// Depth first with an explicit stack: hierarchies in hostile class files are as deep as they like.
    fn load_with_supertypes(&mut self, class: ClassId) {
        let mut open = FxHashSet::from_iter([class]);
        let mut stack = vec![self.read(class)];
        while let Some(top) = stack.last_mut() {
            let Some(&need) = top.needs.get(top.next) else {
                let class = top.class;
                stack.pop();
                open.remove(&class);
                self.finish(class);
                continue;
            };
            top.next += 1;
            let class = top.class;
            if open.contains(&need) {
                if need != OBJECT_CLASS {
                    top.needs.push(OBJECT_CLASS);
                }
                self.cut(class, need);
            } else if self.classes[need].loaded == Loaded::No {
                open.insert(need);
                let pending = self.read(need);
                stack.push(pending);
            }
        }
    }

    /// Fills in the class from its bytes; `loaded` stays `No` until its supertypes are there.
    fn read(&mut self, class: ClassId) -> Pending {
        let name = self.names.text(self.classes[class].name).clone();
        match descriptor::element(&name) {
            Some(element) => self.read_array(class, element),
            None => match self.parsed_class(class) {
                Some((parsed, layer)) => self.read_file(class, parsed.file(), layer),
                None => self.read_missing(class),
            },
        }
        let entry = &self.classes[class];
        let needs =
            entry.super_class.iter().chain(&entry.interfaces).chain(&entry.element).copied().collect();
        Pending { class, needs, next: 0 }
    }

    fn read_array(&mut self, class: ClassId, element: Option<&str>) {
        let element = element.map(|name| self.class_id(name));
        let super_class = Some(OBJECT_CLASS);
        let interfaces = vec![self.class_id("java/lang/Cloneable"), self.class_id("java/io/Serializable")];
        let entry = &mut self.classes[class];
        entry.is_array = true;
        entry.layer = Layer::Jdk;
        entry.access = access::PUBLIC | access::FINAL | access::ABSTRACT;
        entry.element = element;
        entry.super_class = super_class;
        entry.interfaces = interfaces;
    }

    fn read_missing(&mut self, class: ClassId) {
        let entry = &mut self.classes[class];
        entry.loaded = Loaded::Missing;
        entry.super_class = (class != OBJECT_CLASS).then_some(OBJECT_CLASS);
    }

    /// The parsed bytes of a class, from the cache or the class path. Why there are none is noted once, because
    /// a class is only read while it is not loaded yet or after it was.
    pub(crate) fn parsed_class(&mut self, class: ClassId) -> Option<(Arc<ParsedClass>, Layer)> {
        let (name, layer) = (self.classes[class].name, self.classes[class].layer);
        if let Some(parsed) = self.parsed.get(class) {
            return Some((parsed, layer));
        }
        let Some(found) = self.source.find(&self.names[name]) else {
            self.problems.push(Problem::MissingClass(class));
            return None;
        };
        let wrong = match ParsedClass::parse(found.bytes) {
            Ok(parsed) if *parsed.file().name == self.names[name] => {
                let parsed = Arc::new(parsed);
                self.parsed.insert(class, parsed.clone());
                return Some((parsed, found.layer));
            }
            Ok(parsed) => format!("holds class {}", parsed.file().name),
            Err(error) => error.to_string(),
        };
        self.problems.push(Problem::CorruptClass(class, wrong));
        None
    }

    fn read_file(&mut self, class: ClassId, file: &ClassFile<'_>, layer: Layer) {
        if file.major > NEWEST_KNOWN_MAJOR {
            self.problems.push(Problem::NewerVersion(class, file.major));
        }
        let super_class = match &file.super_name {
            _ if class == OBJECT_CLASS => None,
            Some(name) => Some(self.class_id(name)),
            None => Some(OBJECT_CLASS),
        };
        let interfaces = file.interfaces.iter().map(|name| self.class_id(name)).collect();
        let source_file = file.source_file.as_ref().map(|name| self.names.intern(name));
        let outer_class = file.outer_class.as_ref().map(|name| self.class_id(name));
        let annotations = self.annotations(&file.annotations);
        self.read_fields(class, file);
        self.read_methods(class, file);
        let entry = &mut self.classes[class];
        entry.layer = layer;
        entry.access = file.access;
        entry.super_class = super_class;
        entry.interfaces = interfaces;
        entry.is_record = file.is_record;
        entry.source_file = source_file;
        entry.outer_class = outer_class;
        entry.annotations = annotations;
    }

    fn read_fields(&mut self, class: ClassId, file: &ClassFile<'_>) {
        for field in &file.fields {
            let name = self.names.intern(&field.name);
            let descriptor = self.names.intern(&field.descriptor);
            // The first of two equal declarations counts, here and for methods; the JVM would refuse the class.
            if self.field_ids.contains_key(&(class, name, descriptor)) {
                continue;
            }
            let declared = descriptor::field_type(&field.descriptor).and_then(|found| found.class());
            let class_of = declared.map(|name| self.class_id(name));
            let annotations = self.annotations(&field.annotations);
            let entry = Field { class, name, descriptor, access: field.access, class_of, annotations };
            let id = self.fields.push(entry);
            self.field_ids.insert((class, name, descriptor), id);
            self.classes[class].fields.push(id);
        }
    }

    fn read_methods(&mut self, class: ClassId, file: &ClassFile<'_>) {
        for (index, method) in file.methods.iter().enumerate() {
            let selector = self.selector(&method.name, &method.descriptor);
            let key = MethodRef { class, selector };
            if self.method_ids.contains_key(&key) {
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
            let has_code = method.code.is_some();
            let access = method.access;
            let id = self.methods.push(Method {
                class,
                selector,
                access,
                params,
                result,
                has_code,
                throws,
                annotations,
            });
            self.method_ids.insert(key, id);
            self.method_index.push(index as u32);
            self.classes[class].methods.push(id);
            if !has_code && access & (access::ABSTRACT | access::NATIVE) == 0 {
                self.problems.push(Problem::Body(id, "no readable code".to_owned()));
            }
        }
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

    /// Removes the edge that closes a cycle.
    fn cut(&mut self, class: ClassId, supertype: ClassId) {
        let entry = &mut self.classes[class];
        if entry.super_class == Some(supertype) {
            entry.super_class = (class != OBJECT_CLASS && supertype != OBJECT_CLASS).then_some(OBJECT_CLASS);
        }
        entry.interfaces.retain(|&interface| interface != supertype);
        let problem = Problem::CyclicHierarchy(class);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn finish(&mut self, class: ClassId) {
        if self.classes[class].loaded == Loaded::No {
            self.classes[class].loaded = Loaded::Yes;
        }
        let kin = Kin::of(self, class);
        *self.kin.at(class) = kin;
    }
}

//! The models by method, with inheritance: a model on an interface holds for library classes that implement it.
//! Owns which model a call gets; refuses to know what its steps mean.

use crate::builtin;
use crate::file::{self, Entry, ModelFile};
use crate::policy::Policy;
use crate::signature::simple_params;
use crate::step::Model;
use arena::{IndexVec, define_id};
use classfile::Layer;
use ir::{ClassId, MethodId, MethodRef, Program, Selector, access};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

define_id! {
    /// One model.
    ModelId
}

/// A model file that cannot be used, with the place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for ModelError {}

#[derive(Debug, Clone, Default)]
pub struct Models {
    /// The default boundary (quiet JDK).
    pub quiet: Policy,
    /// With `--full-jdk`.
    pub full: Policy,
    models: IndexVec<ModelId, Model>,
    /// Models that overriding methods inherit, by internal class name.
    tables: FxHashMap<String, Table>,
    /// Models of objects of exactly that class.
    exact: FxHashMap<String, Table>,
    /// Names of all modelled methods: most calls are answered by not finding their name here.
    names: FxHashSet<String>,
    cache: FxHashMap<MethodId, Option<ModelId>>,
}

/// The models of one class by method name.
type Table = FxHashMap<String, Overloads>;

#[derive(Debug, Clone, Default)]
struct Overloads {
    explicit: Vec<(Vec<String>, ModelId)>,
    any: Option<ModelId>,
}

impl Overloads {
    fn find(&self, params: &[String]) -> Option<ModelId> {
        self.explicit.iter().find(|(explicit, _)| explicit == params).map(|&(_, model)| model).or(self.any)
    }
}

impl Models {
    /// The models that ship with Snarl.
    pub fn builtin() -> Models {
        let mut models = Models::default();
        let files = builtin::FILES.iter().map(|(file, text)| file::read(file, text));
        match files.collect::<Result<Vec<_>, _>>() {
            Ok(files) => models.install(files),
            Err(error) => unreachable!("the shipped models are read by a test: {error}"),
        }
        models
    }

    /// Adds a user's model file on top.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), ModelError> {
        self.install(vec![file::read(file, text)?]);
        Ok(())
    }

    /// The model of a method: its own, or the one of a method it overrides if its class is not application code.
    pub fn of(&mut self, program: &mut Program, method: MethodId) -> Option<ModelId> {
        if let Some(&known) = self.cache.get(&method) {
            return known;
        }
        let found = self.find(program, method);
        self.cache.insert(method, found);
        found
    }

    /// What a virtual call runs on an object of exactly `class`: the method, and its model if it has one. Unlike
    /// [`Program::dispatch`] it may answer with an abstract method, because model-made objects can be of an
    /// interface type.
    pub fn dispatch(
        &mut self,
        program: &mut Program,
        class: ClassId,
        selector: Selector,
    ) -> Option<(MethodId, Option<ModelId>)> {
        if let Some(model) = self.find_exact(program, class, selector) {
            let method = program.resolve_method(MethodRef { class, selector })?;
            return Some((method, Some(model)));
        }
        let method = match program.dispatch(class, selector) {
            Some(method) => method,
            None => program.resolve_method(MethodRef { class, selector })?,
        };
        Some((method, self.of(program, method)))
    }

    /// The program has changed: which model a method gets has to be asked anew.
    pub fn forget(&mut self) {
        self.cache.clear();
    }

    /// The same of one method only.
    pub fn forget_method(&mut self, method: MethodId) {
        self.cache.remove(&method);
    }

    /// The model if [`Models::of`] was asked before.
    pub fn known(&self, method: MethodId) -> Option<ModelId> {
        *self.cache.get(&method)?
    }

    pub fn model(&self, model: ModelId) -> &Model {
        &self.models[model]
    }

    /// The nearest supertype with an entry decides: the class itself, then level by level its superclass and
    /// interfaces. Constructors, static and private methods are never inherited.
    fn find(&self, program: &Program, method: MethodId) -> Option<ModelId> {
        let declared = program.method(method);
        let (name, descriptor) = program.selector_text(declared.selector);
        if !self.names.contains(name) {
            return None;
        }
        let params = simple_params(descriptor);
        // Only a model-made object can get a call to an abstract method.
        let is_abstract = declared.access & access::ABSTRACT != 0;
        let inherits = declared.access & (access::STATIC | access::PRIVATE) == 0 && !name.starts_with('<');
        let class = declared.class;
        let classes = if inherits && program.class(class).layer != Layer::App {
            supertypes(program, class)
        } else {
            vec![class]
        };
        let (place, model) = classes.into_iter().find_map(|place| {
            let exact = is_abstract.then(|| lookup(&self.exact, program, place, name, &params)).flatten();
            Some((place, exact.or_else(|| lookup(&self.tables, program, place, name, &params))?))
        })?;
        (place == class || !self.models[model].own).then_some(model)
    }

    /// Entries of `exact` tables: those of the class, then those of its supertypes that are exact as well.
    fn find_exact(&self, program: &mut Program, class: ClassId, selector: Selector) -> Option<ModelId> {
        let class_name = program.class(class).name;
        if !self.exact.contains_key(&program.names[class_name]) {
            return None;
        }
        program.load(class);
        let (name, descriptor) = program.selector_text(selector);
        let params = simple_params(descriptor);
        let mut classes = supertypes(program, class).into_iter();
        classes.find_map(|class| lookup(&self.exact, program, class, name, &params))
    }

    /// Puts files on top of what is there: their entries win, and `name(*)` hides older overloads of the name.
    fn install(&mut self, files: Vec<ModelFile>) {
        self.cache.clear();
        for entry in files.iter().flat_map(|file| &file.entries) {
            if entry.signature.params.is_none() {
                self.overloads(entry).explicit.clear();
            }
        }
        for file in files {
            self.quiet.extend(file.quiet);
            self.full.extend(file.full);
            for entry in file.entries {
                self.insert(entry);
            }
        }
    }

    fn insert(&mut self, entry: Entry) {
        let model = self.models.push(entry.model.clone());
        self.names.insert(entry.signature.name.clone());
        let overloads = self.overloads(&entry);
        match entry.signature.params {
            Some(params) => {
                overloads.explicit.retain(|(older, _)| *older != params);
                overloads.explicit.push((params, model));
            }
            None => overloads.any = Some(model),
        }
    }

    fn overloads(&mut self, entry: &Entry) -> &mut Overloads {
        let tables = if entry.exact { &mut self.exact } else { &mut self.tables };
        let table = tables.entry(entry.class.clone()).or_default();
        table.entry(entry.signature.name.clone()).or_default()
    }
}

fn lookup(
    tables: &FxHashMap<String, Table>,
    program: &Program,
    class: ClassId,
    name: &str,
    params: &[String],
) -> Option<ModelId> {
    tables.get(&program.names[program.class(class).name])?.get(name)?.find(params)
}

/// The class and all its supertypes, nearest first, a superclass before the interfaces beside it.
fn supertypes(program: &Program, class: ClassId) -> Vec<ClassId> {
    let mut found = vec![class];
    let mut next = 0;
    while let Some(&class) = found.get(next) {
        next += 1;
        let class = program.class(class);
        for &parent in class.super_class.iter().chain(&class.interfaces) {
            if !found.contains(&parent) {
                found.push(parent);
            }
        }
    }
    found
}

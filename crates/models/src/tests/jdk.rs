//! Everything the shipped files name exists in the JDKs at hand: classes, signatures, operands and the methods
//! that are called on parameters.

use super::classes;
use crate::builtin;
use crate::file::{self, Entry};
use crate::registry::Models;
use crate::signature::simple_params;
use crate::step::{Operand, Root, Source, Step};
use ir::{ClassId, Loaded, Method, Program, Selector, access};
use project::{Environment, Request};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

#[test]
fn the_shipped_models_name_what_exists() {
    let homes = jdks();
    if homes.is_empty() {
        eprintln!("no JDK here: nothing to compare with");
        return;
    }
    let mut wrong = Vec::new();
    for home in homes {
        let (mut program, feature) = open(&home);
        for (file, entry) in entries() {
            // Other libraries are not at hand.
            let is_of_jdk = ["java/", "javax/", "jdk/", "sun/"].iter().any(|of| entry.class.starts_with(of));
            if entry.since > feature || entry.copied || !is_of_jdk {
                continue;
            }
            let problems = Check { program: &mut program, entry: &entry }.run();
            let place = format!("{file}:{}: {} (JDK {feature})", entry.line, entry.class);
            wrong.extend(problems.into_iter().map(|problem| format!("{place}: {problem}")));
        }
    }
    assert!(wrong.is_empty(), "{} mistakes:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_signature_is_modelled_twice() {
    let mut seen = BTreeMap::new();
    for (file, entry) in entries() {
        let key = (entry.class.clone(), entry.exact, entry.signature.clone());
        if let Some((file0, line0)) = seen.insert(key, (file, entry.line)) {
            panic!("{}: {:?} in {file0}:{line0} and {file}:{}", entry.class, entry.signature, entry.line);
        }
    }
}

/// An object that a model makes with an interface or abstract class for a class has no bodies: whatever takes or
/// gives references needs a model, unless the class is opaque.
#[test]
fn model_made_objects_answer_every_call() {
    let mut silent = BTreeSet::new();
    for home in jdks() {
        let (mut program, feature) = open(&home);
        let mut models = Models::builtin();
        let mut made = made_classes(feature);
        made.retain(|name| !models.quiet.is_opaque(name));
        for name in made {
            let class = program.class_id(&name);
            program.load(class);
            for selector in abstract_methods(&program, class) {
                let (called, descriptor) = program.selector_text(selector);
                let text = format!("{name}.{called}{descriptor}");
                let on_references = descriptor.contains(['L', '[']);
                let answer = models.dispatch(&mut program, class, selector);
                if on_references && answer.is_none_or(|(_, model)| model.is_none()) {
                    silent.insert(text);
                }
            }
        }
    }
    assert!(silent.is_empty(), "{} without a model:\n{}", silent.len(), Vec::from_iter(silent).join("\n"));
}

fn made_classes(feature: u32) -> BTreeSet<String> {
    let entries = entries().into_iter().filter(|(_, entry)| entry.since <= feature);
    let steps = entries.flat_map(|(_, entry)| entry.model.steps);
    let made = steps.filter_map(|step| match step {
        Step::Assign { src: Source::New { class, .. } | Source::The { class, .. }, .. } => Some(class),
        _ => None,
    });
    made.collect()
}

/// What an object of the class itself would have to answer.
fn abstract_methods(program: &Program, class: ClassId) -> Vec<Selector> {
    let mut all = vec![class];
    let mut next = 0;
    let (mut bodies, mut missing) = (BTreeSet::new(), BTreeSet::new());
    while next < all.len() {
        let class = program.class(all[next]);
        all.extend(class.super_class.iter().chain(&class.interfaces));
        for &method in &class.methods {
            let method = program.method(method);
            let is_abstract = method.access & access::ABSTRACT != 0;
            if is_abstract {
                missing.insert(method.selector)
            } else {
                bodies.insert(method.selector)
            };
        }
        next += 1;
    }
    missing.difference(&bodies).copied().collect()
}

pub fn entries() -> Vec<(&'static str, Entry)> {
    let read = |&(file, text)| match file::read(file, text) {
        Ok(read) => read.entries.into_iter().map(move |entry| (file, entry)),
        Err(error) => panic!("{error}"),
    };
    builtin::FILES.iter().flat_map(read).collect()
}

fn jdks() -> BTreeSet<PathBuf> {
    let environment = Environment::current();
    let shelved = environment.shelves.iter().filter_map(|shelf| std::fs::read_dir(shelf).ok());
    let shelved = shelved.flatten().flatten().map(|entry| entry.path());
    let all = environment.java_home.iter().cloned().chain(shelved);
    let all = all.filter(|home| home.join("lib/modules").is_file());
    all.filter_map(|home| home.canonicalize().ok()).collect()
}

fn open(home: &std::path::Path) -> (Program, u32) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let empty = classes::assemble(0, "Empty", ("java/lang/Object", &[]), &[]);
    std::fs::write(directory.path().join("Empty.class"), empty).expect("a class file");
    let request = Request {
        paths: vec![directory.path().to_path_buf()],
        jdk: Some(home.to_path_buf()),
        ..Request::default()
    };
    let project = project::open(&request).unwrap_or_else(|error| panic!("{}: {error}", home.display()));
    let feature = project.jdk().feature;
    (Program::new(Arc::new(project)), feature)
}

struct Check<'p> {
    program: &'p mut Program,
    entry: &'p Entry,
}

impl Check<'_> {
    fn run(&mut self) -> Vec<String> {
        let Some(class) = self.class(&self.entry.class) else { return vec!["no such class".to_owned()] };
        let methods = self.modelled(class);
        if methods.is_empty() {
            return vec![format!("no method {:?}", self.entry.signature)];
        }
        let mut wrong = Vec::new();
        for method in methods {
            self.operands(&method, &mut wrong);
            for step in &self.entry.model.steps {
                self.names(class, &method, step, &mut wrong);
            }
        }
        wrong
    }

    fn class(&mut self, name: &str) -> Option<ClassId> {
        let class = self.program.class_id(name);
        (self.program.load(class).loaded == Loaded::Yes).then_some(class)
    }

    /// The methods the entry means. An interface's table may name what it inherits, because classes that
    /// implement it declare that again; a class's table may not, because nobody would look there.
    fn modelled(&mut self, class: ClassId) -> Vec<Method> {
        let is_interface = self.program.class(class).access & access::INTERFACE != 0;
        let places = if is_interface || self.entry.exact { self.supertypes(class) } else { vec![class] };
        let methods = places.into_iter().flat_map(|class| self.program.class(class).methods.clone());
        let methods: Vec<Method> = methods.map(|method| self.program.method(method).clone()).collect();
        methods.into_iter().filter(|method| self.is_meant(method)).collect()
    }

    fn is_meant(&self, method: &Method) -> bool {
        let (name, descriptor) = self.program.selector_text(method.selector);
        let signature = &self.entry.signature;
        let params = |wanted: &Vec<String>| *wanted == simple_params(descriptor);
        name == signature.name && signature.params.as_ref().is_none_or(params)
    }

    fn supertypes(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = vec![class];
        let mut next = 0;
        while next < found.len() {
            let class = self.program.class(found[next]);
            found.extend(class.super_class.iter().chain(&class.interfaces));
            next += 1;
        }
        found
    }

    /// `this` only in instance methods, parameters that exist, `ret` only where a reference is returned.
    fn operands(&self, method: &Method, wrong: &mut Vec<String>) {
        let is_static = method.access & access::STATIC != 0;
        let count = method.params.len() - usize::from(!is_static);
        let (name, descriptor) = self.program.selector_text(method.selector);
        // Calls of signature-polymorphic methods pass their arguments as they are.
        let is_polymorphic = self.entry.class.starts_with("java/lang/invoke/VarHandle");
        for operand in self.entry.model.steps.iter().flat_map(Step::operands) {
            let is_wrong = match operand.root {
                Root::This => is_static,
                Root::Param(n) => usize::from(n) >= count && !is_polymorphic,
                Root::Ret => method.result.is_none() && !descriptor.contains(")["),
                Root::Temp(_) => false,
            };
            if is_wrong {
                wrong.push(format!("{name}{descriptor} has no {:?}", operand.root));
            }
        }
    }

    /// Classes that are made and methods that are called on operands of known type.
    fn names(&mut self, class: ClassId, method: &Method, step: &Step, wrong: &mut Vec<String>) {
        match step {
            Step::Assign { src: Source::New { class, .. } | Source::The { class, .. }, .. }
                if self.class(class).is_none() =>
            {
                wrong.push(format!("no class {class} to make"));
            }
            Step::Call { receiver, method: name, args, .. } => {
                self.callee(class, method, receiver, name, args.len(), wrong);
            }
            Step::Spawn(spawn) => {
                self.callee(class, method, &spawn.receiver, &spawn.method, spawn.args.len(), wrong);
            }
            _ => {}
        }
    }

    fn callee(
        &mut self,
        class: ClassId,
        method: &Method,
        receiver: &Operand,
        name: &str,
        args: usize,
        wrong: &mut Vec<String>,
    ) {
        let declared = match receiver.root {
            Root::This => Some(class),
            Root::Param(n) => {
                let this = usize::from(method.access & access::STATIC == 0);
                method.params.get(usize::from(n) + this).copied().flatten()
            }
            Root::Ret | Root::Temp(_) => None,
        };
        let Some(declared) = declared.filter(|_| receiver.path.is_empty()) else { return };
        // What only subclasses have: the tasks of a fork-join pool, the elements of sorted collections.
        if ["compute", "compareTo"].contains(&name) {
            return;
        }
        self.program.load(declared);
        let found = self.supertypes(declared).into_iter().any(|class| {
            self.program.class(class).methods.iter().any(|&method| {
                let method = self.program.method(method);
                self.program.selector_text(method.selector).0 == name && method.params.len() == args + 1
            })
        });
        if !found {
            let declared = self.program.class_display(declared);
            wrong.push(format!("{declared} has no method {name} with {args} arguments"));
        }
    }
}

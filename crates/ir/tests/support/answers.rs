//! Everything a program answers, as text without ids: two programs that answer alike are the same program.

use ir::{ClassId, FieldRef, Loaded, MethodRef, Problem, Program, Selector, dump};
use std::collections::BTreeMap;

/// The answers about one class each, by its name.
pub type Answers = BTreeMap<String, String>;

/// What this class is and declares; the bodies of methods for which `lowers` holds.
pub fn described(program: &mut Program, name: &str, lowers: impl Fn(&str) -> bool) -> String {
    let class = program.class_id(name);
    let entry = program.load(class).clone();
    let show = |program: &Program, class: Option<ClassId>| class.map(|class| program.class_display(class));
    let mut out = format!(
        "{name} {:?} {:?} {:x} super {:?} outer {:?} element {:?} {} {:?}\n",
        entry.loaded,
        entry.layer,
        entry.access,
        show(program, entry.super_class),
        show(program, entry.outer_class),
        show(program, entry.element),
        program.class_file(class),
        entry.annotations.len(),
    );
    for &interface in &entry.interfaces {
        out += &format!("implements {}\n", program.class_display(interface));
    }
    for &field in &entry.fields {
        let (text, field) = (program.field_display(field), program.field(field));
        out += &format!("field {text} {:x}\n", field.access);
    }
    for &method in &entry.methods {
        let (display, info) = (program.method_display(method), program.method(method).clone());
        let throws: Vec<String> = info.throws.iter().map(|&class| program.class_display(class)).collect();
        let params: Vec<_> = info.params.iter().map(|&param| show(program, param)).collect();
        out += &format!("method {display} {:x} {params:?} {throws:?} {}\n", info.access, info.has_code);
        let key = MethodRef { class, selector: info.selector };
        assert_eq!(program.declared_method(key), Some(method));
        if lowers(&display) {
            match program.body(method) {
                // What its variables are numbered after is what the body was before.
                Some(body) => out += &dump(program, &body.dense()),
                None => out += "no body\n",
            }
        }
    }
    out
}

/// What these classes inherit from each other and dispatch to.
pub fn related(program: &mut Program, names: &[String], members: &[&str]) -> Answers {
    let classes: Vec<ClassId> = names.iter().map(|name| program.class_id(name)).collect();
    let selectors: Vec<Selector> = members.iter().map(|name| program.selector(name, "()V")).collect();
    let mut answers = Answers::new();
    for (&class, name) in classes.iter().zip(names) {
        program.load(class);
        let mut supers: Vec<String> =
            program.supertypes(class).map(|class| program.class_display(class)).collect();
        supers.sort();
        let mut out = format!("below {supers:?}\n");
        for &other in &classes {
            out += if program.is_subtype(class, other) { "1" } else { "0" };
        }
        for &selector in &selectors {
            let key = MethodRef { class, selector };
            let dispatched = program.dispatch(class, selector);
            let resolved = program.resolve_method(key);
            for found in [dispatched, resolved] {
                out += &format!(" {:?}", found.map(|found| program.method_display(found)));
            }
            for &other in &classes {
                let called = program.dispatch_call(class, MethodRef { class: other, selector });
                out += &format!(" {:?}", called.map(|found| program.method_display(found)));
            }
            out.push('\n');
        }
        for member in members {
            let (name, descriptor) =
                (program.names.intern(member), program.names.intern("Ljava/lang/Object;"));
            let field = FieldRef { class, name, descriptor };
            let found = program.resolve_field(field);
            assert_eq!(program.find_field(field), found);
            out += &format!(" {:?}", found.map(|found| program.field_display(found)));
        }
        let functional = program.functional_method(class);
        out += &format!("\nfunctional {:?}\n", functional.map(|found| program.method_display(found)));
        let below: Vec<String> =
            program.loaded_subtypes(&[class]).into_iter().map(|class| program.class_display(class)).collect();
        let mut below: Vec<String> = below.into_iter().filter(|below| names.contains(below)).collect();
        below.sort();
        out += &format!("above {below:?}\n");
        answers.insert(name.clone(), out);
    }
    answers
}

/// What there is to tell, sorted.
pub fn problems(program: &Program) -> Vec<String> {
    let class = |class: ClassId| program.class_display(class);
    let told = program.problems.iter().map(|problem| match problem {
        Problem::MissingClass(id) => format!("missing {}", class(*id)),
        Problem::CorruptClass(id, why) => format!("corrupt {} {why}", class(*id)),
        Problem::NewerVersion(id, major) => format!("newer {} {major}", class(*id)),
        Problem::CyclicHierarchy(id) => format!("cyclic {}", class(*id)),
        Problem::Body(id, why) => format!("body {} {why}", program.method_display(*id)),
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    told
}

/// Classes that the program has looked at, by name; arrays left out.
pub fn loaded(program: &Program) -> Vec<String> {
    let ids = (0..program.class_count() as u32).map(ClassId);
    let seen =
        ids.filter(|&class| program.class(class).loaded != Loaded::No && !program.class(class).is_array);
    let mut names: Vec<String> =
        seen.map(|class| program.names[program.class(class).name].to_owned()).collect();
    names.sort();
    names
}

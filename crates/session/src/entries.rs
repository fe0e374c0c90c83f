//! Where the program starts: every `main`, or what the user named. Also the JVM's own start-up.

use crate::Options;
use findings::Note;
use ir::{ClassId, Loaded, MethodId, MethodRef, Program, access};
use pointsto::Roots;

pub(crate) struct Found {
    pub(crate) roots: Roots,
    pub(crate) notes: Vec<Note>,
}

pub(crate) fn find(program: &mut Program, options: &Options) -> Found {
    let mut notes = Vec::new();
    let mut entries = Vec::new();
    let classes = if options.mains.is_empty() && options.entries.is_empty() {
        program.source().app_classes()
    } else {
        options.mains.iter().map(|name| name.replace('.', "/")).collect()
    };
    for name in classes {
        let class = program.class_id(&name);
        match main_of(program, class) {
            Some(main) => entries.push(main),
            None if !options.mains.is_empty() => notes.push(unknown("--main", &name, "has no main method")),
            None => {}
        }
    }
    for entry in &options.entries {
        let methods = methods_named(program, entry);
        if methods.is_empty() {
            notes.push(unknown("--entry", entry, "does not name a method of a class on the path"));
        }
        entries.extend(methods);
    }
    if entries.is_empty() && notes.is_empty() {
        let message = "no entry point found: no class has a main method; name one with --main CLASS or --entry Class.method";
        notes.push(Note { kind: "no-entry-point".into(), message: message.into(), count: 1 });
    }
    // In whatever order they were named.
    entries.sort_by_cached_key(|&method| program.method_display(method));
    entries.dedup();
    let system = program.class_id("java/lang/System");
    let boot = declared(program, system, "initPhase1").into_iter().collect();
    Found { roots: Roots { entries, boot }, notes }
}

fn unknown(flag: &str, name: &str, what: &str) -> Note {
    Note { kind: "unknown-entry-point".into(), message: format!("{flag} {name}: {what}"), count: 1 }
}

/// `static void main(String[])`.
fn main_of(program: &mut Program, class: ClassId) -> Option<MethodId> {
    if program.load(class).loaded != Loaded::Yes {
        return None;
    }
    let selector = program.selector("main", "([Ljava/lang/String;)V");
    let main = program.declared_method(MethodRef { class, selector })?;
    (program.method(main).access & access::STATIC != 0).then_some(main)
}

/// All methods `Class.method` names, overloads included.
fn methods_named(program: &mut Program, entry: &str) -> Vec<MethodId> {
    let Some((class, name)) = entry.rsplit_once('.') else { return Vec::new() };
    let class = program.class_id(&class.replace('.', "/"));
    program.load(class);
    let methods = program.class(class).methods.clone();
    methods.into_iter().filter(|&m| program.selector_text(program.method(m).selector).0 == name).collect()
}

fn declared(program: &mut Program, class: ClassId, name: &str) -> Option<MethodId> {
    program.load(class);
    let methods = program.class(class).methods.clone();
    methods.into_iter().find(|&m| program.selector_text(program.method(m).selector).0 == name)
}

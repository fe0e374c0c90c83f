//! Which model a method gets: overloads, supertypes, layers, exact objects and files on top of each other.

use super::classes::{ABSTRACT, Classes, INTERFACE, NATIVE, STATIC};
use crate::registry::{ModelId, Models};
use crate::step::Step;
use classfile::Layer::{self, App, Jdk, Library};
use ir::{MethodId, MethodRef, Program};
use std::sync::Arc;

const VOID: &str = "()V";

struct World {
    program: Program,
    models: Models,
}

impl World {
    fn method(&mut self, class: &str, name: &str, descriptor: &str) -> MethodId {
        let class = self.program.class_id(class);
        let selector = self.program.selector(name, descriptor);
        self.program.resolve_method(MethodRef { class, selector }).expect("the method exists")
    }

    fn of(&mut self, class: &str, name: &str, descriptor: &str) -> String {
        let method = self.method(class, name, descriptor);
        let model = self.models.of(&mut self.program, method);
        assert_eq!(self.models.known(method), model);
        self.shown(model)
    }

    /// What a virtual call on an object of the class runs.
    fn on_object(&mut self, class: &str, name: &str, descriptor: &str) -> String {
        let class = self.program.class_id(class);
        let selector = self.program.selector(name, descriptor);
        let (_, model) = self.models.dispatch(&mut self.program, class, selector).expect("the method exists");
        self.shown(model)
    }

    /// Test models consist of one step whose kind names them.
    fn shown(&self, model: Option<ModelId>) -> String {
        let Some(model) = model else { return "no model".to_owned() };
        match self.models.model(model).steps.as_slice() {
            [Step::Read { .. }] => "read".to_owned(),
            [Step::Write { .. }] => "write".to_owned(),
            [Step::Join { .. }] => "join".to_owned(),
            [Step::Signal { .. }] => "signal".to_owned(),
            other => format!("{other:?}"),
        }
    }
}

fn world(files: &[&str], build: impl FnOnce(&mut Classes)) -> World {
    let mut classes = Classes::default();
    classes.add(Jdk, 0, "java/lang/Object", ("", &[]), &[]);
    build(&mut classes);
    let mut models = Models::default();
    for (n, text) in files.iter().enumerate() {
        models.add(&format!("{n}.toml"), text).expect("the file is right");
    }
    World { program: Program::new(Arc::new(classes)), models }
}

const OBJECT: (&str, &[&str]) = ("java/lang/Object", &[]);

#[test]
fn an_explicit_overload_beats_the_star() {
    let file = r#"
        ["lib.C"]
        "go(*)" = "read this"
        "go(int,String[])" = "write this"
        "stop()" = "join this"
    "#;
    let mut world = world(&[file], |classes| {
        let methods = [
            (NATIVE, "go", VOID),
            (NATIVE, "go", "(I[Ljava/lang/String;)V"),
            (NATIVE, "stop", VOID),
            (NATIVE, "stop", "(J)V"),
        ];
        classes.add(Library, 0, "lib/C", OBJECT, &methods);
    });
    assert_eq!(world.of("lib/C", "go", VOID), "read");
    assert_eq!(world.of("lib/C", "go", "(I[Ljava/lang/String;)V"), "write");
    assert_eq!(world.of("lib/C", "stop", VOID), "join");
    assert_eq!(world.of("lib/C", "stop", "(J)V"), "no model");
}

/// `I` ← `lib.A` ← `lib.B`; `I` ← `app.A` ← `app.B`.
fn family(file: &str) -> World {
    world(&[file], |classes| {
        let go = &[(NATIVE, "go", VOID)];
        classes.add(Jdk, INTERFACE, "jdk/I", OBJECT, &[(ABSTRACT, "go", VOID)]);
        classes.add(Library, 0, "lib/A", ("java/lang/Object", &["jdk/I"]), go);
        classes.add(Library, 0, "lib/B", ("lib/A", &[]), go);
        classes.add(App, 0, "app/A", ("java/lang/Object", &["jdk/I"]), go);
        classes.add(App, 0, "app/B", ("lib/A", &[]), &[]);
    })
}

#[test]
fn library_classes_inherit_models_and_application_classes_keep_their_bodies() {
    let mut world = family("[\"jdk.I\"]\n\"go()\" = \"read this\"");
    assert_eq!(world.of("jdk/I", "go", VOID), "read");
    assert_eq!(world.of("lib/A", "go", VOID), "read");
    assert_eq!(world.of("lib/B", "go", VOID), "read");
    assert_eq!(world.of("app/A", "go", VOID), "no model");
    // Not overridden: what runs is the library's method.
    assert_eq!(world.of("app/B", "go", VOID), "read");
}

#[test]
fn a_model_on_a_class_beats_one_on_a_supertype() {
    let mut world = family("[\"jdk.I\"]\n\"go()\" = \"read this\"\n[\"lib.A\"]\n\"go(*)\" = \"write this\"");
    assert_eq!(world.of("jdk/I", "go", VOID), "read");
    assert_eq!(world.of("lib/A", "go", VOID), "write");
    assert_eq!(world.of("lib/B", "go", VOID), "write");
}

#[test]
fn application_methods_can_have_models_of_their_own() {
    let mut world = family("[\"app.A\"]\n\"go()\" = \"join this\"");
    assert_eq!(world.of("app/A", "go", VOID), "join");
}

#[test]
fn an_own_model_is_not_inherited() {
    let mut world = family("[\"lib.A\"]\n\"go()\" = \"own; read this\"");
    assert_eq!(world.of("lib/A", "go", VOID), "read");
    assert_eq!(world.of("app/B", "go", VOID), "read");
    assert_eq!(world.of("lib/B", "go", VOID), "no model");
}

#[test]
fn constructors_and_static_methods_are_not_inherited() {
    let file = "[\"lib.A\"]\n\"<init>()\" = \"read this\"\n\"make()\" = \"join this\"";
    let mut world = world(&[file], |classes| {
        let methods = &[(NATIVE, "<init>", VOID), (NATIVE | STATIC, "make", VOID)];
        classes.add(Library, 0, "lib/A", OBJECT, methods);
        classes.add(Library, 0, "lib/B", ("lib/A", &[]), methods);
    });
    assert_eq!(world.of("lib/A", "<init>", VOID), "read");
    assert_eq!(world.of("lib/B", "<init>", VOID), "no model");
    assert_eq!(world.of("lib/A", "make", VOID), "join");
    assert_eq!(world.of("lib/B", "make", VOID), "no model");
}

#[test]
fn an_exact_model_is_for_objects_of_that_class_alone() {
    let file = r#"
        ["jdk.I"]
        exact = true
        "go()" = "read this"
        "twice()" = "write this"
    "#;
    let mut world = world(&[file], |classes| {
        let methods = &[(ABSTRACT, "go", VOID), (NATIVE, "twice", VOID)];
        classes.add(Jdk, INTERFACE, "jdk/I", OBJECT, methods);
        classes.add(Jdk, 0, "jdk/A", ("java/lang/Object", &["jdk/I"]), &[(NATIVE, "go", VOID)]);
    });
    assert_eq!(world.on_object("jdk/I", "go", VOID), "read");
    assert_eq!(world.on_object("jdk/I", "twice", VOID), "write");
    assert_eq!(world.on_object("jdk/A", "go", VOID), "no model");
    assert_eq!(world.on_object("jdk/A", "twice", VOID), "no model");
    // Without the object: only an abstract method is certain to be called on a model-made one.
    assert_eq!(world.of("jdk/I", "go", VOID), "read");
    assert_eq!(world.of("jdk/I", "twice", VOID), "no model");
}

#[test]
fn exact_objects_use_the_exact_models_of_their_supertypes() {
    let file = "[\"jdk.I\"]\nexact = true\n\"go()\" = \"read this\"\n[\"jdk.J\"]\nexact = true\n\"on()\" = \"join this\"";
    let mut world = world(&[file], |classes| {
        classes.add(Jdk, INTERFACE, "jdk/I", OBJECT, &[(ABSTRACT, "go", VOID)]);
        let sub = ("java/lang/Object", &["jdk/I"][..]);
        classes.add(Jdk, INTERFACE, "jdk/J", sub, &[(ABSTRACT, "on", VOID), (ABSTRACT, "go", VOID)]);
    });
    assert_eq!(world.on_object("jdk/J", "go", VOID), "read");
    assert_eq!(world.on_object("jdk/J", "on", VOID), "join");
}

#[test]
fn a_later_file_wins() {
    let first =
        "[\"lib.C\"]\n\"go()\" = \"read this\"\n\"go(int)\" = \"read this\"\n\"stop()\" = \"read this\"";
    let second = "[\"lib.C\"]\n\"go(*)\" = \"write this\"\n\"go(int)\" = \"join this\"";
    let build = |classes: &mut Classes| {
        let methods = &[(NATIVE, "go", VOID), (NATIVE, "go", "(I)V"), (NATIVE, "stop", VOID)];
        classes.add(Layer::Library, 0, "lib/C", OBJECT, methods);
    };
    let mut world = world(&[first, second], build);
    assert_eq!(world.of("lib/C", "go", VOID), "write");
    assert_eq!(world.of("lib/C", "go", "(I)V"), "join");
    assert_eq!(world.of("lib/C", "stop", VOID), "read");
    // What was answered before is asked again.
    world.models.add("3.toml", "[\"lib.C\"]\n\"stop()\" = \"signal this\"").expect("the file is right");
    assert_eq!(world.of("lib/C", "stop", VOID), "signal");
}

#[test]
fn nested_types_match_by_their_simple_name() {
    let file = "[\"lib.C\"]\n\"put(Entry,Object...)\" = \"write this\"";
    let descriptor = "(Ljava/util/Map$Entry;[Ljava/lang/Object;)V";
    let mut world = world(&[file], |classes| {
        classes.add(Library, 0, "lib/C", OBJECT, &[(NATIVE, "put", descriptor)]);
    });
    assert_eq!(world.of("lib/C", "put", descriptor), "write");
}

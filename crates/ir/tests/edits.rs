//! Edits of Java sources as a person makes them: what the delta says, and that the program then is the new one.

#[path = "support/answers.rs"]
mod answers;
mod support;

use classfile::ClassSource;
use ir::{
    BodyChange, ClassId, Loaded, MethodId, MethodRef, Problem, Program, ProgramDelta, StmtId, access, dump,
};
use std::collections::BTreeMap;
use std::sync::Arc;

type Classes = BTreeMap<String, Vec<u8>>;

fn source(classes: &Classes) -> Arc<dyn ClassSource> {
    Arc::new(support::Memory { classes: classes.clone(), below: None })
}

/// With all classes loaded and all methods lowered.
fn program(classes: &Classes) -> Program {
    let mut program = Program::new(source(classes));
    for name in classes.keys() {
        let class = program.class_id(name);
        for method in program.load(class).methods.clone() {
            program.body(method);
        }
    }
    program
}

/// Everything that `old` and `new` name may have changed.
fn diff(program: &mut Program, old: &Classes, new: &Classes) -> ProgramDelta {
    let names: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    program.diff(source(new), &names)
}

/// Commits, and compares with a program made anew.
fn commit(program: &mut Program, delta: &ProgramDelta, new: &Classes) {
    program.commit(delta);
    let names = answers::loaded(program);
    let mut fresh = self::program(new);
    let members = ["run", "get", "put", "close"];
    for name in &names {
        let described = answers::described(program, name, |_| true);
        assert_eq!(described, answers::described(&mut fresh, name, |_| true));
    }
    assert_eq!(answers::related(program, &names, &members), answers::related(&mut fresh, &names, &members));
    assert_eq!(answers::problems(program), answers::problems(&fresh));
}

/// Both versions compiled, the delta between them, and its commit checked.
fn edited(old: &str, new: &str) -> (Program, ProgramDelta) {
    let (old, new) = (support::compile_text(old), support::compile_text(new));
    let mut program = program(&old);
    let delta = diff(&mut program, &old, &new);
    commit(&mut program, &delta, &new);
    (program, delta)
}

fn class(program: &Program, name: &str) -> ClassId {
    program.find_class(name).expect("named")
}

fn method(program: &Program, class: &str, name: &str, descriptor: &str) -> Option<MethodId> {
    let class = program.find_class(class)?;
    let selector = program.find_selector(name, descriptor)?;
    program.declared_method(MethodRef { class, selector })
}

/// The new body, with `+` at new statements, `~` at those with other operands and `?` at calls that find something else
/// looking back from their arguments; then the ones that are gone.
fn marked(program: &Program, change: &BodyChange) -> String {
    let statements = |body: &ir::Body| -> Vec<(StmtId, String)> {
        let text = dump(program, body);
        let is_statement = |line: &&str| line.starts_with(' ');
        let lines = text.lines().filter(is_statement).map(|line| line[5..].to_owned());
        body.stmts.ids().zip(lines).collect()
    };
    let (old, new) = (change.old.as_ref().expect("a body"), change.new.as_ref().expect("a body"));
    let alignment = &change.alignment;
    let mut out = String::new();
    for (id, text) in statements(new) {
        let mark = match (alignment.stmts[id], alignment.unchanged(id)) {
            (None, _) => '+',
            (Some(old), _) if alignment.look_otherwise().contains(&(old, id)) => '?',
            (_, None) => '~',
            _ => ' ',
        };
        out += &format!("{mark}{text}\n");
    }
    for (id, text) in statements(old) {
        if alignment.kept_stmts().all(|(old, _)| old != id) {
            out += &format!("-{text}\n");
        }
    }
    out
}

#[test]
fn lines_and_names_move_nothing() {
    let old = "class A { int n; void run() { int i = 0; while (i < 9) { n += i; i++; } } }";
    let new = "\n\nclass A { int n;\n void run() { int j = 0;\n while (j < 9) { n += j; j++; } } }";
    let (program, delta) = edited(old, new);
    assert!(delta.bodies.is_empty() && delta.classes.is_empty());
    let moved: Vec<String> = delta.moved.iter().map(|&(method, _)| program.method_display(method)).collect();
    assert_eq!(moved, ["A.<init>()", "A.run()"]);
}

#[test]
fn the_same_classes_make_no_difference() {
    let classes = support::java();
    let program = &mut program(classes);
    assert!(diff(program, classes, classes).is_empty());
    // Nor do classes that are only written differently.
    let mut rewritten = classes.clone();
    rewritten.values_mut().for_each(|bytes| bytes[5] = 1);
    let delta = diff(program, classes, &rewritten);
    assert!(delta.is_empty());
    commit(program, &delta, &rewritten);
}

#[test]
fn a_new_statement_is_found_among_equal_ones() {
    let old = "class A { Object a, b; void run(Object o) { a = new A(); b = new A(); put(1); put(1); } void put(int n) { } }";
    let new = "class A { Object a, b; void run(Object o) { a = new A(); o = new A(); b = new A(); put(1); a = o; put(1); } void put(int n) { } }";
    let (program, delta) = edited(old, new);
    assert_eq!(delta.bodies.len(), 1);
    insta::assert_snapshot!(marked(&program, &delta.bodies[0]), @r"
       v2 = new A
       special A.<init>(v2)
       v0:this.a = v2
    +  v6:o = new A
    +  special A.<init>(v6:o)
       v3 = new A
       special A.<init>(v3)
       v0:this.b = v3
       v4 = 1
       virtual A.put(v0:this, v4)
    +  v0:this.a = v6:o
       v5 = 1
       virtual A.put(v0:this, v5)
       return
    ");
}

#[test]
fn calls_look_otherwise_if_a_constant_changes_behind_a_cast() {
    let old = r#"class A { void run() { Object text = "a"; put((String) text); put("b"); Object o = get(); put((String) o); }
        void put(String text) { } Object get() { return null; } }"#;
    let new = r#"class A { void run() { Object text = "c"; put((String) text); put("b"); Object o = new A().get(); put((String) o); }
        void put(String text) { } Object get() { return null; } }"#;
    let (program, delta) = edited(old, new);
    insta::assert_snapshot!(marked(&program, &delta.bodies[0]), @r#"
    +  v1:text = "c"
    ~  v2 = (java.lang.String) v1:text
    ?  virtual A.put(v0:this, v2)
       v3 = "b"
       virtual A.put(v0:this, v3)
    +  v6 = new A
    +  special A.<init>(v6)
    ~  v4:o = virtual A.get(v6)
       v5 = (java.lang.String) v4:o
       virtual A.put(v0:this, v5)
       return
    -  v1:text = "a"
    "#);
}

#[test]
fn members_keep_their_ids_however_often_they_go() {
    let with = support::compile_text(
        "class A { int n; volatile Object o; synchronized void run() { } static void get() { } } class B extends A { }",
    );
    let without = support::compile_text(
        "class A { final int n = 1; void get() { } } class B extends A { void run() { } }",
    );
    let program = &mut program(&with);
    let run = method(program, "A", "run", "()V").expect("declared");
    let get = method(program, "A", "get", "()V").expect("declared");
    for _ in 0..2 {
        let delta = diff(program, &with, &without);
        let [a, b] = &delta.classes[..] else { panic!("two classes") };
        assert!(!a.supers_changed() && !a.presence_changed() && !a.layer_changed() && !a.access_changed());
        assert_eq!((a.class, b.class), (class(program, "A"), class(program, "B")));
        let removed: Vec<MethodId> =
            a.methods.iter().filter(|change| change.is_removed()).map(|c| c.id).collect();
        assert_eq!(removed, [run]);
        let changed = a.methods.iter().find(|change| change.id == get).expect("no longer static");
        let flags = |method: &Option<ir::Method>| method.as_ref().map(|method| method.access);
        assert_eq!((flags(&changed.old), flags(&changed.new)), (Some(access::STATIC), Some(0)));
        assert_eq!(a.fields.iter().map(|change| change.is_removed()).collect::<Vec<_>>(), [false, true]);
        assert!(b.methods.len() == 1 && b.methods[0].is_added());
        assert!(delta.bodies.iter().any(|change| change.method == run && change.new.is_none()));
        // Still there until the commit.
        assert_eq!(method(program, "A", "run", "()V"), Some(run));
        commit(program, &delta, &without);
        assert_eq!(method(program, "A", "run", "()V"), None);
        assert!(program.body(run).is_none());

        let delta = diff(program, &without, &with);
        commit(program, &delta, &with);
        assert_eq!(method(program, "A", "run", "()V"), Some(run));
        assert!(program.body(run).is_some());
    }
}

#[test]
fn an_override_and_another_superclass_are_dispatched_to() {
    let old = "class A { void run() { } } class B extends A { } class C extends B { } interface I { default void get() { } }";
    let new = "class A { void run() { } } class B extends A implements I { void run() { } } class C extends A { } interface I { default void get() { } }";
    let (mut program, delta) = edited(old, new);
    let (a, b, c) = (class(&program, "A"), class(&program, "B"), class(&program, "C"));
    let moved: Vec<ClassId> =
        delta.classes.iter().filter(|change| change.supers_changed()).map(|change| change.class).collect();
    assert_eq!(moved, [b, c]);
    let selector = program.find_selector("run", "()V").expect("named");
    let mut runs = |class| program.dispatch(class, selector).map(|method| program.method(method).class);
    assert_eq!((runs(b), runs(c)), (Some(b), Some(a)));
    assert_eq!(program.loaded_subtypes(&[b]), [b]);
    let arrays = ["[LB;", "[[LB;"].map(|name| program.class_id(name));
    arrays.iter().for_each(|&array| {
        program.load(array);
    });
    let mut expected = vec![b, arrays[0], arrays[1]];
    expected.sort();
    assert_eq!(program.loaded_subtypes(&[b]), expected);
}

#[test]
fn classes_that_come_back_or_are_mended_are_no_longer_told_of() {
    let whole = support::compile_text(
        "class A extends B { } class B implements I { } interface I { } class Unseen { }",
    );
    let mut broken = whole.clone();
    broken.remove("B");
    broken.insert("I".to_owned(), vec![0xca, 0xfe]);
    let program = &mut Program::new(source(&whole));
    let (a, b) = (program.class_id("A"), program.class_id("B"));
    program.load(a);
    let i = class(program, "I");
    let initially = program.problems.clone();
    for _ in 0..2 {
        let delta = diff(program, &whole, &broken);
        assert_eq!(delta.classes.len(), 2, "nobody has loaded the others");
        assert!(delta.classes.iter().all(|change| change.presence_changed()));
        program.commit(&delta);
        assert_eq!(program.class(b).loaded, Loaded::Missing);
        assert!(program.problems.contains(&Problem::MissingClass(b)));
        assert!(
            program.problems.iter().any(|problem| matches!(problem, Problem::CorruptClass(c, _) if *c == i))
        );
        assert!(diff(program, &broken, &broken).is_empty());
        let delta = diff(program, &broken, &whole);
        program.commit(&delta);
        assert_eq!(program.problems, initially);
        assert!(program.is_subtype(a, i));
    }
}

#[test]
fn what_is_loaded_between_diff_and_commit_is_not_stale() {
    let old = support::compile_text("class A { } class B { void run() { } }");
    let new = support::compile_text("class A { } class B { void put() { } }");
    let program = &mut Program::new(source(&old));
    let b = program.class_id("B");
    let delta = diff(program, &old, &new);
    assert!(delta.is_empty());
    program.load(b);
    let run = method(program, "B", "run", "()V").expect("of the old class");
    program.body(run);
    program.commit(&delta);
    assert_eq!(method(program, "B", "run", "()V"), None);
    assert!(method(program, "B", "put", "()V").is_some());
}

#[test]
fn a_replaced_body_is_there_after_the_commit() {
    let classes = support::java();
    let program = &mut program(classes);
    let run = *program.load(class(program, "Loop")).methods.last().expect("a method");
    let old = program.body(run).expect("a body");
    let new = old.stmts.ids().find_map(|stmt| old.without(stmt)).expect("a statement to remove");
    let delta = program.diff_body(run, new.clone());
    assert_eq!(delta.bodies.len(), 1);
    assert_eq!(program.lowered(run), Some(&old));
    program.commit(&delta);
    let lines = |body: &ir::Body| dump(program, body);
    assert_eq!(lines(program.lowered(run).expect("a body")), lines(&new));
    let delta = program.diff_body(run, (*old).clone());
    program.commit(&delta);
    assert_eq!(program.lowered(run), Some(&old));
    assert!(program.diff_body(run, (*old).clone()).is_empty());
}

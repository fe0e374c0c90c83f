//! Files of which the build has made more than their text says, as annotation processors do.

use crate::support;
use classfile::ClassSource;
use live::{Event, Live, LiveSource};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TEXT: &str = "package p; class Account { int n; void inc() { n++; } }";
const GETTER: &str = " int getN() { return n; }";
const OTHER: &str = " int getM() { return n; }";
const PART: &str = " class Part { }";
/// Who uses what only the build makes, and who does not.
const GETS: &str = "package p; class Main { int f(Account a) { return a.getN(); } }";
const INCREMENTS: &str = "package p; class Main { void f(Account a) { a.inc(); } }";

/// Builds the texts, and makes more of an account than is written.
fn build(project: &Path, account: &str, generated: &str, main: &str) {
    let with_generated = account.replace("int n;", &format!("int n;{generated}"));
    let text = |name: &str, text: &str| (format!("p/{name}.java"), text.to_owned());
    let texts = [text("Account", &with_generated), text("Main", main)];
    let classes = project.join("target/classes/p");
    let _ = fs::remove_dir_all(&classes);
    support::build(project, &texts);
    // Nobody but the build knows of it.
    fs::write(project.join("src/main/java/p/Account.java"), account).expect("written");
    for class in fs::read_dir(&classes).expect("classes") {
        let path = class.expect("a class").path();
        fs::write(&path, fs::read(&path).expect("a class")).expect("written");
    }
}

struct Editing {
    project: tempfile::TempDir,
    /// Below it the module lies.
    module: PathBuf,
    file: PathBuf,
    live: Live,
    source: Arc<LiveSource>,
}

impl Editing {
    fn new(generated: &str, main: &str) -> Editing {
        let project = tempfile::tempdir().expect("a directory");
        let module = project.path().to_path_buf();
        build(&module, TEXT, generated, main);
        Editing::of(project, module)
    }

    fn of(project: tempfile::TempDir, module: PathBuf) -> Editing {
        let (live, source) = support::open(project.path());
        let file = module.join("src/main/java/p/Account.java");
        Editing { project, module, file, live, source }
    }

    fn follow(&mut self, event: Event) -> Vec<String> {
        let followed = self.live.follow(vec![event]);
        assert!(followed.failure.is_none(), "{:?}", followed.failure);
        self.source = followed.source;
        followed.classes
    }

    fn put(&mut self, text: &str) -> Vec<String> {
        self.follow(Event::Text(self.file.clone(), text.into()))
    }

    fn build(&mut self, account: &str, generated: &str, main: &str) -> Vec<String> {
        build(&self.module, account, generated, main);
        self.follow(support::files(self.project.path(), self.source.project()))
    }

    /// The methods of a class as they are analysed.
    fn methods(&self, name: &str) -> Vec<String> {
        let class = self.source.find(name).expect("a class");
        let file = classfile::parse(&class.bytes).expect("a class");
        let own = file.methods.iter().map(|method| method.name.to_string());
        let kept =
            class.earlier.iter().flat_map(|earlier| earlier.methods.iter().map(|one| one.name.clone()));
        let mut all: Vec<String> = own.chain(kept).collect();
        all.sort();
        all
    }

    fn processed(&self) -> Vec<&PathBuf> {
        self.live.processed().collect()
    }

    fn is_as_built(&self) -> bool {
        self.source.find("p/Account") == self.source.project().find("p/Account")
    }

    fn main_is_broken(&self) -> bool {
        self.live.is_broken(&self.file.with_file_name("Main.java"))
    }
}

#[test]
fn opened_and_closed_it_is_as_the_build_has_left_it() {
    let mut editing = Editing::new(&format!("{GETTER}{PART}"), GETS);
    let file = editing.file.clone();
    for _ in 0..2 {
        assert_eq!(editing.put(TEXT), [""; 0]);
        assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
        editing.put(&TEXT.replace("n++", "n--"));
        assert_eq!(editing.follow(Event::Closed(file.clone())), ["p/Account"]);
        assert!(editing.is_as_built());
    }
    assert_eq!(editing.processed(), [&file]);
}

#[test]
fn edited_it_keeps_what_only_the_build_can_make() {
    let mut editing = Editing::new(&format!("{GETTER}{PART}"), GETS);
    editing.put(TEXT);
    // Who uses it is not compiled, and need not be.
    assert_eq!(editing.put(&TEXT.replace("n++", "n--")), ["p/Account"]);
    assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
    editing.put(&TEXT.replace("inc", "dec"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec", "getN"]);
    assert!(editing.source.find("p/Account$Part").is_some());
    // Whoever uses it cannot be compiled, and keeps its code.
    let main = editing.source.find("p/Main").expect("a class");
    assert!(main.earlier.iter().any(|earlier| earlier.methods.iter().any(|method| method.name == "f")));
}

#[test]
fn edited_at_once_it_is_followed_by_those_who_use_what_is_written() {
    let mut editing = Editing::new(GETTER, INCREMENTS);
    editing.put(TEXT);
    editing.put(&TEXT.replace("inc", "dec"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec", "getN"]);
    assert!(editing.main_is_broken());
}

#[test]
fn opened_with_another_text_it_keeps_what_only_the_build_can_make() {
    let mut editing = Editing::new(GETTER, GETS);
    editing.put(&TEXT.replace("n++", "n--"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
}

#[test]
fn opened_with_another_text_it_keeps_nothing_that_was_written() {
    let mut editing = Editing::new("", INCREMENTS);
    editing.put(&TEXT.replace("inc", "dec"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec"]);
    assert!(editing.main_is_broken());
}

#[test]
fn what_cannot_be_compiled_because_of_others_is_not_made_by_the_build() {
    let mut editing = Editing::new("", "package p; class Main { void f(Account a) { } void g() { } }");
    editing.put(&TEXT.replace("class Account", "class Other"));
    assert!(editing.main_is_broken());
    assert!(editing.processed().is_empty());
}

#[test]
fn built_anew_it_keeps_what_the_build_makes_now() {
    let mut editing = Editing::new(&format!("{GETTER}{PART}"), INCREMENTS);
    editing.put(TEXT);
    editing.build(TEXT, OTHER, INCREMENTS);
    assert!(editing.is_as_built());
    editing.put(&TEXT.replace("n++", "n--"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "getM", "inc"]);
    assert!(editing.source.find("p/Account$Part").is_none());
}

#[test]
fn built_anew_with_nothing_made_it_is_what_is_written() {
    let mut editing = Editing::new(GETTER, INCREMENTS);
    editing.put(TEXT);
    editing.build(TEXT, "", INCREMENTS);
    assert!(editing.processed().is_empty());
    editing.put(&TEXT.replace("inc", "dec"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec"]);
    assert!(editing.main_is_broken());
}

#[test]
fn built_as_it_was_edited_it_is_as_the_build_has_left_it() {
    let mut editing = Editing::new("", INCREMENTS);
    let edited = TEXT.replace("n++", "n--");
    editing.put(TEXT);
    editing.put(&edited);
    assert_eq!(editing.build(&edited, GETTER, GETS), ["p/Account", "p/Main"]);
    assert!(editing.is_as_built());
    editing.put(TEXT);
    assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
}

#[test]
fn built_while_it_is_edited_it_keeps_what_the_build_makes_now() {
    let mut editing = Editing::new(GETTER, INCREMENTS);
    editing.put(TEXT);
    editing.put(&TEXT.replace("n++", "n--"));
    editing.build(TEXT, OTHER, INCREMENTS);
    assert_eq!(editing.methods("p/Account"), ["<init>", "getM", "inc"]);
    assert!(!editing.is_as_built());
}

#[test]
fn built_between_edits_it_is_what_was_edited_last() {
    let mut editing = Editing::new(GETTER, GETS);
    let (saved, last) = (TEXT.replace("n++", "n--"), TEXT.replace("inc", "dec"));
    editing.put(TEXT);
    editing.put(&saved);
    build(&editing.module, &saved, GETTER, GETS);
    let files = support::files(editing.project.path(), editing.source.project());
    let followed = editing.live.follow(vec![Event::Text(editing.file.clone(), last.into()), files]);
    editing.source = followed.source;
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec", "getN"]);
}

#[test]
fn built_while_it_is_edited_it_keeps_nothing_that_was_written() {
    let mut editing = Editing::new("", "package p; class Main { }");
    editing.put(TEXT);
    editing.put(&TEXT.replace("inc", "dec"));
    editing.build(TEXT, "", "package p; class Main { int n; }");
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec"]);
    editing.build(&TEXT.replace("inc", "add"), "", "package p; class Main { }");
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec"]);
}

/// Leaves a file to the build when the modules become others, and deletes it later.
fn leave_and_delete(modules: &[&str], modules_then: &[&str]) {
    let project = tempfile::tempdir().expect("a directory");
    let module = project.path().join("account");
    build(&module, TEXT, GETTER, GETS);
    support::build(&project.path().join("other"), &[("q/Q.java".into(), "package q; class Q { }".into())]);
    support::group(project.path(), modules);
    let mut editing = Editing::of(project, module);
    let (file, edited) = (editing.file.clone(), TEXT.replace("n++", "n--"));
    editing.put(TEXT);
    editing.put(&edited);
    support::group(editing.project.path(), modules_then);
    editing.build(&edited, GETTER, GETS);
    assert!(editing.is_as_built());
    editing.put(TEXT);
    assert!(!editing.is_as_built());
    fs::remove_file(&file).expect("removed");
    editing.follow(Event::Closed(file));
    assert!(editing.source.find("p/Account").is_none());
}

#[test]
fn left_to_the_build_when_a_module_goes_it_can_go_later() {
    leave_and_delete(&["account", "other"], &["account"]);
}

#[test]
fn left_to_the_build_when_a_module_comes_it_can_go_later() {
    leave_and_delete(&["account"], &["account", "other"]);
}

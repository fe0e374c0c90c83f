//! The compiler process as its parent knows it, run by a real java: what it says of broken files, and that it may end or
//! hang without anything being lost.

use compiler::{
    Compiler, Edit, Failure, File, Launch, Module, ModuleChange, Patience, Status, Told, TypeChange,
};
use fixture::jars;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

fn java() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    home.map_or("java".into(), |home| home.join("bin/java"))
}

fn compiler() -> Compiler {
    Compiler::new(Launch::new(java(), jars()), Patience::default())
}

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), buffer: Some(text.to_owned()) }
}

fn module(files: &[(&str, &str)]) -> Module {
    let files = files.iter().map(|(path, text)| file(path, text)).collect();
    Module { id: "main".to_owned(), level: 17, hold: true, files, ..Module::default() }
}

fn put(path: &str, text: &str) -> [ModuleChange; 1] {
    [ModuleChange { module: "main".to_owned(), edits: vec![Edit::Put(file(path, text))] }]
}

/// Names of all classes that were told, with or without bytes.
fn classes(told: &Told) -> Vec<&str> {
    let files = told.answer.modules.iter().flat_map(|module| &module.files);
    files.flat_map(|file| &file.classes).map(|class| class.name.as_str()).collect()
}

const TWO: [(&str, &str); 2] = [
    ("A.java", "class A { int n; void go() { n++; } void stop() { n--; } }"),
    ("B.java", "class B { int m(A a) { return a.n; } }"),
];

#[test]
fn a_body_is_compiled_alone_and_dependents_with_what_they_see() {
    let mut compiler = compiler();
    let told = compiler.configure(vec![module(&TWO)]).expect("an answer");
    assert!(told.anew);
    assert_eq!(classes(&told), ["A", "B"]);
    assert!(compiler.welcome().is_some_and(|welcome| welcome.compiler == "ecj"));
    let told = compiler.change(&put("A.java", &TWO[0].1.replace("n++", "n += 2"))).expect("an answer");
    assert_eq!((told.anew, told.answer.compiled.files, classes(&told)), (false, 1, vec!["A"]));
    let told = compiler.change(&put("A.java", &TWO[0].1.replace("int n", "long n"))).expect("an answer");
    assert_eq!(classes(&told), ["A", "B"]);
    let of_b = &told.answer.modules[0].files[1];
    assert!(of_b.is_dependent && of_b.has_errors, "{of_b:?}");
    assert_eq!(of_b.classes[0].stubs[0].name, "m");
}

#[test]
fn only_the_broken_method_is_a_stub() {
    let mut compiler = compiler();
    compiler.configure(vec![module(&TWO)]).expect("an answer");
    let told = compiler.change(&put("A.java", &TWO[0].1.replace("n++", "nn++"))).expect("an answer");
    let file = &told.answer.modules[0].files[0];
    assert_eq!((file.status, file.has_errors, file.has_syntax_errors), (Status::Compiled, true, false));
    let stubs: Vec<&str> = file.classes[0].stubs.iter().map(|stub| stub.name.as_str()).collect();
    assert_eq!(stubs, ["go"]);
    let place = file.problems[0].place.expect("a place");
    assert_eq!((place.line, place.column, place.end_column), (1, 30, 32));
}

#[test]
fn over_the_classes_of_a_build_it_is_told_what_others_see_differently() {
    let built = tempfile::tempdir().expect("a directory");
    let told = compiler().configure(vec![module(&TWO)]).expect("an answer");
    for class in told.answer.modules[0].files.iter().flat_map(|file| &file.classes) {
        let bytes = class.bytes.as_deref().expect("bytes");
        std::fs::write(built.path().join(&class.name).with_extension("class"), bytes).expect("written");
    }
    let class_path = vec![built.path().to_string_lossy().into_owned()];
    let mut compiler = compiler();
    let only_a = Module { class_path, ..module(&TWO[..1]) };
    let told = compiler.configure(vec![only_a]).expect("an answer");
    assert_eq!((classes(&told), changed(&told)), (vec!["A"], vec![]));
    let told = compiler.change(&put("A.java", &TWO[0].1.replace("int n", "long n"))).expect("an answer");
    let members = vec!["n".to_owned()];
    assert_eq!(changed(&told), [TypeChange { name: "A".to_owned(), whole: false, members }]);
    let told = compiler.change(&put("A.java", &TWO[0].1.replace("go()", "go(int i)"))).expect("an answer");
    // The field is back.
    let members = vec!["n".to_owned()];
    assert_eq!(changed(&told), [TypeChange { name: "A".to_owned(), whole: true, members }]);
}

/// All that was told to be different.
fn changed(told: &Told) -> Vec<TypeChange> {
    let files = told.answer.modules.iter().flat_map(|module| &module.files);
    files.flat_map(|file| file.changed.clone()).collect()
}

#[test]
fn what_is_killed_is_started_again_and_told_everything() {
    let mut compiler = compiler();
    compiler.configure(vec![module(&TWO)]).expect("an answer");
    let edited = TWO[0].1.replace("n++", "n += 3");
    compiler.change(&put("A.java", &edited)).expect("an answer");
    kill(&compiler, "-KILL");
    let told = compiler.change(&put("C.java", "class C extends A { }")).expect("an answer");
    assert!(told.anew);
    assert_eq!(classes(&told), ["A", "B", "C"]);
    assert_eq!(compiler.starts(), 2);
    // It knows of the edit before.
    let told = compiler.change(&put("A.java", &edited)).expect("an answer");
    assert!(!told.anew);
    assert_eq!(told.answer.compiled.files, 0);
}

#[test]
fn what_hangs_is_started_again() {
    let patience = Patience { sign: Duration::from_secs(3), answer: Duration::from_secs(60) };
    let mut compiler = Compiler::new(Launch::new(java(), jars()), patience);
    compiler.configure(vec![module(&TWO)]).expect("an answer");
    kill(&compiler, "-STOP");
    // More than a pipe takes.
    let large = format!("class L {{ String s = \"{}\"; }}", "x".repeat(30_000));
    let large = format!("{large} /* {} */", "y".repeat(1 << 20));
    let told = compiler.change(&put("L.java", &large)).expect("an answer");
    assert!(told.anew);
    assert_eq!(classes(&told), ["A", "B", "L"]);
}

#[cfg(unix)]
fn kill(compiler: &Compiler, signal: &str) {
    let id = compiler.process_id().expect("a process").to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
}

#[test]
fn what_is_refused_has_not_happened() {
    let mut compiler = compiler();
    compiler.configure(vec![module(&TWO)]).expect("an answer");
    let nobody =
        [ModuleChange { module: "nobody".to_owned(), edits: vec![Edit::Remove("A.java".to_owned())] }];
    assert!(matches!(compiler.change(&nobody), Err(Failure::Refused(_))));
    let gone = [ModuleChange { module: "main".to_owned(), edits: vec![Edit::Remove("B.java".to_owned())] }];
    let told = compiler.change(&gone).expect("an answer");
    assert_eq!(told.answer.modules[0].files[0].status, Status::Removed);
    assert_eq!(compiler.starts(), 1);
}

#[test]
fn modules_that_are_left_out_are_gone() {
    let mut compiler = compiler();
    let other = Module {
        id: "other".to_owned(),
        depends_on: vec!["main".to_owned()],
        ..module(&[("O.java", "class O { A a; }")])
    };
    let told = compiler.configure(vec![module(&TWO), other.clone()]).expect("an answer");
    assert_eq!(classes(&told), ["A", "B", "O"]);
    let told = compiler.configure(vec![other]).expect("an answer");
    assert!(told.anew && told.answer.modules[0].files[0].has_errors);
    let told = compiler.change(&put("A.java", TWO[0].1));
    assert!(matches!(told, Err(Failure::Refused(_))), "{told:?}");
}

#[test]
fn javac_does_instead() {
    let mut compiler = Compiler::new(Launch::new(java(), jars()).with_javac(), Patience::default());
    let told = compiler.configure(vec![module(&TWO)]).expect("an answer");
    assert_eq!(classes(&told), ["A", "B"]);
    assert!(compiler.welcome().is_some_and(|welcome| welcome.compiler == "javac"));
    let told = compiler.change(&put("A.java", "class A {")).expect("an answer");
    assert_eq!(told.answer.modules[0].files[0].status, Status::Withheld);
}

#[test]
fn what_cannot_be_started_says_why() {
    let empty = tempfile::tempdir().expect("a directory");
    let failure = |launch: Launch| {
        let told = Compiler::new(launch, Patience::default()).configure(vec![module(&TWO)]);
        told.expect_err("no compiler").to_string()
    };
    let text = failure(Launch::new(java(), empty.path()));
    assert!(text.starts_with("the compiler could not be started") && text.ends_with("is missing"), "{text}");
    let text = failure(Launch::new("no-such-java", jars()));
    assert!(text.contains("no-such-java"), "{text}");
    let text = failure(Launch::new("false", jars()));
    assert!(text.starts_with("the compiler could not be started"), "{text}");
    // Something that answers, but not this.
    let text = failure(Launch::new("echo", jars()));
    assert!(text.starts_with("the compiler"), "{text}");
}

#[test]
fn an_archive_is_made_once_and_damage_to_it_does_no_harm() {
    let place = tempfile::tempdir().expect("a directory");
    let launch = || Launch::new(java(), jars()).with_archive(place.path()).expect("an archive");
    let first = launch();
    let archives = || std::fs::read_dir(place.path()).expect("a directory").flatten().collect::<Vec<_>>();
    let [archive] = &archives()[..] else { panic!("one file") };
    let made = archive.metadata().expect("a file").modified().expect("a time");
    let mut compiler = Compiler::new(first, Patience::default());
    assert_eq!(classes(&compiler.configure(vec![module(&TWO)]).expect("an answer")), ["A", "B"]);
    launch();
    assert_eq!(archive.metadata().expect("a file").modified().expect("a time"), made);
    std::fs::write(archive.path(), b"nonsense").expect("written");
    let mut compiler = Compiler::new(launch(), Patience::default());
    assert_eq!(classes(&compiler.configure(vec![module(&TWO)]).expect("an answer")), ["A", "B"]);
    assert!(Launch::new("false", jars()).with_archive(&place.path().join("none")).is_err());
}

//! Files that cannot be compiled as they are: what is broken stays as it was, and the rest is what is written.

use crate::support;
use classfile::{ClassBytes, ClassSource, Insn, Layer};
use live::{Event, Live};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

struct Editing {
    _project: tempfile::TempDir,
    file: PathBuf,
    live: Live,
    source: Arc<dyn ClassSource>,
}

impl Editing {
    fn of(text: &str) -> Editing {
        let project = tempfile::tempdir().expect("a directory");
        let file = project.path().join("A.java");
        fs::write(&file, text).expect("written");
        let (live, source) = support::open(project.path());
        Editing { _project: project, file, live, source }
    }

    fn put(&mut self, text: &str) -> Vec<String> {
        let followed = self.live.follow(vec![Event::Text(self.file.clone(), text.into())]);
        assert!(followed.failure.is_none(), "{:?}", followed.failure);
        self.source = followed.source;
        followed.classes
    }

    /// What the methods of all classes call, by class and method, with the line of each call.
    fn calls(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for name in self.source.app_classes() {
            let class = self.source.find(&name).expect("a class");
            assert_eq!(class.layer, Layer::App);
            calls(&class, &mut all);
        }
        all
    }
}

/// As the analysis reads it: methods of earlier versions in the place of those there are.
fn calls(class: &ClassBytes, all: &mut BTreeMap<String, String>) {
    let versions = [&class.bytes].into_iter().chain(class.earlier.iter().map(|earlier| &earlier.bytes));
    for (number, bytes) in versions.enumerate() {
        let file = classfile::parse(bytes).expect("a class");
        for method in &file.methods {
            if number > 0 && class.earlier[number - 1].kept(method).next().is_none() {
                continue;
            }
            let Some(code) = &method.code else { continue };
            let mut words = Vec::new();
            for (pc, insn) in code.instructions(&file).flatten() {
                let line = code.lines.iter().rev().find(|(start, _)| u32::from(*start) <= pc);
                let line = line.map_or(0, |(_, line)| *line);
                match insn {
                    Insn::Invoke { method, .. } if *method.name != *"<init>" => {
                        words.push(format!("{}:{line}", method.name));
                    }
                    Insn::InvokeDynamic { .. } => words.push(format!("lambda:{line}")),
                    _ => {}
                }
            }
            all.insert(format!("{}.{}", file.name, method.name), words.join(" "));
        }
    }
}

const TEXT: &str = "class A {
    static void one() { }
    static void two() { }
    void first() {
        one();
    }
    void second() {
        two();
    }
}
";

#[test]
fn a_broken_body_is_the_last_good_one_at_the_lines_it_is_at_now() {
    let mut editing = Editing::of(TEXT);
    assert_eq!(editing.calls()["A.first"], "one:5");
    let broken = TEXT.replace("    void first", "\n    void first").replace("one();", "one(); nonsense");
    editing.put(&broken.replace("        two();", "        one();"));
    let calls = editing.calls();
    assert_eq!((calls["A.first"].as_str(), calls["A.second"].as_str()), ("one:6", "one:9"));
}

#[test]
fn a_broken_head_keeps_the_method_that_was_there() {
    let mut editing = Editing::of(TEXT);
    for broken in ["svoid first() {", "void first(Nothing n) {", "v first( {", "void first( {"] {
        editing.put(&TEXT.replace("void first() {", broken));
        assert_eq!(editing.calls()["A.first"], "one:5", "{broken}");
        assert_eq!(editing.calls()["A.second"], "two:8", "{broken}");
    }
    editing.put(&TEXT.replace("    void first() {\n        one();\n    }\n", ""));
    assert_eq!(editing.calls().get("A.first"), None);
}

#[test]
fn what_an_open_brace_swallows_is_still_there() {
    let mut editing = Editing::of(TEXT);
    for broken in [
        TEXT.replacen("        one();\n    }", "        one();\n    ", 1),
        TEXT.replace("class A {", "class A "),
    ] {
        editing.put(&broken);
        let calls = editing.calls();
        assert_eq!((calls["A.first"].as_str(), calls["A.second"].as_str()), ("one:5", "two:8"), "{broken}");
    }
}

#[test]
fn lambdas_and_local_classes_of_a_broken_body_stay_beside_those_of_others() {
    let text = "class A {
    static void one() { }
    static void two() { }
    void first() {
        Runnable r = () -> one();
        new Object() { void go() { one(); } }.go();
    }
    void second() {
        Runnable r = () -> two();
        new Object() { void go() { two(); } }.go();
    }
}
";
    let mut editing = Editing::of(text);
    let before = editing.calls();
    assert_eq!(
        (before["A.lambda$first$0"].as_str(), before["A.lambda$second$1"].as_str()),
        ("one:5", "two:9")
    );
    editing.put(&text.replace("new Object() { void go() { one", "oops(; new Object() { void go() { one"));
    let calls = editing.calls();
    let all: Vec<&str> = calls.values().map(String::as_str).collect();
    for wanted in ["one:5", "one:6", "two:9", "two:10", "lambda:5 go:6", "lambda:9 go:10"] {
        assert!(all.contains(&wanted), "{wanted}: {calls:#?}");
    }
    editing.put(text);
    assert_eq!(editing.calls(), before);
}

#[test]
fn what_comes_back_is_as_it_was() {
    let mut editing = Editing::of(TEXT);
    let before = editing.calls();
    for end in (9..TEXT.len()).step_by(7) {
        editing.put(&TEXT[..end]);
        let calls = editing.calls();
        for method in ["A.first", "A.second"] {
            assert!(calls.contains_key(method), "{method} is gone in {:?}: {calls:?}", &TEXT[..end]);
        }
    }
    editing.put(TEXT);
    assert_eq!(editing.calls(), before);
    assert_eq!(editing.put(TEXT), Vec::<String>::new());
}

#[test]
fn who_calls_a_method_with_a_broken_head_still_does() {
    let text = "class A {
    void add(Object e) { size(); }
    synchronized int size() { return 1; }
    public static void main(String[] args) {
        A a = new A();
        a.add(a);
        new B(a).start();
        a.add(args);
    }
}
class B extends Thread {
    final A a;
    B(A a) { this.a = a; }
    @Override
    public void run() {
        a.size();
    }
}
";
    let mut editing = Editing::of(text);
    let before = editing.calls();
    editing.put(&text.replace("void add", "svoid add"));
    let calls = editing.calls();
    for (method, called) in &before {
        assert_eq!(calls.get(method), Some(called), "{method}");
    }
}

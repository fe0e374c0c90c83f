//! Files of which the build has made more than their text says, as annotation processors do.

use crate::support;
use classfile::ClassSource;
use live::{Event, Live, LiveSource};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

const GETTER: &str = " int getN() { return n; }";

struct Editing {
    _project: tempfile::TempDir,
    file: PathBuf,
    /// As it was when it was built.
    text: String,
    live: Live,
    source: Arc<LiveSource>,
}

impl Editing {
    fn new() -> Editing {
        let project = tempfile::tempdir().expect("a directory");
        let text = |name: &str, text: &str| (format!("p/{name}.java"), format!("package p; {text}"));
        let with_getter =
            format!("class Account {{ int n;{GETTER} void inc() {{ n++; }} class Part {{ }} }}");
        let texts = [
            text("Account", &with_getter),
            text("Main", "class Main { int f(Account a) { return a.getN(); } }"),
        ];
        support::build(project.path(), &texts);
        // Nobody but the build knows of it.
        let file = project.path().join("src/main/java/p/Account.java");
        let text = texts[0].1.replace(GETTER, "").replace(" class Part { }", "");
        fs::write(&file, &text).expect("written");
        for class in ["Account", "Account$Part", "Main"] {
            let path = project.path().join(format!("target/classes/p/{class}.class"));
            fs::write(&path, fs::read(&path).expect("a class")).expect("written");
        }
        let (live, source) = support::open(project.path());
        Editing { _project: project, file, text, live, source }
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
}

#[test]
fn opened_and_closed_it_is_as_the_build_has_left_it() {
    let mut editing = Editing::new();
    let text = editing.text.clone();
    let file = editing.file.clone();
    for _ in 0..2 {
        assert_eq!(editing.put(&text), [""; 0]);
        assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
        editing.put(&text.replace("n++", "n--"));
        assert_eq!(editing.follow(Event::Closed(file.clone())), ["p/Account"]);
        assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
        assert!(editing.source.find("p/Account").is_some_and(|class| class.earlier.is_empty()));
    }
    assert_eq!(editing.live.processed().collect::<Vec<_>>(), [&file]);
}

#[test]
fn edited_it_keeps_what_only_the_build_can_make() {
    let mut editing = Editing::new();
    let text = editing.text.clone();
    editing.put(&text);
    // Who uses it is not compiled, and need not be.
    assert_eq!(editing.put(&text.replace("n++", "n--")), ["p/Account"]);
    assert_eq!(editing.methods("p/Account"), ["<init>", "getN", "inc"]);
    editing.put(&text.replace("inc", "dec"));
    assert_eq!(editing.methods("p/Account"), ["<init>", "dec", "getN"]);
    assert!(editing.source.find("p/Account$Part").is_some());
    // Whoever uses it cannot be compiled, and keeps its code.
    let main = editing.source.find("p/Main").expect("a class");
    assert!(main.earlier.iter().any(|earlier| earlier.methods.iter().any(|method| method.name == "f")));
}

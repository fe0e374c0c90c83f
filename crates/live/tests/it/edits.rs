//! Random edits of classes that use each other, over the classes of a build: after each, the classes are those that the
//! same texts give when they are compiled from nothing.

use crate::support;
use classfile::{ClassSource, Insn};
use fixture::{Choices, Dice};
use live::{Event, LiveSource};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

const CLASSES: usize = 5;
const STEPS: usize = 16;

const TYPES: [&str; 4] = ["int", "long", "Object", "Integer"];

/// A class of which everything can change that others see: `C0` to `C4`, each below none or an earlier one.
#[derive(Clone, Default)]
struct Class {
    parent: Option<usize>,
    /// The value of `K`, if it is not that of the parent.
    constant: Option<usize>,
    /// The type of the field `f`, if it is not that of the parent.
    field: Option<usize>,
    /// What `m0` takes and returns.
    takes: usize,
    returns: usize,
    /// Whether there is an `m0` that takes a `double` too, or a `short`.
    overload: usize,
    overrides: bool,
    is_nested: bool,
}

impl Class {
    fn any(dice: &mut Dice, number: usize) -> Class {
        let mut class = Class { takes: dice.below(TYPES.len()), ..Class::default() };
        for _ in 0..4 {
            class.change(dice, number);
        }
        class
    }

    fn change(&mut self, dice: &mut Dice, number: usize) {
        match dice.below(8) {
            0 => self.parent = dice.below(number + 1).checked_sub(1),
            1 => self.constant = dice.below(1000).checked_sub(300),
            2 => self.field = dice.below(TYPES.len() + 1).checked_sub(1),
            3 => self.takes = dice.below(TYPES.len()),
            4 => self.returns = dice.below(TYPES.len()),
            5 => self.overload = dice.below(3),
            6 => self.overrides ^= true,
            _ => self.is_nested ^= true,
        }
    }

    fn text(&self, number: usize) -> String {
        let mut text = format!("package p;\n\npublic class C{number}");
        if let Some(parent) = self.parent {
            let _ = write!(text, " extends C{parent}");
        }
        text.push_str(" {\n");
        // At the top there is everything that others ask for.
        let is_top = self.parent.is_none();
        if let Some(constant) = self.constant.or(is_top.then_some(0)) {
            let _ = writeln!(text, "    public static final int K = {constant};");
        }
        if let Some(field) = self.field.or(is_top.then_some(0)) {
            let _ = writeln!(text, "    public {} f;", TYPES[field]);
        }
        let (takes, returns) = (TYPES[self.takes], TYPES[self.returns]);
        let _ = writeln!(
            text,
            "    public static {returns} m{number}({takes} x) {{ return {}; }}",
            ["1", "1L", "null", "1"][self.returns]
        );
        let overload = ["", "double", "short"][self.overload];
        if !overload.is_empty() {
            let _ = writeln!(text, "    public static {overload} m{number}({overload} x) {{ return 0; }}");
        }
        if self.overrides || is_top {
            text.push_str("    public int v() { return K; }\n");
        }
        if self.is_nested {
            text.push_str("    public static class In { public int w = K; }\n");
        }
        text.push_str("    public void use(Object o) {\n");
        for other in (0..CLASSES).filter(|other| *other != number) {
            let _ = writeln!(
                text,
                "        o = C{other}.m{other}(1);\n        o = C{other}.K + new C{other}().v();"
            );
            let _ = writeln!(text, "        o = new C{other}().f;");
        }
        text + "    }\n}\n"
    }
}

/// What the analysis can see of every class.
fn seen(source: &LiveSource) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for name in source.app_classes() {
        let class = source.find(&name).expect("a class");
        assert!(class.earlier.is_empty(), "{name} cannot be compiled");
        let file = classfile::parse(&class.bytes).expect("a class");
        let mut text = format!("extends {:?}\n", file.super_name);
        for field in &file.fields {
            let _ = writeln!(text, "{} {} {:#x}", field.descriptor, field.name, field.access);
        }
        for method in &file.methods {
            let _ = writeln!(text, "{}{} {:#x}", method.name, method.descriptor, method.access);
            let code = method.code.iter().flat_map(|code| code.instructions(&file)).flatten();
            for (_, insn) in code {
                if let Insn::Const(_) | Insn::GetField(_) | Insn::Invoke { .. } | Insn::Convert { .. } = insn
                {
                    let _ = writeln!(text, "    {insn:?}");
                }
            }
        }
        all.insert(name, text);
    }
    all
}

fn from_nothing(texts: &[(String, String)]) -> BTreeMap<String, String> {
    let project = tempfile::tempdir().expect("a directory");
    support::write(project.path(), texts);
    seen(&support::open(project.path()).1)
}

fn follow(seed: u64) {
    let mut dice = Dice::new(seed, "live");
    let mut classes: Vec<Class> = (0..CLASSES).map(|number| Class::any(&mut dice, number)).collect();
    let texts = |classes: &[Class]| -> Vec<(String, String)> {
        let all = classes.iter().enumerate();
        all.map(|(number, class)| (format!("p/C{number}.java"), class.text(number))).collect()
    };
    let project = tempfile::tempdir().expect("a directory");
    support::build(project.path(), &texts(&classes));
    let (mut live, mut source) = support::open(project.path());
    assert_eq!(seen(&source), from_nothing(&texts(&classes)), "seed {seed}: as it was built");
    for step in 0..STEPS {
        let mut events = Vec::new();
        if dice.below(4) == 0 {
            // Everything is saved and built while somebody edits on.
            fs::remove_dir_all(project.path().join("target")).expect("removed");
            support::build(project.path(), &texts(&classes));
            events.push(support::files(project.path(), source.project()));
        }
        let number = dice.below(CLASSES);
        classes[number].change(&mut dice, number);
        let path = project.path().join(format!("src/main/java/p/C{number}.java"));
        let text = classes[number].text(number);
        events.push(Event::Text(path.clone(), text.as_str().into()));
        if dice.below(2) == 0 {
            events.reverse();
        }
        if dice.below(3) == 0 {
            fs::write(&path, &text).expect("written");
            events.push(Event::Closed(path));
        }
        let followed = live.follow(events);
        assert!(followed.failure.is_none(), "{:?}", followed.failure);
        let before = std::mem::replace(&mut source, followed.source);
        let all = before.app_classes().into_iter().chain(source.app_classes());
        for name in all.filter(|name| before.find(name) != source.find(name)) {
            assert!(followed.classes.contains(&name), "seed {seed}, step {step}: {name} is not told");
        }
        assert_eq!(seen(&source), from_nothing(&texts(&classes)), "seed {seed}, step {step}");
    }
}

#[test]
fn a_constant_by_the_name_of_a_subtype_is_followed() {
    let text = |name: &str, text: &str| (format!("p/{name}.java"), format!("package p; {text}"));
    let mut texts = [
        text("Upper", "class Upper { static final int LIMIT = 1; }"),
        text("Lower", "class Lower extends Upper { }"),
        text("Other", "class Other { int f() { return Lower.LIMIT; } }"),
    ];
    let project = tempfile::tempdir().expect("a directory");
    support::build(project.path(), &texts);
    let (mut live, _) = support::open(project.path());
    texts[0].1 = texts[0].1.replace("= 1", "= 2");
    let path = project.path().join("src/main/java/p/Upper.java");
    let followed = live.follow(vec![Event::Text(path, texts[0].1.as_str().into())]);
    assert_eq!(seen(&followed.source), from_nothing(&texts));
}

/// Modules of one class each, of which `two` is edited before there are other modules.
fn with_other_modules(modules: &[&str], modules_then: &[&str], is_closed: bool) -> BTreeMap<String, String> {
    let project = tempfile::tempdir().expect("a directory");
    let text = |name: &str| (format!("p/{name}.java"), format!("package p; class {name} {{ int n; }}"));
    support::build(&project.path().join("one"), &[text("One")]);
    support::build(&project.path().join("two"), &[text("Two")]);
    support::group(project.path(), modules);
    let (mut live, source) = support::open(project.path());
    let path = project.path().join("two/src/main/java/p/Two.java");
    let edited = text("Two").1.replace("int n", "long n");
    fs::write(&path, &edited).expect("written");
    let mut events = vec![Event::Text(path.clone(), edited.as_str().into())];
    events.extend(is_closed.then_some(Event::Closed(path)));
    live.follow(events);
    support::group(project.path(), modules_then);
    seen(&live.follow(vec![support::files(project.path(), source.project())]).source)
}

#[test]
fn files_go_with_their_module() {
    for is_closed in [true, false] {
        let seen = with_other_modules(&["one", "two"], &["one"], is_closed);
        assert_eq!(seen.keys().collect::<Vec<_>>(), ["p/One"], "closed: {is_closed}");
    }
}

#[test]
fn files_stay_when_a_module_comes() {
    let seen = with_other_modules(&["two"], &["one", "two"], true);
    assert_eq!(seen.keys().collect::<Vec<_>>(), ["p/One", "p/Two"]);
    assert!(seen["p/Two"].contains("J n"));
}

/// Uses what is only there when others are built, after which there may be other modules.
fn is_understood(modules_then: &[&str]) -> bool {
    let project = tempfile::tempdir().expect("a directory");
    let text =
        |name: &str, text: &str| (format!("p/{name}.java"), format!("package p; class {name} {{ {text} }}"));
    let module = project.path().join("one");
    let mut texts = [text("One", ""), text("User", "")];
    support::build(&module, &texts);
    support::build(&project.path().join("two"), &[text("Two", "")]);
    support::group(project.path(), &["one"]);
    let (mut live, source) = support::open(project.path());
    let path = module.join("src/main/java/p/User.java");
    let (_, uses) = text("User", "void f() { One.g(); }");
    live.follow(vec![Event::Text(path.clone(), uses.as_str().into())]);
    assert!(live.is_broken(&path));
    texts[0] = text("One", "static void g() { }");
    support::build(&module, &texts);
    support::group(project.path(), modules_then);
    live.follow(vec![support::files(project.path(), source.project())]);
    !live.is_broken(&path)
}

#[test]
fn what_is_built_is_seen() {
    assert!(is_understood(&["one"]));
}

#[test]
fn what_is_built_when_a_module_comes_is_seen() {
    assert!(is_understood(&["one", "two"]));
}

#[test]
fn edits_lead_where_compiling_from_nothing_does() {
    (1..=2).for_each(follow);
}

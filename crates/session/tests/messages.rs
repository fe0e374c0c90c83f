//! What findings say: which objects are meant, where threads start, what would repair it. Looks at words only; which
//! findings there are is for the fixtures.

use classfile::{ClassBytes, ClassSource, Layer};
use findings::{Finding, LockUse, Rule, Site};
use fixture::{Compiler, Fixture};
use project::{Project, Request};
use session::{Engines, Options, Session};
use std::sync::{Arc, Mutex};

fn compiled(name: &str, source: &str) -> Project {
    let directory = std::env::temp_dir().join(format!("snarl-messages-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("Program.java");
    std::fs::write(&path, source).expect("a file");
    let name = format!("messages/program/{name}.java");
    let fixture = Fixture { name, path, source: source.to_owned() };
    // One process compiles one thing at a time.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let classes = Compiler::of_environment().compile_all(&[fixture]).expect("the compiler runs").remove(0);
    let classes = classes.unwrap_or_else(|errors| panic!("{errors}"));
    project::open(&Request { paths: vec![classes], ..Request::default() }).expect("a project")
}

fn findings(engines: Engines, name: &str, source: &str) -> Vec<Arc<Finding>> {
    found(engines, Arc::new(compiled(name, source)))
}

fn found(engines: Engines, source: Arc<dyn ClassSource>) -> Vec<Arc<Finding>> {
    Session::new(source, Options { engines, ..Options::default() }).check(&|_, _| ()).findings
}

/// The first finding of a rule.
fn of(rule: Rule, all: &[Arc<Finding>]) -> &Finding {
    all.iter().find(|finding| finding.rule == rule).unwrap_or_else(|| panic!("no {rule:?}: {all:#?}"))
}

fn line(source: &str, part: &str) -> u32 {
    let at = source.lines().position(|line| line.contains(part));
    at.unwrap_or_else(|| panic!("no line with {part}")) as u32 + 1
}

const ACCOUNTS: &str = r#"
class Account {
    synchronized void pay(Account other) { other.take(); }
    synchronized void take() { }
    public static void main(String[] args) {
        Account source = new Account();
        Account target = new Account();
        new Thread(() -> source.pay(target)).start();
        target.pay(source);
    }
}
"#;

#[test]
fn two_locks_of_one_name_are_told_apart() {
    let told = |lock: &Option<LockUse>| lock.as_ref().map(|lock| (lock.name.clone(), lock.object.clone()));
    for engines in [Engines::WholeProgram, Engines::Compositional, Engines::Both] {
        let all = findings(engines, "Accounts", ACCOUNTS);
        let deadlock = of(Rule::Deadlock, &all);
        assert!(deadlock.message.starts_with("lock-order inversion: "), "{}", deadlock.message);
        for site in &deadlock.sites {
            assert_ne!(told(&site.holds), told(&site.acquires), "{engines:?}: {site:#?}");
        }
    }
    let all = findings(Engines::WholeProgram, "Accounts", ACCOUNTS);
    let objects = |site: &Site| [&site.holds, &site.acquires].map(|lock| told(lock).unwrap_or_default().1);
    let sites: Vec<[String; 2]> = of(Rule::Deadlock, &all).sites.iter().map(objects).collect();
    for [_, wanted] in &sites {
        assert_eq!(wanted, "`other`", "{sites:?}");
    }
    assert_ne!(sites[0][0], sites[1][0], "{sites:?}");
}

#[test]
fn locks_of_two_classes_that_are_both_this_are_named_by_their_classes() {
    let source = r#"
class Left {
    Right right;
    synchronized void go() { right.stay(); }
    synchronized void stay() { }
}
class Right {
    Left left;
    synchronized void go() { left.stay(); }
    synchronized void stay() { }
    public static void main(String[] args) {
        Left left = new Left();
        Right right = new Right();
        left.right = right;
        right.left = left;
        new Thread(left::go).start();
        right.go();
    }
}
"#;
    for engines in [Engines::WholeProgram, Engines::Compositional] {
        let all = findings(engines, "Classes", source);
        let message = &of(Rule::Deadlock, &all).message;
        for step in ["Left (this) → Right (this) in ", "Right (this) → Left (this) in "] {
            assert!(message.contains(step), "{engines:?}: {message}");
        }
    }
}

fn slots(first: &str, second: &str) -> String {
    format!(
        r#"
class Box {{ int n; }}
class Slot {{
    final Object lock;
    final Box box;
    Slot(Object lock, Box box) {{ this.lock = lock; this.box = box; }}
    void put() {{ synchronized (lock) {{ box.n++; }} }}
    static Object made() {{ return new Object(); }}
    public static void main(String[] args) {{
        Box box = new Box();
        Slot one = new Slot({first}, box);
        Slot two = new Slot({second}, box);
        new Thread(one::put).start();
        two.put();
    }}
}}
"#
    )
}

#[test]
fn two_objects_behind_one_name_of_a_lock_are_no_common_lock() {
    let source = slots("new Object()", "new Object()");
    let all = findings(Engines::WholeProgram, "Slots", &source);
    let why = of(Rule::Race, &all).why.join("\n");
    let [one, two] = ["Slot one", "Slot two"].map(|part| line(&source, part));
    let expected = format!(
        "no common lock: both hold a lock named `Slot.lock`, but of different objects, \
         allocated at Slot.java:{one} and Slot.java:{two}"
    );
    let why_here = why.replace("Program.java", "Slot.java");
    let swapped = expected
        .replace(&format!(":{one} and"), ":0 and")
        .replace(&format!(":{two}"), &format!(":{one}"))
        .replace(":0 and", &format!(":{two} and"));
    assert!(why_here.contains(&expected) || why_here.contains(&swapped), "{why}");
}

#[test]
fn a_lock_that_may_be_another_object_is_said_not_to_be_proven() {
    let all = findings(Engines::WholeProgram, "Made", &slots("made()", "made()"));
    let why = of(Rule::Race, &all).why.join("\n");
    assert!(why.contains("both hold a lock named `Slot.lock`, not proven to be the same object"), "{why}");
}

const HELPER: &str = r#"
class Job {
    private int n;
    int begin() {
        launch();
        return n;
    }
    private void launch() {
        Runnable task = () -> n++;
        Thread thread = new Thread(task);
        thread.start();
    }
    public static void main(String[] args) {
        System.out.println(new Job().begin());
    }
}
"#;

#[test]
fn a_thread_starts_where_start_is_called() {
    for engines in [Engines::WholeProgram, Engines::Compositional] {
        let all = findings(engines, "Helper", HELPER);
        let starts = all.iter().flat_map(|finding| &finding.sites).filter_map(|site| site.started.as_ref());
        let lines: Vec<u32> = starts.map(|place| place.line).collect();
        assert!(!lines.is_empty(), "{engines:?}: {all:#?}");
        assert!(lines.iter().all(|&at| at == line(HELPER, "thread.start()")), "{engines:?}: {lines:?}");
    }
}

/// One class is that of a library.
struct Split(Project, &'static str);

impl ClassSource for Split {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let found = self.0.find(name)?;
        Some(if name == self.1 { ClassBytes::new(found.bytes, Layer::Library) } else { found })
    }

    fn app_classes(&self) -> Vec<String> {
        self.0.app_classes().into_iter().filter(|name| name != self.1).collect()
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.0.resources(path)
    }
}

#[test]
fn a_thread_that_a_dependency_starts_is_said_to_be_its() {
    let source = r#"
class Launcher {
    static void run(Runnable task) { new Thread(task).start(); }
}
class Main {
    static int n;
    public static void main(String[] args) {
        Launcher.run(() -> n++);
        System.out.println(n);
    }
}
"#;
    let project = compiled("Dependency", source);
    let all = found(Engines::WholeProgram, Arc::new(Split(project, "Launcher")));
    let origins: Vec<&str> = of(Rule::Race, &all).sites.iter().map(|site| site.origin.as_str()).collect();
    assert!(
        origins.iter().any(|origin| origin.starts_with("thread started by a dependency, at ")),
        "{origins:?}"
    );
}

#[test]
fn a_lock_of_a_distant_caller_is_not_recommended() {
    let source = r#"
@interface ThreadSafe {}
@ThreadSafe
class Service {
    private final Counter counter = new Counter();
    synchronized void guarded() { counter.add(); }
    void open() { counter.add(); }
}
class Counter {
    private int n;
    void add() { n++; }
}
"#;
    let all = findings(Engines::Compositional, "Distant", source);
    let fixes: Vec<&String> = all.iter().flat_map(|finding| &finding.fix).collect();
    assert!(!fixes.is_empty(), "{all:#?}");
    assert!(fixes.iter().all(|fix| !fix.contains('`') || fix.contains("`volatile`")), "{fixes:?}");
}

//! What the compositional engine shows and recommends: the pair that hurts, a fix that repairs it, and only what the
//! application can repair. Looks at findings, not at how they come about.

use classfile::{ClassBytes, ClassSource, Layer};
use findings::{AccessKind, Confidence, Finding, Rule};
use fixture::{Compiler, Fixture};
use project::{Project, Request};
use session::{Engines, Options, Session};
use std::sync::{Arc, Mutex};

fn compiled(name: &str, source: &str) -> Project {
    let directory = std::env::temp_dir().join(format!("snarl-advice-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("Program.java");
    std::fs::write(&path, source).expect("a file");
    let name = format!("advice/program/{name}.java");
    let fixture = Fixture { name, path, source: source.to_owned() };
    // One process compiles one thing at a time.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let classes = Compiler::of_environment().compile_all(&[fixture]).expect("the compiler runs").remove(0);
    let classes = classes.unwrap_or_else(|errors| panic!("{errors}"));
    project::open(&Request { paths: vec![classes], ..Request::default() }).expect("a project")
}

/// Some classes of a project are those of a library.
struct Split {
    all: Project,
    libraries: &'static [&'static str],
}

impl ClassSource for Split {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let found = self.all.find(name)?;
        match self.libraries.contains(&name) {
            true => Some(ClassBytes::new(found.bytes, Layer::Library)),
            false => Some(found),
        }
    }

    fn app_classes(&self) -> Vec<String> {
        let mut all = self.all.app_classes();
        all.retain(|name| !self.libraries.contains(&name.as_str()));
        all
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.all.resources(path)
    }
}

fn found(source: Arc<dyn ClassSource>) -> Vec<Arc<Finding>> {
    let options = Options { engines: Engines::Compositional, ..Options::default() };
    let report = Session::new(source, options).check(&|_, _| ());
    report.findings.iter().filter(|finding| finding.confidence != Confidence::Low).cloned().collect()
}

fn findings(name: &str, source: &str) -> Vec<Arc<Finding>> {
    found(Arc::new(compiled(name, source)))
}

const COUNTER: &str = r#"
@interface ThreadSafe {}
@ThreadSafe
class Counter {
    private int count;
    private boolean stop;
    void add() { count++; }
    int count() { return count; }
    void stop() { stop = true; }
    boolean isStopped() { return stop; }
}
"#;

#[test]
fn volatile_is_not_recommended_for_what_is_read_and_written_in_one_step() {
    let all = findings("Counter", COUNTER);
    let of = |field: &str| {
        let of_field = |finding: &&Arc<Finding>| finding.field.as_deref() == Some(field);
        all.iter().find(of_field).unwrap_or_else(|| panic!("nothing on {field}: {all:#?}")).fix.join(" ")
    };
    assert!(of("Counter.count").contains("make it atomic"), "{}", of("Counter.count"));
    assert!(!of("Counter.count").contains("make the field volatile"), "{}", of("Counter.count"));
    assert!(of("Counter.stop").contains("make the field volatile"), "{}", of("Counter.stop"));
}

const GUARDED: &str = r#"
@interface ThreadSafe {}
@ThreadSafe
class Account {
    private final Object lock = new Object();
    private int balance;
    void deposit(int n) { synchronized (lock) { balance += n; } }
    void withdraw(int n) { balance -= n; }
}
"#;

#[test]
fn the_lock_that_others_hold_is_recommended_by_its_name() {
    let all = findings("Account", GUARDED);
    assert!(all.iter().any(|finding| finding.fix.join(" ").contains("hold `Account.lock`")), "{all:#?}");
}

const PAIRS: &str = r#"
@interface ThreadSafe {}
@ThreadSafe
class Meter {
    private int value;
    void up() { value++; }
    void reset() { value = 0; }
    int value() { return value; }
}
"#;

#[test]
fn two_writers_are_shown_rather_than_a_reader() {
    let all = findings("Meter", PAIRS);
    let [finding] = all.as_slice() else { panic!("{all:#?}") };
    let kinds: Vec<AccessKind> = finding.sites.iter().map(|site| site.access).collect();
    let methods: Vec<&str> = finding.sites.iter().map(|site| site.method.as_str()).collect();
    assert_eq!(kinds, [AccessKind::Write, AccessKind::Write], "{methods:?}");
    assert_ne!(methods[0], methods[1]);
}

const LIBRARY: &str = r#"
class Pool {
    int size, used;
    synchronized void grow() { size++; }
    synchronized void shrink() { size--; }
    void reset() { size = 0; }
    synchronized void take() { used++; }
    synchronized void give() { used--; }
}
class MyPool extends Pool {
    void mine() { used = 0; }
    void all() { grow(); shrink(); reset(); take(); give(); }
}
"#;

#[test]
fn what_happens_in_libraries_alone_is_not_reported() {
    let fields = |found: Vec<Arc<Finding>>| -> Vec<String> {
        let memory = found.iter().filter(|finding| finding.rule != Rule::Deadlock);
        memory.flat_map(|finding| finding.field.iter().chain(&finding.fields).cloned()).collect()
    };
    let own = fields(findings("Own", LIBRARY));
    assert!(own.contains(&"Pool.size".to_owned()) && own.contains(&"Pool.used".to_owned()), "{own:?}");
    let split = Split { all: compiled("Split", LIBRARY), libraries: &["Pool"] };
    let of_app = fields(found(Arc::new(split)));
    assert!(!of_app.contains(&"Pool.size".to_owned()), "{of_app:?}");
    assert!(of_app.contains(&"Pool.used".to_owned()), "{of_app:?}");
}

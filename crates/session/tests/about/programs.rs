//! The programs that are asked about, and how answers are written down.

use findings::{About, Access, AccessKind, Part};
use fixture::{Compiler, Fixture};
use project::{Project, Request};
use session::{Engines, Options, Session};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Two threads besides `main`, and a class that they share.
pub const SHARED: &str = r#"
import java.util.*;
import java.util.concurrent.locks.*;

class Main {
    public static void main(String[] args) throws Exception {
        Shared shared = new Shared("name");
        Worker worker = new Worker(shared);
        worker.start();
        shared.add();
        shared.look();
        Thread other = new Thread(() -> shared.fromLambda++);
        other.start();
        shared.fromLambda = 3;
        shared.confined++;
        worker.join();
        System.out.println(shared.afterJoin);
    }
}
class Worker extends Thread {
    private final Shared shared;
    Worker(Shared shared) { this.shared = shared; }
    public void run() {
        shared.add();
        shared.reset();
        shared.stop();
        System.out.println(shared.name + shared.setOnce);
        Shared.count();
        shared.put("a");
        shared.afterJoin = 7;
    }
}
class Shared {
    final String name;
    int guarded;
    volatile boolean stopped;
    int setOnce;
    int confined;
    int fromLambda;
    int afterJoin;
    int untouched;
    static int counted;
    private final Lock lock = new ReentrantLock();
    private int byLock;
    private final List<String> names = new ArrayList<>();
    Shared(String name) { this.name = name; this.setOnce = 5; this.guarded = 1; }
    synchronized void add() { guarded++; count(); put("b"); }
    synchronized int look() { return guarded; }
    void reset() { guarded = 0; }
    void stop() { stopped = true; }
    static synchronized void count() { counted++; }
    void put(String text) {
        lock.lock();
        try {
            names.add(text);
            byLock++;
        } finally { lock.unlock(); }
    }
    int never() { return byLock + names.size(); }
}
"#;

/// Several threads of one kind, and locks that are not those of the object itself.
pub const POOL: &str = r#"
import java.util.*;
import java.util.concurrent.locks.*;

class Main {
    public static void main(String[] args) {
        Table table = new Table();
        Object lock = new Object();
        int[] sum = new int[1];
        Tally tally = new Tally();
        for (int i = 0; i < 4; i++) {
            new Thread(() -> {
                table.put(1);
                table.get();
                table.fill(1);
                synchronized (lock) { tally.total++; }
                new Own().run();
            }).start();
        }
        synchronized (lock) { tally.total = 0; }
        synchronized (table) { table.size++; }
        new Lazy().late();
    }
}
class Tally { int total; }
class Own implements Runnable {
    int own;
    public void run() { own++; }
}
class Base { protected int size; }
class Table extends Base {
    private final ReadWriteLock rw = new ReentrantReadWriteLock();
    private int value;
    private final int[] cells = new int[8];
    private final Node head = new Node();
    void put(int value) {
        rw.writeLock().lock();
        try { this.value = value; } finally { rw.writeLock().unlock(); }
        synchronized (this) { head.next = new Node(); }
    }
    int get() {
        rw.readLock().lock();
        try { return value; } finally { rw.readLock().unlock(); }
    }
    void fill(int at) {
        cells[at] = 1;
        synchronized (this) {
            size++;
        }
    }
    synchronized boolean isEmpty() {
        return head.next == null;
    }
    class Inner {
        int look() { synchronized (Table.this) { return size; } }
    }
}
class Node { Node next; }
class Lazy {
    private String text;
    void late() {
        Runnable later = () -> text = "a";
        later.run();
        System.out.println(text);
    }
}
"#;

/// Nobody says where it begins.
pub const LIBRARY: &str = r#"
import java.util.*;
@interface GuardedBy { String value(); }

class Cache {
    private final Object lock = new Object();
    @GuardedBy("lock") private int hits;
    private final Map<String, String> map = new HashMap<>();
    private String last;
    String get(String key) {
        synchronized (lock) {
            hits++;
            last = key;
            return map.get(key);
        }
    }
    void put(String key, String value) {
        synchronized (lock) { map.put(key, value); }
    }
    int hits() { return hits; }
    private int twice() { return last.length(); }
    int both() { synchronized (lock) { return twice(); } }
}
class Plain {
    int number;
    void set(int number) { this.number = number; }
}
"#;

pub fn compiled(name: &str, source: &str) -> Arc<Project> {
    let directory = std::env::temp_dir().join(format!("snarl-about-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    // Always the same: classes say where they come from.
    let path = directory.join("Program.java");
    std::fs::write(&path, source).expect("a file");
    let name = format!("about/program/{name}.java");
    let fixture = Fixture { name, path, source: source.to_owned() };
    compile(&[fixture]).remove(0)
}

pub fn compile(fixtures: &[Fixture]) -> Vec<Arc<Project>> {
    // One process compiles one thing at a time.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let compiled = Compiler::of_environment().compile_all(fixtures).expect("the compiler runs");
    compiled.into_iter().map(|classes| open(classes.unwrap_or_else(|errors| panic!("{errors}")))).collect()
}

pub fn open(path: PathBuf) -> Arc<Project> {
    Arc::new(project::open(&Request { paths: vec![path], ..Request::default() }).expect("a project"))
}

pub fn session(project: &Arc<Project>, engines: Engines) -> Session {
    let options = Options { engines, follow: true, keep: true, ..Options::default() };
    let mut session = Session::new(project.clone(), options);
    session.check(&|_, _| ());
    session
}

pub fn shared() -> Session {
    session(&compiled("Shared", SHARED), Engines::Both)
}

pub fn pool() -> Session {
    session(&compiled("Pool", POOL), Engines::Both)
}

/// Everything that is said about a field.
pub fn told(session: &Session, class: &str, name: &str) -> String {
    session.about_field(class, name).map_or_else(|| "nothing is known".to_owned(), |about| text(&about))
}

pub fn text(about: &About) -> String {
    let guard = about.guard.as_ref().map(|guard| {
        let declared = if guard.is_declared { " as declared" } else { "" };
        format!("{} of {} hold `{}`{declared}; ", guard.with, guard.of, guard.name)
    });
    let guards = if about.guards.is_empty() { String::new() } else { format!("guards {:?}; ", about.guards) };
    let lines: String = about.accesses.iter().map(line).collect();
    format!("{}{guards}{}{lines}", guard.unwrap_or_default(), about.why.text())
}

/// `27 read in Worker.run() by thread started at Program.java:9, holding this = Shared.this`.
pub fn line(access: &Access) -> String {
    let kind = if access.kind == AccessKind::Write { "write" } else { "read" };
    let part = match access.part {
        Part::Field => "",
        Part::Elements => " of an element",
        Part::Contents => " of its contents",
    };
    let origins = access.origins.iter();
    let origins =
        origins.map(|origin| format!("{}{}", origin.name, if origin.is_several { "…" } else { "" }));
    let held = access.locks.iter().map(|held| {
        let mode = if held.lock.shared { " shared" } else { "" };
        let known = held.known_as.iter().map(|name| format!(" = {name}")).collect::<String>();
        format!("; {}{mode} from {}{known}", held.lock.name, held.lock.place.line)
    });
    let marks = match (access.is_published, access.lacks_guard) {
        (false, _) => "; unpublished",
        (true, true) => "; lacks the guard",
        (true, false) => "",
    };
    let origins = origins.collect::<Vec<_>>().join(", ");
    let (place, method) = (access.place.line, &access.method);
    format!("\n{place} {kind}{part} in {method} by {origins}{}{marks}", held.collect::<String>())
}

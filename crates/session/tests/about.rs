//! What a session says about fields and locks, word by word; that it says after edits what it would say at first, and
//! that to ask changes nothing.

use classfile::ClassSource;
use findings::{About, AboutLock, Access, AccessKind, Engine, Part};
use fixture::{Compiler, Fixture, Sequence, root};
use project::{Project, Request};
use session::{Cancel, Change, Engines, Options, Session, Verdict};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Two threads besides `main`, and a class that they share.
const SHARED: &str = r#"
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
const POOL: &str = r#"
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
const LIBRARY: &str = r#"
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

fn compiled(name: &str, source: &str) -> Arc<Project> {
    let directory = std::env::temp_dir().join(format!("snarl-about-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    // Always the same: classes say where they come from.
    let path = directory.join("Program.java");
    std::fs::write(&path, source).expect("a file");
    let name = format!("about/program/{name}.java");
    let fixture = Fixture { name, path, source: source.to_owned() };
    compile(&[fixture]).remove(0)
}

fn compile(fixtures: &[Fixture]) -> Vec<Arc<Project>> {
    // One process compiles one thing at a time.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let compiled = Compiler::of_environment().compile_all(fixtures).expect("the compiler runs");
    compiled.into_iter().map(|classes| open(classes.unwrap_or_else(|errors| panic!("{errors}")))).collect()
}

fn open(path: PathBuf) -> Arc<Project> {
    Arc::new(project::open(&Request { paths: vec![path], ..Request::default() }).expect("a project"))
}

fn session(project: &Arc<Project>, engines: Engines) -> Session {
    let options = Options { engines, follow: true, keep: true, ..Options::default() };
    let mut session = Session::new(project.clone(), options);
    session.check(&|_, _| ());
    session
}

fn shared() -> Session {
    session(&compiled("Shared", SHARED), Engines::Both)
}

fn pool() -> Session {
    session(&compiled("Pool", POOL), Engines::Both)
}

/// Everything that is said about a field.
fn told(session: &Session, class: &str, name: &str) -> String {
    session.about_field(class, name).map_or_else(|| "nothing is known".to_owned(), |about| text(&about))
}

fn text(about: &About) -> String {
    let guard = about.guard.as_ref().map(|guard| {
        let declared = if guard.is_declared { " as declared" } else { "" };
        format!("{} of {} hold `{}`{declared}; ", guard.with, guard.of, guard.name)
    });
    let guards = if about.guards.is_empty() { String::new() } else { format!("guards {:?}; ", about.guards) };
    let lines: String = about.accesses.iter().map(line).collect();
    format!("{}{guards}{}{lines}", guard.unwrap_or_default(), about.why.text())
}

/// `27 read in Worker.run() by thread started at Program.java:9, holding this = Shared.this`.
fn line(access: &Access) -> String {
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

#[test]
fn a_field_that_most_accesses_guard_names_the_one_that_does_not() {
    assert_eq!(
        told(&shared(), "Shared", "guarded"),
        "2 of 3 hold `this`; it is reported\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         47 write in Shared.add() by main thread, thread started at Program.java:9; this from 47 = shared made at Program.java:7 = this\n\
         48 read in Shared.look() by main thread; this from 48 = shared made at Program.java:7 = this\n\
         49 write in Shared.reset() by thread started at Program.java:9; lacks the guard"
    );
}

#[test]
fn a_volatile_field_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "stopped"),
        "it is volatile\n\
         50 write in Shared.stop() by thread started at Program.java:9"
    );
}

#[test]
fn a_final_field_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "name"),
        "it is final\n\
         27 read in Worker.run() by thread started at Program.java:9\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished"
    );
}

#[test]
fn a_field_that_one_thread_has_for_itself_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "confined"),
        "only the main thread touches it\n\
         15 write in Main.main(java.lang.String[]) by main thread"
    );
}

#[test]
fn a_field_that_only_the_constructor_sets_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "setOnce"),
        "it is never written once others know its object\n\
         27 read in Worker.run() by thread started at Program.java:9\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished"
    );
}

#[test]
fn a_field_that_is_read_after_its_writer_has_ended_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "afterJoin"),
        "no two threads touch it at the same time\n\
         17 read in Main.main(java.lang.String[]) by main thread\n\
         30 write in Worker.run() by thread started at Program.java:9"
    );
}

#[test]
fn a_static_field_is_guarded_by_a_class() {
    assert_eq!(
        told(&shared(), "Shared", "counted"),
        "1 of 1 hold `Shared.class`; all accesses hold `Shared.class`\n\
         51 write in Shared.count() by main thread, thread started at Program.java:9; Shared.class from 51 = Shared.class"
    );
}

#[test]
fn a_lock_of_the_library_guards_like_any_other_also_where_the_program_never_gets() {
    assert_eq!(
        told(&shared(), "Shared", "byLock"),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn a_container_in_a_field_is_guarded_where_it_is_used() {
    assert_eq!(
        told(&shared(), "Shared", "names"),
        "1 of 2 hold `this.lock`; it is reported\n\
         45 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         55 write of its contents in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock\n\
         59 read of its contents in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn a_lock_tells_what_it_guards() {
    assert_eq!(
        told(&shared(), "Shared", "lock"),
        "guards [\"byLock\", \"names\"]; it is final, and made for several threads: java.util.concurrent.locks.ReentrantLock\n\
         43 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         53 read in Shared.put(java.lang.String) by main thread, thread started at Program.java:9\n\
         57 read in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock"
    );
}

#[test]
fn a_lambda_runs_on_the_thread_that_it_is_given_to() {
    assert_eq!(
        told(&shared(), "Shared", "fromLambda"),
        "it is reported\n\
         12 write in Main.main(java.lang.String[]) lambda by thread started at Program.java:13\n\
         14 write in Main.main(java.lang.String[]) by main thread"
    );
}

#[test]
fn of_what_nobody_touches_there_is_nothing_to_say() {
    let session = shared();
    assert_eq!(told(&session, "Shared", "untouched"), "nothing touches it");
    for (class, field) in
        [("Shared", "unknown"), ("Unknown", "name"), ("", ""), ("java.util.ArrayList", "size")]
    {
        assert_eq!(told(&session, class, field), "nothing is known", "{class}.{field}");
    }
    assert!(session.guards("Unknown").is_empty());
    assert_eq!(session.about_lock("Program.java", 1), None);
    assert_eq!(session.about_lock("Unknown.java", 47), None);
}

#[test]
fn a_lock_that_is_only_shared_is_enough_to_read() {
    assert_eq!(
        told(&pool(), "Table", "value"),
        "2 of 2 hold `this.rw`; all accesses hold `this.rw`\n\
         38 write in Table.put(int) by thread started at Program.java:18…; Table.rw from 37 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw\n\
         43 read in Table.get() by thread started at Program.java:18…; Table.rw shared from 42 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw"
    );
}

#[test]
fn a_lock_in_a_variable_is_known_by_where_it_is_made() {
    assert_eq!(
        told(&pool(), "Tally", "total"),
        "2 of 2 hold `lock made at Program.java:8`; all accesses hold `lock made at Program.java:8`\n\
         16 write in Main.main(java.lang.String[]) lambda by thread started at Program.java:18…; lock from 16 = lock made at Program.java:8\n\
         20 write in Main.main(java.lang.String[]) by main thread; lock from 20 = lock made at Program.java:8"
    );
}

#[test]
fn elements_of_an_array_are_touched_without_a_lock() {
    assert_eq!(
        told(&pool(), "Table", "cells"),
        "it is reported\n\
         34 write in Table.<init>() by main thread; unpublished\n\
         46 write of an element in Table.fill(int) by thread started at Program.java:18…"
    );
}

#[test]
fn an_object_may_be_guarded_by_the_one_that_has_it() {
    assert_eq!(
        told(&pool(), "Node", "next"),
        "2 of 2 hold `Table.this`; all accesses hold `Table.this`\n\
         39 write in Table.put(int) by thread started at Program.java:18…; this from 39 = Table.this = table made at Program.java:7\n\
         52 read in Table.isEmpty() by any thread…; this from 52 = Table.this"
    );
}

#[test]
fn an_inherited_field_is_found_by_the_class_below() {
    let session = pool();
    assert_eq!(
        told(&session, "Table", "size"),
        "3 of 3 hold `this`; all accesses hold `this`\n\
         21 write in Main.main(java.lang.String[]) by main thread; table from 21 = table made at Program.java:7 = this\n\
         48 write in Table.fill(int) by thread started at Program.java:18…; this from 47 = table made at Program.java:7 = this\n\
         55 read in Table$Inner.look() by any thread…; Table.this from 55 = this"
    );
    assert_eq!(told(&session, "Base", "size"), told(&session, "Table", "size"));
}

#[test]
fn an_object_of_ones_own_needs_no_guard() {
    assert_eq!(
        told(&pool(), "Own", "own"),
        "it is touched only while nobody else knows its object\n\
         28 write in Own.run() by thread started at Program.java:18…; unpublished"
    );
}

#[test]
fn without_a_beginning_only_methods_speak() {
    let project = compiled("Library", LIBRARY);
    let both = session(&project, Engines::Both);
    assert_eq!(
        told(&both, "Cache", "hits"),
        "1 of 2 hold `this.lock` as declared; it is reported\n\
         12 write in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         20 read in Cache.hits() by any thread…; lacks the guard"
    );
    assert_eq!(
        told(&both, "Cache", "last"),
        "2 of 2 hold `this.lock`; all accesses hold `this.lock`\n\
         13 write in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         21 read in Cache.twice() by any thread…; Cache.lock from 0 = this.lock"
    );
    assert_eq!(
        told(&both, "Cache", "map"),
        "2 of 2 hold `this.lock`; all accesses hold `this.lock`\n\
         8 write in Cache.<init>() by any thread…; unpublished\n\
         14 read of its contents in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         18 write of its contents in Cache.put(java.lang.String, java.lang.String) by any thread…; Cache.lock from 18 = this.lock"
    );
    assert_eq!(
        told(&both, "Plain", "number"),
        "nothing says that several threads touch it\n\
         26 write in Plain.set(int) by any thread…"
    );
    let whole = session(&project, Engines::WholeProgram);
    assert_eq!(told(&whole, "Cache", "hits"), "nothing is known");
}

#[test]
fn each_engine_answers_alone() {
    let project = compiled("Shared", SHARED);
    assert_eq!(
        told(&session(&project, Engines::WholeProgram), "Shared", "byLock"),
        "1 of 1 hold `this.lock`; all accesses hold `this.lock`\n\
         56 write in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock"
    );
    assert_eq!(
        told(&session(&project, Engines::Compositional), "Shared", "byLock"),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by any thread…; Shared.lock from 53 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn nothing_is_known_before_anything_was_analysed() {
    let project = compiled("Shared", SHARED);
    let session = Session::new(project, Options { engines: Engines::Both, ..Options::default() });
    assert_eq!(told(&session, "Shared", "guarded"), "nothing is known");
    assert_eq!(session.about_lock("Program.java", 47), None);
}

#[test]
fn what_methods_say_is_known_before_threads_are() {
    let options = Options { engines: Engines::Both, follow: true, ..Options::default() };
    let mut session = Session::new(compiled("Shared", SHARED), options);
    session.first_look(&|_, _| ()).expect("both are asked");
    let about = session.about_field("Shared", "byLock").expect("it is there");
    assert_eq!(about.engines, [Engine::Compositional]);
    assert_eq!(
        text(&about),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by any thread…; Shared.lock from 53 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
    session.check(&|_, _| ());
    let about = session.about_field("Shared", "byLock").expect("it is there");
    assert_eq!(about.engines, [Engine::WholeProgram, Engine::Compositional]);
}

#[test]
fn guards_of_a_class_are_told_in_short() {
    let guards = shared().guards("Shared").into_iter();
    let guards =
        guards.filter_map(|guard| Some(format!("{}: {}", guard.field, report::about::lens(&guard)?)));
    assert_eq!(
        guards.collect::<Vec<_>>().join("\n"),
        "afterJoin: never at the same time\n\
         byLock: guarded by lock in 1 of 2 accesses\n\
         confined: only the main thread\n\
         counted: guarded by Shared.class\n\
         fromLambda: no guard\n\
         guarded: guarded by this in 2 of 3 accesses\n\
         names: guarded by lock in 1 of 2 accesses\n\
         setOnce: never written once shared"
    );
}

/// Everything that is said about a lock.
fn lock(session: &Session, line: u32) -> String {
    let Some(AboutLock { lock, method, origins, elsewhere, covers, .. }) =
        session.about_lock("Program.java", line)
    else {
        return "no lock is taken there".to_owned();
    };
    let origins = origins.iter().map(|origin| origin.name.as_str()).collect::<Vec<_>>().join(", ");
    let elsewhere: Vec<u32> = elsewhere.iter().map(|place| place.line).collect();
    let covered = covers.iter().flat_map(|covered| {
        covered.accesses.iter().map(|access| format!("\n{}: {}", covered.field, line_of(access)))
    });
    let (name, at) = (lock.name, lock.place.line);
    format!("{name} from {at} in {method} by {origins}, also {elsewhere:?}{}", covered.collect::<String>())
}

fn line_of(access: &Access) -> String {
    line(access).trim_start().to_owned()
}

#[test]
fn what_is_done_under_a_lock_is_told_where_it_is_taken() {
    let session = pool();
    assert_eq!(
        lock(&session, 39),
        "this from 39 in Table.put(int) by thread started at Program.java:18, also [21, 47, 52]\n\
         Node.next: 39 write in Table.put(int) by thread started at Program.java:18…; this from 39 = Table.this = table made at Program.java:7"
    );
    assert_eq!(
        lock(&session, 42),
        "Table.rw from 42 in Table.get() by thread started at Program.java:18, also [37]\n\
         Table.value: 43 read in Table.get() by thread started at Program.java:18…; Table.rw shared from 42 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw"
    );
    assert_eq!(
        lock(&session, 47),
        "this from 47 in Table.fill(int) by thread started at Program.java:18, also [21, 39, 52]\n\
         Base.size: 48 write in Table.fill(int) by thread started at Program.java:18…; this from 47 = table made at Program.java:7 = this"
    );
    // The head of a synchronized method has no line of its own.
    assert_eq!(lock(&session, 51), lock(&session, 52));
    assert_eq!(
        lock(&session, 52),
        "this from 52 in Table.isEmpty() by any thread, also [39, 47]\n\
         Node.next: 52 read in Table.isEmpty() by any thread…; this from 52 = Table.this"
    );
    assert_eq!(lock(&session, 44), "no lock is taken there");
    // In what is called meanwhile, as far as it is certainly held there.
    assert_eq!(
        lock(&shared(), 47),
        "this from 47 in Shared.add() by main thread, thread started at Program.java:9, also [48]\n\
         Shared.byLock: 56 write in Shared.put(java.lang.String) by main thread; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock; this from 47 = shared made at Program.java:7 = this\n\
         Shared.counted: 51 write in Shared.count() by main thread; Shared.class from 51 = Shared.class; this from 47 = shared made at Program.java:7\n\
         Shared.guarded: 47 write in Shared.add() by main thread, thread started at Program.java:9; this from 47 = shared made at Program.java:7 = this\n\
         Shared.names: 55 write of its contents in Shared.put(java.lang.String) by main thread; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock; this from 47 = shared made at Program.java:7 = this"
    );
}

/// The answers to every question that can be asked about a program.
fn everything(session: &Session, project: &Project, file: &str, lines: usize) -> Vec<String> {
    let mut told = Vec::new();
    for class in project.app_classes() {
        let class = class.replace('/', ".");
        let guards = session.guards(&class);
        told.extend(guards.iter().map(|guard| format!("{:?}", session.about_field(&class, &guard.field))));
        told.push(format!("{class}: {guards:?}"));
    }
    told.extend((1..=lines as u32).map(|line| format!("{line}: {:?}", session.about_lock(file, line))));
    told
}

fn change(from: &Project, to: &Arc<Project>) -> Change {
    let names: BTreeSet<String> = from.app_classes().into_iter().chain(to.app_classes()).collect();
    let bytes = |project: &Project, name: &str| project.find(name).map(|found| found.bytes);
    let classes = names.into_iter().filter(|name| bytes(from, name) != bytes(to, name)).collect();
    Change { source: to.clone(), classes, resources: false }
}

/// Of the edit fixtures one in so many is followed, unless one is named.
const STEP: usize = 4;

#[test]
fn answers_after_an_edit_are_those_of_a_first_run_and_to_ask_costs_the_next_edit_nothing() {
    let named = std::env::var("SNARL_FIXTURE").ok();
    let (is_named, step) = (named.is_some(), if named.is_some() { 1 } else { STEP });
    let sequences = Sequence::below(&root(), &named.unwrap_or_default()).expect("the fixtures can be read");
    let mut compared = 0;
    for (at, sequence) in sequences.iter().enumerate().step_by(step) {
        let fixtures: Vec<Fixture> =
            sequence.versions.iter().map(|version| version.fixture.clone()).collect();
        let projects = compile(&fixtures);
        let lines = fixtures.iter().map(|fixture| fixture.source.lines().count()).max().unwrap_or(0);
        // Each engine has its turn.
        let all = [Engines::Both, Engines::WholeProgram, Engines::Compositional];
        let several = if is_named { &all[..] } else { &all[at % all.len()..][..1] };
        for &engines in several {
            let name = format!("{}, {engines:?}", sequence.name);
            compared += follow(&name, &projects, engines, (fixtures[0].file_name(), lines));
        }
    }
    assert!(compared > 0, "nothing was compared");
}

/// Follows versions there and back again, and compares after each step; how many answers that were.
fn follow(name: &str, projects: &[Arc<Project>], engines: Engines, (file, lines): (&str, usize)) -> usize {
    let [mut asked, mut silent] = [(); 2].map(|()| session(&projects[0], engines));
    let there = projects.windows(2).map(|pair| (&pair[0], &pair[1]));
    let back = projects.windows(2).rev().map(|pair| (&pair[1], &pair[0]));
    everything(&asked, &projects[0], file, lines);
    let mut compared = 0;
    for (from, to) in there.chain(back) {
        let [update, other] = [&mut asked, &mut silent].map(|session| {
            session.apply(change(from, to), &|_, _| (), &Cancel::default()).expect("nobody cancels")
        });
        assert_eq!(update.redone, other.redone, "{name}");
        let fresh = session(to, engines);
        let (told, expected) = (everything(&asked, to, file, lines), everything(&fresh, to, file, lines));
        told.iter().zip(&expected).for_each(|(told, expected)| assert_eq!(told, expected, "{name}"));
        assert_eq!(told.len(), expected.len(), "{name}");
        compared += told.len();
    }
    assert_eq!(asked.report().findings, silent.report().findings, "{name}");
    assert_eq!(format!("{:?}", asked.sizes()), format!("{:?}", silent.sizes()), "{name}");
    assert_eq!(asked.verify(), Verdict::Same, "{name}");
    compared
}

#[test]
fn to_ask_leaves_everything_as_it_was() {
    for (name, source) in [("Shared", SHARED), ("Pool", POOL), ("Library", LIBRARY)] {
        let project = compiled(name, source);
        let mut session = session(&project, Engines::Both);
        let state = |session: &mut Session| {
            let mut summaries = Vec::new();
            session.write_summaries(&mut summaries).expect("memory");
            (session.state(), summaries, format!("{:?}", session.sizes()), session.classes())
        };
        let before = state(&mut session);
        let told = everything(&session, &project, "Program.java", source.lines().count());
        assert_eq!(everything(&session, &project, "Program.java", source.lines().count()), told);
        assert!(state(&mut session) == before, "{name}");
    }
}

#[test]
fn the_order_of_ids_leaves_no_trace_in_answers() {
    for (name, source) in [("Shared", SHARED), ("Pool", POOL)] {
        let project = compiled(name, source);
        let lines = source.lines().count();
        let plain = session(&project, Engines::Both);
        let mut classes = plain.classes();
        for seed in 1..4 {
            let by = seed * classes.len() / 5;
            classes.rotate_left(by);
            classes.reverse();
            let options = Options { engines: Engines::Both, follow: true, ..Options::default() };
            let mut other = Session::new(project.clone(), options);
            other.disorder(&classes, seed as u64);
            other.check(&|_, _| ());
            let told = everything(&other, &project, "Program.java", lines);
            assert_eq!(told, everything(&plain, &project, "Program.java", lines), "{name}");
        }
    }
}

#[test]
fn summaries_that_were_kept_answer_as_new_ones_do() {
    let project = compiled("Library", LIBRARY);
    let mut first = session(&project, Engines::Compositional);
    let mut kept = Vec::new();
    first.write_summaries(&mut kept).expect("memory");
    let options = Options { engines: Engines::Compositional, follow: true, ..Options::default() };
    let mut later = Session::new(project.clone(), options);
    later.recall(kept);
    later.check(&|_, _| ());
    let lines = LIBRARY.lines().count();
    let told = everything(&later, &project, "Program.java", lines);
    assert_eq!(told, everything(&first, &project, "Program.java", lines));
}

#[test]
fn after_an_update_that_was_given_up_only_methods_speak_until_the_next() {
    let edited = SHARED.replace("void reset() {", "synchronized void reset() {");
    let (from, to) = (compiled("Shared", SHARED), compiled("Edited", &edited));
    let mut given_up = session(&from, Engines::Both);
    let cancel = Cancel::default();
    cancel.cancel();
    assert!(given_up.apply(change(&from, &to), &|_, _| (), &cancel).is_none());
    let about = given_up.about_field("Shared", "guarded").expect("it is there");
    assert_eq!(about.engines, [Engine::Compositional]);
    assert!(about.accesses.iter().all(|access| !access.lacks_guard), "{about:?}");
    given_up.apply(change(&to, &to), &|_, _| (), &Cancel::default()).expect("nobody cancels");
    let fresh = session(&to, Engines::Both);
    let lines = edited.lines().count();
    let told = everything(&given_up, &to, "Program.java", lines);
    assert_eq!(told, everything(&fresh, &to, "Program.java", lines));
}

/// Asks about every field of a program, and tells how long that takes: `SNARL_PATHS` as for `java`, `SNARL_MAINS` with
/// commas. With `SNARL_SHOW` it shows the answers.
#[test]
#[ignore = "takes a program from the environment"]
fn every_field_of_a_program_is_known_at_once() {
    let list = |name: &str, separator: char| -> Vec<String> {
        let text = std::env::var(name).unwrap_or_default();
        text.split(separator).filter(|part| !part.is_empty()).map(str::to_string).collect()
    };
    let paths = list("SNARL_PATHS", ':').into_iter().map(PathBuf::from).collect();
    let project = Arc::new(project::open(&Request { paths, ..Request::default() }).expect("a project"));
    for engines in [Engines::Both, Engines::WholeProgram, Engines::Compositional] {
        let mains = list("SNARL_MAINS", ',');
        let mut session =
            Session::new(project.clone(), Options { engines, mains, follow: true, ..Options::default() });
        session.check(&|_, _| ());
        let mut times: [Vec<(Duration, String)>; 3] = Default::default();
        for class in project.app_classes().iter().map(|class| class.replace('/', ".")) {
            let guards = timed(&mut times[0], &class, || session.guards(&class));
            for field in guards.into_iter().map(|guard| guard.field) {
                let name = format!("{class}.{field}");
                let about = timed(&mut times[1], &name, || session.about_field(&class, &field));
                let about = about.expect("it has a guard");
                for place in
                    about.accesses.iter().flat_map(|access| &access.locks).map(|held| &held.lock.place)
                {
                    let name = format!("{}:{}", place.file, place.line);
                    timed(&mut times[2], &name, || session.about_lock(&place.file, place.line));
                }
                if std::env::var_os("SNARL_SHOW").is_some() {
                    println!("{}", report::about::markdown(&about, &|_| None));
                }
            }
        }
        for (what, times) in ["guards", "about_field", "about_lock"].into_iter().zip(&mut times) {
            println!("{engines:?}, {what}: {}", distribution(times));
        }
    }
}

/// The shortest of a few times: whatever else the machine does makes it longer.
fn timed<T>(times: &mut Vec<(Duration, String)>, name: &str, ask: impl Fn() -> T) -> T {
    let once = || {
        let began = Instant::now();
        (ask(), began.elapsed())
    };
    let (answer, first) = once();
    let shortest = (0..3).map(|_| once().1).fold(first, Duration::min);
    times.push((shortest, name.to_owned()));
    answer
}

fn distribution(times: &mut [(Duration, String)]) -> String {
    times.sort_by(|a, b| b.cmp(a));
    let milliseconds = |at: usize| times.get(at).map_or(0.0, |(time, _)| time.as_secs_f64() * 1e3);
    let (count, slowest) = (times.len(), times.first().map_or("", |(_, name)| name.as_str()));
    let (median, most) = (milliseconds(count / 2), milliseconds(count / 100));
    format!(
        "{count} asked, {median:.2} ms at the median, {most:.1} ms for one in a hundred, {:.1} ms for {slowest}",
        milliseconds(0)
    )
}

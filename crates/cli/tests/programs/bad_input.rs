//! Programs that are missing, damaged, false or hostile: a clear word about it, the rest still analysed, and
//! never a crash or a wait without end.

use crate::support::{Classes, Place, Run, jar, javac, kinds, place};
use serde_json::Value;
use std::sync::OnceLock;

/// The race is in `Main`; `Helper` is what gets damaged, and `Main` needs it.
const MAIN: &str = "package app;
public class Main {
    static int hits;
    public static void main(String[] args) {
        Helper helper = new Helper();
        System.out.println(helper.help(args).length);
        new Thread(() -> hits++).start();
        System.out.println(hits);
    }
}
";

const HELPER: &str = "package app;
public class Helper {
    private int calls;
    public String[] help(String[] args) {
        calls++;
        try {
            return args.length > calls ? args : new String[calls];
        } catch (RuntimeException e) {
            return null;
        }
    }
}
";

fn classes() -> &'static Classes {
    static CLASSES: OnceLock<Classes> = OnceLock::new();
    CLASSES.get_or_init(|| javac(&[("app/Main.java", MAIN), ("app/Helper.java", HELPER)]))
}

fn helper() -> Vec<u8> {
    classes()["app/Helper.class"].clone()
}

/// The program in the directory `out`, with another `Helper`.
fn with_helper(bytes: &[u8]) -> Place {
    let place = place();
    place.write_all("out", classes());
    place.write("out/app/Helper.class", bytes);
    place
}

/// The race was found, and nothing went wrong that would stop a build.
#[track_caller]
fn assert_race(run: &Run, json: &Value) {
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let found = json["findings"].as_array().expect("findings");
    assert!(found.iter().any(|finding| finding["field"] == "app.Main.hits"), "{}", run.stdout);
}

/// The race in the rest is found, and a note of this kind tells what is wrong.
#[track_caller]
fn assert_noted(place: &Place, args: &[&str], kind: &str) {
    let (run, json) = place.json(args);
    assert_race(&run, &json);
    assert!(kinds(&json).iter().any(|found| found == kind), "{kind} in {}", run.stdout);
    // People see it without asking.
    let text = place.check(args);
    assert_eq!((text.code, text.stderr.as_str()), (1, ""));
    assert!(text.stdout.contains(kind), "{}", text.stdout);
}

/// Nothing could be analysed; standard error says why, in one message.
#[track_caller]
fn assert_refused(place: &Place, path: &str, why: &str) {
    let run = place.check(&[path]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(path), "{}", run.stderr);
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn a_missing_path() {
    assert_refused(&place(), "nowhere", "no such file or directory");
    assert_refused(&place(), "nowhere/app.jar", "no such file or directory");
}

#[test]
fn an_empty_directory_and_a_directory_of_other_things() {
    let place = place();
    std::fs::create_dir(place.path().join("empty")).expect("a directory");
    place.write("letters/dear.txt", "Dear Ada");
    assert_refused(&place, "empty", "nothing to analyse");
    assert_refused(&place, "letters", "nothing to analyse");
}

#[test]
fn a_jar_that_is_none() {
    let place = place();
    place.write("text.jar", "Dear Ada");
    place.write("nothing.jar", "");
    place.write("hollow.jar", jar([]));
    assert_refused(&place, "text.jar", "not a zip archive");
    assert_refused(&place, "nothing.jar", "not a zip archive");
    assert_refused(&place, "hollow.jar", "nothing to analyse");
}

#[test]
fn a_jar_of_sources() {
    let place = place();
    place.write("app-sources.jar", jar([("app/Main.java", MAIN.as_bytes())]));
    assert_refused(&place, "app-sources.jar", "sources and no classes");
}

#[test]
fn a_truncated_jar() {
    let place = place();
    let whole = jar([
        ("app/Main.class", classes()["app/Main.class"].as_slice()),
        ("app/Helper.class", helper().as_slice()),
    ]);
    let second = whole.windows(16).position(|name| name == b"app/Helper.class").expect("the second entry");
    place.write("cut.jar", &whole[..second + 50]);
    assert_noted(&place, &["cut.jar"], "corrupt-archive");

    place.write("stump.jar", &whole[..20]);
    assert_refused(&place, "stump.jar", "ends too early");
}

#[test]
fn a_corrupt_entry_of_a_jar() {
    let place = place();
    let mut bytes = jar([
        ("app/Main.class", classes()["app/Main.class"].as_slice()),
        ("app/Helper.class", helper().as_slice()),
    ]);
    let second = bytes.windows(16).position(|name| name == b"app/Helper.class").expect("the second entry");
    bytes[second + 40] ^= 0xff;
    place.write("bad.jar", bytes);
    assert_noted(&place, &["bad.jar"], "corrupt-entry");
}

#[test]
fn a_corrupt_class_among_good_ones() {
    let half = helper()[..helper().len() / 2].to_vec();
    for (bytes, what) in [
        (Vec::new(), "empty"),
        (b"Dear Ada".to_vec(), "no class file"),
        (helper()[..4].to_vec(), "nothing but its magic number"),
        (half, "half"),
        (helper()[..helper().len() - 1].to_vec(), "all but its last byte"),
    ] {
        println!("a class that is {what}");
        assert_noted(&with_helper(&bytes), &["out"], "corrupt-class");
    }
}

#[test]
fn a_class_that_holds_another() {
    assert_noted(&with_helper(&classes()["app/Main.class"]), &["out"], "missing-class");
}

#[test]
fn a_corrupt_class_alone_is_not_silently_clean() {
    let place = place();
    place.write("out/app/Main.class", &classes()["app/Main.class"][..100]);
    let run = place.check(&["out"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: app.Main cannot be read: "), "{}", run.stderr);
    assert!(run.stderr.contains("\nno entry point found: "), "{}", run.stderr);

    let run = place.check(&["out", "--main", "app.Main"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: --main app.Main: the class cannot be read: "), "{}", run.stderr);
}

#[test]
fn a_class_with_missing_dependencies() {
    let place = place();
    place.write("out/app/Main.class", &classes()["app/Main.class"]);
    assert_noted(&place, &["out"], "missing-class");

    // What it extends, implements, throws and holds is gone as well.
    let lost = javac(&[
        ("gone/Base.java", "package gone; public class Base { public int n; public void m() {} }"),
        ("gone/Task.java", "package gone; public interface Task extends Runnable { }"),
        ("gone/Failure.java", "package gone; public class Failure extends Exception { }"),
        (
            "app/Main.java",
            "package app;
             public class Main extends gone.Base implements gone.Task {
                 static int hits;
                 gone.Base[] bases = new gone.Base[1];
                 public void run() {
                     try { hits++; bases[0].n++; work(); } catch (gone.Failure e) { e.printStackTrace(); }
                 }
                 void work() throws gone.Failure { m(); if (n > 0) throw new gone.Failure(); }
                 public static void main(String[] args) {
                     new Thread(new Main()).start();
                     System.out.println(hits);
                 }
             }",
        ),
    ]);
    let place = self::place();
    place.write("out/app/Main.class", &lost["app/Main.class"]);
    assert_noted(&place, &["out"], "missing-class");
}

#[test]
fn a_zip_bomb() {
    let place = place();
    let zeros = vec![0; 70 << 20];
    let main = classes()["app/Main.class"].as_slice();
    let bomb = jar([("app/Main.class", main), ("app/Helper.class", &zeros), ("zeros.bin", &zeros)]);
    assert!(bomb.len() < 1 << 20);
    place.write("bomb.jar", &bomb);
    assert_noted(&place, &["bomb.jar"], "corrupt-entry");

    // Archives in archives without end.
    let mut inner = jar([("zeros.bin", zeros.as_slice())]);
    for _ in 0..10 {
        inner = jar([("a.jar", inner.as_slice()), ("b.jar", inner.as_slice())]);
    }
    place.write("deep.jar", jar([("app/Main.class", main), ("deep.jar", inner.as_slice())]));
    assert_noted(&place, &["deep.jar"], "nested-too-deep");
}

#[test]
fn a_cyclic_class_hierarchy() {
    // Each class is right beside the other's first version; together they go round in a circle.
    let first = javac(&[
        ("ring/A.java", "package ring; public class A extends B { public void m() {} }"),
        ("ring/B.java", "package ring; public class B { public void m() {} }"),
        ("ring/I.java", "package ring; public interface I extends J { default void d() {} }"),
        ("ring/J.java", "package ring; public interface J { default void d() {} }"),
    ]);
    let second = javac(&[
        ("ring/A.java", "package ring; public class A { public void m() {} }"),
        ("ring/B.java", "package ring; public class B extends A { public void m() { super.m(); } }"),
        ("ring/I.java", "package ring; public interface I { default void d() {} }"),
        ("ring/J.java", "package ring; public interface J extends I { default void d() { I.super.d(); } }"),
        ("ring/C.java", "package ring; public class C extends B implements J { }"),
        (
            "app/Main.java",
            "package app;
             public class Main {
                 static int hits;
                 public static void main(String[] args) {
                     ring.A a = new ring.C();
                     a.m();
                     ((ring.I) a).d();
                     new Thread(() -> hits++).start();
                     System.out.println(hits);
                 }
             }",
        ),
    ]);
    let place = place();
    place.write_all("out", &second);
    place.write("out/ring/A.class", &first["ring/A.class"]);
    place.write("out/ring/I.class", &first["ring/I.class"]);
    assert_noted(&place, &["out"], "cyclic-hierarchy");
}

#[test]
fn a_class_that_lies_about_its_lengths() {
    let end = helper().len();
    let first_text = helper().windows(6).position(|text| text == b"<init>").expect("the first name");
    let code = code_length(&helper());
    for (at, bytes, what, kind) in [
        (8, &[0xff_u8, 0xff] as &[u8], "more constants than it has", "corrupt-class"),
        (8, &[0, 2], "fewer constants than it has", "corrupt-class"),
        (first_text - 2, &[0xff, 0xff], "a longer text", "corrupt-class"),
        (code, &[0xff; 4], "more code than there are bytes", "unreadable-body"),
        (code, &[0, 0, 0xff, 0xff], "more code than its attribute", "unreadable-body"),
        (code - 8, &[0xff; 4], "a code attribute larger than the file", "corrupt-class"),
        (end - 6, &[0xff; 4], "a last attribute larger than the file", "corrupt-class"),
    ] {
        println!("a class that tells of {what}");
        let mut liar = helper();
        liar[at..at + bytes.len()].copy_from_slice(bytes);
        assert_noted(&with_helper(&liar), &["out"], kind);
    }
}

/// Where the length of the constructor's code stands: its five bytes begin with `aload_0; invokespecial`.
fn code_length(class: &[u8]) -> usize {
    let body = [0, 0, 0, 5, 0x2a, 0xb7];
    class.windows(body.len()).position(|bytes| bytes == body).expect("a constructor")
}

#[test]
fn a_method_reference_to_a_missing_class_with_a_type_that_is_none() {
    let mut classes = javac(&[
        ("gone/Target.java", "package gone; public class Target { public static void go(Integer n) {} }"),
        (
            "app/Main.java",
            "package app;
             public class Main {
                 static int hits;
                 public static void main(String[] args) {
                     java.util.function.Consumer<Integer> go = gone.Target::go;
                     go.accept(1);
                     new Thread(() -> hits++).start();
                     System.out.println(hits);
                 }
             }",
        ),
    ]);
    let (good, bad) = (b"(Ljava/lang/Integer;)V", b"(Ljava/lang/Integer;)L");
    let main = classes.get_mut("app/Main.class").expect("the program");
    let at = main.windows(good.len()).position(|text| text == good).expect("the type of the target");
    main[at..at + bad.len()].copy_from_slice(bad);
    let place = place();
    place.write("out/app/Main.class", main);
    assert_noted(&place, &["out"], "unsupported-dynamic");
}

#[test]
fn a_class_of_another_version() {
    let version = |major: u8| {
        let mut bytes = helper();
        bytes[6..8].copy_from_slice(&[0, major]);
        with_helper(&bytes)
    };
    assert_noted(&version(99), &["out"], "newer-class-version");
    assert_noted(&version(44), &["out"], "corrupt-class");

    // The program itself is from the future.
    let place = place();
    for (path, bytes) in classes() {
        let mut bytes = bytes.clone();
        bytes[6..8].copy_from_slice(&[0, 99]);
        place.write(&format!("out/{path}"), bytes);
    }
    assert_noted(&place, &["out"], "newer-class-version");
}

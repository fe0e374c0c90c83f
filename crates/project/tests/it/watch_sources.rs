use crate::support::{class, place};
use crate::watch_support::{bytes, shown, watch};
use classfile::ClassSource;
use project::{Request, Watched};
use std::fs;
use std::time::{Duration, SystemTime};

const GOOD: &str = "package a; public class A { public int n() { return 1; } }";
const OTHER: &str = "package a; public class B { int m(A a) { return a.n(); } }";

#[test]
fn edited_sources_are_compiled_again() {
    let place = place();
    place.write("a/A.java", GOOD);
    place.write("a/B.java", OTHER);
    let mut watching = watch(&[&place.path("")]);
    assert_eq!(watching.changes(), [""; 0]);
    place.write("a/A.java", GOOD.replace('1', "2"));
    assert_eq!(watching.settled(), ["~a/A"]);
    place.write("a/A.java", GOOD.replace("} }", "} class In {} }"));
    assert_eq!(watching.settled(), ["~a/A", "+a/A$In"]);
    place.write("a/A.java", GOOD);
    assert_eq!(watching.settled(), ["~a/A", "-a/A$In"]);
    place.write("a/C.java", "package a; class C {}");
    assert_eq!(watching.settled(), ["+a/C"]);
    fs::remove_file(place.path("a/C.java")).unwrap();
    assert_eq!(watching.settled(), ["-a/C"]);
}

#[test]
fn a_source_with_errors_keeps_its_last_good_classes_while_others_are_followed() {
    let place = place();
    place.write("a/A.java", GOOD.replace("} }", "} class In {} }"));
    place.write("a/B.java", OTHER);
    let mut watching = watch(&[&place.path("")]);
    let good = bytes(watching.watched.project(), "a/A");
    place.write("a/A.java", "package a; public class A { int n( }");
    let refresh = watching.after(1);
    assert_eq!(shown(&refresh), [""; 0]);
    let note = &refresh.project.notes()[0];
    assert_eq!(note.kind, "source-errors");
    assert!(note.message.contains("A.java:1: error"), "{}", note.message);
    assert_eq!(bytes(&refresh.project, "a/A"), good);
    assert!(bytes(&refresh.project, "a/A$In").is_some());
    // Another file is edited meanwhile, and compiled against the classes that stayed.
    place.write("a/B.java", OTHER.replace("return", "return 1 +"));
    let refresh = watching.after(1);
    assert_eq!(shown(&refresh), ["~a/B"]);
    assert_eq!(bytes(&refresh.project, "a/A"), good);
    // A type error this time, in a file others need.
    place.write("a/A.java", GOOD.replace("return 1", "return \"one\""));
    assert_eq!(watching.changes(), [""; 0]);
    place.write("a/A.java", GOOD.replace('1', "3"));
    let refresh = watching.after(1);
    assert_eq!(shown(&refresh), ["~a/A", "-a/A$In"]);
    assert_eq!(refresh.project.notes(), []);
    watching.check_like_new();
}

#[test]
fn a_source_emptied_for_a_moment_keeps_its_classes() {
    let place = place();
    place.write("a/A.java", GOOD);
    place.write("a/B.java", OTHER);
    let mut watching = watch(&[&place.path("")]);
    for text in ["", "package a;", "package a; publ"] {
        place.write("a/A.java", text);
        assert_eq!(shown(&watching.after(1)), [""; 0], "{text}");
    }
    place.write("a/A.java", GOOD);
    assert_eq!(watching.settled(), [""; 0]);
    assert_eq!(watching.watched.project().notes(), []);
    place.write("a/B.java", "");
    assert_eq!(shown(&watching.after(1)), [""; 0]);
    assert_eq!(watching.settled(), ["-a/B"]);
}

#[test]
fn sources_written_while_they_are_compiled_are_compiled_again() {
    let place = place();
    place.write("a/A.java", GOOD);
    place.write("a/B.java", OTHER);
    let mut watching = watch(&[&place.path("")]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..60 {
                let text = GOOD.replace('1', &(round % 2).to_string());
                // Cut in the middle every now and then, and the same again afterwards.
                let cut = if round % 3 == 0 { text.len() / 2 } else { text.len() };
                place.write("a/A.java", &text[..cut]);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        while !writer.is_finished() {
            let refresh = watching.after(50);
            assert!(shown(&refresh).iter().all(|change| change == "~a/A"), "{:?}", shown(&refresh));
        }
    });
    watching.settled();
    assert_eq!(watching.watched.project().notes(), []);
}

#[test]
fn a_source_whose_users_no_longer_fit_is_followed_and_they_are_not() {
    let place = place();
    place.write("a/A.java", GOOD);
    place.write("a/B.java", OTHER);
    let mut watching = watch(&[&place.path("")]);
    place.write("a/A.java", GOOD.replace("n()", "renamed()"));
    let refresh = watching.after(1);
    assert_eq!(shown(&refresh), ["~a/A"]);
    assert!(bytes(&refresh.project, "a/B").is_some());
    place.write("a/B.java", OTHER.replace("n()", "renamed()"));
    assert_eq!(watching.settled(), ["~a/B"]);
    assert_eq!(watching.watched.project().notes(), []);
}

#[test]
fn sources_newer_than_the_build_are_compiled_until_the_build_is_newer_again() {
    let place = place();
    place.write("pom.xml", "<project/>");
    place.write("src/main/java/a/A.java", GOOD);
    place.write("target/classes/a/A.class", class("a/A"));
    let age = |name: &str, seconds: u64| {
        let file = fs::File::options().write(true).open(place.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    age("src/main/java/a/A.java", 100);
    age("target/classes/a/A.class", 50);
    let mut watching = watch(&[&place.path("")]);
    assert_eq!(bytes(watching.watched.project(), "a/A"), Some(class("a/A")));
    place.write("src/main/java/a/A.java", "package a; public class A { broken }");
    age("src/main/java/a/A.java", 40);
    let refresh = watching.after(1);
    assert_eq!((shown(&refresh).len(), refresh.project.notes().len()), (0, 1));
    place.write("src/main/java/a/A.java", GOOD);
    age("src/main/java/a/A.java", 30);
    assert_eq!(watching.settled(), ["~a/A"]);
    place.write("target/classes/a/A.class", class("a/A"));
    age("target/classes/a/A.class", 20);
    assert_eq!(watching.settled(), ["~a/A"]);
    // A clean build: the classes are away for a while, and nobody compiles in their place.
    fs::remove_dir_all(place.path("target")).unwrap();
    assert_eq!(shown(&watching.after(1)), [""; 0]);
    assert_eq!(shown(&watching.after(15_000)), [""; 0]);
    place.write("target/classes/a/A.class", class("a/A"));
    assert_eq!(watching.settled(), [""; 0]);
    fs::remove_dir_all(place.path("target")).unwrap();
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[test]
fn what_compiles_is_enough_to_begin_with() {
    let place = place();
    place.write("a/A.java", GOOD.replace("n()", "n("));
    place.write("a/B.java", OTHER);
    place.write("c/C.java", "package c; class C {}");
    let mut watching = watch(&[&place.path("")]);
    assert_eq!(watching.watched.project().app_classes(), ["c/C"]);
    let note = &watching.watched.project().notes()[0];
    assert_eq!((note.kind.as_str(), note.count), ("source-errors", 1));
    place.write("a/A.java", GOOD);
    assert_eq!(watching.settled(), ["+a/A", "+a/B"]);
}

#[test]
fn sources_of_which_none_compiles_cannot_be_followed() {
    let place = place();
    place.write("a/A.java", "class {");
    let request = Request { paths: vec![place.path("")], ..Request::default() };
    let error = Watched::open(&request).err().unwrap().to_string();
    assert!(error.contains("do not compile"), "{error}");
}

//! One small program in every form that can be named: the findings are the same.

use crate::support::{Classes, Place, ids, jar, jar_of, javac, place};
use std::sync::OnceLock;

const COUNTER: &str = "package core;
public class Counter {
    public int hits;
}
";

const MAIN: &str = "package app;
import core.Counter;
public class Main {
    static int last;
    public static void main(String[] args) {
        Counter counter = new Counter();
        new Thread(() -> {
            counter.hits++;
            last = 1;
        }).start();
        System.out.println(counter.hits + last);
    }
}
";

fn classes() -> &'static Classes {
    static CLASSES: OnceLock<Classes> = OnceLock::new();
    CLASSES.get_or_init(|| javac(&[("core/Counter.java", COUNTER), ("app/Main.java", MAIN)]))
}

fn only(package: &str) -> Classes {
    let inside = |(path, _): &(&String, &Vec<u8>)| path.starts_with(package);
    classes().iter().filter(inside).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

/// What is found in the plain directory of classes, which is checked by itself below.
fn expected() -> &'static Vec<String> {
    static EXPECTED: OnceLock<Vec<String>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let place = place();
        place.write_all("out", classes());
        let (run, json) = place.json(&["out"]);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""));
        let fields: Vec<_> =
            json["findings"].as_array().expect("findings").iter().map(|f| &f["field"]).collect();
        assert_eq!(fields.len(), 2, "{fields:?}");
        assert!(fields.iter().any(|field| *field == "core.Counter.hits"), "{fields:?}");
        assert!(fields.iter().any(|field| *field == "app.Main.last"), "{fields:?}");
        ids(&json)
    })
}

#[track_caller]
fn assert_same(place: &Place, args: &[&str]) {
    let (run, json) = place.json(args);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    assert_eq!(&ids(&json), expected(), "{}", run.stdout);
}

#[test]
fn a_class_directory_and_single_class_files() {
    let place = place();
    place.write_all("out", classes());
    assert_same(&place, &["out"]);
    assert_same(&place, &["out/app/Main.class", "out/core/Counter.class"]);
}

#[test]
fn a_jar() {
    let place = place();
    place.write("app.jar", jar_of(classes()));
    assert_same(&place, &["app.jar"]);
}

#[test]
fn a_spring_boot_jar() {
    let place = place();
    let core = jar_of(&only("core/"));
    let launcher = javac(&[("boot/Launcher.java", "package boot; public class Launcher {}")]);
    let application = only("app/");
    let entries: Vec<(String, &[u8])> = (launcher
        .iter()
        .map(|(path, bytes)| (path.clone(), bytes.as_slice())))
    .chain(application.iter().map(|(path, bytes)| (format!("BOOT-INF/classes/{path}"), bytes.as_slice())))
    .chain([("BOOT-INF/lib/core.jar".to_owned(), core.as_slice())])
    .collect();
    place.write("boot.jar", jar(entries.iter().map(|(path, bytes)| (path.as_str(), *bytes))));
    assert_same(&place, &["boot.jar"]);
}

#[test]
fn several_paths_and_a_class_path() {
    let place = place();
    place.write_all("app", &only("app/"));
    place.write_all("core", &only("core/"));
    place.write("lib/core.jar", jar_of(&only("core/")));
    assert_same(&place, &["app", "core"]);
    assert_same(&place, &["app", "lib/core.jar"]);
    assert_same(&place, &["app", "--classpath", "lib/core.jar"]);
    assert_same(&place, &["app", "-cp", "core"]);
    assert_same(&place, &["app", "-cp", "lib/*"]);
}

#[test]
fn a_source_tree() {
    let place = place();
    place.write("src/app/Main.java", MAIN);
    place.write("src/core/Counter.java", COUNTER);
    assert_same(&place, &["src"]);
    assert_same(&place, &["src/app/Main.java", "src/core/Counter.java"]);
}

#[test]
fn a_maven_project() {
    let place = place();
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId>\
               <version>1</version></project>";
    place.write("project/pom.xml", pom);
    place.write("project/src/main/java/app/Main.java", MAIN);
    place.write("project/src/main/java/core/Counter.java", COUNTER);
    place.write("project/src/test/java/app/MainTest.java", "does not compile");
    assert_same(&place, &["project"]);

    // Built since: the classes are used.
    place.write_all("project/target/classes", classes());
    assert_same(&place, &["project"]);
}

#[test]
fn a_gradle_project_of_several_modules() {
    let place = place();
    place.write("project/settings.gradle", "rootProject.name = 'p'\ninclude 'app', 'core'\n");
    place.write("project/core/build.gradle", "plugins { id 'java-library' }\n");
    place.write(
        "project/app/build.gradle",
        "plugins { id 'application' }\ndependencies { implementation project(':core') }\n",
    );
    place.write("project/core/src/main/java/core/Counter.java", COUNTER);
    place.write("project/app/src/main/java/app/Main.java", MAIN);
    assert_same(&place, &["project"]);

    place.write_all("project/core/build/classes/java/main", &only("core/"));
    place.write_all("project/app/build/classes/java/main", &only("app/"));
    assert_same(&place, &["project"]);
}

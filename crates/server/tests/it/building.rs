//! Class paths that only the build tool knows.

use crate::client::Client;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const COUNTER: &str = "package app;

public class Counter {
    private int n;

    void inc() {
        lib.Library.log();
        n++;
    }

    public static void main(String[] args) {
        Counter counter = new Counter();
        new Thread(() -> counter.inc()).start();
        counter.inc();
    }
}
";

fn write(root: &Path, name: &str, text: &str) -> PathBuf {
    let file = root.join(name);
    fs::create_dir_all(file.parent().expect("a parent")).expect("made");
    fs::write(&file, text).expect("written");
    file
}

fn run(command: &mut Command) {
    assert!(command.status().expect("it runs").success(), "{command:?}");
}

/// A project whose one dependency lies where only an argument of Maven says, in a version that only another one says.
fn project() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let root = place.path().canonicalize().expect("there");
    let source =
        write(&root, "lib/Library.java", "package lib; public class Library { public static void log() {} }");
    let repository = root.join("repository/g/lib/7");
    fs::create_dir_all(&repository).expect("made");
    run(Command::new("javac").arg("-d").arg(root.join("out")).arg(source));
    run(Command::new("jar")
        .arg("cf")
        .arg(repository.join("lib-7.jar"))
        .arg("-C")
        .arg(root.join("out"))
        .arg("lib"));
    let pom = |name: &str, version: &str, more: &str| {
        format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>{name}</artifactId>\
             <version>{version}</version>{more}</project>"
        )
    };
    fs::write(repository.join("lib-7.pom"), pom("lib", "7", "")).expect("written");
    let needs = "<dependencies><dependency><groupId>g</groupId><artifactId>lib</artifactId>\
                 <version>${lib}</version></dependency></dependencies>";
    write(&root, "app/pom.xml", &pom("app", "1", needs));
    let arguments = format!("-Dmaven.repo.local={}\n-Dlib=7\n", root.join("repository").display());
    write(&root, "app/.mvn/maven.config", &arguments);
    let counter = write(&root, "app/src/main/java/app/Counter.java", COUNTER);
    (place, root.join("app"), counter)
}

fn without_tools(root: &Path) -> Client {
    Client::with(&[root], json!({"experimental": {"snarl": true}}), json!({"buildTool": "off"}))
}

fn race() -> Vec<(String, u64)> {
    vec![("race".to_owned(), 8)]
}

#[test]
fn what_maven_knows_of_class_paths_is_used_as_soon_as_it_has_told() {
    let (_place, root, file) = project();
    let mut client = Client::open(&root);
    client.open_file(&file);
    client.settle();
    client.wait(|client| client.underlined(&file) == race(), "the race that needs the library");
    assert!(root.join(".snarl/build-paths").is_file());
    client.shut_down();

    let mut client = without_tools(&root);
    client.open_file(&file);
    client.settle();
    assert_eq!(
        client.underlined(&file),
        race(),
        "it is known from the beginning, and nobody has to be asked"
    );
}

#[test]
fn a_build_that_changes_is_asked_about_again() {
    let (_place, root, file) = project();
    let arguments = fs::read_to_string(root.join(".mvn/maven.config")).expect("there");
    write(&root, ".mvn/maven.config", "--no-such-argument\n");
    let mut client = Client::open(&root);
    client.open_file(&file);
    client.settle();
    client.wait(|client| client.logged("Maven cannot tell the class paths"), "a complaint");
    assert_eq!(client.underlined(&file), []);
    write(&root, ".mvn/maven.config", &arguments);
    client.wait(|client| client.underlined(&file) == race(), "the race that needs the library");
}

#[test]
fn nobody_is_asked_whom_the_user_does_not_want_to_be_asked() {
    let (_place, root, file) = project();
    let mut client = without_tools(&root);
    client.open_file(&file);
    client.settle();
    assert_eq!(client.underlined(&file), []);
    client.shut_down();
    assert!(!root.join(".snarl/build-paths").exists());
}

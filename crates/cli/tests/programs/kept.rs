//! Reports kept between runs: used when nothing has changed, never when something has.

use crate::support::{Place, Run, jar_of, javac, place};
use std::fs;
use std::path::PathBuf;

const POM: &str = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId>\
                   <version>1</version></project>";

const MAIN: &str = "package app;
public class Main {
    static int hits;
    public static void main(String[] args) {
        new Thread(() -> hits++).start();
        hits++;
    }
}
";

fn project() -> Place {
    let place = place();
    place.write("project/pom.xml", POM);
    place.write("project/src/main/java/app/Main.java", MAIN);
    place.write_all("project/target/classes", &javac(&[("app/Main.java", MAIN)]));
    place
}

fn entries(place: &Place, directory: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(place.path().join(directory).join(".snarl")).into_iter().flatten();
    let paths = all.map(|entry| entry.expect("an entry").path());
    let is_report = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("report-") && name.ends_with(".entry")
    };
    paths.filter(is_report).collect()
}

/// Which files the entries are: an entry that is written again is another file.
#[cfg(unix)]
fn files(place: &Place, directory: &str) -> Vec<u64> {
    use std::os::unix::fs::MetadataExt;
    let number = |path: PathBuf| fs::metadata(path).expect("an entry").ino();
    entries(place, directory).into_iter().map(number).collect()
}

#[track_caller]
fn assert_same(one: &Run, other: &Run) {
    assert_eq!((one.code, &one.stdout, &one.stderr), (other.code, &other.stdout, &other.stderr));
}

#[cfg(unix)]
#[test]
fn an_unchanged_project_has_the_report_that_was_kept() {
    let place = project();
    let fresh = place.check(&["project", "--no-cache"]);
    assert_eq!((fresh.code, entries(&place, "project").len()), (1, 0), "{}", fresh.stdout);

    assert_same(&place.check(&["project"]), &fresh);
    let written = files(&place, "project");
    assert_eq!(written.len(), 1);
    assert_same(&place.check(&["project"]), &fresh);
    assert_same(&place.check(&["project", "--threads", "1"]), &fresh);
    assert_eq!(files(&place, "project"), written);
    let json = place.check(&["project", "--format", "json"]);
    assert_same(&json, &place.check(&["project", "--format", "json", "--no-cache"]));
    assert_eq!(files(&place, "project"), written);
}

#[test]
fn what_decides_a_report_is_part_of_its_name() {
    let place = project();
    assert_eq!(place.check(&["project"]).code, 1);

    let named = place.check(&["project", "--entry", "app.Main.lambda$main$0"]);
    assert_same(&named, &place.check(&["project", "--entry", "app.Main.lambda$main$0", "--no-cache"]));
    assert_eq!(entries(&place, "project").len(), 2);
    let wrong = place.check(&["project", "--main", "app.Other"]);
    assert_eq!((wrong.code, entries(&place, "project").len()), (2, 2), "{}", wrong.stderr);

    let guarded = MAIN
        .replace("hits++", "inc()")
        .replace("static int", "static synchronized void inc() { hits++; }\n    static int");
    place.write("project/src/main/java/app/Main.java", &guarded);
    place.write_all("project/target/classes", &javac(&[("app/Main.java", &guarded)]));
    let run = place.check(&["project"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert_same(&run, &place.check(&["project", "--no-cache"]));
    assert_eq!(entries(&place, "project").len(), 3);
}

#[test]
fn a_damaged_report_is_made_anew() {
    let place = project();
    let fresh = place.check(&["project"]);
    let entry = &entries(&place, "project")[0];
    let mut bytes = fs::read(entry).expect("an entry");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(entry, &bytes).expect("an entry");

    let run = place.check(&["project", "--notes"]);
    assert_eq!(run.code, fresh.code);
    assert!(run.stdout.contains("note[cache-damaged]"), "{}", run.stdout);
    assert_same(&place.check(&["project"]), &fresh);
}

#[test]
fn a_directory_of_classes_and_a_jar_are_left_as_they_are() {
    let place = place();
    let classes = javac(&[("app/Main.java", MAIN)]);
    place.write_all("out", &classes);
    place.write("app.jar", jar_of(&classes));
    for program in ["out", "app.jar"] {
        assert_eq!(place.check(&[program]).code, 1);
    }
    assert!(entries(&place, "out").is_empty() && entries(&place, "").is_empty());

    let fresh = place.check(&["app.jar", "--cache", "."]);
    assert_eq!((fresh.code, entries(&place, "").len()), (1, 1));
    assert_same(&place.check(&["app.jar", "--cache", "."]), &fresh);
}

//! The rules as the binary tells them, and the examples on their pages: that they compile, and that Snarl sees in them
//! what the page says.

use crate::support::{Run, place, run};
use std::process::Command;

fn rules(args: &[&str]) -> Run {
    run(place().snarl("rules", args))
}

/// The ids in the table.
fn ids() -> Vec<String> {
    let table = rules(&[]);
    assert_eq!((table.code, table.stderr.as_str()), (0, ""));
    let lines = table.stdout.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

/// What stands between the heading's ```java and ```.
fn example<'p>(page: &'p str, heading: &str) -> &'p str {
    let section =
        page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("{heading}: {page}"));
    let code = section.split("```java\n").nth(1).expect("an example");
    code.split("```").next().expect("its end")
}

#[test]
fn every_rule_in_the_table_has_a_page() {
    assert!(ids().len() >= 8);
    for id in ids() {
        let page = rules(&[&id]);
        assert_eq!((page.code, page.stderr.as_str()), (0, ""));
        assert!(page.stdout.starts_with(&format!("# {id}\n")), "{}", page.stdout);
    }
}

#[test]
fn an_unknown_rule_ends_with_2_and_lists_the_others() {
    let answer = rules(&["rase"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (2, ""));
    assert!(
        answer.stderr.starts_with("error: no rule is called `rase`; did you mean race?\n"),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("guarded-by"), "{}", answer.stderr);
}

#[test]
fn the_examples_on_the_pages_compile() {
    let place = place();
    let mut sources = vec![];
    for id in ids() {
        let page = rules(&[&id]).stdout;
        for heading in ["Wrong", "Right"] {
            // A package for each: they use the same names.
            let package = format!("{}.{}", id.replace('-', "_"), heading.to_lowercase());
            let path = format!("{}/Example.java", package.replace('.', "/"));
            place.write(&path, format!("package {package};\n{}", example(&page, heading)));
            sources.push(path);
        }
    }
    let javac = match std::env::var("JAVA_HOME") {
        Ok(home) if !home.is_empty() => format!("{home}/bin/javac"),
        _ => "javac".to_owned(),
    };
    let mut compiler = Command::new(javac);
    compiler.args(["-Xlint:all", "-Werror", "-d", "classes"]).args(&sources).current_dir(place.path());
    let output = compiler.output().expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Two threads that pay each other.
const PAYERS: &str = "class Payers {
    public static void main(String[] args) {
        Account a = new Account(), b = new Account();
        new Thread(() -> a.transferTo(b, 1)).start();
        new Thread(() -> b.transferTo(a, 1)).start();
    }
}
";

/// Which rules are broken by the example, with a class that runs it.
fn broken(rule: &str, heading: &str, driver: &str, entry: &[&str]) -> Vec<String> {
    let place = place();
    place.write("Example.java", format!("{}\n{driver}", example(&rules(&[rule]).stdout, heading)));
    let (run, json) = place.json(entry);
    let findings = json["findings"].as_array().unwrap_or_else(|| panic!("{}", run.stderr));
    findings.iter().map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
}

#[test]
fn the_wrong_examples_are_found_and_the_right_ones_are_not() {
    let entry = ["--entry", "Hits.serve"];
    assert_eq!(broken("race", "Wrong", "", &entry), ["race"]);
    assert_eq!(broken("race", "Right", "", &entry), [] as [&str; 0]);
    assert_eq!(broken("deadlock", "Wrong", PAYERS, &[]), ["deadlock"]);
    assert_eq!(broken("deadlock", "Right", PAYERS, &[]), [] as [&str; 0]);
}

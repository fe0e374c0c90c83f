//! The rules as the binary tells them, and the examples on their pages.

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

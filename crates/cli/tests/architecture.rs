//! What `ARCHITECTURE.md` promises about the crates is so: who uses whom, and what nobody but the named few may
//! know. The table in the document is read, not repeated here.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Each crate with the crates it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows ``| `crate` | what it owns | `other`, `another` |`` of the document.
fn promised() -> Graph {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the document");
    let (_, section) = text.split_once("\n## The crates\n").expect("a section about the crates");
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let mut graph = Graph::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [name, _, uses] = cells[..] else { panic!("three columns: {row}") };
        let names = quoted(name);
        assert_eq!(names.len(), 1, "one crate a row: {row}");
        graph.extend(names.into_iter().map(|name| (name, quoted(uses))));
    }
    graph
}

fn packages() -> Vec<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// What each crate uses, tests and build scripts aside.
fn used(packages: &[Value]) -> Graph {
    let uses = |package: &Value| {
        let all = package["dependencies"].as_array().expect("dependencies");
        all.iter().filter(|one| one["kind"].is_null()).map(|one| text(&one["name"])).collect()
    };
    packages.iter().map(|package| (text(&package["name"]), uses(package))).collect()
}

/// Crates in an order in which each uses earlier ones only; what is left over uses itself in a circle.
fn circles(graph: &Graph) -> BTreeSet<&str> {
    let mut left: BTreeSet<&str> = graph.keys().map(String::as_str).collect();
    loop {
        let free = |name: &&str| graph[*name].iter().all(|used| !left.contains(used.as_str()));
        let ready: Vec<&str> = left.iter().copied().filter(free).collect();
        if ready.is_empty() {
            return left;
        }
        left.retain(|name| !ready.contains(name));
    }
}

#[test]
fn the_crates_use_each_other_as_the_document_says() {
    let members = used(&packages());
    let inside =
        |uses: BTreeSet<String>| uses.into_iter().filter(|name| members.contains_key(name)).collect();
    let actual: Graph = members.iter().map(|(name, uses)| (name.clone(), inside(uses.clone()))).collect();
    assert_eq!(actual, promised());
    assert_eq!(circles(&actual), BTreeSet::new());
}

#[test]
fn terminals_formats_and_build_files_are_known_where_the_document_says() {
    let uses = used(&packages());
    for (dependency, knows) in [
        ("anyhow", &["cli", "workspace"] as &[&str]),
        ("clap", &["cli"]),
        ("console", &["cli"]),
        ("indicatif", &["cli"]),
        ("annotate-snippets", &["report"]),
        ("postcard", &["compositional", "session", "workspace"]),
        ("serde_json", &["report", "server"]),
        ("roxmltree", &["project"]),
        ("process-wrap", &["buildtool"]),
        ("tempfile", &["buildtool", "project"]),
        ("tree-sitter", &["syntax"]),
        ("toml", &["models", "project"]),
    ] {
        let users: Vec<&str> = uses
            .iter()
            .filter(|(_, uses)| uses.contains(dependency))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(users, knows, "{dependency}");
    }
}

/// The lines of a crate's sources in which one of the texts occurs, comments and tests aside.
fn mentions(name: &str, wanted: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join("crates").join(name).join("src")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    open.push(path);
                }
                continue;
            }
            let source = fs::read_to_string(&path).expect("a source file");
            let lines = source.lines().take_while(|line| !line.contains("#[cfg(test)]"));
            for (at, line) in lines.enumerate() {
                if !line.trim_start().starts_with("//") && wanted.iter().any(|text| line.contains(text)) {
                    found.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn only_the_command_line_prints() {
    let prints = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "io::stdout", "io::stderr"];
    for name in used(&packages()).keys().filter(|name| *name != "cli") {
        assert_eq!(mentions(name, &prints), [] as [&str; 0], "{name}");
    }
}

#[test]
fn the_engine_names_no_library_class() {
    let libraries = ["\"java/util", "\"java.util", "\"java/io", "\"javax", "\"kotlin", "\"org/", "\"org."];
    for name in ["classfile", "pointsto", "happens_before", "detect", "session"] {
        assert_eq!(mentions(name, &libraries), [] as [&str; 0], "{name}");
    }
}

#[test]
fn the_analysis_touches_no_file_and_no_environment() {
    let outside = ["std::fs", "fs::", "std::env", "env::var", "std::process", "std::net"];
    for name in
        ["arena", "classfile", "ir", "models", "pointsto", "happens_before", "findings", "detect", "session"]
    {
        assert_eq!(mentions(name, &outside), [] as [&str; 0], "{name}");
    }
}

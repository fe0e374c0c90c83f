//! Lowers and verifies every class file below a directory, and prints what was not understood:
//! `cargo run --release -p ir --example lower_classes -- target/classes`.

#[path = "../tests/support/everything.rs"]
mod everything;
#[path = "../tests/support/mod.rs"]
mod support;

use ir::{Problem, Program};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn main() {
    let (mut classes, mut methods) = (0, 0);
    let mut problems: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut note = |problem: String, place: String| problems.entry(problem).or_insert((0, place)).0 += 1;
    for directory in std::env::args().skip(1) {
        for path in support::files_below(Path::new(&directory)) {
            if path.extension().is_none_or(|extension| extension != "class") {
                continue;
            }
            let bytes = std::fs::read(&path).expect("a readable file");
            classes += 1;
            match classfile::parse(&bytes) {
                Ok(file) if !file.is_module => {
                    let name = file.name.to_string();
                    everything::lower_everything(&bytes);
                    let only = BTreeMap::from([(name.clone(), bytes)]);
                    let mut program = Program::new(Arc::new(support::Memory { classes: only, below: None }));
                    let class = program.class_id(&name);
                    for method in program.load(class).methods.clone() {
                        let Some(body) = program.body(method) else { continue };
                        methods += 1;
                        for problem in &body.problems {
                            note(problem.clone(), program.method_display(method));
                        }
                    }
                    for problem in &program.problems {
                        if let Problem::Body(method, why) = problem {
                            note(why.clone(), program.method_display(*method));
                        }
                    }
                }
                Ok(_) => {}
                Err(error) => note(error.what.to_owned(), path.display().to_string()),
            }
        }
    }
    println!("{classes} classes, {methods} methods");
    for (problem, (count, place)) in problems {
        println!("{count:6}  {problem}, as in {place}");
    }
}

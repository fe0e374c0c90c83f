//! Prints how long it takes to change a program that holds the JDK's base module: single statements, classes written
//! anew, and classes that come and go. `cargo run --release -p ir --example edit_jdk`.

#[path = "../tests/support/mod.rs"]
mod support;

use classfile::ClassSource;
use ir::{ClassId, MethodId, Program, StmtId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let jdk = Arc::new(support::Jdk::open());
    let names = jdk.class_names("java.base");
    let mut program = Program::new(jdk.clone());
    let methods = everything(&mut program, &names);
    println!("{} classes, {} methods", names.len(), methods.len());
    statements(&mut program, &methods);

    let bytes = |name: &String| jdk.find(name).expect("listed").bytes.to_vec();
    let over = |classes| Arc::new(support::Memory { classes, below: Some(jdk.clone()) });
    let sample = || names.iter().step_by(61);
    let mut times = Times::default();
    for name in sample() {
        // Another minor version: read and lowered again, though nothing differs.
        let mut rewritten = bytes(name);
        rewritten[5] ^= 1;
        let source = over(BTreeMap::from([(name.clone(), rewritten)]));
        times.edit(&mut program, |program| program.diff(source, std::slice::from_ref(name)));
    }
    times.print("classes written anew");
    let mut times = Times::default();
    for name in sample() {
        let source = over(BTreeMap::from([(name.clone(), vec![0])]));
        times.edit(&mut program, |program| program.diff(source, std::slice::from_ref(name)));
        times.edit(&mut program, |program| program.diff(jdk.clone(), std::slice::from_ref(name)));
    }
    times.print("classes that go and come");
    let start = Instant::now();
    assert!(program.diff(jdk.clone(), &names).is_empty());
    println!("all classes found unchanged: {:.1?}", start.elapsed());
}

/// Loads and lowers all, and asks what later stages ask.
fn everything(program: &mut Program, names: &[String]) -> Vec<MethodId> {
    let mut methods = Vec::new();
    for name in names {
        let class = program.class_id(name);
        for method in program.load(class).methods.clone() {
            methods.extend(program.body(method).map(|_| method));
            let selector = program.method(method).selector;
            let supers: Vec<ClassId> = program.supertypes(class).collect();
            supers.into_iter().for_each(|class| {
                program.dispatch(class, selector);
            });
        }
    }
    methods
}

fn statements(program: &mut Program, methods: &[MethodId]) {
    let mut times = Times::default();
    for &method in methods.iter().step_by(7) {
        let old = program.body(method).expect("lowered");
        let stmt = StmtId(method.0 * 7919 % old.stmts.bound() as u32);
        let Some(new) = old.without(stmt) else { continue };
        times.edit(program, |program| program.diff_body(method, new));
        times.edit(program, |program| program.diff_body(method, (*old).clone()));
    }
    times.print("statements");
}

#[derive(Default)]
struct Times {
    diffs: Vec<Duration>,
    commits: Vec<Duration>,
}

impl Times {
    fn edit(&mut self, program: &mut Program, diff: impl FnOnce(&mut Program) -> ir::ProgramDelta) {
        let start = Instant::now();
        let delta = diff(program);
        self.diffs.push(start.elapsed());
        let start = Instant::now();
        program.commit(&delta);
        self.commits.push(start.elapsed());
    }

    fn print(self, what: &str) {
        for (step, mut times) in [("diff", self.diffs), ("commit", self.commits)] {
            times.sort_unstable();
            let mean = times.iter().sum::<Duration>() / times.len() as u32;
            let (p99, max) = (times[times.len() * 99 / 100], times[times.len() - 1]);
            println!("{what}, {step} of {}: mean {mean:.1?}, p99 {p99:.1?}, max {max:.1?}", times.len());
        }
    }
}

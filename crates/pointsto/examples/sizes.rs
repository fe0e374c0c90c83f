//! Solves points-to for a program and prints its sizes: `sizes [--full-jdk] CLASS PATH…`.

use ir::{MethodRef, Program};
use models::Models;
use pointsto::{Options, PointsTo, Roots};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let full_jdk = args.first().is_some_and(|arg| arg == "--full-jdk");
    args.drain(..usize::from(full_jdk));
    let paths = args[1..].iter().map(Into::into).collect();
    let request = project::Request { paths, classpath: Vec::new(), jdk: None };
    let start = Instant::now();
    let source = Arc::new(project::open(&request).expect("readable input"));
    println!("open {:?}", start.elapsed());
    let mut program = Program::new(source);
    let mut models = Models::builtin();
    let start = Instant::now();
    let mut roots = Roots::default();
    let class = program.class_id(&args[0].replace('.', "/"));
    program.load(class);
    let selector = program.selector("main", "([Ljava/lang/String;)V");
    roots.entries.push(program.declared_method(MethodRef { class, selector }).expect("a main"));
    let class = program.class_id("java/lang/System");
    program.load(class);
    let selector = program.selector("initPhase1", "()V");
    roots.boot.push(program.declared_method(MethodRef { class, selector }).expect("System.initPhase1"));
    let mut pointsto = PointsTo::default();
    let options = Options { full_jdk, ..Options::default() };
    pointsto.apply(&mut program, &mut models, &roots, &options, &|_| ());
    println!(
        "solved {:?}: {} activations, {} nodes, {} objects, {} edges, {} facts, {} spawns, {} merged origins",
        start.elapsed(),
        pointsto.act_count(),
        pointsto.variable_count(),
        pointsto.object_count(),
        pointsto.edge_count(),
        pointsto.facts(),
        pointsto.spawns().len(),
        pointsto.gaps().merged_origins,
    );
    for spawn in pointsto.spawns() {
        println!(
            "  spawn in {} runs {}",
            program.method_display(pointsto.method(spawn.from)),
            program.method_display(pointsto.method(spawn.entry))
        );
    }
}

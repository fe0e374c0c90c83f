//! Solves points-to for a program and prints its sizes and where most facts are: `sizes [--full-jdk] CLASS PATH…`.

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
        pointsto.objects().count(),
        pointsto.edge_count(),
        pointsto.facts(),
        pointsto.spawns().len(),
        pointsto.gaps(&program).merged_origins,
    );
    heaviest(&mut program, &pointsto);
    for spawn in pointsto.spawns() {
        println!(
            "  spawn in {} runs {}",
            program.method_display(pointsto.method(spawn.from)),
            program.method_display(pointsto.method(spawn.entry))
        );
    }
}

/// Where the facts are: by class of the code, by class of the objects, by kind of context.
fn heaviest(program: &mut Program, pointsto: &PointsTo) {
    use std::collections::BTreeMap;
    let mut code: BTreeMap<String, u64> = BTreeMap::new();
    let mut things: BTreeMap<String, u64> = BTreeMap::new();
    let mut contexts: BTreeMap<String, u64> = BTreeMap::new();
    let kind = |ctx| {
        format!("{:?}", pointsto.context(ctx)).chars().take_while(|c| c.is_alphabetic()).collect::<String>()
    };
    for act in pointsto.acts() {
        let method = pointsto.method(act);
        let class = program.class_display(program.method(method).class).to_string();
        let Some(vars) = program.body(method).map(|body| body.vars.len()) else { continue };
        for var in 0..vars {
            let pts = pointsto.pts(act, ir::Var(var as u32));
            *code.entry(class.clone()).or_default() += pts.len() as u64;
            *contexts.entry(format!("code in {}", kind(pointsto.ctx(act)))).or_default() += pts.len() as u64;
            for obj in pts.iter() {
                let obj = pointsto.object(obj);
                let name = program.class_display(obj.class).to_string();
                *things.entry(format!("{name} in {}", kind(obj.ctx))).or_default() += 1;
            }
        }
    }
    for (_, held) in pointsto.slots() {
        *code.entry("(slots)".into()).or_default() += held.len() as u64;
    }
    for (title, counts) in [("code", code), ("objects", things), ("contexts", contexts)] {
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        println!("{title}:");
        for (name, count) in counts.iter().take(25) {
            println!("  {count:>12} {name}");
        }
    }
}

//! Deletes statements of a program one by one and puts them back: `edits N SEED CLASS PATH…`. Prints how long
//! points-to took to follow. With `EDITS_IN` set, only statements of methods whose name contains it.

use classfile::Layer;
use ir::{Body, MethodId, MethodRef, Program, StmtId};
use models::Models;
use pointsto::{Options, PointsTo, Roots};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (count, seed): (usize, u64) = (args[0].parse().expect("a count"), args[1].parse().expect("a seed"));
    let paths = args[3..].iter().map(Into::into).collect();
    let request = project::Request { paths, classpath: Vec::new(), jdk: None };
    let source = Arc::new(project::open(&request).expect("readable input"));
    let mut program = Program::new(source);
    let mut models = Models::builtin();
    let mut roots = Roots::default();
    let class = program.class_id(&args[2].replace('.', "/"));
    program.load(class);
    let selector = program.selector("main", "([Ljava/lang/String;)V");
    roots.entries.push(program.declared_method(MethodRef { class, selector }).expect("a main"));
    let class = program.class_id("java/lang/System");
    program.load(class);
    let selector = program.selector("initPhase1", "()V");
    roots.boot.push(program.declared_method(MethodRef { class, selector }).expect("System.initPhase1"));
    let mut solver = PointsTo::default();
    let options = Options::default();
    let start = Instant::now();
    solver.apply(&mut program, &mut models, &roots, &options, &|_| ());
    println!("cold {:?}, {} facts", start.elapsed(), solver.facts());
    let facts = solver.facts();
    let within = std::env::var("EDITS_IN").unwrap_or_default();
    let mut places: Vec<(MethodId, StmtId)> = Vec::new();
    let mut methods: Vec<MethodId> = solver.acts().map(|act| solver.method(act)).collect();
    methods.sort_unstable();
    methods.dedup();
    for method in methods {
        if program.class(program.method(method).class).layer == Layer::App
            && program.method_display(method).to_string().contains(&within)
            && let Some(body) = program.body(method)
        {
            places.extend(body.stmts.ids().map(|stmt| (method, stmt)));
        }
    }
    let mut state = seed;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut times: [Vec<(Duration, String)>; 2] = Default::default();
    let mut rebuilt = 0;
    while times[0].len() < count {
        let (method, stmt) = places[next(places.len())];
        let body = program.body(method).expect("a body");
        let Some(without) = body.without(stmt) else { continue };
        let what = format!("{} {stmt:?} {:?}", program.method_display(method), body.stmts[stmt].kind);
        for (times, body) in times.iter_mut().zip([without, Body::clone(&body)]) {
            let start = Instant::now();
            let delta = program.diff_body(method, body);
            let mut find = |_: &mut Program| roots.clone();
            let told = solver.update(&mut program, &mut models, &delta, &mut find, &options, &|_| ());
            let what = format!("{} facts, {:?} {what}", solver.facts(), told.work);
            times.push((start.elapsed(), what));
            rebuilt += usize::from(told.rebuilt);
        }
    }
    for (name, mut times) in ["delete", "insert"].into_iter().zip(times) {
        let sum: Duration = times.iter().map(|(time, _)| time).sum();
        times.sort();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].0;
        let mean = sum / times.len() as u32;
        println!(
            "{name}: mean {mean:?} p50 {:?} p95 {:?} p99 {:?} max {:?}",
            at(50),
            at(95),
            at(99),
            at(100)
        );
        for (time, what) in times.iter().rev().take(8) {
            println!("    {time:?} {what}");
        }
    }
    println!("{rebuilt} solved anew; {facts} facts before, {} after", solver.facts());
}

//! Prints how fast the JDK's classes are loaded and lowered: `cargo run --release -p ir --example lower_jdk`.
//! Counts CPU time where the system tells it (Linux), so that a busy machine does not matter much.

#[path = "../tests/support/mod.rs"]
mod support;

use classfile::ClassSource;
use ir::Program;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let module = std::env::args().nth(1).unwrap_or_else(|| "java.base".to_owned());
    let jdk = support::Jdk::open();
    let names = jdk.class_names(&module);
    // Reading the image is not what is measured.
    let classes = names.iter().map(|name| (name.clone(), jdk.find(name).expect("class").bytes.to_vec()));
    let source = Arc::new(support::Memory { classes: classes.collect(), below: Some(Arc::new(jdk)) });
    let origin = Instant::now();
    for _ in 0..5 {
        let start = clock(origin);
        let mut program = Program::new(source.clone());
        for name in &names {
            let class = program.class_id(name);
            program.load(class);
        }
        let loaded = clock(origin) - start;
        drop(program);
        let start = clock(origin);
        let mut program = Program::new(source.clone());
        let (mut methods, mut blocks, mut stmts) = (0, 0, 0);
        for name in &names {
            let class = program.class_id(name);
            for method in program.load(class).methods.clone() {
                if let Some(body) = program.body(method) {
                    methods += 1;
                    blocks += body.blocks.len();
                    stmts += body.stmts.count();
                }
            }
        }
        let both = clock(origin) - start;
        println!(
            "{} classes loaded in {loaded:.0?}; with {methods} methods, {blocks} blocks, {stmts} statements lowered \
             in {both:.0?}: {:.0} methods per second; {} problems",
            names.len(),
            methods as f64 / both.as_secs_f64(),
            program.problems.len(),
        );
        for problem in program.problems.iter().take(10) {
            println!("  {problem:?}");
        }
    }
}

fn clock(origin: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let cpu = stat.and_then(|text| text.split(' ').next()?.parse().ok());
    cpu.map_or_else(|| origin.elapsed(), Duration::from_nanos)
}

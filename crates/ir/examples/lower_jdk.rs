//! Prints how fast the JDK's classes are loaded and lowered: `cargo run --release -p ir --example lower_jdk`.

#[path = "../tests/support/mod.rs"]
mod support;

use classfile::ClassSource;
use ir::Program;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let module = std::env::args().nth(1).unwrap_or_else(|| "java.base".to_owned());
    let jdk = support::Jdk::open();
    let names = jdk.class_names(&module);
    // Reading the image is not what is measured.
    let classes = names.iter().map(|name| (name.clone(), jdk.find(name).expect("class").bytes.to_vec()));
    let source = Arc::new(support::Memory { classes: classes.collect(), below: Some(Arc::new(jdk)) });
    for _ in 0..3 {
        let mut program = Program::new(source.clone());
        let start = Instant::now();
        for name in &names {
            let class = program.class_id(name);
            program.load(class);
        }
        let loaded = start.elapsed();
        let methods: Vec<_> =
            program.methods().ids().filter(|&method| program.method(method).has_code).collect();
        let start = Instant::now();
        let (mut stmts, mut blocks) = (0, 0);
        for &method in &methods {
            if let Some(body) = program.body(method) {
                stmts += body.stmts.len();
                blocks += body.blocks.len();
            }
        }
        let lowered = start.elapsed();
        println!(
            "{} classes loaded in {loaded:.2?}; {} methods, {blocks} blocks, {stmts} statements lowered in \
             {lowered:.2?}: {:.0} methods per second; {} problems",
            names.len(),
            methods.len(),
            methods.len() as f64 / lowered.as_secs_f64(),
            program.problems.len(),
        );
        for problem in program.problems.iter().take(10) {
            println!("  {problem:?}");
        }
    }
}

//! The command line: arguments in, a report and an exit code out. Everything it says about a program comes
//! from the crates below; everything it says about itself is here.

mod args;
mod bench;
mod check;
mod crash;
mod meter;
mod output;
mod settings;
mod sources;

use args::{Args, BenchCommand, Command};
use settings::{Settings, Surroundings};
use std::panic::UnwindSafe;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Args { command } = args::parse(std::env::args_os());
    let around = Surroundings::current();
    let run: Box<dyn FnOnce() -> anyhow::Result<check::Verdict> + UnwindSafe> = match command {
        Command::Check(args) => {
            let settings = Settings::resolve(args, &around);
            Box::new(move || check::run(&settings))
        }
        Command::Bench(BenchCommand::Edits(args)) => Box::new(move || bench::run(args, &around)),
    };
    match crash::caught(run) {
        Ok(Ok(check::Verdict::Pass)) => ExitCode::SUCCESS,
        Ok(Ok(check::Verdict::Fail)) => ExitCode::from(1),
        Ok(Err(error)) => stop(&format!("{error:#}")),
        Err(crash) => stop(&crash.to_string()),
    }
}

fn stop(message: &str) -> ExitCode {
    output::complain(message);
    ExitCode::from(2)
}

//! The command line: arguments in, a report and an exit code out. Everything it says about a program comes
//! from the crates below; everything it says about itself is here.

mod args;
mod begin;
mod bench;
mod check;
mod config;
mod crash;
mod diff;
mod explain;
mod explain_field;
mod inbox;
mod lsp;
mod meter;
mod near;
mod output;
mod overview;
mod rules;
mod settings;
mod sides;
mod told;
mod watch;

use anyhow::Result;
use args::{Args, BenchCommand, Command};
use settings::{Settings, Surroundings};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the workers get, on which the analysis runs: as much as the main thread has elsewhere.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    // If that is refused, the workers of the library will do.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    let Args { command } = args::parse(std::env::args_os());
    match crash::caught(|| run(command, &Surroundings::current())) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => stop(&format!("{error:#}")),
        Err(crash) => stop(&crash.to_string()),
    }
}

fn run(command: Command, around: &Surroundings) -> Result<ExitCode> {
    match command {
        Command::Check(args) => {
            let config = config::of(&args.program)?;
            check::run(&Settings::resolve(args, config, around)).map(exit_code)
        }
        Command::Diff(args) => diff::run(args, around).map(exit_code),
        Command::Bench(BenchCommand::Edits(args)) => bench::run(args, around).map(exit_code),
        Command::Lsp(_) => Ok(lsp::run()),
        Command::Rules(args) => rules::run(args.id.as_deref()).map(|()| ExitCode::SUCCESS),
        Command::Explain(args) => {
            let (id, config) = (args.id.clone(), config::of(&args.program)?);
            let settings = Settings::for_explaining(args, config, around);
            let done = match explain_field::Subject::parse(&id) {
                Some(subject) => explain_field::run(&subject, settings),
                None => explain::run(&id, settings),
            };
            done.map(|()| ExitCode::SUCCESS)
        }
        Command::Threads(args) => list(overview::List::Threads, args, around),
        Command::Locks(args) => list(overview::List::Locks, args, around),
        Command::Guards(args) => list(overview::List::Guards, args, around),
        Command::Watch(args) => {
            let (poll, config) = (args.poll, config::of(&args.program)?);
            watch::run(&Settings::for_watching(args, config, around), poll).map(|()| ExitCode::SUCCESS)
        }
    }
}

fn list(list: overview::List, args: args::ListArgs, around: &Surroundings) -> Result<ExitCode> {
    let config = config::of(&args.program)?;
    overview::run(list, &Settings::for_listing(args, config, around)).map(|()| ExitCode::SUCCESS)
}

fn exit_code(verdict: check::Verdict) -> ExitCode {
    match verdict {
        check::Verdict::Pass => ExitCode::SUCCESS,
        check::Verdict::Fail => ExitCode::from(1),
    }
}

fn stop(message: &str) -> ExitCode {
    output::complain(message);
    ExitCode::from(2)
}

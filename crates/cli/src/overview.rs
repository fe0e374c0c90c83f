//! `snarl threads`, `locks` and `guards`: analyse the program as `check` does, and list one kind of thing that it has.
//! Which list is wanted is decided here, how it is worked out and shown is not.

use crate::args::Format;
use crate::{begin, check, output, settings::Settings};
use anyhow::Result;
use report::overview;
use workspace::ProjectSources;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Threads,
    Locks,
    Guards,
}

pub fn run(list: List, settings: &Settings) -> Result<()> {
    let meter = begin::meter(settings);
    let (project, session) = check::session(settings, &meter)?;
    drop(meter);
    let text = match settings.format {
        Format::Json => {
            let sources = ProjectSources::for_machine(&project);
            match list {
                List::Threads => overview::threads_json(&session.threads(), &sources),
                List::Locks => overview::locks_json(&session.locks(), &sources),
                List::Guards => overview::guards_json(&session.all_guards()),
            }
        }
        _ => {
            let sources = ProjectSources::for_reader(&project);
            match list {
                List::Threads => overview::threads_text(&session.threads(), &sources),
                List::Locks => overview::locks_text(&session.locks(), &sources),
                List::Guards => overview::guards_text(&session.all_guards()),
            }
        }
    };
    output::to_stdout(&text)?;
    session.end();
    Ok(())
}

//! How every analysis begins: a session with the user's models, from what was kept if that helps. Knows nothing of what
//! becomes of the report.

use crate::{Kept, Setup};
use anyhow::{Context, Result};
use classfile::ClassSource;
use findings::Report;
use project::Project;
use session::{Options, Progress, Session};
use std::fs;
use std::sync::Arc;

/// `keep` says whether its solved state will be kept.
pub fn session(program: Arc<dyn ClassSource>, setup: &Setup, keep: bool) -> Result<Session> {
    let mut session = Session::new(program, Options { keep, ..setup.options.clone() });
    for path in &setup.models {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read models from {shown}"))?;
        session.add_models(&shown, &text)?;
    }
    Ok(session)
}

/// The first analysis, from what was kept if that helps.
pub fn first(session: &mut Session, kept: Option<&Kept>, progress: Progress<'_>) -> Report {
    kept.iter().for_each(|kept| kept.recall(session));
    rest(session, kept, progress)
}

/// What is left of it after [`Kept::recall`] and [`Session::first_look`].
pub fn rest(session: &mut Session, kept: Option<&Kept>, progress: Progress<'_>) -> Report {
    let resumed = kept.and_then(|kept| kept.resume(session, progress));
    resumed.unwrap_or_else(|| session.check(progress))
}

/// What the analysis said, and what was noted about the input.
pub fn with_notes(mut report: Report, project: &Project) -> Report {
    report.notes.extend(project.notes());
    report.sort();
    report
}

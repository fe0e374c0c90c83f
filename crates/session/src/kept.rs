//! The solved state from one run to the next: program and points-to as bytes, and how a later run goes on from them.
//! The stages after points-to begin from nothing. Knows nothing of where the bytes are kept; that they are as they
//! were written, by this very Snarl with the same options, models and JDK, is for whoever keeps them to know.

use crate::needed::{Needed, is_needed};
use crate::{Cancel, Clock, Progress, Session};
use findings::Report;
use ir::{ClassChange, Program, ProgramDelta};
use pointsto::PointsTo;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The stage in which a kept state is read and compared with the class path.
pub const KEPT_STATE: &str = "kept state";

/// When more than one in so many classes is another, following them takes longer than beginning anew.
const FEW: usize = 10;
/// The same for classes that come, go or stand elsewhere in the hierarchy.
const FEW_MOVES: usize = 1;

#[derive(Serialize)]
struct Written<'a> {
    program: &'a Program,
    pointsto: &'a PointsTo,
}

#[derive(Deserialize)]
struct Read {
    program: Program,
    pointsto: PointsTo,
}

impl Session {
    /// What [`Session::resume`] goes on from. None if this state is of no use to a later run.
    pub fn state(&self) -> Option<Vec<u8>> {
        if !self.pointsto.can_be_kept(&self.program) || !self.is_sure_of_problems() {
            return None;
        }
        postcard::to_stdvec(&Written { program: &self.program, pointsto: &self.pointsto }).ok()
    }

    /// Analyses everything as [`Session::check`] does and with the same outcome, going on from the state of an
    /// earlier run. None, and nothing has happened, if that state is of no use.
    pub fn resume(&mut self, state: &[u8], progress: Progress<'_>) -> Option<Report> {
        let mut clock = Clock::start();
        progress(KEPT_STATE, 0);
        let (read, rest): (Read, _) = postcard::take_from_bytes(state).ok()?;
        let mut program = read.program.over(self.program.source().clone());
        let mut pointsto = read.pointsto;
        if !rest.is_empty() || !program.has_same_resources() || !pointsto.restore(&program) {
            return None;
        }
        let delta = self.in_pool(|_| difference(&mut program))?;
        (self.program, self.pointsto) = (program, pointsto);
        clock.lap(KEPT_STATE);
        self.in_pool(|session| session.summarise(progress));
        clock.laps_of(&self.beside);

        // Points-to alone at first: it may turn out that it was for nothing. Of the other stages nothing was kept.
        let (no_more, nothing) = (Cancel::default(), ProgramDelta::default());
        no_more.cancel();
        self.is_behind = true;
        self.follow(&delta, progress, &no_more);
        if !self.is_sure_of_problems() {
            self.start_again(self.program.source().clone(), progress);
            return Some(Report::clone(&self.told));
        }
        clock.lap("points-to");
        self.follow(&nothing, progress, &Cancel::default());
        let mut stats = self.stats();
        stats.seconds.retain(|(stage, _)| stage != "points-to");
        stats.seconds.splice(0..0, clock.laps);
        Arc::make_mut(&mut self.report).stats = stats;
        self.merge_reports();
        Some(Report::clone(&self.told))
    }

    /// Whether a run from nothing would come across all problems that are known. Classes and bodies that were looked
    /// at once and no longer are may have brought others.
    pub fn is_sure_of_problems(&self) -> bool {
        if self.program.problems.is_empty() {
            return true;
        }
        let survey = self.pointsto.survey().into_iter();
        let needed = Needed::of(&self.program, &self.options, survey.chain([&self.pointsto]));
        self.program.problems.iter().all(|problem| is_needed(&needed, &self.program, problem))
    }
}

/// From the classes the program was made of to those there are now. None if that is far.
fn difference(program: &mut Program) -> Option<ProgramDelta> {
    let looked_for = program.looked_for();
    let most = (looked_for.len() / FEW).max(FEW);
    let changed: Vec<String> = looked_for.into_par_iter().filter(|name| !program.is_current(name)).collect();
    if changed.len() > most {
        return None;
    }
    let delta = program.diff(program.source().clone(), &changed);
    let moves = |change: &&ClassChange| change.presence_changed() || change.supers_changed();
    (delta.classes.iter().filter(moves).count() <= FEW_MOVES).then_some(delta)
}

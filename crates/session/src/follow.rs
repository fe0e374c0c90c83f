//! Follows changes: the two engines side by side, then what both say. Knows the order of the stages, and nothing of what
//! happens in them.

use crate::{Cancel, Change, Clock, Engines, Progress, Redone, Session, Update, roots};
use findings::{FindingsDelta, Note};
use ir::{Program, ProgramDelta};
use pointsto::PointsToDelta;

/// How far the whole-program engine has come.
struct Advance {
    clock: Clock,
    redone: Redone,
    from_scratch: bool,
    /// What is wrong with where the program begins, and whether it may begin anywhere.
    wrong: Vec<Note>,
    is_open: bool,
}

impl Session {
    /// Follows a change of the class path; afterwards the report is that of a first run on it. `None` if the update
    /// was cancelled: then the report is the one before, and the next update makes up for it.
    pub fn apply(&mut self, change: Change, progress: Progress<'_>, cancel: &Cancel) -> Option<Update> {
        let Change { source, classes, resources } = change;
        if resources {
            return Some(self.start_again(source, progress));
        }
        if !self.options.engines.whole_program() {
            self.program = Program::new(source.clone());
        }
        let options = self.options.clone();
        let mut beside = std::mem::take(&mut self.beside);
        let models = beside.engine().is_none().then(|| self.models.clone());
        // The engines know nothing of each other: while one is at work on one core, the other need not wait.
        let advance = self.in_pool(|session| {
            let summarise = || {
                if options.engines.compositional() {
                    progress("summaries", 0);
                    beside.follow(source.clone(), &classes, models, &options);
                }
            };
            let advance = || {
                options.engines.whole_program().then(|| {
                    let mut clock = Clock::start();
                    let delta = session.program.diff(source.clone(), &classes);
                    clock.lap("classes");
                    session.advance(&delta, clock, progress, cancel)
                })
            };
            rayon::join(advance, summarise).0
        });
        self.beside = beside;
        let mut update = match advance {
            Some(advance) => {
                let advance = advance?;
                self.in_pool(|session| session.tell_advance(advance))
            }
            None => {
                let (older, mut clock) = (self.told.clone(), Clock::start());
                clock.laps_of(&self.beside);
                let report = self.without_entry_points(clock);
                Update { delta: FindingsDelta::between(&older, &report), ..Update::default() }
            }
        };
        update.seconds.splice(0..0, self.beside.seconds.iter().cloned());
        update.redone.summaries = self.beside.redone.summaries;
        Some(update)
    }

    /// Follows a change of the program.
    pub(crate) fn follow(
        &mut self,
        delta: &ProgramDelta,
        progress: Progress<'_>,
        cancel: &Cancel,
    ) -> Option<Update> {
        self.in_pool(|session| {
            let advance = session.advance(delta, Clock::start(), progress, cancel)?;
            Some(session.tell_advance(advance))
        })
    }

    /// The stages of the whole-program engine, one after the other.
    fn advance(
        &mut self,
        delta: &ProgramDelta,
        mut clock: Clock,
        progress: Progress<'_>,
        cancel: &Cancel,
    ) -> Option<Advance> {
        let options = self.points_to_options();
        let (mut wrong, mut is_open) = (Vec::new(), false);
        let mut find = |program: &mut Program| {
            let (roots, notes, open) = roots(program, &self.options);
            (wrong, is_open) = (notes, open);
            roots
        };
        let (program, models) = (&mut self.program, &mut self.models);
        let methods = |methods| progress("points-to", methods);
        let told = self.pointsto.update(program, models, delta, &mut find, &options, &methods);
        clock.lap("points-to");
        let mut redone = Redone::by(delta, &told);
        let is_loaded_more = self.loads != self.program.loads();
        let is_up_to_date = !self.is_behind && self.unseen.is_empty();
        let is_as_it_was = told.changes_nothing() && delta.is_empty() && !is_loaded_more && is_up_to_date;
        if wrong.is_empty() && !self.is_points_to_only && !is_as_it_was {
            // What was told while nobody listened is not followed.
            let is_too_much = std::mem::replace(&mut self.is_behind, true);
            // What is little is followed nevertheless: that takes less than to begin anew next time.
            if cancel.is_cancelled() && (is_too_much || told.is_much(&self.pointsto)) {
                return None;
            }
            let anew = is_too_much.then(PointsToDelta::from_nothing);
            self.order(delta, anew.as_ref().unwrap_or(&told), progress);
            self.is_behind = false;
            clock.lap("happens-before");
            if cancel.is_cancelled() {
                return None;
            }
            let changes = self.detect(progress, &mut clock);
            redone.count(&changes, self.detect.judged_last());
        }
        Some(Advance { clock, redone, from_scratch: told.rebuilt, wrong, is_open })
    }

    /// What both engines say after that.
    fn tell_advance(&mut self, advance: Advance) -> Update {
        let Advance { mut clock, redone, from_scratch, wrong, is_open } = advance;
        let older = self.told.clone();
        match wrong.is_empty() {
            // The report stays as it is.
            true if self.is_points_to_only => {}
            true => {
                self.merge_reports();
                if self.options.engines == Engines::Both {
                    clock.lap("merge");
                }
            }
            false => _ = self.without_a_beginning(wrong, is_open, clock.clone()),
        }
        let delta = FindingsDelta::between(&older, &self.told);
        Update { delta, seconds: clock.laps, from_scratch, redone }
    }
}

//! Edits made here rather than by somebody: statements deleted and put back, for measuring how updates follow, and
//! the comparison of what updates led to with a run from nothing.

use crate::engines::Beside;
use crate::merge::{Solution, merged};
use crate::{Cancel, Options, Progress, Session, Update};
use classfile::Layer;
use detect::Detect;
use findings::{Finding, Report};
use happens_before::HappensBefore;
use ir::{Body, MethodId, StmtId};
use pointsto::{PointsTo, PointsToDelta};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use track::Changes;

/// A statement of the application that can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    method: MethodId,
    stmt: StmtId,
}

/// How a followed state compares with one from nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// What differs, in words.
    Different(String),
}

impl Session {
    /// Statements of application methods that run, apart from those that control flow rests on; in no order that
    /// means anything but always the same one.
    pub fn statements(&mut self) -> Vec<Statement> {
        let mut methods: Vec<MethodId> = self.pointsto.acts().map(|act| self.pointsto.method(act)).collect();
        methods.sort_unstable();
        methods.dedup();
        let mut statements = Vec::new();
        for method in methods {
            if self.program.class(self.program.method(method).class).layer == Layer::App
                && let Some(body) = self.program.lowered(method)
            {
                let can_go = |stmt: &StmtId| body.can_be_without(*stmt);
                statements.extend(body.stmts.ids().filter(can_go).map(|stmt| Statement { method, stmt }));
            }
        }
        statements
    }

    /// One statement for each method.
    pub fn first_of_each_method(&self, mut statements: Vec<Statement>) -> Vec<Statement> {
        statements.sort_unstable();
        statements.dedup_by_key(|statement| statement.method);
        statements
    }

    /// The method and line of a statement, and what it is.
    pub fn tell(&self, statement: Statement) -> String {
        self.tell_in(self.program.lowered(statement.method), statement)
    }

    /// The same for a statement of a method as it was.
    pub fn tell_of(&self, kept: &PutBack, statement: Statement) -> String {
        self.tell_in(Some(&kept.body), statement)
    }

    fn tell_in(&self, body: Option<&Arc<Body>>, statement: Statement) -> String {
        let name = self.program.method_display(statement.method);
        match body.and_then(|body| body.stmts.get(statement.stmt)) {
            Some(stmt) => {
                let kind = format!("{:?}", stmt.kind);
                let kind = kind.split([' ', '{']).next().unwrap_or_default();
                format!("{kind} at line {} of {name}", stmt.line)
            }
            None => name.to_string(),
        }
    }

    /// Deletes a statement, or with `whole` everything in its method; gives what is to be put back.
    pub fn delete(
        &mut self,
        statement: Statement,
        whole: bool,
        progress: Progress<'_>,
    ) -> Option<(Update, PutBack)> {
        let body = self.program.body(statement.method)?;
        let without = if whole { body.emptied() } else { body.without(statement.stmt)? };
        let update = self.replace([(statement.method, without)], progress);
        Some((update, PutBack { method: statement.method, body }))
    }

    /// The method of a statement as it is now.
    pub fn as_it_is(&mut self, statement: Statement) -> Option<PutBack> {
        let body = self.program.body(statement.method)?;
        Some(PutBack { method: statement.method, body })
    }

    /// Makes these methods what they were, in one update: but without some statements, and without anything if one of
    /// their statements is among the emptied. So many can be gone at a time and come back in any order.
    pub fn put_back_without(
        &mut self,
        kept: &[&PutBack],
        gone: &BTreeSet<Statement>,
        emptied: &BTreeSet<Statement>,
        progress: Progress<'_>,
    ) -> Update {
        let mut bodies = BTreeMap::new();
        for kept in kept {
            let is_of_it = |statement: &&Statement| statement.method == kept.method;
            let mut body = Body::clone(&kept.body);
            // From the last one on, because those after one that goes are numbered anew.
            for statement in gone.iter().rev().filter(is_of_it) {
                body = body.without(statement.stmt).unwrap_or(body);
            }
            bodies.insert(
                kept.method,
                if emptied.iter().any(|one| is_of_it(&one)) { body.emptied() } else { body },
            );
        }
        self.replace(bodies, progress)
    }

    pub fn put_back(&mut self, deleted: PutBack, progress: Progress<'_>) -> Update {
        self.replace([(deleted.method, Body::clone(&deleted.body))], progress)
    }

    /// From now on edits are followed only as far as points-to, and the report stays as it is.
    pub fn only_points_to(&mut self) {
        self.is_points_to_only = true;
    }

    fn replace(
        &mut self,
        bodies: impl IntoIterator<Item = (MethodId, Body)>,
        progress: Progress<'_>,
    ) -> Update {
        let start = std::time::Instant::now();
        let delta = self.program.diff_bodies(bodies);
        let seconds = start.elapsed().as_secs_f64();
        let mut update = self.follow(&delta, progress, &Cancel::default()).unwrap_or_default();
        update.seconds.insert(0, ("diff".to_string(), seconds));
        update
    }

    /// Works everything out from nothing, for the same program, and compares: the state of each stage, what each engine
    /// says, and the merged report.
    pub fn verify(&mut self) -> Verdict {
        self.in_pool(|session| {
            let differs = match session.options.engines.whole_program() {
                true => session.differs(),
                false => session.compositional_differs().err(),
            };
            differs.map_or(Verdict::Same, Verdict::Different)
        })
    }

    /// What differs from a run from nothing, in words.
    fn differs(&mut self) -> Option<String> {
        // Where there is nowhere to begin, the other stages are not asked.
        let with_order = !self.is_points_to_only && !self.is_behind;
        let own = self.pointsto.digest(&self.program);
        let order = with_order.then(|| self.happens_before.digest(&self.program, &self.pointsto));
        let before = self.program.renumber();
        let verdict = self.compare(own, order);
        self.program.renumber_back(before);
        verdict.err()
    }

    /// The digests are those of the program with the numbers its statements have come to have.
    fn compare(
        &mut self,
        own: pointsto::Digest,
        order: Option<happens_before::Digest>,
    ) -> Result<(), String> {
        let options = self.points_to_options();
        let (roots, ..) = crate::roots(&mut self.program, &self.options);
        let mut pointsto = PointsTo::default();
        pointsto.apply(&mut self.program, &mut self.models, &roots, &options, &|_| ());
        same("points-to", &own, &pointsto.digest(&self.program))?;
        let Some(order) = order else {
            let is_reported = !self.is_points_to_only && !self.is_refused;
            return if is_reported { self.compositional_differs() } else { Ok(()) };
        };
        let mut happens_before = HappensBefore::new(false);
        let (told, mut changes) = (PointsToDelta::from_nothing(), Changes::everything());
        happens_before.apply(&self.program, &self.models, &pointsto, &told, &mut changes);
        same("happens-before", &order, &happens_before.digest(&self.program, &pointsto))?;
        let stages = detect::Stages {
            program: &self.program,
            models: &self.models,
            knowledge: &self.knowledge,
            pointsto: &pointsto,
            happens_before: &happens_before,
        };
        let mut detect = Detect::new(false, self.options.least);
        let findings = detect.apply(&stages, &mut changes);
        let report = sorted(findings);
        same_findings("the whole-program engine", &self.report.findings, &report.findings)?;
        let (notes, coverage) = self.limits_of(&pointsto, &happens_before);
        if self.is_sure_of_problems() {
            same("notes", &self.report.notes, &notes)?;
        }
        let compositional = self.summarised_anew();
        same_findings("the compositional engine", self.beside.findings(), compositional.findings())?;
        let solution = Solution { stages: &stages, detect: &detect, coverage };
        let merged = sorted(merged(&report.findings, compositional.findings(), Some(solution)));
        same_findings("both engines", &self.told.findings, &merged.findings)
    }

    /// The same where the whole-program engine has nothing to say.
    fn compositional_differs(&self) -> Result<(), String> {
        let compositional = self.summarised_anew();
        same_findings("the compositional engine", self.beside.findings(), compositional.findings())?;
        same_findings("the report", &self.told.findings, &compositional.alone().findings)
    }

    /// The compositional engine on the classes as they are now; says nothing if it is not to be asked.
    fn summarised_anew(&self) -> Beside {
        if !self.options.engines.compositional() {
            return Beside::default();
        }
        let options = Options { follow: false, keep: false, ..self.options.clone() };
        Beside::of(self.program.source().clone(), self.models.clone(), &options)
    }
}

fn sorted(findings: Vec<Arc<Finding>>) -> Report {
    let mut report = Report { findings, ..Report::default() };
    report.sort();
    report
}

fn same<D: PartialEq + Debug>(stage: &str, own: &D, fresh: &D) -> Result<(), String> {
    if own == fresh { Ok(()) } else { Err(format!("{stage}: {own:?} instead of {fresh:?}")) }
}

/// Everything that findings say has to be the same: ids, confidence, reasons, sites, and what was dismissed.
fn same_findings(whose: &str, known: &[Arc<Finding>], fresh: &[Arc<Finding>]) -> Result<(), String> {
    if known == fresh {
        return Ok(());
    }
    let pairs = known.iter().zip(fresh);
    let differing = pairs.clone().filter(|(known, fresh)| known != fresh).count();
    let first = pairs.clone().find(|(known, fresh)| known != fresh);
    let first = first.map_or(String::new(), |(known, fresh)| format!(": {known:#?} instead of {fresh:#?}"));
    let (known, fresh) = (known.len(), fresh.len());
    Err(format!("{whose}: {known} findings instead of {fresh}, {differing} of them differ{first}"))
}

/// A body as it was.
pub struct PutBack {
    method: MethodId,
    body: Arc<Body>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engines;
    use findings::Confidence;
    use fixture::{Compiler, Fixture, root};

    /// A session with both engines, on a program of which each has something to say.
    fn session(name: &str) -> Session {
        let fixtures = Fixture::every(&root(), name).expect("the fixtures can be read");
        let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
        let paths = vec![compiled[0].clone().unwrap_or_else(|errors| panic!("{errors}"))];
        let project = project::open(&project::Request { paths, ..Default::default() });
        let project = project.unwrap_or_else(|error| panic!("{error}"));
        let options = Options { engines: Engines::Both, follow: true, ..Options::default() };
        let mut session = Session::new(Arc::new(project), options);
        session.check(&|_, _| ());
        session
    }

    fn is_merged_otherwise(session: &mut Session) -> bool {
        matches!(session.verify(), Verdict::Different(what) if what.starts_with("both engines"))
    }

    #[test]
    fn whatever_a_merged_report_says_otherwise_is_a_difference() {
        let changes: [fn(&mut Finding); 5] = [
            |finding| finding.confidence = Confidence::High,
            |finding| finding.why.push("for no reason".to_string()),
            |finding| finding.id.push('0'),
            |finding| finding.dismissed.clear(),
            |finding| finding.sites[0].place.line += 1,
        ];
        let mut session = session("engines/nothing_is_left");
        assert_eq!(session.verify(), Verdict::Same);
        let told = session.told.clone();
        let dismissed = told.findings.iter().position(|finding| !finding.dismissed.is_empty());
        let dismissed = dismissed.expect("one engine suspects what the other rules out");
        for change in changes {
            let mut report = Report::clone(&told);
            change(Arc::make_mut(&mut report.findings[dismissed]));
            session.told = Arc::new(report);
            assert!(is_merged_otherwise(&mut session));
        }
        session.told = told;
        assert_eq!(session.verify(), Verdict::Same);
    }

    #[test]
    fn a_report_that_is_not_merged_again_after_an_edit_is_a_difference() {
        let mut session = session("engines/ordered_by_a_join");
        let mut seen = false;
        for statement in session.statements() {
            let before = session.told.clone();
            let Some((_, deleted)) = session.delete(statement, false, &|_, _| ()) else { continue };
            assert_eq!(session.verify(), Verdict::Same, "without {}", session.tell(statement));
            if session.told.findings != before.findings {
                let now = std::mem::replace(&mut session.told, before);
                assert!(is_merged_otherwise(&mut session));
                (session.told, seen) = (now, true);
            }
            session.put_back(deleted, &|_, _| ());
            assert_eq!(session.verify(), Verdict::Same, "with {} again", session.tell(statement));
        }
        assert!(seen, "no edit has changed what is reported");
    }
}

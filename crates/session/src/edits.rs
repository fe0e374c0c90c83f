//! Edits made here rather than by somebody: statements deleted and put back, for measuring how updates follow, and
//! the comparison of what updates led to with a run from nothing.

use crate::{Cancel, Progress, Session, Update};
use classfile::Layer;
use detect::Detect;
use happens_before::HappensBefore;
use ir::{Body, MethodId, StmtId};
use pointsto::{PointsTo, PointsToDelta};
use std::collections::{BTreeMap, BTreeSet};
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

    /// Works everything out from nothing, for the same program, and compares.
    pub fn verify(&mut self) -> Verdict {
        if !self.options.engines.whole_program() {
            return Verdict::Same;
        }
        // Where there is nowhere to begin, the other stages are not asked.
        let with_order = !self.is_points_to_only && !self.is_behind;
        let own = self.pointsto.digest(&self.program);
        let order = with_order.then(|| self.happens_before.digest(&self.program, &self.pointsto));
        let before = self.program.renumber();
        let verdict = self.compare(own, order);
        self.program.renumber_back(before);
        verdict
    }

    /// The digests are those of the program with the numbers its statements have come to have.
    fn compare(&mut self, own: pointsto::Digest, order: Option<happens_before::Digest>) -> Verdict {
        let options = self.points_to_options();
        let (roots, ..) = crate::roots(&mut self.program, &self.options);
        let mut pointsto = PointsTo::default();
        pointsto.apply(&mut self.program, &mut self.models, &roots, &options, &|_| ());
        let fresh = pointsto.digest(&self.program);
        if own != fresh {
            return Verdict::Different(format!("points-to: {own:?} instead of {fresh:?}"));
        }
        let Some(order) = order else { return Verdict::Same };
        let mut happens_before = HappensBefore::new(false);
        let (told, mut changes) = (PointsToDelta::from_nothing(), Changes::everything());
        happens_before.apply(&self.program, &self.models, &pointsto, &told, &mut changes);
        let fresh = happens_before.digest(&self.program, &pointsto);
        if order != fresh {
            return Verdict::Different(format!("happens-before: {order:?} instead of {fresh:?}"));
        }
        let stages = detect::Stages {
            program: &self.program,
            models: &self.models,
            knowledge: &self.knowledge,
            pointsto: &pointsto,
            happens_before: &happens_before,
        };
        let mut detect = Detect::new(false, self.options.least);
        let findings = detect.apply(&stages, &mut changes);
        let mut report = findings::Report { findings, ..Default::default() };
        report.sort();
        let known = &self.report.findings;
        if *known == report.findings {
            return Verdict::Same;
        }
        let pairs = known.iter().zip(&report.findings);
        let differing = pairs.filter(|(known, fresh)| known != fresh).count();
        Verdict::Different(format!(
            "{} findings instead of {}, {differing} told otherwise",
            known.len(),
            report.findings.len()
        ))
    }
}

/// A body as it was.
pub struct PutBack {
    method: MethodId,
    body: Arc<Body>,
}

//! A number for everything that is known of order and locks, by content: equal for equal states, whatever ids were
//! handed out on the way.

use crate::HappensBefore;
use crate::types::*;
use ir::{Program, StmtId, StmtKind, Var};
use pointsto::{Act, Contents, PointsTo, hash};
use std::hash::Hash;

/// A hash of each part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    pub origins: u64,
    pub order: u64,
    pub locks: u64,
    pub fresh: u64,
    pub unique: u64,
    pub nestings: u64,
}

impl HappensBefore {
    pub fn digest(&self, program: &Program, pointsto: &PointsTo) -> Digest {
        let mut digester = Digester { hb: self, program, contents: pointsto.contents(program), pointsto };
        let mut digest = Digest::default();
        for origin in self.origins() {
            add(&mut digest.origins, &digester.origin(origin, self.origin(origin)));
        }
        for act in pointsto.acts() {
            digester.act(act, &mut digest);
        }
        for obj in pointsto.objects() {
            let of = (digester.contents.obj(obj), self.unique(obj));
            let wholes = self.wholes(obj).into_iter().map(|whole| digester.contents.obj(whole));
            add(&mut digest.unique, &(of, wholes.fold(0, u64::wrapping_add)));
        }
        for nesting in self.nestings() {
            add(&mut digest.nestings, &digester.nesting(nesting));
        }
        digest
    }
}

/// A sum does not depend on the order.
fn add(sum: &mut u64, item: &impl Hash) {
    *sum = sum.wrapping_add(hash(item));
}

struct Digester<'a> {
    hb: &'a HappensBefore,
    program: &'a Program,
    contents: Contents<'a>,
    pointsto: &'a PointsTo,
}

impl Digester<'_> {
    fn origin(&mut self, origin: Origin, info: &OriginInfo) -> u64 {
        let task = info.task.map(|task| self.contents.obj(task));
        let serial_on = [info.serial_on, info.each_serial]
            .map(|executor| executor.map(|executor| self.contents.obj(executor)));
        let mut spawned_by = 0;
        for by in &info.spawned_by {
            add(&mut spawned_by, &(self.hb.rank(by.parent), self.at(by.act, by.stmt)));
        }
        let flags = (info.kind, info.overlaps_itself, info.runs_once, info.own_task);
        hash(&(self.hb.rank(origin), self.contents.act(info.entry), task, serial_on, spawned_by, flags))
    }

    fn act(&mut self, act: Act, digest: &mut Digest) {
        let own = self.contents.act(act);
        let origins = self.hb.origins_of(act).to_vec();
        for &origin in &origins {
            add(&mut digest.origins, &(own, self.hb.rank(origin)));
        }
        let Some(body) = self.program.lowered(self.pointsto.method(act)) else { return };
        let first = StmtId(0);
        for &origin in &origins {
            let here = Point { origin, act, stmt: first };
            for other in self.hb.origins() {
                let there = Point { origin: other, act: self.hb.origin(other).entry, stmt: first };
                let ordered = self.hb.ordered(&here, &there).is_some();
                add(&mut digest.order, &(own, self.hb.rank(origin), self.hb.rank(other), ordered));
            }
            let locks = self.held(&here);
            add(&mut digest.locks, &(own, self.hb.rank(origin), locks));
        }
        let executes_once = self.hb.executes_once(act, first);
        add(&mut digest.unique, &(own, executes_once));
        // Numbers of origins are handed out in another order after edits.
        let first_origin = origins.iter().copied().min_by_key(|&origin| self.hb.rank(origin));
        for (at, (stmt, info)) in body.stmts.iter().enumerate() {
            if let Some(origin) = first_origin {
                let started = self.hb.anything_started_before(act, stmt);
                let locks = self.held(&Point { origin, act, stmt });
                add(&mut digest.locks, &(own, at, locks));
                add(&mut digest.order, &(own, at, started));
            }
            for (nth, var) in used(&info.kind).into_iter().enumerate() {
                add(&mut digest.fresh, &(own, at, nth, self.hb.fresh(act, stmt, var)));
            }
        }
    }

    /// A variable by content: by where it is defined, or which parameter it is.
    fn var(&self, act: Act, var: Var) -> Option<(bool, usize)> {
        let body = self.program.lowered(self.pointsto.method(act))?;
        match body.vars[var].def {
            Some(def) => Some((true, body.stmts.rank(def))),
            None => body.params.iter().position(|&param| param == var).map(|nth| (false, nth)),
        }
    }

    /// A statement by content.
    fn at(&mut self, act: Act, stmt: StmtId) -> (u64, StmtId) {
        (self.contents.act(act), self.contents.at(self.pointsto.method(act), stmt))
    }

    fn held(&mut self, point: &Point) -> u64 {
        let mut sum = 0;
        for lock in self.hb.held(point) {
            add(&mut sum, &self.lock(lock, Some(point.act)));
        }
        sum
    }

    /// `by`: the activation in whose terms it is told, if that is known.
    fn lock(&mut self, lock: &HeldLock, by: Option<Act>) -> u64 {
        let mut keys = 0;
        for key in &lock.keys {
            match key {
                LockKey::Unique(obj) => add(&mut keys, &self.contents.obj(*obj)),
                LockKey::UniqueExplicit(obj) => add(&mut keys, &(self.contents.obj(*obj), "explicit")),
                LockKey::Path { root, steps } => {
                    add(&mut keys, &(by.map(|act| self.var(act, *root)), steps));
                }
                other => add(&mut keys, other),
            }
        }
        let mut nodes = 0;
        for node in &lock.nodes {
            match *node {
                LockNode::Object(obj) => add(&mut nodes, &self.contents.obj(obj)),
                LockNode::Part { of, object } => {
                    add(&mut nodes, &(self.contents.obj(of), self.contents.obj(object)));
                }
                LockNode::Class(class) => add(&mut nodes, &class),
                LockNode::Explicit { of, object } => {
                    let of = of.map(|of| self.contents.obj(of));
                    add(&mut nodes, &(of, self.contents.obj(object), "explicit"));
                }
            }
        }
        let at = lock.stmt.map(|stmt| self.at(lock.act, stmt));
        hash(&(keys, nodes, lock.shared, self.contents.act(lock.act), at))
    }

    fn nesting(&mut self, nesting: &Nesting) -> u64 {
        let mut origins = 0;
        for &origin in &nesting.origins {
            add(&mut origins, &self.hb.rank(origin));
        }
        let wants = match &nesting.wants {
            Wanted::Lock(lock) => self.lock(lock, None),
            Wanted::End(ends) => {
                let mut sum = 0;
                for end in ends {
                    add(&mut sum, &(self.hb.rank(end.origin), end.is_timed, end.is_certain));
                }
                sum
            }
        };
        let mut locks = 0;
        for lock in &nesting.locks {
            add(&mut locks, &self.lock(lock, None));
        }
        let calls: Vec<(u64, StmtId)> = nesting.calls.iter().map(|&(act, stmt)| self.at(act, stmt)).collect();
        let flags = (nesting.called_back, nesting.choices, nesting.is_reached);
        let at = (self.contents.act(nesting.act), nesting.stmt.map(|stmt| self.at(nesting.act, stmt)));
        hash(&(origins, self.lock(&nesting.held, None), wants, locks, calls, flags, at))
    }
}

/// Variables whose objects a statement touches.
fn used(kind: &StmtKind) -> Vec<Var> {
    match kind {
        StmtKind::Load { base, .. }
        | StmtKind::Store { base, .. }
        | StmtKind::LoadElem { base, .. }
        | StmtKind::StoreElem { base, .. } => vec![*base],
        StmtKind::Call { args, .. } => args.clone(),
        _ => Vec::new(),
    }
}

//! What an edit of the program means here: statements that changed are taken back under the old program and put
//! in under the new one, everything named after a statement follows it to its new place.

use crate::again::{Affected, Again};
use crate::dependencies::Surveyed;
use crate::graph::Node;
use crate::removed::constants;
use crate::retract::Doubts;
use crate::rule::Rule;
use crate::select::{Contexts, Limit};
use crate::solver::{Options, Roots, Solver};
use crate::state::{Home, Nodes, PointsTo, Shape};
use crate::support::Reason;
use crate::told::{PointsToDelta, Work};
use crate::types::*;
use ir::{Body, BodyChange, CallKind, MethodId, Program, ProgramDelta, StmtId, StmtKind, Var};
use models::Models;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Numbers of removed statements begin here; no body is as long.
const REMOVED: u32 = 1 << 31;

impl PointsTo {
    /// Makes the program what the delta says and follows it.
    pub fn update(
        &mut self,
        program: &mut Program,
        models: &mut Models,
        delta: &ProgramDelta,
        find_roots: &mut dyn FnMut(&mut Program) -> Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> PointsToDelta {
        let Some(mut survey) = self.survey.take() else {
            program.commit(delta);
            models.forget();
            let roots = find_roots(program);
            return self.apply(program, models, &roots, options, progress);
        };
        let affected = Affected::by(program, delta);
        let of_survey = survey.take_back(program, models, delta, &affected);
        let before = self.facts();
        let own = (!self.choice.gave_up()).then(|| self.take_back(program, models, delta, &affected));
        program.commit(delta);
        survey.recount_dependencies(program, delta);
        self.recount_dependencies(program, delta);
        if affected.moves() {
            models.forget();
        }
        affected.methods().for_each(|method| models.forget_method(method));
        let roots = &find_roots(program);
        if self.refused.as_ref().is_some_and(|refused| refused.is_touched(delta) || *roots != self.roots) {
            match Surveyed::with_dependencies(program, models, roots, options, progress) {
                Ok(with) => return self.apply_surveyed(with, program, models, roots, options, progress),
                Err(refused) => self.refused = Some(refused),
            }
        }
        let limit = Limit::of_survey(options, survey.traits.dependencies());
        let most_taken = options.most_taken;
        let mut edit = Edit { delta, roots, affected: &affected, told_apart: None, limit, most_taken };
        if !survey.follow(program, models, of_survey, &edit) {
            return self.apply(program, models, roots, options, progress);
        }
        let told = survey.told();
        let mut sizes = std::mem::take(&mut survey.sizes);
        sizes.update(&survey, &told);
        survey.sizes = sizes;
        let choice = survey.choose(program, roots, options);
        if !choice.is_affordable(options) {
            return self.apply(program, models, roots, options, progress);
        }
        edit.told_apart = Some(choice.contexts());
        edit.limit = survey.limit(options, &choice);
        if !own.is_some_and(|own| self.follow(program, models, own, &edit)) {
            return self.apply_after(survey, choice, program, models, roots, options, progress);
        }
        self.merged_origins = choice.merged_origins();
        self.choice = choice;
        self.survey = Some(survey);
        let Work { taken, proofs } = told.work;
        let new = self.facts() + self.touched.work.taken - before;
        if new > most(most_taken, self.facts()) {
            return self.all_told();
        }
        let mut told = self.told();
        told.work.taken += taken;
        told.work.proofs += proofs;
        told.bodies = delta.bodies.iter().map(|change| change.method).collect();
        told.kept = delta.bodies.iter().map(|change| change.alignment.kept_stmts().collect()).collect();
        told.moved = delta.moved.iter().map(|&(method, _)| method).collect();
        told
    }

    /// What no longer holds is in doubt afterwards.
    fn take_back(
        &mut self,
        program: &mut Program,
        models: &mut Models,
        delta: &ProgramDelta,
        affected: &Affected,
    ) -> InFlight {
        self.graph.flow.log = Some(Default::default());
        self.touched = Default::default();
        let roots = self.roots.clone();
        let mut solver = Solver::new(self, program, models);
        solver.roots(&roots, false);
        let edited: Vec<Edited> = delta.bodies.iter().map(|change| solver.edited(change)).collect();
        let mut again = solver.affected(affected, &edited);
        again.extend(solver.rewired(&edited, &again));
        solver.take_back(&again);
        solver.run_locks(delta, false);
        for body in &edited {
            solver.run_changed(body, false);
        }
        for body in &edited {
            solver.rename(body);
            solver.rewire(body);
            again.rename(solver.state, body);
        }
        let doubts = solver.doubts;
        InFlight { doubts, edited, again }
    }

    /// To the fixpoint of the new program; false if it gets too large or cannot be trusted, or if so much goes that
    /// solving anew is less work.
    fn follow(
        &mut self,
        program: &mut Program,
        models: &mut Models,
        in_flight: InFlight,
        edit: &Edit<'_>,
    ) -> bool {
        for (method, body) in &edit.delta.moved {
            self.replace_body(*method, body);
        }
        let mut solver = Solver::new(self, program, models);
        solver.doubts = in_flight.doubts;
        let mut again = in_flight.again;
        if let Some(told_apart) = &edit.told_apart {
            let more = solver.told_apart_otherwise(told_apart, &in_flight.edited, &again);
            solver.take_back(&more);
            solver.state.told_apart = told_apart.clone();
            again.extend(more);
        }
        if edit.affected.moves() {
            solver.state.traits.forget();
            solver.refilter(edit.affected);
        }
        solver.put_back(&again);
        solver.run_locks(edit.delta, true);
        for body in &in_flight.edited {
            solver.run_changed(body, true);
        }
        solver.roots(edit.roots, true);
        let most = most(edit.most_taken, solver.state.facts());
        if !solver.settle(most) {
            return false;
        }
        let fits = solver.run(edit.limit, &|_| ());
        solver.reclaim();
        let is_sound = !solver.doubts.inconsistent;
        let work = solver.doubts.work();
        self.touched.work = work;
        self.roots = edit.roots.clone();
        self.rest();
        fits && is_sound
    }

    /// The same statements at other lines.
    fn replace_body(&mut self, method: MethodId, body: &Arc<Body>) {
        if let Some(known) = self.shapes.get_mut(&method) {
            let shape = Arc::new(Shape::new(Some(body.clone())));
            known.clone_from(&shape);
            for &act in self.acts_of.get(&method).into_iter().flatten() {
                if !self.frames[act].is_stale {
                    self.frames[act].shape = shape.clone();
                }
            }
        }
    }
}

/// What an edit has taken out of the state and not put back yet.
struct InFlight {
    doubts: Doubts,
    edited: Vec<Edited>,
    again: Again,
}

/// A body that changes.
pub(crate) struct Edited {
    pub(crate) method: MethodId,
    bodies: [Option<Arc<Body>>; 2],
    /// Statements whose constraints go, and those whose constraints come.
    pub(crate) going: FxHashSet<StmtId>,
    pub(crate) coming: FxHashSet<StmtId>,
    /// Calls that stay and get other arguments: what they call is not to be missed in between.
    rewired: Vec<(StmtId, StmtId)>,
    /// New numbers of all statements of the old body; those of removed ones are beyond all bodies.
    pub(crate) renamed: FxHashMap<StmtId, StmtId>,
    vars: Vec<(Var, Var)>,
}

/// What the state is to follow.
struct Edit<'a> {
    delta: &'a ProgramDelta,
    roots: &'a Roots,
    affected: &'a Affected,
    /// Which code is to be told apart, unless that stays.
    told_apart: Option<Contexts>,
    limit: Limit,
    /// See [`Options::most_taken`].
    most_taken: u64,
}

impl Solver<'_> {
    /// What an edit does to a body. A call that finds other constants is another call if its models look at them.
    fn edited(&mut self, change: &BodyChange) -> Edited {
        let alignment = &change.alignment;
        let mut edited = Edited {
            method: change.method,
            bodies: [change.old.clone(), change.new.clone()],
            going: alignment.changed_old().iter().copied().collect(),
            coming: alignment.changed_new().iter().copied().collect(),
            rewired: Vec::new(),
            renamed: alignment.kept_stmts().collect(),
            vars: alignment.kept_vars().collect(),
        };
        for &(old, new) in alignment.look_otherwise() {
            if self.looks_at_constants(change.method, old) {
                edited.going.insert(old);
                edited.coming.insert(new);
                edited.renamed.remove(&old);
            }
        }
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            let kept = alignment
                .kept_stmts()
                .filter(|(before, _)| edited.going.contains(before) && edited.renamed.contains_key(before));
            let rewired = kept.filter(|&(before, after)| {
                let same = |after: Var, before: Var| alignment.vars[after] == Some(before);
                is_rewired(&old.stmts[before].kind, &new.stmts[after].kind, &same)
            });
            edited.rewired = rewired.collect();
        }
        for (before, after) in &edited.rewired {
            edited.going.remove(before);
            edited.coming.remove(after);
        }
        let kept: FxHashSet<StmtId> = edited.renamed.values().copied().collect();
        let new = |stmt: &StmtId| edited.coming.contains(stmt) && !kept.contains(stmt);
        let removed = &mut self.state.removed;
        let come_back = change.new.as_ref().map(|body| removed.take(change.method, body, new));
        if let Some(body) = &change.old {
            let constants = constants(body);
            for stmt in body.stmts.ids() {
                edited.renamed.entry(stmt).or_insert_with(|| {
                    self.state.removed_stmts += 1;
                    let removed = StmtId(REMOVED + self.state.removed_stmts);
                    self.state.removed.add(change.method, &body.stmts[stmt].kind, constants, removed);
                    removed
                });
            }
        }
        edited.renamed.extend(come_back.unwrap_or_default());
        edited
    }

    /// Does a model expanded at the statement look back from its arguments?
    fn looks_at_constants(&self, method: MethodId, stmt: StmtId) -> bool {
        let acts = self.state.acts_of.get(&method).into_iter().flatten();
        let mut models = acts.flat_map(|&act| self.state.models_at(act, stmt));
        models.any(|&model| self.models.model(model).looks_back())
    }

    /// Statements that an edit changed, in every activation that runs them.
    fn run_changed(&mut self, edited: &Edited, adding: bool) {
        let stmts = if adding { &edited.coming } else { &edited.going };
        let Some(body) = &edited.bodies[usize::from(adding)] else { return };
        let mut stmts: Vec<StmtId> = stmts.iter().copied().collect();
        stmts.sort_unstable();
        for act in self.state.acts_of.get(&edited.method).cloned().unwrap_or_default() {
            if !self.state.frames[act].runs {
                continue;
            }
            let Some(rule) = self.state.rules.find(Rule::Active(act)) else { continue };
            self.begin(Reason::Rule(rule), adding);
            for &stmt in &stmts {
                self.run_stmt(act, stmt, &body.stmts[stmt].kind);
            }
        }
    }

    /// Methods that may have become static or synchronized, or no longer are.
    fn run_locks(&mut self, delta: &ProgramDelta, adding: bool) {
        let methods = delta.classes.iter().flat_map(|change| &change.methods);
        for method in methods.map(|method| method.id) {
            for act in self.state.acts_of.get(&method).cloned().unwrap_or_default() {
                let rule = self.state.rules.find(Rule::Active(act));
                if let (Some(rule), true) = (rule, self.state.frames[act].runs) {
                    self.begin(Reason::Rule(rule), adding);
                    self.run_lock(act);
                }
            }
        }
    }

    /// What sees the arguments and the results of calls that get other ones.
    fn rewired(&mut self, edited: &[Edited], taken: &Again) -> Again {
        let mut again = Again::default();
        for body in edited {
            for &act in self.state.acts_of.get(&body.method).into_iter().flatten() {
                for &(stmt, _) in body.rewired.iter().filter(|_| self.state.frames[act].runs) {
                    let place = self.state.place_ids.get(&(act, stmt));
                    if let Some(&call) = place.and_then(|&place| self.state.places[place].calls.first()) {
                        self.collect_of_call(&mut again, call);
                    }
                }
            }
        }
        again.leave_out(self.state, &[], taken);
        again
    }

    /// Calls get the arguments and results that they have in the new body.
    fn rewire(&mut self, edited: &Edited) {
        let [_, Some(body)] = &edited.bodies else { return };
        for act in self.state.acts_of.get(&edited.method).cloned().unwrap_or_default() {
            for &(_, stmt) in &edited.rewired {
                let StmtKind::Call { dst, args, .. } = &body.stmts[stmt].kind else { continue };
                let place = self.state.place_ids.get(&(act, stmt));
                let Some(&call) = place.and_then(|&place| self.state.places[place].calls.first()) else {
                    continue;
                };
                self.state.calls[call].args = args.iter().map(|&arg| self.var(act, arg)).collect();
                self.state.calls[call].dst = dst.and_then(|dst| self.var(act, dst));
            }
        }
    }

    /// Statements and variables of a method get their new numbers.
    fn rename(&mut self, edited: &Edited) {
        let Some(acts) = self.state.acts_of.get(&edited.method).cloned() else { return };
        let [_, new] = &edited.bodies;
        let shape = Arc::new(Shape::new(new.clone()));
        let old_shape = match new {
            Some(_) => self.state.shapes.insert(edited.method, shape.clone()),
            None => self.state.shapes.remove(&edited.method),
        };
        let renamed = &edited.renamed;
        let mut source: Vec<Option<u32>> = vec![None; shape.count];
        for &(old, new) in &edited.vars {
            let old = old_shape.as_ref().and_then(|shape| shape.index(old));
            if let (Some(old), Some(new)) = (old, shape.index(new)) {
                source[new as usize] = Some(old);
            }
        }
        for act in acts {
            // What has no body known has no nodes to keep.
            if self.state.frames[act].is_stale {
                self.reshape(act, &shape, &vec![None; shape.count]);
            } else {
                self.reshape(act, &shape, &source);
                self.move_places(act, renamed);
            }
        }
        self.rename_named(edited.method, renamed);
    }

    /// A method has a body again, of which nobody tells: what was named after its statements is so again.
    pub(crate) fn come_back(&mut self, method: MethodId, body: &Body) {
        let renamed = self.state.removed.take(method, body, |_| true);
        if !renamed.is_empty() {
            self.rename_named(method, &renamed.into_iter().collect());
        }
    }

    /// Objects and contexts are named after statements by their new numbers.
    fn rename_named(&mut self, edited: MethodId, renamed: &FxHashMap<StmtId, StmtId>) {
        let site = |site: Site| match site {
            Site::Alloc(method, stmt) if method == edited && renamed.contains_key(&stmt) => {
                Site::Alloc(method, renamed[&stmt])
            }
            Site::Model(method, stmt, step) if method == edited && renamed.contains_key(&stmt) => {
                Site::Model(method, renamed[&stmt], step)
            }
            other => other,
        };
        if let Some(named) = self.state.named_after.get(&edited) {
            for &obj in &named.objects {
                let object = self.state.objects[obj];
                let site = site(object.site);
                if site != object.site {
                    self.state.touched.renamed.insert(obj);
                }
                self.state.objects.rename(obj, Some(Object { site, ..object }));
            }
            for &ctx in &named.contexts {
                let context = match self.state.contexts[ctx] {
                    Context::Call(outer, method, stmt) if renamed.contains_key(&stmt) => {
                        Context::Call(outer, method, renamed[&stmt])
                    }
                    Context::Helper(outer, method, stmt) if renamed.contains_key(&stmt) => {
                        Context::Helper(outer, method, renamed[&stmt])
                    }
                    other => other,
                };
                self.state.contexts.rename(ctx, Some(context));
            }
        }
        self.state.told_apart.rename(&site);
    }

    /// The activation's variables get the nodes of those they were.
    pub(crate) fn reshape(&mut self, act: Act, shape: &Arc<Shape>, source: &[Option<u32>]) {
        let old: Vec<Node> = self.state.frames[act].vars().collect();
        let mut is_kept = vec![false; old.len()];
        let mut nodes = Vec::with_capacity(source.len());
        for from in source {
            nodes.push(match from {
                Some(from) => {
                    is_kept[*from as usize] = true;
                    old[*from as usize]
                }
                None => {
                    let node = self.state.graph.add_node();
                    *self.state.homes.at(node) = Home::Act(act);
                    node
                }
            });
        }
        let unused = old.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept).map(|(&node, _)| node);
        self.doubts.unused_nodes.extend(unused);
        let frame = &mut self.state.frames[act];
        (frame.shape, frame.nodes) = (shape.clone(), Nodes::Each(nodes));
        // Should the method get a body again, nobody tells.
        frame.is_stale = shape.body.is_none();
    }

    /// Calls of an activation are at other statements now.
    fn move_places(&mut self, act: Act, renamed: &FxHashMap<StmtId, StmtId>) {
        let state = &mut *self.state;
        let places = std::mem::take(&mut state.frames[act].places);
        for &place in &places {
            state.place_ids.remove(&(act, state.places[place].stmt));
        }
        let mut kept = Vec::new();
        for place in places {
            let stmt = &mut state.places[place].stmt;
            *stmt = renamed.get(stmt).copied().unwrap_or(*stmt);
            if stmt.0 < REMOVED {
                state.place_ids.insert((act, *stmt), place);
                kept.push(place);
            } else {
                self.doubts.places.push(place);
            }
        }
        state.frames[act].places = kept;
        let mut acts = state.callees[act].acts.clone();
        acts.sort_unstable();
        acts.dedup();
        for callee in acts {
            state.touch_calls(act, callee);
            for (caller, stmt) in &mut state.callers[callee] {
                if *caller == act {
                    *stmt = renamed[stmt];
                }
            }
        }
        for stmt in &mut state.callees[act].stmts {
            *stmt = renamed[stmt];
        }
        state.touched.spawns |= state.spawn_places.iter().any(|spawn| state.places[spawn.0].act == act);
        state.touched.called_back |=
            state.called_back.iter().any(|&(place, _)| state.places[place].act == act);
    }
}

/// How many facts may be others before everything is.
fn most(at_least: u64, facts: u64) -> u64 {
    at_least.max(facts / 2)
}

/// The same call on the same receivers, whatever else it passes.
fn is_rewired(old: &StmtKind, new: &StmtKind, same: &dyn Fn(Var, Var) -> bool) -> bool {
    match (old, new) {
        (StmtKind::Call { kind, args: before, .. }, StmtKind::Call { args: after, .. }) => {
            *kind == CallKind::Static || before.first().zip(after.first()).is_some_and(|(&b, &a)| same(a, b))
        }
        _ => false,
    }
}

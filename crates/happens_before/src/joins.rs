//! Which statements certainly wait for the end of an origin. Knows handles, executors and loops; whether a
//! join is passed on the way from a spawn is left to reachability.

mod covers;
mod rounds;

pub use covers::Covers;

use crate::above::Callers;
use crate::bits::Bits;
use crate::branches::{Edge, waited};
use crate::flow::Flow;
use crate::locks::paths::{PathRoot, Paths};
use crate::origins::{Origins, Site};
use crate::reach::{Kills, passes_in, throws_past};
use crate::types::{End, Origin};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IdSet, IndexVec};
use ir::{BlockId, StmtId, StmtKind, Var};
use models::{Outcome, Step};
use pointsto::{Act, Obj};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use track::{Kind, Read, note};

/// Calls of joining methods that count as joins themselves, at most.
const MOST_LIFTED: usize = 1000;

/// A statement that waits for origins to end.
#[derive(Debug, Clone)]
struct Join {
    act: Act,
    stmt: StmtId,
    /// Where it has waited: the statement, or the edges that know its result.
    kills: Kills,
    waits_for: WaitsFor,
    when: Outcome,
    /// What the operand is.
    objects: IdSet<Obj>,
    /// What is joined with it, because its end covers theirs.
    covered: IdSet<Obj>,
    var: Option<Var>,
    /// For each loop around it, innermost first: the edges on which it is left with everybody joined.
    finished: OnceCell<Vec<Vec<Edge>>>,
}

impl Join {
    /// What it would have to be about.
    fn subject<'a>(&self, site: &'a Site) -> &'a IdSet<Obj> {
        match self.waits_for {
            WaitsFor::Handle => &site.handles,
            WaitsFor::Executor => &site.executors,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    Handle,
    Executor,
}

/// The joins of what one site starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteJoins {
    /// Join whatever instance the site has started.
    pub firm: Kills,
    /// Join the instance started last by the same execution of the method.
    pub same_value: Kills,
    /// Where the joined value is made anew: from there on `same_value` is about another instance.
    pub renewed: Vec<(Act, StmtId)>,
}

/// A call of a method that starts an origin and returns its handle: as good as the spawn itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifted {
    pub act: Act,
    pub stmt: StmtId,
    pub joins: SiteJoins,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Joins {
    /// By site.
    pub of_site: Vec<SiteJoins>,
    /// By site: the calls that stand for it, if its method returns the handle.
    pub lifted: Vec<Vec<Lifted>>,
    /// By origin: joins of all instances, whoever started them.
    pub of_origin: IndexVec<Origin, Kills>,
    /// Statements that may wait for the end of these origins: `(act, stmt)`, sorted.
    pub waits: Vec<(Act, StmtId, Vec<End>)>,
    pub covers: Covers,
}

impl Joins {
    pub fn new(world: &World<'_>, origins: &Origins, unique: &Unique, paths: &Paths) -> Joins {
        note(Read::all(Kind::Origins));
        let covers = Covers::new(world);
        let (found, own) = find_joins(world, &covers);
        let finder = Finder { world, unique, paths };
        let of_site: Vec<SiteJoins> = origins.sites.iter().map(|site| finder.of_site(site, &found)).collect();
        let lifted = origins.sites.iter().map(|site| finder.lifted(origins, site, &found)).collect();
        let of_origin = origins.sites_of.iter().map(|(_, sites)| common(&of_site, sites)).collect();
        let waits = finder.waits(origins, &found[..own]);
        Joins { of_site, lifted, of_origin, waits, covers }
    }
}

/// All joins, and how many of them are statements that wait themselves (these come first).
fn find_joins(world: &World<'_>, covers: &Covers) -> (Vec<Join>, usize) {
    let mut joins = Vec::new();
    for act in world.syncing() {
        for &(stmt, step) in world.sync(act) {
            let (operand, waits_for, when) = match step {
                Step::Join { handle, when } => (handle, WaitsFor::Handle, *when),
                Step::JoinAll { executor, when } => (executor, WaitsFor::Executor, *when),
                _ => continue,
            };
            let Some(flow) = world.flow(act) else { continue };
            let kills = waited(flow, act, stmt, when);
            if kills.is_empty() {
                continue;
            }
            joins.push(Join {
                act,
                stmt,
                kills,
                waits_for,
                when,
                objects: world.operand(act, stmt, operand),
                covered: IdSet::new(),
                var: world.operand_var(act, stmt, operand),
                finished: OnceCell::new(),
            });
        }
    }
    let own = joins.len();
    lift_joins(world, &mut joins);
    for join in &mut joins {
        join.covered = covers.of(join.objects.iter());
    }
    (joins, own)
}

/// A method that always joins what it is given: calls of it are joins as well. Of several joins behind a call, or of
/// too many calls, the first count: level by level in the order of content.
fn lift_joins(world: &World<'_>, joins: &mut Vec<Join>) {
    let (mut at, mut level) = (0, 0);
    let most = joins.len() + MOST_LIFTED;
    while at < joins.len() && joins.len() < most {
        if at == level {
            level = joins.len();
            joins[at..].sort_by(|a, b| world.content.frames((a.act, a.stmt), (b.act, b.stmt)));
        }
        let Join { act, waits_for, when, var, .. } = joins[at];
        at += 1;
        let (Some(flow), Some(var)) = (world.flow(act), var) else { continue };
        let source = flow.source(var);
        let Some(param) = flow.body.params.iter().position(|&param| param == source) else { continue };
        if world.is_jdk(act) || !must_pass(flow, &joins[at - 1].kills) {
            continue;
        }
        let throws = throws_past(world, act, &joins[at - 1].kills);
        for &(caller, call) in world.calls.callers(act) {
            let known = joins.iter().any(|join| (join.act, join.stmt) == (caller, call));
            if known || world.is_jdk(caller) || !world.bindings_are_plain(caller, call, act) {
                continue;
            }
            let Some(flow) = world.flow(caller) else { continue };
            let StmtKind::Call { args, .. } = &flow.body.stmts[call].kind else { continue };
            if world.pointsto.callees(caller, call) != [act] {
                continue;
            }
            let var = args.get(param).copied();
            let objects = var.map_or_else(IdSet::new, |var| world.pointsto.pts(caller, var).clone());
            joins.push(Join {
                act: caller,
                stmt: call,
                kills: if throws { Kills::at_return(caller, call) } else { Kills::at(caller, call) },
                waits_for,
                when,
                objects,
                covered: IdSet::new(),
                var,
                finished: OnceCell::new(),
            });
        }
    }
}

/// Joins that all sites of an origin have in common.
fn common(of_site: &[SiteJoins], sites: &[usize]) -> Kills {
    let mut sites = sites.iter().map(|&site| &of_site[site].firm);
    let Some(mut kills) = sites.next().cloned() else { return Kills::default() };
    for other in sites {
        kills.stmts.retain(|kill| other.stmts.binary_search(kill).is_ok());
        kills.returns.retain(|kill| other.returns.binary_search(kill).is_ok());
        kills.edges.retain(|kill| other.edges.binary_search(kill).is_ok());
    }
    kills
}

struct Finder<'a, 'w> {
    world: &'a World<'w>,
    unique: &'a Unique,
    paths: &'a Paths,
}

impl Finder<'_, '_> {
    fn of_site(&self, site: &Site, joins: &[Join]) -> SiteJoins {
        let mut found = SiteJoins::default();
        // Activations that may run the site, for loops that start and join.
        let mut spawning: Option<Callers> = None;
        for join in joins {
            let subject = join.subject(site);
            if subject.is_empty() {
                continue;
            }
            let direct = subject.is_subset(&join.objects);
            let covered = subject.is_subset(&join.covered);
            if !direct && !covered {
                continue;
            }
            // The operand is one concrete object, the handle (executor) of everything the site starts.
            let is_one = join.objects.single().is_some_and(|obj| self.unique.contains(obj));
            if is_one || covered && self.is_covering(join) {
                found.firm.add(&join.kills);
                continue;
            }
            if direct && let Some(renewed) = self.same_value(site, join) {
                found.same_value.add(&join.kills);
                found.renewed.extend(renewed.map(|stmt| (join.act, stmt)));
                continue;
            }
            if join.waits_for == WaitsFor::Handle {
                let spawning = spawning.get_or_insert_with(|| self.world.callers_of([site.act]));
                self.join_loop(site, join, joins, spawning, &mut found.firm);
                self.join_each(join, &mut found.firm);
            }
        }
        found.firm.sort();
        found.same_value.sort();
        found.renewed.sort_unstable();
        found.renewed.dedup();
        found
    }

    /// The waits among the joins, and those of statements that wait for what they start.
    fn waits(&self, origins: &Origins, joins: &[Join]) -> Vec<(Act, StmtId, Vec<End>)> {
        let mut waits: BTreeMap<(Act, StmtId), BTreeMap<Origin, End>> = BTreeMap::new();
        let mut add = |act, stmt, end: End| {
            let known = waits.entry((act, stmt)).or_default().entry(end.origin).or_insert(end);
            known.is_timed &= end.is_timed;
            known.is_certain |= end.is_certain;
        };
        // A question about the end does not wait for it.
        let is_wait = |join: &&Join| !matches!(join.when, Outcome::True | Outcome::False);
        for join in joins.iter().filter(is_wait) {
            for site in &origins.sites {
                let subject = join.subject(site);
                if subject.intersects(&join.objects) || subject.intersects(&join.covered) {
                    let found = self.of_site(site, std::slice::from_ref(join));
                    let is_certain = !found.firm.is_empty() || !found.same_value.is_empty();
                    let is_timed = join.when.gives_up();
                    add(join.act, join.stmt, End { origin: site.child, is_timed, is_certain });
                }
            }
        }
        for site in origins.sites.iter().filter(|site| site.waits) {
            add(site.act, site.stmt, End { origin: site.child, is_timed: false, is_certain: true });
        }
        let in_order = |ends: BTreeMap<Origin, End>| {
            let mut ends: Vec<End> = ends.into_values().collect();
            ends.sort_by_key(|end| origins.ranks[end.origin]);
            ends
        };
        waits.into_iter().map(|((act, stmt), ends)| (act, stmt, in_order(ends))).collect()
    }

    /// `Thread start(Runnable r) { Thread t = new Thread(r); t.start(); return t; }`
    fn lifted(&self, origins: &Origins, site: &Site, joins: &[Join]) -> Vec<Lifted> {
        let (Some(flow), Some(handle)) = (self.world.flow(site.act), site.handle_var) else {
            return Vec::new();
        };
        let handle = flow.source(handle);
        let mut returns = flow.body.stmts.iter().filter_map(|(_, stmt)| match stmt.kind {
            StmtKind::Return { value } => Some(value),
            _ => None,
        });
        let task = origins.info[site.child].task;
        if site.waits || !returns.all(|value| value.is_some_and(|value| flow.source(value) == handle)) {
            return Vec::new();
        }
        let callers = self.world.pointsto.callers(site.act).iter().copied();
        let bringing = callers.filter(|&(caller, stmt)| {
            task.is_none_or(|task| passes_in(self.world, caller, stmt, site.act, task))
        });
        bringing
            .map(|(act, stmt)| {
                let result = self.world.flow(act).and_then(|flow| match flow.body.stmts[stmt].kind {
                    StmtKind::Call { dst, .. } => dst,
                    _ => None,
                });
                let site = Site { act, stmt, handle_var: result, executor_var: None, ..site.clone() };
                Lifted { act, stmt, joins: self.of_site(&site, joins) }
            })
            .collect()
    }

    /// The operand is the result of the call that makes one handle cover others.
    fn is_covering(&self, join: &Join) -> bool {
        let (Some(flow), Some(var)) = (self.world.flow(join.act), join.var) else { return false };
        let Some((def, _)) = flow.definition(flow.source(var)) else { return false };
        self.world
            .sync(join.act)
            .iter()
            .any(|&(stmt, step)| stmt == def && matches!(step, Step::Covers { .. }))
    }

    /// Spawn and join in one execution of a method, on the same value. Returns where the value is made anew.
    fn same_value(&self, site: &Site, join: &Join) -> Option<Option<StmtId>> {
        if site.act != join.act {
            return None;
        }
        let flow = self.world.flow(site.act)?;
        let spawned = match join.waits_for {
            WaitsFor::Handle => site.handle_var?,
            WaitsFor::Executor => site.executor_var?,
        };
        let path = self.paths.path(flow, site.act, spawned);
        if path != self.paths.path(flow, site.act, join.var?) {
            return None;
        }
        match path.root {
            PathRoot::Var(root) => Some(flow.body.vars[root].def),
            PathRoot::Static(_) | PathRoot::Text(_) => Some(None),
        }
    }

    /// The join-loop idiom: a loop that does not start the origin and joins a value that it gets anew in each
    /// round has, when there are no more, joined all instances. (It is taken to go through all of them.)
    fn join_loop(&self, site: &Site, join: &Join, joins: &[Join], spawning: &Callers, kills: &mut Kills) {
        let Some(flow) = self.world.flow(join.act) else { return };
        let finished = join.finished.get_or_init(|| {
            let here: Vec<&Join> = joins.iter().filter(|other| other.act == join.act).collect();
            rounds::finished(self.world, flow, join, &here)
        });
        for (around, exits) in flow.loops_around(join.stmt).zip(finished) {
            let starts = around.blocks.iter().any(|&block| {
                flow.body.block_stmts(block).any(|(stmt, _)| {
                    let callees = self.world.pointsto.callees(join.act, stmt);
                    (join.act, stmt) == (site.act, site.stmt)
                        || callees.iter().any(|&callee| spawning.contains(callee))
                })
            });
            if starts {
                break;
            }
            kills.edges.extend(exits.iter().map(|&(from, to)| (join.act, from, to)));
        }
    }

    /// `threads.forEach(t -> t.join())`: a library method that runs a lambda on each element has, when it
    /// returns, joined all of them, provided the lambda always joins what it gets.
    fn join_each(&self, join: &Join, kills: &mut Kills) {
        let Some(flow) = self.world.flow(join.act) else { return };
        let Some(var) = join.var else { return };
        if !flow.body.params.contains(&flow.source(var)) || !must_pass(flow, &join.kills) {
            return;
        }
        let mut seen = Bits::new();
        let mut left = vec![(join.act, true)];
        while let Some((act, is_lambda)) = left.pop() {
            if !seen.insert(act.index()) {
                continue;
            }
            for &(caller, stmt) in self.world.pointsto.callers(act) {
                if self.world.is_jdk(caller) {
                    left.push((caller, false));
                } else if !is_lambda || self.world.runs_for_model(caller, stmt, act) {
                    kills.stmts.push((caller, stmt));
                }
            }
        }
    }
}

/// Does every way from the entry to a return pass one of the kills, all in this body?
fn must_pass(flow: &Flow, kills: &Kills) -> bool {
    let mut seen = Bits::new();
    let mut left = vec![BlockId(0)];
    while let Some(block) = left.pop() {
        let is_here = |&&(_, stmt): &&(Act, StmtId)| flow.body.stmts[stmt].block == block;
        if !seen.insert(block.index()) || kills.stmts.iter().any(|kill| is_here(&kill)) {
            continue;
        }
        if let Some(&(_, stmt)) = kills.returns.iter().find(is_here) {
            left.extend(flow.failures(stmt).iter().map(|&(_, handler)| handler));
            continue;
        }
        let info = &flow.body.blocks[block];
        if (info.first..info.end)
            .any(|at| matches!(flow.body.stmts[StmtId(at)].kind, StmtKind::Return { .. }))
        {
            return false;
        }
        let is_open = |to: &BlockId| !kills.edges.iter().any(|&(_, from, into)| (from, into) == (block, *to));
        left.extend(flow.successors(block).into_iter().filter(is_open));
    }
    true
}

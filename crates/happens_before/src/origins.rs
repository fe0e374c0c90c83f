//! Origins: who runs code, started where, running what. Knows spawn edges and calls; knows no order.

use crate::bits::Bits;
use crate::content::Content;
use crate::reach::{gets, passes_in};
use crate::types::{Origin, OriginInfo, OriginKind, SpawnedBy};
use crate::world::World;
use arena::{Id, IdSet, IndexVec};
use ir::{StmtId, Var};
use models::{Member, ModelId, Operand, Root, Spawn, Step};
use pointsto::{Act, Obj, SpawnEdge};
use std::collections::{BTreeMap, BTreeSet};

/// Calls followed to find out where a task comes from.
const MOST_EVENTS: usize = 64;

/// All origins and what they execute.
#[derive(Debug, Default, Clone)]
pub struct Origins {
    pub info: IndexVec<Origin, OriginInfo>,
    pub executes: IndexVec<Origin, IdSet<Act>>,
    /// The same, as dense bits.
    pub runs: IndexVec<Origin, Bits>,
    pub origins_of: IndexVec<Act, Vec<Origin>>,
    pub sites: Vec<Site>,
    /// Sites by the origin they start.
    pub sites_of: IndexVec<Origin, Vec<usize>>,
    /// The place of each among all, by content.
    pub ranks: IndexVec<Origin, u32>,
    pub in_order: Vec<Origin>,
}

/// A statement that starts an origin, with everything its models say about it.
#[derive(Debug, Clone)]
pub struct Site {
    pub child: Origin,
    pub act: Act,
    pub stmt: StmtId,
    /// Where it is decided that this task is started: the statement, or calls up to where the task comes from.
    pub events: Vec<(Act, StmtId)>,
    /// Steps of models that start it.
    pub steps: Vec<(ModelId, u16)>,
    /// What may be joined on.
    pub handles: IdSet<Obj>,
    pub handle_var: Option<Var>,
    pub executors: IdSet<Obj>,
    pub executor_var: Option<Var>,
    /// Handles whose origins have ended (or that have been signalled) before this one starts.
    pub after: Vec<IdSet<Obj>>,
    /// Several instances at once.
    pub parallel: bool,
    /// Again and again, one after the other.
    pub repeat: bool,
    /// The statement returns only after the origin has ended.
    pub waits: bool,
    /// One execution of the statement starts all tasks it is given, each once.
    pub together: bool,
    /// Never at the same time as other serial origins on the same executor.
    pub serial: bool,
}

impl Origins {
    pub fn new(world: &World<'_>) -> Origins {
        let mut origins = Origins::default();
        let pointsto = world.pointsto;
        for &entry in pointsto.entries() {
            origins.add(world, OriginKind::Entry, entry, &[entry], None);
        }
        let initializers = pointsto.initializers().iter().copied();
        if let Some(first) = initializers.min_by(|&a, &b| world.content.acts(a, b)) {
            origins.add(world, OriginKind::Initialization, first, pointsto.initializers(), None);
        }
        let mut by_task: BTreeMap<(Obj, Act), Vec<&SpawnEdge>> = BTreeMap::new();
        for edge in pointsto.spawns() {
            by_task.entry((edge.task, edge.entry)).or_default().push(edge);
        }
        for &(task, entry) in by_task.keys() {
            origins.add(world, OriginKind::Task, entry, &[entry], Some(task));
        }
        for act in pointsto.acts() {
            origins.origins_of.at(act);
        }
        for (origin, acts) in origins.executes.iter() {
            for act in acts.iter() {
                origins.origins_of[act].push(origin);
            }
        }
        origins.in_order = in_order(&world.content, &origins.info);
        origins.ranks = origins.info.ids().map(|_| 0).collect();
        for (rank, &origin) in origins.in_order.iter().enumerate() {
            origins.ranks[origin] = rank as u32;
        }
        let first_task = origins.info.len() - by_task.len();
        for (at, edges) in by_task.values().enumerate() {
            origins.add_sites(world, Origin::new(first_task + at), edges);
        }
        origins
    }

    pub fn initialization(&self) -> Option<Origin> {
        self.info.iter().find(|(_, info)| info.kind == OriginKind::Initialization).map(|(origin, _)| origin)
    }

    fn add(&mut self, world: &World<'_>, kind: OriginKind, entry: Act, roots: &[Act], task: Option<Obj>) {
        let runs = reachable(world, roots);
        let executes = runs.iter().map(Act::new).collect();
        self.info.push(OriginInfo {
            kind,
            entry,
            task,
            spawned_by: Vec::new(),
            overlaps_itself: false,
            runs_once: kind != OriginKind::Task,
            own_task: false,
            serial_on: None,
        });
        self.executes.push(executes);
        self.runs.push(runs);
        self.sites_of.push(Vec::new());
    }

    /// One site per statement, merging what several models say about it.
    fn add_sites(&mut self, world: &World<'_>, child: Origin, edges: &[&SpawnEdge]) {
        for edge in edges {
            let Some(Step::Spawn(spawn)) = world.models.model(edge.model).steps.get(edge.step as usize)
            else {
                continue;
            };
            let site = site(world, child, edge, spawn);
            let same = |other: &&usize| {
                let other = &self.sites[**other];
                (other.act, other.stmt) == (site.act, site.stmt)
            };
            match self.sites_of[child].iter().find(same).copied() {
                Some(at) => self.sites[at].merge(site),
                None => {
                    self.sites_of[child].push(self.sites.len());
                    for &parent in &self.origins_of[edge.from] {
                        let by = SpawnedBy { parent, act: edge.from, stmt: edge.stmt };
                        self.info[child].spawned_by.push(by);
                    }
                    self.sites.push(site);
                }
            }
        }
        let ranks = &self.ranks;
        self.info[child].spawned_by.sort_unstable_by(|a, b| {
            let by_frame = || world.content.frames((a.act, a.stmt), (b.act, b.stmt));
            ranks[a.parent].cmp(&ranks[b.parent]).then_with(by_frame)
        });
    }
}

fn in_order(content: &Content<'_>, info: &IndexVec<Origin, OriginInfo>) -> Vec<Origin> {
    let mut order: Vec<Origin> = info.ids().collect();
    order.sort_by(|&a, &b| {
        let (left, right) = (&info[a], &info[b]);
        let by_task = || match (left.task, right.task) {
            (Some(task), Some(other)) => content.objects(task, other),
            (task, other) => task.is_some().cmp(&other.is_some()),
        };
        left.kind.cmp(&right.kind).then_with(by_task).then_with(|| content.acts(left.entry, right.entry))
    });
    order
}

impl Site {
    /// Do both start at one execution of one statement, each by a step of its own?
    pub fn starts_with(&self, other: &Site) -> bool {
        (self.act, self.stmt) == (other.act, other.stmt)
            && (self.together && other.together
                || self.waits && other.waits && self.steps.iter().any(|step| !other.steps.contains(step)))
    }

    fn merge(&mut self, other: Site) {
        self.steps.extend(other.steps);
        self.handles.union_with(&other.handles);
        self.executors.union_with(&other.executors);
        if self.handle_var != other.handle_var {
            self.handle_var = None;
        }
        if self.executor_var != other.executor_var {
            self.executor_var = None;
        }
        self.after.retain(|after| other.after.contains(after));
        self.parallel |= other.parallel;
        self.together |= other.together;
        self.repeat |= other.repeat;
        self.waits &= other.waits;
        self.serial &= other.serial;
    }
}

fn site(world: &World<'_>, child: Origin, edge: &SpawnEdge, spawn: &Spawn) -> Site {
    let (act, stmt) = (edge.from, edge.stmt);
    let objects = |operand: &Option<_>| match operand {
        Some(operand) => world.operand(act, stmt, operand),
        None => IdSet::new(),
    };
    let var =
        |operand: &Option<_>| operand.as_ref().and_then(|operand| world.operand_var(act, stmt, operand));
    let mut handles = objects(&spawn.handle);
    if handles.contains(edge.task) {
        handles = std::iter::once(edge.task).collect();
    } else if spawn.handle.as_ref().is_some_and(|handle| handle.root == spawn.receiver.root) {
        // The task is kept in its handle: not in the others that the statement may be about.
        let keeps = |handle: &Obj| world.slots_of(*handle).any(|(_, held)| held.contains(edge.task));
        handles = handles.iter().filter(keeps).collect();
    }
    Site {
        child,
        act,
        stmt,
        events: events(world, act, stmt, edge.task),
        steps: vec![(edge.model, edge.step)],
        handles,
        handle_var: var(&spawn.handle),
        executors: objects(&spawn.executor),
        executor_var: var(&spawn.executor),
        after: spawn.after.iter().map(|operand| world.operand(act, stmt, operand)).collect(),
        parallel: spawn.parallel,
        repeat: spawn.repeat,
        waits: spawn.waits,
        together: is_element(&spawn.receiver),
        serial: spawn.serial,
    }
}

/// The statement, unless its method gets the task from its callers: then their calls, and so on. Step by step, so that
/// it does not depend on the order of the callers which of too many count.
fn events(world: &World<'_>, act: Act, stmt: StmtId, task: Obj) -> Vec<(Act, StmtId)> {
    let mut events = BTreeSet::new();
    let mut seen = BTreeSet::from([(act, stmt)]);
    let mut left = vec![(act, stmt)];
    while !left.is_empty() {
        let too_many = seen.len() > MOST_EVENTS;
        let mut next = Vec::new();
        for (act, stmt) in left {
            let callers = world.pointsto.callers(act).iter().copied();
            let bringing: Vec<_> = match gets(world, act, task) {
                true => callers.filter(|&(caller, at)| passes_in(world, caller, at, act, task)).collect(),
                false => Vec::new(),
            };
            if bringing.is_empty() || too_many {
                events.insert((act, stmt));
            }
            next.extend(bringing.into_iter().filter(|&frame| seen.insert(frame)));
        }
        left = next;
    }
    events.into_iter().collect()
}

/// Does the operand stand for the elements of a collection or array?
fn is_element(operand: &Operand) -> bool {
    matches!(operand.root, Root::Temp(_)) || operand.path.contains(&Member::Elements)
}

fn reachable(world: &World<'_>, roots: &[Act]) -> Bits {
    let mut reached = Bits::new();
    for &root in roots {
        world.components.reach(world.components.of(root), &mut reached);
    }
    world.components.acts(&reached)
}

//! Origins: who runs code, started where, running what. Knows spawn edges and calls; knows no order.

use crate::bits::Bits;
use crate::content::Content;
use crate::flow::after;
use crate::reach::{gets, passes_in};
use crate::types::{Origin, OriginInfo, OriginKind, SpawnedBy};
use crate::world::World;
use arena::{Id, IdSet, IndexVec};
use ir::{StmtId, Var};
use models::{Member, ModelId, Operand, Root, Source, Spawn, Step};
use pointsto::{Act, Obj, PointsToDelta, SpawnEdge};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Single, Sizes, note};

/// Calls followed to find out where a task comes from.
const MOST_EVENTS: usize = 64;

/// All origins and what they execute.
#[derive(Default)]
pub struct Origins {
    pub info: IndexVec<Origin, OriginInfo>,
    /// Where each begins.
    roots: IndexVec<Origin, Vec<Act>>,
    /// The activations of each.
    pub runs: IndexVec<Origin, Bits>,
    pub origins_of: IndexVec<Act, Vec<Origin>>,
    pub sites: Vec<Site>,
    /// Sites by the origin they start.
    pub sites_of: IndexVec<Origin, Vec<usize>>,
    /// The place of each among all, by content.
    pub ranks: IndexVec<Origin, u32>,
    pub in_order: Vec<Origin>,
    numbers: FxHashMap<Identity, Origin>,
    /// Numbers that nobody has.
    free: Vec<Origin>,
    started: Single<Started>,
    /// Activations that an origin begins with.
    begun: BTreeSet<Act>,
    /// What was known of each after the update before.
    told: IndexVec<Origin, OriginInfo>,
}

/// How origins come to be.
#[derive(Debug, Default, PartialEq, Eq)]
struct Started {
    sites: Vec<Site>,
    sites_of: IndexVec<Origin, Vec<usize>>,
    spawned_by: IndexVec<Origin, Vec<SpawnedBy>>,
}

/// A statement that starts an origin, with everything its models say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub child: Origin,
    pub act: Act,
    pub stmt: StmtId,
    /// Where it is decided that this task is started: the statement, or calls up to where the task comes from.
    pub events: Vec<(Act, StmtId)>,
    /// Statements between such an event and the start, in methods that get the task from their callers.
    pub passing: Vec<(Act, StmtId)>,
    /// One event may start the task several times.
    pub is_repeated: bool,
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
    /// Starts each handle at most once.
    pub once: bool,
    /// Never at the same time as other serial origins on the same executor.
    pub serial: bool,
}

impl Origins {
    /// Follows a change.
    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, follows: bool, changes: &mut Changes) {
        if changes.everything {
            *self = Origins::default();
        }
        let mut begun: Vec<Act> = Vec::new();
        if changes.contains(Read::all(Kind::Roots)) && self.number(find(world), &mut begun) {
            self.put_in_order(&world.content);
            changes.add(Read::all(Kind::Origins));
        }
        begun.retain(|&act| world.pointsto.runs(act));
        if changes.everything {
            self.run_all(world);
        } else {
            self.run_again(world, &begun, delta, changes);
        }
        let mut started = std::mem::take(&mut self.started);
        let before = started.update(follows, changes, || self.start(world));
        if let Some(before) = before
            && before != started.value
        {
            changes.add(Read::all(Kind::Origins));
        }
        self.sites.clone_from(&started.value.sites);
        self.sites_of.clone_from(&started.value.sites_of);
        for origin in self.info.ids().collect::<Vec<_>>() {
            self.info[origin].spawned_by.clone_from(&started.value.spawned_by[origin]);
        }
        self.started = started;
        if changes.contains(Read::all(Kind::Roots)) || changes.contains(Read::all(Kind::Origins)) {
            let entries = self.there().map(|(_, info)| info.entry);
            let begun = self.roots.iter().flat_map(|(_, roots)| roots).copied().chain(entries).collect();
            let before = std::mem::replace(&mut self.begun, begun);
            for &act in before.union(&self.begun) {
                changes.add(Read::of(Kind::Started, act));
            }
        }
    }

    /// Gives numbers to the origins there are: those that were there keep theirs, and none that has just become free is
    /// given to another. Adds the activations with which somebody else begins now. True if others are there than before.
    fn number(&mut self, found: Vec<Found>, begun: &mut Vec<Act>) -> bool {
        let mut is_other = false;
        let mut gone: FxHashMap<Identity, Origin> = std::mem::take(&mut self.numbers);
        for Found { kind, entry, task, roots } in found {
            let identity = identity(kind, entry, task);
            let origin = match gone.remove(&identity) {
                Some(origin) => origin,
                None => self.free.pop().unwrap_or_else(|| {
                    self.roots.push(Vec::new());
                    self.runs.push(Bits::new());
                    self.info.push(OriginInfo::gone())
                }),
            };
            let info = &mut self.info[origin];
            if (info.kind, info.entry, info.task) != (kind, entry, task) {
                is_other = true;
                *info = OriginInfo::new(kind, entry, task);
            }
            let before = std::mem::replace(&mut self.roots[origin], roots);
            let now = &self.roots[origin];
            begun.extend(now.iter().filter(|act| !before.contains(act)));
            begun.extend(before.iter().filter(|act| !now.contains(act)));
            self.numbers.insert(identity, origin);
        }
        for origin in gone.into_values() {
            is_other = true;
            self.info[origin] = OriginInfo::gone();
            begun.append(&mut self.roots[origin]);
            self.free.push(origin);
        }
        self.free.sort_unstable();
        is_other
    }

    /// Those that are there.
    pub fn there(&self) -> impl Iterator<Item = (Origin, &OriginInfo)> {
        self.info.iter().filter(|(_, info)| info.kind != OriginKind::Gone)
    }

    /// Tells of which origins other things are known than after the update before.
    pub fn tell(&mut self, changes: &mut Changes) {
        if !changes.everything && !changes.contains(Read::all(Kind::Origins)) {
            return;
        }
        let before = std::mem::replace(&mut self.told, self.info.clone());
        for (origin, info) in self.info.iter() {
            if !changes.everything && before.get(origin) != Some(info) {
                changes.add(Read::of(Kind::Origin, origin));
            }
        }
    }

    /// Is it the first activation of an origin?
    pub fn is_entry(&self, act: Act) -> bool {
        note(Read::of(Kind::Started, act));
        self.begun.contains(&act) && self.there().any(|(_, info)| info.entry == act)
    }

    /// The one handle by which the origin is started, if a handle is started at most once.
    pub fn only_handle(&self, origin: Origin) -> Option<Obj> {
        let mut sites = self.sites_of[origin].iter().map(|&at| &self.sites[at]);
        let handle = sites.next()?.only_handle()?;
        sites.all(|site| site.only_handle() == Some(handle)).then_some(handle)
    }

    /// The first activations of origins, each once.
    pub fn entries(&self) -> BTreeSet<Act> {
        note(Read::all(Kind::Roots));
        self.there().map(|(_, info)| info.entry).collect()
    }

    /// Who runs what, from nothing.
    fn run_all(&mut self, world: &World<'_>) {
        self.runs = self.roots.iter().map(|(_, roots)| reachable(world, roots)).collect();
        self.origins_of = IndexVec::new();
        for act in world.pointsto.acts() {
            self.origins_of.at(act);
        }
        for (origin, runs) in self.runs.iter() {
            for act in runs.iter() {
                self.origins_of[Act::new(act)].push(origin);
            }
        }
    }

    fn put_in_order(&mut self, content: &Content<'_>) {
        let info = &self.info;
        let mut order: Vec<Origin> = self.there().map(|(origin, _)| origin).collect();
        order.sort_by(|&a, &b| {
            let (left, right) = (&info[a], &info[b]);
            let by_task = || match (left.task, right.task) {
                (Some(task), Some(other)) => content.objects(task, other),
                (task, other) => task.is_some().cmp(&other.is_some()),
            };
            left.kind.cmp(&right.kind).then_with(by_task).then_with(|| content.acts(left.entry, right.entry))
        });
        self.in_order = order;
        self.ranks = self.info.ids().map(|_| 0).collect();
        for (rank, &origin) in self.in_order.iter().enumerate() {
            self.ranks[origin] = rank as u32;
        }
    }

    /// Who runs what, where calls changed: callers come first, and what is run by the same as before is not followed.
    fn run_again(&mut self, world: &World<'_>, begun: &[Act], delta: &PointsToDelta, changes: &mut Changes) {
        for &act in &delta.acts.removed {
            self.run_by(act, Vec::new(), changes);
        }
        let components = world.components;
        let mut left: BTreeSet<(u32, u32)> = BTreeSet::new();
        let of_roots = begun.iter().map(|&act| components.of(act));
        for component in components.touched().iter().copied().chain(of_roots) {
            left.insert((components.label(component), component));
        }
        while let Some((_, component)) = left.pop_last() {
            let members = components.members(component);
            let mut by: BTreeSet<Origin> = BTreeSet::new();
            for (origin, roots) in self.roots.iter() {
                if roots.iter().any(|root| members.contains(root)) {
                    by.insert(origin);
                }
            }
            for (caller, _) in components.callers(world.pointsto, component) {
                by.extend(self.origins_of.get(caller).into_iter().flatten());
            }
            let by: Vec<Origin> = by.into_iter().collect();
            let mut differs = false;
            for &act in members {
                differs |= self.run_by(act, by.clone(), changes);
            }
            if differs {
                let called = components.called(component);
                left.extend(called.map(|called| (components.label(called), called)));
            }
        }
    }

    fn run_by(&mut self, act: Act, by: Vec<Origin>, changes: &mut Changes) -> bool {
        let before = std::mem::replace(self.origins_of.at(act), by);
        let now = &self.origins_of[act];
        if before == *now {
            return false;
        }
        for &origin in before.iter().filter(|origin| !now.contains(origin)) {
            self.runs[origin].remove(act.index());
        }
        for &origin in now.iter().filter(|origin| !before.contains(origin)) {
            self.runs[origin].insert(act.index());
        }
        changes.add(Read::of(Kind::OriginsOf, act));
        true
    }

    /// Origins that run an activation.
    pub fn of(&self, act: Act) -> &[Origin] {
        note(Read::of(Kind::OriginsOf, act));
        self.origins_of.get(act).map_or(&[], Vec::as_slice)
    }

    pub fn initialization(&self) -> Option<Origin> {
        self.info.iter().find(|(_, info)| info.kind == OriginKind::Initialization).map(|(origin, _)| origin)
    }

    /// One site per statement, merging what several models say about it.
    fn start(&self, world: &World<'_>) -> Started {
        let mut by_task: BTreeMap<(Obj, Act), Vec<&SpawnEdge>> = BTreeMap::new();
        for edge in world.pointsto.spawns() {
            by_task.entry((edge.task, edge.entry)).or_default().push(edge);
        }
        let entries: BTreeSet<Act> = world.pointsto.spawns().iter().map(|edge| edge.entry).collect();
        let mut started = Started {
            sites: Vec::new(),
            sites_of: self.info.ids().map(|_| Vec::new()).collect(),
            spawned_by: self.info.ids().map(|_| Vec::new()).collect(),
        };
        for (child, info) in self.info.iter() {
            let edges = info.task.and_then(|task| by_task.get(&(task, info.entry)));
            for edge in edges.into_iter().flatten() {
                let Some(Step::Spawn(spawn)) = world.models.model(edge.model).steps.get(edge.step as usize)
                else {
                    continue;
                };
                let site = site(world, child, edge, spawn, &entries);
                let same = |other: &&usize| {
                    let other = &started.sites[**other];
                    (other.act, other.stmt) == (site.act, site.stmt)
                };
                match started.sites_of[child].iter().find(same).copied() {
                    Some(at) => started.sites[at].merge(site),
                    None => {
                        started.sites_of[child].push(started.sites.len());
                        for &parent in self.of(edge.from) {
                            let by = SpawnedBy { parent, act: edge.from, stmt: edge.stmt };
                            started.spawned_by[child].push(by);
                        }
                        started.sites.push(site);
                    }
                }
            }
            let ranks = &self.ranks;
            started.spawned_by[child].sort_unstable_by(|a, b| {
                let by_frame = || world.content.frames((a.act, a.stmt), (b.act, b.stmt));
                ranks[a.parent].cmp(&ranks[b.parent]).then_with(by_frame)
            });
        }
        started
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("origins", self.info.len());
    }
}

/// An origin, and all activations with which it begins.
struct Found {
    kind: OriginKind,
    entry: Act,
    task: Option<Obj>,
    roots: Vec<Act>,
}

/// What makes an origin the same one after a change.
type Identity = (OriginKind, Option<Act>, Option<Obj>);

fn identity(kind: OriginKind, entry: Act, task: Option<Obj>) -> Identity {
    // There is one for all class initialisers, whichever of them comes first.
    (kind, Some(entry).filter(|_| kind != OriginKind::Initialization), task)
}

/// All origins there are.
fn find(world: &World<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut add = |kind: OriginKind, entry: Act, roots: Vec<Act>, task: Option<Obj>| {
        found.push(Found { kind, entry, task, roots });
    };
    let pointsto = world.pointsto;
    for &entry in pointsto.entries() {
        add(OriginKind::Entry, entry, vec![entry], None);
    }
    let initializers = pointsto.initializers();
    if let Some(first) = initializers.iter().copied().min_by(|&a, &b| world.content.acts(a, b)) {
        add(OriginKind::Initialization, first, initializers.to_vec(), None);
    }
    let tasks: BTreeSet<(Obj, Act)> = pointsto.spawns().iter().map(|edge| (edge.task, edge.entry)).collect();
    for (task, entry) in tasks {
        add(OriginKind::Task, entry, vec![entry], Some(task));
    }
    found
}

impl Site {
    /// The handle, if there is one and it is started at most once.
    pub fn only_handle(&self) -> Option<Obj> {
        self.handles.single().filter(|_| self.once)
    }

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
        self.once &= other.once;
        self.serial &= other.serial;
    }
}

fn site(world: &World<'_>, child: Origin, edge: &SpawnEdge, spawn: &Spawn, entries: &BTreeSet<Act>) -> Site {
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
    let Decision { events, passing, is_repeated } =
        decision(world, (act, stmt), (edge.task, handles.single()), entries);
    Site {
        child,
        act,
        stmt,
        events,
        passing,
        is_repeated,
        steps: vec![(edge.model, edge.step)],
        handles,
        handle_var: var(&spawn.handle),
        executors: executors(world, edge, spawn).unwrap_or_else(|| objects(&spawn.executor)),
        executor_var: var(&spawn.executor),
        after: spawn.after.iter().map(|operand| world.operand(act, stmt, operand)).collect(),
        parallel: spawn.parallel,
        repeat: spawn.repeat,
        waits: spawn.waits,
        together: is_element(&spawn.receiver),
        once: spawn.once,
        serial: spawn.serial,
    }
}

/// The executor that the model of the call names itself, such as the event thread of a user interface. What a model
/// keeps for a moment belongs to no call, so that points-to cannot be asked.
fn executors(world: &World<'_>, edge: &SpawnEdge, spawn: &Spawn) -> Option<IdSet<Obj>> {
    let kept = spawn.executor.as_ref().filter(|operand| operand.path.is_empty())?;
    let Root::Temp(_) = kept.root else { return None };
    let named = world.models.model(edge.model).steps.iter().find_map(|step| match step {
        Step::Assign { dst, src: Source::The { class, .. } } if dst == kept => Some(class),
        _ => None,
    })?;
    let class = world.program.find_class(&named.replace('.', "/"))?;
    world.pointsto.the_object(class).map(|executor| std::iter::once(executor).collect())
}

/// Where it is decided that a task is started.
#[derive(Debug, Default)]
struct Decision {
    events: Vec<(Act, StmtId)>,
    passing: Vec<(Act, StmtId)>,
    is_repeated: bool,
}

/// The event is the statement, unless its method gets the task, or the handle that keeps it, from its callers: then
/// their calls, and so on. Step by step, so that it does not depend on the order of the callers which of too many count.
fn decision(
    world: &World<'_>,
    (act, stmt): (Act, StmtId),
    (task, handle): (Obj, Option<Obj>),
    entries: &BTreeSet<Act>,
) -> Decision {
    let subject = handle.filter(|&handle| !gets(world, act, task) && gets(world, act, handle));
    let subject = subject.unwrap_or(task);
    let mut events = BTreeSet::new();
    let mut passing: BTreeMap<Act, BTreeSet<StmtId>> = BTreeMap::new();
    let mut seen = BTreeSet::from([(act, stmt)]);
    let mut left = vec![(act, stmt)];
    while !left.is_empty() {
        let too_many = seen.len() > MOST_EVENTS;
        let mut next = Vec::new();
        for (act, stmt) in left {
            let callers = world.pointsto.callers(act).iter().copied();
            let bringing: Vec<_> = match gets(world, act, subject) {
                true => callers.filter(|&(caller, at)| passes_in(world, caller, at, act, subject)).collect(),
                false => Vec::new(),
            };
            if bringing.is_empty() || too_many || entries.contains(&act) {
                events.insert((act, stmt));
            }
            if !bringing.is_empty() {
                passing.entry(act).or_default().insert(stmt);
            }
            next.extend(bringing.into_iter().filter(|&frame| seen.insert(frame)));
        }
        left = next;
    }
    // One execution of a method that gets the task comes to its start twice: by a loop, by two calls, by recursion.
    let is_repeated = passing.iter().any(|(&act, stmts)| {
        let again = world.flow(act).map(|flow| after(flow, stmts.iter().copied(), None));
        again.is_none_or(|again| stmts.iter().any(|stmt| again.contains(stmt.index())))
    });
    let frames = passing.into_iter().flat_map(|(act, stmts)| stmts.into_iter().map(move |stmt| (act, stmt)));
    Decision { events: events.into_iter().collect(), passing: frames.collect(), is_repeated }
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

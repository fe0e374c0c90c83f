//! Which origins may be alive at which points of which others. Knows spawn sites, joins and reachability;
//! knows neither signals nor locks.

use crate::bits::Bits;
use crate::joins::{Covers, Joins, SiteJoins};
use crate::local::has_own_task;
use crate::origins::{Origins, Site};
use crate::reach::{Barrier, Kills, ReachSet, Start, gets, reach};
use crate::types::{Origin, OriginKind, Point};
use crate::unique::Unique;
use crate::world::{Permits, World};
use arena::{Id, IdSet, IndexVec, define_id};
use ir::{StmtId, StmtKind};
use models::{Source, Step};
use pointsto::{Act, Obj, Site as ObjectSite};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

define_id! {
    /// A computed reach set.
    ReachId
}

/// Longer lists of reach sets are merged.
const SHORT_LIST: usize = 3;

/// May-overlap between origins, precomputed so that a question costs a few look-ups.
#[derive(Debug, Default)]
pub struct Overlap {
    reaches: IndexVec<ReachId, ReachSet>,
    /// For Q and its descendant T: the points of Q at which T may be alive.
    alive: IndexVec<Origin, FxHashMap<Origin, Vec<ReachId>>>,
    /// Pairs that may be alive together wherever they are.
    together: IndexVec<Origin, Bits>,
    /// Origins that share an ancestor, or are one.
    related: IndexVec<Origin, Bits>,
    /// For T and an origin U that joins it without having started it: the points of U at which T may be alive.
    joined: FxHashMap<(Origin, Origin), ReachId>,
}

impl Overlap {
    pub fn new(world: &World<'_>, origins: &Origins, joins: &Joins, unique: &Unique) -> Overlap {
        let mut builder = Builder::new(world, origins, joins, unique);
        builder.find_alive();
        builder.find_together();
        builder.find_joined();
        builder.overlap
    }

    /// Writes down which origins overlap themselves.
    pub fn tell(&self, world: &World<'_>, origins: &mut Origins, unique: &Unique) {
        for origin in origins.info.ids() {
            let serial_on = serial_on(world, origins, unique, origin);
            let info = &mut origins.info[origin];
            info.serial_on = serial_on;
            info.overlaps_itself = self.together[origin].contains(origin.index()) && serial_on.is_none();
            if info.overlaps_itself {
                let own_task = has_own_task(world, origins, unique, origin);
                origins.info[origin].own_task = own_task;
            }
        }
    }

    /// May the points overlap without one's origin being the other's ancestor?
    pub fn are_together(&self, a: &Point, b: &Point) -> bool {
        self.together[a.origin].contains(b.origin.index())
            && !self.is_joined(a.origin, b)
            && !self.is_joined(b.origin, a)
    }

    /// Has whoever comes to the point joined an origin that it has not started?
    pub fn is_joined(&self, ended: Origin, point: &Point) -> bool {
        let joined = self.joined.get(&(ended, point.origin));
        joined.is_some_and(|&id| !self.reaches[id].contains(point.act, point.stmt))
    }

    /// May `child` be alive when `ancestor` is at this statement?
    pub fn is_alive(&self, ancestor: Origin, act: Act, stmt: StmtId, child: Origin) -> bool {
        let Some(reaches) = self.alive[ancestor].get(&child) else { return false };
        reaches.iter().any(|&id| self.reaches[id].contains(act, stmt))
    }

    pub fn is_ancestor(&self, ancestor: Origin, child: Origin) -> bool {
        self.alive[ancestor].contains_key(&child)
    }

    pub fn are_related(&self, a: Origin, b: Origin) -> bool {
        self.related[a].contains(b.index())
    }
}

/// Who starts whom.
struct Tree {
    /// Sites by the origin that executes them.
    sites: IndexVec<Origin, Vec<usize>>,
    /// Each origin with all its descendants.
    below: IndexVec<Origin, Bits>,
    /// Descendants before their ancestors, as far as the spawn graph has no cycles.
    order: Vec<Origin>,
    /// Origins that have ended before this one starts.
    after: IndexVec<Origin, Bits>,
}

struct Builder<'a, 'w> {
    world: &'a World<'w>,
    origins: &'a Origins,
    joins: &'a Joins,
    unique: &'a Unique,
    tree: Tree,
    overlap: Overlap,
    barriers: FxHashMap<Kills, Rc<Barrier>>,
    known: FxHashMap<(Origin, Start, Kills), ReachId>,
    /// T never outlives its ancestor A: `stays[A]` contains T. Pairs on a cycle are taken to outlive.
    stays: IndexVec<Origin, Bits>,
    done: FxHashSet<(Origin, Origin)>,
    /// What calls may run, as far as somebody asked.
    during: RefCell<FxHashMap<(Act, StmtId), Rc<Bits>>>,
}

impl<'a, 'w> Builder<'a, 'w> {
    fn new(world: &'a World<'w>, origins: &'a Origins, joins: &'a Joins, unique: &'a Unique) -> Self {
        let count = origins.info.len();
        let tree = Tree::new(origins, unique, &joins.covers);
        let overlap = Overlap {
            reaches: IndexVec::new(),
            alive: (0..count).map(|_| FxHashMap::default()).collect(),
            together: (0..count).map(|_| Bits::with_len(count)).collect(),
            related: (0..count).map(|_| Bits::with_len(count)).collect(),
            joined: FxHashMap::default(),
        };
        let stays = (0..count).map(|_| Bits::with_len(count)).collect();
        Builder {
            world,
            origins,
            joins,
            unique,
            tree,
            overlap,
            barriers: FxHashMap::default(),
            known: FxHashMap::default(),
            stays,
            done: FxHashSet::default(),
            during: RefCell::default(),
        }
    }

    /// alive_Q(T) = reach(Q, after the sites in Q of A, kills), for A = T or an ancestor of T, where the kills
    /// are the joins of T, and those of A if T cannot outlive A.
    fn find_alive(&mut self) {
        for q in self.tree.order.clone() {
            for at in self.tree.sites[q].clone() {
                let child = self.origins.sites[at].child;
                // Most origins outlive whoever starts them and are never joined: for those, one answer.
                let mut plain: Option<Vec<ReachId>> = None;
                for t in self.tree.below[child].iter().map(Origin::new).collect::<Vec<_>>() {
                    let is_plain = t != child
                        && !self.stays[child].contains(t.index())
                        && self.joins.of_origin[t].is_empty();
                    let reaches = match &plain {
                        Some(reaches) if is_plain => reaches.clone(),
                        _ => self.alive_from(q, at, t),
                    };
                    self.overlap.alive[q].entry(t).or_default().extend(&reaches);
                    if is_plain {
                        plain.get_or_insert(reaches);
                    }
                }
            }
            // What class initialisers start runs before the entry points do.
            if self.origins.info[q].kind == OriginKind::Entry
                && let Some(init) = self.origins.initialization()
            {
                let below = self.tree.below[init].iter().map(Origin::new);
                for t in below.filter(|&t| t != init).collect::<Vec<_>>() {
                    let kills = self.joins.of_origin[t].clone();
                    let start = Start::Entry(self.origins.info[q].entry);
                    let id = self.reach(q, start, kills);
                    self.overlap.alive[q].entry(t).or_default().push(id);
                }
            }
            self.merge_alive(q);
            for (t, reaches) in &self.overlap.alive[q] {
                if !reaches.iter().any(|&id| self.overlap.reaches[id].ends) {
                    self.stays[q].insert(t.index());
                }
            }
        }
    }

    /// Long lists of sets become one set, shared by all that have the same list.
    fn merge_alive(&mut self, q: Origin) {
        let Overlap { alive, reaches, .. } = &mut self.overlap;
        let mut merged: FxHashMap<Vec<ReachId>, ReachId> = FxHashMap::default();
        let mut lists: Vec<(&Origin, &mut Vec<ReachId>)> = alive[q].iter_mut().collect();
        lists.sort_unstable_by_key(|(t, _)| **t);
        for (_, list) in lists {
            list.sort_unstable();
            list.dedup();
            if list.len() > SHORT_LIST {
                let id = *merged.entry(list.clone()).or_insert_with(|| {
                    let mut all = ReachSet::default();
                    for &id in list.iter() {
                        all.union_with(&reaches[id]);
                    }
                    reaches.push(all)
                });
                *list = vec![id];
            }
        }
    }

    fn alive_from(&mut self, q: Origin, at: usize, t: Origin) -> Vec<ReachId> {
        let joins = self.joins;
        let site = &self.origins.sites[at];
        if site.waits && (t == site.child || self.stays[site.child].contains(t.index())) {
            return Vec::new();
        }
        let lifted = &joins.lifted[at];
        if lifted.is_empty() {
            let start = Start::After(site.act, site.stmt, self.subject(site));
            return self.alive_after(q, start, site.child, t, &joins.of_site[at]);
        }
        let inside = Start::Inside(site.act, site.stmt);
        let mut ids = self.alive_after(q, inside, site.child, t, &joins.of_site[at]);
        for call in lifted.iter().filter(|call| self.origins.runs[q].contains(call.act.index())) {
            let start = Start::After(call.act, call.stmt, self.subject(site));
            ids.extend(self.alive_after(q, start, site.child, t, &call.joins));
        }
        ids
    }

    /// Where T, started by (or being) A, may be alive from a start on.
    fn alive_after(
        &mut self,
        q: Origin,
        start: Start,
        a: Origin,
        t: Origin,
        joins: &SiteJoins,
    ) -> Vec<ReachId> {
        let stays = t == a || self.stays[a].contains(t.index());
        let mut kills = if t == a { Kills::default() } else { self.joins.of_origin[t].clone() };
        let without_same_value = if stays { kills.union(&joins.firm) } else { kills.clone() };
        if stays {
            kills = without_same_value.union(&joins.same_value);
        }
        let mut ids = vec![self.reach(q, start, kills.clone())];
        if kills != without_same_value {
            // Beyond the place where the joined value is made anew, the join is of another instance.
            for &(act, stmt) in &joins.renewed {
                if self.overlap.reaches[ids[0]].contains(act, stmt) {
                    // A call that comes back to the method works on a value of its own, and then returns.
                    let start = match self.comes_again(start, &kills, stmt) {
                        true => Start::After(act, stmt, None),
                        false => Start::Inside(act, stmt),
                    };
                    ids.push(self.reach(q, start, without_same_value.clone()));
                }
            }
        }
        ids
    }

    /// May the execution of the method that goes on from the start come to this statement, or to its end, before
    /// it comes to a kill?
    fn comes_again(&mut self, start: Start, kills: &Kills, stmt: StmtId) -> bool {
        let (Start::After(act, from, _) | Start::Inside(act, from)) = start else { return true };
        let barrier = self.barrier(kills);
        barrier
            .goes(self.world, act, from)
            .is_none_or(|(reached, ends)| ends || reached.contains(stmt.index()))
    }

    /// What the spawning method may get from its callers: the task, if it did not make it itself.
    fn subject(&self, site: &Site) -> Option<Obj> {
        self.origins.info[site.child].task.filter(|&task| gets(self.world, site.act, task))
    }

    fn reach(&mut self, q: Origin, start: Start, kills: Kills) -> ReachId {
        let key = (q, start, kills);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let barrier = self.barrier(&key.2);
        let set = reach(self.world, self.origins.info[q].entry, &self.origins.runs[q], &[start], &barrier);
        let id = self.overlap.reaches.push(set);
        self.known.insert(key, id);
        id
    }

    fn barrier(&mut self, kills: &Kills) -> Rc<Barrier> {
        let prepare = || Rc::new(Barrier::new(self.world, kills.clone()));
        self.barriers.entry(kills.clone()).or_insert_with(prepare).clone()
    }

    /// R1 and R2 may run at the same time iff in some common ancestor P, at the spawn of a child that leads to
    /// R2, R1 may be alive (or the other way round); R1 = R2 for an origin that overlaps itself.
    fn find_together(&mut self) {
        for p in self.origins.info.ids() {
            let members: Vec<Origin> = self.tree.below[p].iter().map(Origin::new).collect();
            for &member in &members {
                self.overlap.related[member].union_with(&self.tree.below[p]);
            }
            let mut by_life: BTreeMap<Vec<ReachId>, Vec<Origin>> = BTreeMap::new();
            for (&r1, reaches) in &self.overlap.alive[p] {
                by_life.entry(reaches.clone()).or_default().push(r1);
            }
            for at in self.tree.sites[p].clone() {
                let site = &self.origins.sites[at];
                // Nothing is known about the order of initialisers.
                let is_init = self.origins.info[p].kind == OriginKind::Initialization;
                for (life, alike) in &by_life {
                    let is_alive = self.is_alive_at(life, site);
                    let is_reached = self.is_reached(life, site);
                    for &r1 in alike {
                        let starts_inside = is_reached && self.starts_inside(p, r1, site);
                        if is_alive
                            || starts_inside
                            || is_init && !self.tree.below[site.child].contains(r1.index())
                        {
                            self.add_together(r1, site.child);
                        }
                    }
                }
            }
            self.start_together(p);
        }
        // Who starts only after another has ended never meets it.
        for late in self.origins.info.ids() {
            for early in self.tree.after[late].iter().map(Origin::new).collect::<Vec<_>>() {
                if !self.overlap.together[early].contains(early.index()) {
                    self.overlap.together[late].remove(early.index());
                    self.overlap.together[early].remove(late.index());
                }
            }
        }
    }

    /// May who lives there be alive when it is decided to start what the site starts?
    fn is_alive_at(&self, life: &[ReachId], site: &Site) -> bool {
        let alive = |act, stmt| life.iter().any(|&id| self.overlap.reaches[id].contains(act, stmt));
        self.is_reached(life, site) && site.events.iter().any(|&(act, stmt)| alive(act, stmt))
    }

    fn is_reached(&self, life: &[ReachId], site: &Site) -> bool {
        life.iter().any(|&id| self.overlap.reaches[id].contains(site.act, site.stmt))
    }

    /// Is it decided to start R1, or who leads to it, by the same call as what the site starts, or during it?
    fn starts_inside(&self, p: Origin, r1: Origin, site: &Site) -> bool {
        let sites = self.tree.sites[p].iter().map(|&at| &self.origins.sites[at]);
        let mut leading = sites.filter(|other| self.tree.below[other.child].contains(r1.index()));
        leading.any(|other| {
            other.events.iter().any(|event| {
                let during =
                    |of: &(Act, StmtId)| of != event && self.runs_during(*of).contains(event.0.index());
                site.events.iter().any(|of| of == event && other.stmt != site.stmt || during(of))
            })
        })
    }

    /// What a call may run.
    fn runs_during(&self, (act, stmt): (Act, StmtId)) -> Rc<Bits> {
        if let Some(known) = self.during.borrow().get(&(act, stmt)) {
            return known.clone();
        }
        let components = &self.world.components;
        let mut reached = Bits::new();
        for &callee in self.world.pointsto.callees(act, stmt) {
            components.reach(components.of(callee), &mut reached);
        }
        let acts = Rc::new(components.acts(&reached));
        self.during.borrow_mut().insert((act, stmt), acts.clone());
        acts
    }

    /// One execution of a statement that starts several origins, or several instances of one.
    fn start_together(&mut self, p: Origin) {
        let sites = self.tree.sites[p].clone();
        for &at in &sites {
            let site = &self.origins.sites[at];
            let one_task = self.origins.info[site.child].task.is_some_and(|task| self.unique.contains(task));
            if site.together && !one_task || site.parallel && !site.together {
                let below: Vec<Origin> = self.tree.below[site.child].iter().map(Origin::new).collect();
                for r1 in below {
                    self.add_together(r1, site.child);
                }
            }
            for &other in &sites {
                let other = &self.origins.sites[other];
                if other.child != site.child && site.starts_with(other) {
                    let below: Vec<Origin> = self.tree.below[site.child].iter().map(Origin::new).collect();
                    for r1 in below {
                        self.add_together(r1, other.child);
                    }
                }
            }
        }
    }

    /// The end of T happens before what follows a join of it, whoever joins. A thread that has not been started
    /// yet is not waited for: the joining origin U has to come after T, or T after all of U.
    fn find_joined(&mut self) {
        for t in self.origins.info.ids() {
            let kills = self.joins.of_origin[t].clone();
            let joining: IdSet<Origin> =
                kills.acts().flat_map(|act| self.origins.of(act).iter().copied()).collect();
            for u in joining.iter() {
                if u != t && self.overlap.together[t].contains(u.index()) && self.starts_apart(t, u) {
                    let start = Start::Entry(self.origins.info[u].entry);
                    let id = self.reach(u, start, kills.clone());
                    self.overlap.joined.insert((t, u), id);
                }
            }
        }
    }

    /// Does T never start while U is alive? Known if whoever starts T does so once, and all of U is below it.
    fn starts_apart(&self, t: Origin, u: Origin) -> bool {
        let info = &self.origins.info;
        self.origins.sites_of[t].iter().map(|&at| &self.origins.sites[at]).all(|site| {
            self.origins.of(site.act).iter().all(|&p| {
                info[p].runs_once
                    && info[p].kind != OriginKind::Initialization
                    && !self.overlap.is_alive(p, site.act, site.stmt, u)
                    && self.is_below_only(p, u)
            })
        })
    }

    /// Do all ways in which U comes to be started lead through P?
    fn is_below_only(&self, p: Origin, u: Origin) -> bool {
        let mut seen = Bits::new();
        let mut left = vec![u];
        while let Some(origin) = left.pop() {
            if origin == p || !seen.insert(origin.index()) {
                continue;
            }
            let starting = &self.origins.info[origin].spawned_by;
            if starting.is_empty() {
                return false;
            }
            left.extend(starting.iter().map(|by| by.parent));
        }
        u != p
    }

    /// `r1` may be alive while `child` is started, and so while anything below `child` runs.
    fn add_together(&mut self, r1: Origin, child: Origin) {
        if !self.done.insert((r1, child)) {
            return;
        }
        let below = &self.tree.below[child];
        self.overlap.together[r1].union_with(below);
        for r2 in below.iter() {
            self.overlap.together[Origin::new(r2)].insert(r1.index());
        }
    }
}

impl Tree {
    fn new(origins: &Origins, unique: &Unique, covers: &Covers) -> Tree {
        let count = origins.info.len();
        let mut sites: IndexVec<Origin, Vec<usize>> = (0..count).map(|_| Vec::new()).collect();
        for (at, site) in origins.sites.iter().enumerate() {
            for &parent in origins.of(site.act) {
                sites[parent].push(at);
            }
        }
        let started = |origin: Origin| {
            let mut children: Vec<Origin> = sites[origin].iter().map(|&at| origins.sites[at].child).collect();
            children.sort_unstable_by_key(|&child| origins.ranks[child]);
            children.dedup();
            children
        };
        let children: IndexVec<Origin, Vec<Origin>> = origins.info.ids().map(started).collect();
        let mut below: IndexVec<Origin, Bits> = IndexVec::new();
        for origin in origins.info.ids() {
            let mut seen = Bits::with_len(count);
            let mut left = vec![origin];
            // What class initialisers start is below every entry point as well.
            if origins.info[origin].kind == OriginKind::Entry {
                left.extend(origins.initialization().into_iter().flat_map(|init| &children[init]));
            }
            while let Some(next) = left.pop() {
                if seen.insert(next.index()) {
                    left.extend(&children[next]);
                }
            }
            below.push(seen);
        }
        let order = postorder(origins, &children);
        let after = started_after(origins, unique, covers);
        Tree { sites, below, order, after }
    }
}

fn postorder(origins: &Origins, children: &IndexVec<Origin, Vec<Origin>>) -> Vec<Origin> {
    let count = children.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = Bits::with_len(count);
    for &root in &origins.in_order {
        if !seen.insert(root.index()) {
            continue;
        }
        let mut stack = vec![(root, children[root].clone())];
        while let Some((origin, left)) = stack.last_mut() {
            match left.pop() {
                Some(child) => {
                    if seen.insert(child.index()) {
                        stack.push((child, children[child].clone()));
                    }
                }
                None => {
                    order.push(*origin);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// T2 starts after T1 has ended iff every spawn of T2 names T1's only handle, one concrete object, or one that
/// covers it, as one of those it waits for; or if all who start T2 start after T1; and so on along chains.
fn started_after(origins: &Origins, unique: &Unique, covers: &Covers) -> IndexVec<Origin, Bits> {
    let count = origins.info.len();
    let handle = |origin: Origin| {
        let mut handles = IdSet::new();
        for &at in &origins.sites_of[origin] {
            handles.union_with(&origins.sites[at].handles);
        }
        handles.single().filter(|&obj| unique.contains(obj))
    };
    let mut by_handle: FxHashMap<Obj, Vec<Origin>> = FxHashMap::default();
    for origin in origins.info.ids() {
        if let Some(handle) = handle(origin) {
            by_handle.entry(handle).or_default().push(origin);
        }
    }
    let direct = |origin: Origin| -> Vec<Origin> {
        let sites = &origins.sites_of[origin];
        let Some((&first, rest)) = sites.split_first() else { return Vec::new() };
        let everywhere = |after: &&IdSet<Obj>| rest.iter().all(|&at| origins.sites[at].after.contains(after));
        let handles = origins.sites[first].after.iter().filter(everywhere).filter_map(IdSet::single);
        let mut ended: IdSet<Obj> = handles.filter(|&handle| unique.contains(handle)).collect();
        ended.union_with(&covers.of(ended.iter()));
        let early = ended.iter().flat_map(|handle| by_handle.get(&handle).into_iter().flatten());
        early.copied().filter(|&early| early != origin).collect()
    };
    let direct: IndexVec<Origin, Vec<Origin>> = origins.info.ids().map(direct).collect();
    let mut after: IndexVec<Origin, Bits> = (0..count).map(|_| Bits::new()).collect();
    let mut is_done = direct.iter().all(|(_, early)| early.is_empty());
    while !is_done {
        is_done = true;
        for origin in origins.info.ids() {
            let parents = origins.info[origin].spawned_by.iter().map(|by| by.parent);
            let mut early = parents
                .filter(|&parent| parent != origin)
                .map(|parent| after[parent].clone())
                .reduce(|both, other| both.iter().filter(|&at| other.contains(at)).collect())
                .unwrap_or_default();
            for &ended in &direct[origin] {
                early.insert(ended.index());
                early.union_with(&after[ended]);
            }
            for ended in early.iter().filter(|&ended| ended != origin.index()) {
                is_done &= !after[origin].insert(ended);
            }
        }
    }
    after
}

/// The one executor on which all tasks of the origin run one after the other.
fn serial_on(world: &World<'_>, origins: &Origins, unique: &Unique, origin: Origin) -> Option<Obj> {
    let mut found = None;
    for &at in &origins.sites_of[origin] {
        let site = &origins.sites[at];
        let executor = site.executors.single()?;
        let one_thread = world.permits(executor) == Some(Permits::Lock);
        if !site.serial && !one_thread && !is_serial(world, executor) {
            return None;
        }
        let is_one = unique.contains(executor);
        if !is_one || found.is_some_and(|known| known != executor) {
            return None;
        }
        found = Some(executor);
    }
    found
}

/// Was the executor made by a step that says `serial`?
fn is_serial(world: &World<'_>, executor: Obj) -> bool {
    made_by(world, executor, |source| {
        matches!(source, Source::New { serial: true, .. } | Source::The { serial: true, .. })
    })
}

fn made_by(world: &World<'_>, obj: Obj, test: impl Fn(&Source) -> bool) -> bool {
    let ObjectSite::Model(method, stmt, step) = world.pointsto.object(obj).site else { return false };
    let Some(body) = world.program.lowered(method) else { return false };
    if !matches!(body.stmts[stmt].kind, StmtKind::Call { .. }) {
        return false;
    }
    world.acts_of(method).iter().any(|&act| {
        world.pointsto.models_at(act, stmt).iter().any(|&model| {
            let step = world.models.model(model).steps.get(step as usize);
            matches!(step, Some(Step::Assign { src, .. }) if test(src))
        })
    })
}

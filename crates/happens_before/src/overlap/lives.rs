//! Where origins may be alive: for each and its ancestors, what those reach from the statements that start it. Knows
//! joins; does not know who meets whom.

use super::reaches::{Barriers, ReachId, Reaches};
use super::tree::Tree;
use crate::bits::Bits;
use crate::joins::{Joins, SiteJoins};
use crate::origins::{Origins, Site};
use crate::reach::{Barrier, Climb, Kills, Start, gets};
use crate::types::{Origin, OriginKind};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IdSet, IndexVec};
use ir::StmtId;
use pointsto::{Act, Obj};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Kind, Read, note};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lives {
    /// For Q and its descendant T: the points of Q at which T may be alive.
    pub alive: IndexVec<Origin, BTreeMap<Origin, Vec<ReachId>>>,
    /// For T and an origin U that has a join of it: the points of U before that.
    pub unjoined: BTreeMap<(Origin, Origin), ReachId>,
}

impl Lives {
    pub fn new(
        barriers: &Barriers<'_, '_>,
        origins: &Origins,
        joins: &Joins,
        unique: &Unique,
        reaches: &mut Reaches,
    ) -> Lives {
        note(Read::all(Kind::Origins));
        note(Read::all(Kind::Joins));
        reaches.begin();
        let tree = &Tree::new(origins, unique, &joins.covers);
        let count = origins.info.len();
        let lives = Lives { alive: (0..count).map(|_| BTreeMap::new()).collect(), unjoined: BTreeMap::new() };
        let stays = (0..count).map(|_| Bits::with_len(count)).collect();
        let mut finder =
            Finder { world: barriers.world, barriers, origins, joins, tree, reaches, lives, stays };
        finder.find_alive();
        finder.find_unjoined();
        finder.lives
    }

    /// Pairs that others are known of.
    pub fn differing<'a>(&'a self, other: &'a Lives) -> impl Iterator<Item = (Origin, Origin)> + 'a {
        let alive = self.alive.iter().flat_map(|(origin, alive)| {
            let now = &other.alive[origin];
            let children = alive.keys().chain(now.keys()).copied();
            children.filter(|child| alive.get(child) != now.get(child)).map(move |child| (origin, child))
        });
        let new = other.alive.iter().filter(|&(origin, _)| self.alive.get(origin).is_none());
        let alive =
            alive.chain(new.flat_map(|(origin, alive)| alive.keys().map(move |&child| (origin, child))));
        let joins = self.unjoined.keys().chain(other.unjoined.keys()).copied();
        alive.chain(joins.filter(|pair| self.unjoined.get(pair) != other.unjoined.get(pair)))
    }

    /// The lists of reaches that there are.
    pub fn lists(&self) -> BTreeSet<Vec<ReachId>> {
        let alive = self.alive.iter().flat_map(|(_, alive)| alive.values().cloned());
        alive.chain(self.unjoined.values().map(|&reach| vec![reach])).collect()
    }
}

struct Finder<'a, 'b, 'w> {
    world: &'a World<'w>,
    barriers: &'a Barriers<'b, 'w>,
    origins: &'a Origins,
    joins: &'a Joins,
    tree: &'a Tree,
    reaches: &'a mut Reaches,
    lives: Lives,
    /// T never outlives its ancestor A: `stays[A]` contains T. Pairs on a cycle are taken to outlive.
    stays: IndexVec<Origin, Bits>,
}

impl Finder<'_, '_, '_> {
    /// alive_Q(T) = reach(Q, after the sites in Q of A, kills), for A = T or an ancestor of T, where the kills
    /// are the joins of T, and those of A if T cannot outlive A.
    fn find_alive(&mut self) {
        let (origins, joins, tree) = (self.origins, self.joins, self.tree);
        for &q in &tree.order {
            let mut ending = Bits::new();
            for &at in &tree.sites[q] {
                let child = origins.sites[at].child;
                // Most origins outlive whoever starts them and are never joined: for those, one answer.
                let mut plain: Option<(Vec<ReachId>, bool)> = None;
                for t in tree.below[child].iter().map(Origin::new) {
                    let is_plain = t != child
                        && !self.stays[child].contains(t.index())
                        && self.joins.of_origin[t].is_empty();
                    let (reaches, ends) = match &plain {
                        Some(known) if is_plain => known.clone(),
                        _ => self.alive_from(q, at, t),
                    };
                    self.lives.alive[q].entry(t).or_default().extend(&reaches);
                    if ends {
                        ending.insert(t.index());
                    }
                    if is_plain {
                        plain.get_or_insert((reaches, ends));
                    }
                }
            }
            // What class initialisers start runs before the entry points do.
            if self.origins.info[q].kind == OriginKind::Entry
                && let Some(init) = self.origins.initialization()
            {
                let below = tree.below[init].iter().map(Origin::new);
                for t in below.filter(|&t| t != init) {
                    let start = Start::Entry(self.origins.info[q].entry);
                    let (reach, climb) = self.reach(q, start, joins.of_origin[t].clone());
                    self.lives.alive[q].entry(t).or_default().push(reach);
                    if climb.ends {
                        ending.insert(t.index());
                    }
                }
            }
            for (t, reaches) in &mut self.lives.alive[q] {
                reaches.sort_unstable();
                reaches.dedup();
                if !ending.contains(t.index()) {
                    self.stays[q].insert(t.index());
                }
            }
        }
    }

    /// The reaches, and whether one of them comes to the end of the origin.
    fn alive_from(&mut self, q: Origin, at: usize, t: Origin) -> (Vec<ReachId>, bool) {
        let (origins, joins) = (self.origins, self.joins);
        let site = &origins.sites[at];
        let mut found = (Vec::new(), false);
        if site.waits && (t == site.child || self.stays[site.child].contains(t.index())) {
            return found;
        }
        let lifted = &joins.lifted[at];
        if lifted.is_empty() {
            let start = Start::After(site.act, site.stmt, self.subject(site));
            self.alive_after(q, start, site.child, t, &joins.of_site[at], &mut found);
            return found;
        }
        let inside = Start::Inside(site.act, site.stmt);
        self.alive_after(q, inside, site.child, t, &joins.of_site[at], &mut found);
        for call in lifted.iter().filter(|call| origins.of(call.act).contains(&q)) {
            let start = Start::After(call.act, call.stmt, self.subject(site));
            self.alive_after(q, start, site.child, t, &call.joins, &mut found);
        }
        found
    }

    /// Where T, started by (or being) A, may be alive from a start on.
    fn alive_after(
        &mut self,
        q: Origin,
        start: Start,
        a: Origin,
        t: Origin,
        joins: &SiteJoins,
        (ids, ends): &mut (Vec<ReachId>, bool),
    ) {
        let stays = t == a || self.stays[a].contains(t.index());
        let mut kills = if t == a { Kills::default() } else { self.joins.of_origin[t].clone() };
        let without_same_value = if stays { kills.union(&joins.firm) } else { kills.clone() };
        if stays {
            kills = without_same_value.union(&joins.same_value);
        }
        let (id, climb) = self.reach(q, start, kills.clone());
        ids.push(id);
        *ends |= climb.ends;
        if kills != without_same_value {
            // Beyond the place where the joined value is made anew, the join is of another instance.
            let reached = Climb::clone(&climb).close(self.world);
            for &(act, stmt) in &joins.renewed {
                if reached.contains(act, stmt) {
                    // A call that comes back to the method works on a value of its own, and then returns.
                    let start = match self.comes_again(start, &kills, stmt) {
                        true => Start::After(act, stmt, None),
                        false => Start::Inside(act, stmt),
                    };
                    let (id, climb) = self.reach(q, start, without_same_value.clone());
                    ids.push(id);
                    *ends |= climb.ends;
                }
            }
        }
    }

    /// May the execution of the method that goes on from the start come to this statement, or to its end, before
    /// it comes to a kill?
    fn comes_again(&self, start: Start, kills: &Kills, stmt: StmtId) -> bool {
        let (Start::After(act, from, _) | Start::Inside(act, from)) = start else { return true };
        Barrier::new(self.world, kills.clone())
            .goes(act, from)
            .is_none_or(|(reached, ends)| ends || reached.contains(stmt.index()))
    }

    /// What the spawning method may get from its callers: the task, if it did not make it itself.
    fn subject(&self, site: &Site) -> Option<Obj> {
        self.origins.info[site.child].task.filter(|&task| gets(self.world, site.act, task))
    }

    /// Kills in code that the origin does not run do not matter to it: without them, most questions are the same one.
    fn reach(&mut self, q: Origin, start: Start, mut kills: Kills) -> (ReachId, Arc<Climb>) {
        let runs = &self.origins.runs[q];
        kills.retain(|act| {
            note(Read::of(Kind::OriginsOf, act));
            runs.contains(act.index())
        });
        self.reaches.ask(self.barriers, self.origins, (q, start, kills))
    }

    /// Who joins T, wherever T was started.
    fn find_unjoined(&mut self) {
        let (origins, joins) = (self.origins, self.joins);
        for t in origins.info.ids() {
            let kills = &joins.of_origin[t];
            let joining: IdSet<Origin> =
                kills.acts().flat_map(|act: Act| self.origins.of(act).iter().copied()).collect();
            for u in joining.iter().filter(|&u| u != t) {
                let start = Start::Entry(self.origins.info[u].entry);
                let (reach, _) = self.reach(u, start, kills.clone());
                self.lives.unjoined.insert((t, u), reach);
            }
        }
    }
}

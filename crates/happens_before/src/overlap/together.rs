//! Who may run at the same time as whom. Knows where origins are alive, and what is started there.

use super::Overlap;
use super::reaches::ReachId;
use super::tree::Tree;
use crate::bits::Bits;
use crate::joins::Joins;
use crate::origins::{Origins, Site};
use crate::types::{Origin, OriginKind};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::StmtId;
use pointsto::Act;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use track::{Kind, Read, note};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// Pairs that may be alive together wherever they are.
    pub together: IndexVec<Origin, Bits>,
    /// Origins that share an ancestor, or are one.
    pub related: IndexVec<Origin, Bits>,
    /// For T and an origin U that joins it without having started it: the points of U at which T may be alive.
    pub joined: BTreeMap<(Origin, Origin), ReachId>,
}

impl Together {
    pub fn new(
        world: &World<'_>,
        origins: &Origins,
        joins: &Joins,
        unique: &Unique,
        overlap: &Overlap,
    ) -> Together {
        note(Read::all(Kind::Origins));
        note(Read::all(Kind::Joins));
        let tree = &Tree::new(origins, unique, &joins.covers);
        let count = origins.info.len();
        let bits = || (0..count).map(|_| Bits::with_len(count)).collect();
        let together = Together { together: bits(), related: bits(), joined: BTreeMap::new() };
        let done = FxHashSet::default();
        let (inside, during) = Default::default();
        let mut finder = Finder { world, origins, unique, tree, overlap, together, done, inside, during };
        finder.find_together();
        finder.find_joined();
        finder.together
    }

    /// Pairs that others are known of.
    pub fn differing<'a>(&'a self, other: &'a Together) -> impl Iterator<Item = (Origin, Origin)> + 'a {
        // Numbers are never taken away.
        let pairs = other.together.ids().flat_map(|a| other.together.ids().map(move |b| (a, b)));
        let differs = move |&(a, b): &(Origin, Origin)| {
            let differ = |one: &IndexVec<Origin, Bits>, two: &IndexVec<Origin, Bits>| {
                one.get(a).is_some_and(|one| one.contains(b.index())) != two[a].contains(b.index())
            };
            differ(&self.together, &other.together)
                || differ(&self.related, &other.related)
                || self.joined.get(&(a, b)) != other.joined.get(&(a, b))
        };
        pairs.filter(differs)
    }
}

struct Finder<'a, 'w> {
    world: &'a World<'w>,
    origins: &'a Origins,
    unique: &'a Unique,
    tree: &'a Tree,
    overlap: &'a Overlap,
    together: Together,
    done: FxHashSet<(Origin, Origin)>,
    /// For two sites, by number: whether the first may be decided by the same call as the second, or during it.
    inside: FxHashMap<(usize, usize), bool>,
    /// For a call and an activation: whether the call may run it.
    during: FxHashMap<((Act, StmtId), Act), bool>,
}

impl Finder<'_, '_> {
    /// R1 and R2 may run at the same time iff in some common ancestor P, at the spawn of a child that leads to
    /// R2, R1 may be alive (or the other way round); R1 = R2 for an origin that overlaps itself.
    fn find_together(&mut self) {
        for p in self.origins.info.ids() {
            let members: Vec<Origin> = self.tree.below[p].iter().map(Origin::new).collect();
            for &member in &members {
                self.together.related[member].union_with(&self.tree.below[p]);
            }
            let mut by_life: BTreeMap<&Vec<ReachId>, Vec<Origin>> = BTreeMap::new();
            for (&r1, reaches) in &self.overlap.lives.value.alive[p] {
                by_life.entry(reaches).or_default().push(r1);
            }
            for at in self.tree.sites[p].clone() {
                let site = &self.origins.sites[at];
                // Nothing is known about the order of initialisers.
                let is_init = self.origins.info[p].kind == OriginKind::Initialization;
                for (life, alike) in &by_life {
                    let is_alive = self.is_alive_at(life, site);
                    let is_reached = self.is_reached(life, site);
                    for &r1 in alike {
                        if self.comes_after_only(r1, site.child) {
                            continue;
                        }
                        if is_alive
                            || is_reached && self.starts_inside(p, r1, at)
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
                if !self.together.together[early].contains(early.index()) {
                    self.together.together[late].remove(early.index());
                    self.together.together[early].remove(late.index());
                }
            }
        }
    }

    /// Does R1 come to be by the only start of the child, so that it is never alive before?
    fn comes_after_only(&self, r1: Origin, child: Origin) -> bool {
        let info = &self.origins.info[child];
        note(Read::of(Kind::Once, info.entry));
        info.runs_once && (r1 == child || self.is_below_only(child, r1))
    }

    /// May who lives there be alive when it is decided to start what the site starts?
    fn is_alive_at(&self, life: &[ReachId], site: &Site) -> bool {
        let mut events = site.events.iter();
        self.is_reached(life, site) && events.any(|&(act, stmt)| self.overlap.contains(life, act, stmt))
    }

    fn is_reached(&self, life: &[ReachId], site: &Site) -> bool {
        self.overlap.contains(life, site.act, site.stmt)
    }

    /// Is it decided to start R1, or who leads to it, by the same call as what the site starts, or during it?
    fn starts_inside(&mut self, p: Origin, r1: Origin, at: usize) -> bool {
        let tree = self.tree;
        let leading = |&&other: &&usize| tree.below[self.origins.sites[other].child].contains(r1.index());
        let leading: Vec<usize> = tree.sites[p].iter().filter(leading).copied().collect();
        leading.into_iter().any(|other| self.is_inside(other, at))
    }

    /// The same for what two sites start; many origins ask about the same two.
    fn is_inside(&mut self, other: usize, at: usize) -> bool {
        if let Some(&known) = self.inside.get(&(other, at)) {
            return known;
        }
        let (inner, site) = (&self.origins.sites[other], &self.origins.sites[at]);
        let again = inner.stmt != site.stmt || inner.is_repeated;
        let found = inner.events.iter().any(|event| {
            let is_again = again && site.events.contains(event);
            is_again || site.events.iter().any(|of| of != event && self.runs_during(*of, event.0))
        });
        self.inside.insert((other, at), found);
        found
    }

    /// May the call run the activation?
    fn runs_during(&mut self, (act, stmt): (Act, StmtId), run: Act) -> bool {
        let world = self.world;
        *self.during.entry(((act, stmt), run)).or_insert_with(|| {
            let mut callees = world.pointsto.callees(act, stmt).iter();
            let leading = world.callers_of([run]);
            callees.any(|&callee| leading.contains(callee))
        })
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
        for (&(t, u), &reach) in &self.overlap.lives.value.unjoined {
            if self.together.together[t].contains(u.index()) && self.starts_apart(t, u) {
                self.together.joined.insert((t, u), reach);
            }
        }
    }

    /// Does T never start while U is alive? Known if whoever starts T does so once, and all of U is below it.
    fn starts_apart(&self, t: Origin, u: Origin) -> bool {
        let info = &self.origins.info;
        self.origins.sites_of[t].iter().map(|&at| &self.origins.sites[at]).all(|site| {
            self.origins.of(site.act).iter().all(|&p| {
                note(Read::of(Kind::Once, info[p].entry));
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
        self.together.together[r1].union_with(below);
        for r2 in below.iter() {
            self.together.together[Origin::new(r2)].insert(r1.index());
        }
    }
}

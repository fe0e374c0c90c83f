//! What happens at most once in a run: activations, and allocations, whose abstract object then is one
//! concrete object. Knows calls, spawns and loops; knows no order.

use crate::bits::Bits;
use crate::origins::Origins;
use crate::world::World;
use arena::Id;
use ir::{StmtId, StmtKind};
use pointsto::{Act, Context, Obj, PointsToDelta, Site};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Sizes, note};

pub struct Unique {
    sources: Memo<Act, Source>,
    /// By the activation that they come from.
    follow: FxHashMap<Act, BTreeSet<Act>>,
    /// Activations that run at most once.
    once: Bits,
    objects: Memo<Obj, ()>,
    follows: bool,
}

/// How an activation comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// By the JVM, once.
    Start,
    /// By one statement of another, which executes once whenever that does.
    One(Act),
    Many,
}

impl Default for Unique {
    fn default() -> Unique {
        Unique::new(false)
    }
}

impl Unique {
    pub fn new(follows: bool) -> Unique {
        Unique {
            sources: Memo::new(Kind::Other, follows),
            follow: FxHashMap::default(),
            once: Bits::new(),
            objects: Memo::new(Kind::Unique, follows),
            follows,
        }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let (mut acts, mut objects): (BTreeSet<Act>, BTreeSet<Obj>) = if changes.everything {
            *self = Unique::new(self.follows);
            (world.pointsto.acts().collect(), world.pointsto.objects().collect())
        } else {
            let acts = delta.acts.added.iter().chain(&delta.acts.removed).copied().collect();
            let objects = delta.objects.added.iter().chain(&delta.objects.removed).copied().collect();
            (acts, objects)
        };
        acts.extend(self.sources.stale(changes));
        let ways = Ways::new(world, origins);
        let acts: Vec<Act> = acts.into_iter().collect();
        let redone = self.sources.redo(&acts, changes, |act| ways.source(act));
        self.follow_sources(redone, changes);
        objects.extend(self.objects.stale(changes));
        let objects: Vec<Obj> = objects.into_iter().collect();
        let mut known = std::mem::replace(&mut self.objects, Memo::new(Kind::Unique, self.follows));
        known.update(&objects, changes, |obj| self.is_unique(world, obj).then_some(()));
        self.objects = known;
    }

    /// An activation runs once iff there is exactly one way it comes to run, by a statement that executes once. Who
    /// is reached at all is reached from the start, so that recursion never counts as once.
    fn follow_sources(&mut self, redone: Vec<(Act, Option<Source>)>, changes: &mut Changes) {
        let mut left: Vec<Act> = Vec::new();
        for (act, before) in redone {
            if let Some(Source::One(from)) = before
                && let Some(followers) = self.follow.get_mut(&from)
            {
                followers.remove(&act);
            }
            if let Some(Source::One(from)) = self.sources.peek(act) {
                self.follow.entry(*from).or_default().insert(act);
            }
            left.push(act);
        }
        let mut affected: BTreeSet<Act> = BTreeSet::new();
        while let Some(act) = left.pop() {
            if affected.insert(act) {
                left.extend(self.follow.get(&act).into_iter().flatten());
            }
        }
        for act in affected {
            let is_once = self.comes_from_start(act);
            let was_once = match is_once {
                true => !self.once.insert(act.index()),
                false => self.once.remove(act.index()),
            };
            if is_once != was_once {
                changes.add(Read::of(Kind::Once, act));
            }
        }
    }

    fn comes_from_start(&self, mut act: Act) -> bool {
        for _ in 0..=self.sources.len() {
            match self.sources.peek(act) {
                Some(Source::Start) => return true,
                Some(Source::One(from)) => act = *from,
                Some(Source::Many) | None => return false,
            }
        }
        false
    }

    pub fn contains(&self, obj: Obj) -> bool {
        self.objects.get(obj).is_some()
    }

    pub fn runs_once(&self, act: Act) -> bool {
        note(Read::of(Kind::Once, act));
        self.once.contains(act.index())
    }

    /// Does the statement of this activation execute at most once?
    pub fn executes_once(&self, world: &World<'_>, act: Act, stmt: StmtId) -> bool {
        self.runs_once(act) && world.flow(act).is_some_and(|flow| !flow.in_loop(stmt))
    }

    /// allocated by one statement of one activation, which executes at most once  ⟹  one concrete object
    fn is_unique(&self, world: &World<'_>, obj: Obj) -> bool {
        match world.pointsto.object(obj).site {
            Site::Literal(_) | Site::The => true,
            Site::Merged | Site::Opaque => false,
            Site::Alloc(..) | Site::Model(..) => {
                maker(world, obj).is_some_and(|(maker, stmt)| self.executes_once(world, maker, stmt))
            }
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.sources.sizes(sizes);
        self.objects.sizes(sizes);
        sizes.add("followers", self.follow.len());
    }
}

/// The one statement of one activation that allocates the object.
fn maker(world: &World<'_>, obj: Obj) -> Option<(Act, StmtId)> {
    let object = world.pointsto.object(obj);
    let (Site::Alloc(method, stmt) | Site::Model(method, stmt, _)) = object.site else { return None };
    let allocates = |act: Act| {
        let Some(body) = world.program.lowered(method) else { return false };
        // The statement may be gone, and the object with it.
        let Some(info) = body.stmts.get(stmt) else { return false };
        match &info.kind {
            StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } | StmtKind::Lambda { dst, .. } => {
                world.pointsto.pts(act, *dst).contains(obj)
            }
            StmtKind::Call { dst: Some(dst), .. } => world.pointsto.pts(act, *dst).contains(obj),
            _ => true,
        }
    };
    // Tasks that tasks allocate carry the outer context, so that any activation may have made them.
    let exact = !matches!(world.pointsto.context(object.ctx), Context::Origin(_));
    let acts = world.acts_of(method).iter().copied();
    let mut makers = acts.filter(|&act| (!exact || world.pointsto.ctx(act) == object.ctx) && allocates(act));
    match (makers.next(), makers.next()) {
        (Some(maker), None) => Some((maker, stmt)),
        _ => None,
    }
}

/// All ways by which activations come to run.
struct Ways<'a, 'w> {
    world: &'a World<'w>,
    origins: &'a Origins,
    /// Sites by what they start.
    sites: FxHashMap<Act, Vec<usize>>,
    roots: BTreeSet<Act>,
}

impl<'a, 'w> Ways<'a, 'w> {
    fn new(world: &'a World<'w>, origins: &'a Origins) -> Ways<'a, 'w> {
        let mut sites: FxHashMap<Act, Vec<usize>> = FxHashMap::default();
        for (at, site) in origins.sites.iter().enumerate() {
            sites.entry(origins.info[site.child].entry).or_default().push(at);
        }
        let (entries, initializers) = (world.pointsto.entries(), world.pointsto.initializers());
        let roots = entries.iter().chain(initializers).copied().collect();
        Ways { world, origins, sites, roots }
    }

    fn source(&self, act: Act) -> Option<Source> {
        let pointsto = self.world.pointsto;
        let mut found: Option<Source> = None;
        let mut add = |source: Source| found = Some(if found.is_none() { source } else { Source::Many });
        note(Read::of(Kind::Started, act));
        if self.roots.contains(&act) {
            add(Source::Start);
        }
        let mut handles: BTreeSet<Obj> = BTreeSet::new();
        for &at in self.sites.get(&act).into_iter().flatten() {
            let site = &self.origins.sites[at];
            // A handle that exists once is started once, wherever that is done.
            if let Some(handle) = site.only_handle()
                && let Some((maker, stmt)) = maker(self.world, handle)
                && let one @ Source::One(_) = self.one(maker, stmt)
            {
                if handles.insert(handle) {
                    add(one);
                }
                continue;
            }
            let many = site.parallel || site.repeat || site.together || site.is_repeated;
            add(match site.events[..] {
                [(act, stmt)] if !many => self.one(act, stmt),
                _ => Source::Many,
            });
        }
        for &(caller, stmt) in pointsto.callers(act) {
            let many = self.world.runs_for_model(caller, stmt, act);
            add(if many { Source::Many } else { self.one(caller, stmt) });
        }
        found.filter(|_| pointsto.runs(act))
    }

    fn one(&self, from: Act, stmt: StmtId) -> Source {
        let in_loop = self.world.flow(from).is_none_or(|flow| flow.in_loop(stmt));
        if in_loop { Source::Many } else { Source::One(from) }
    }
}

//! What happens at most once in a run: activations, and allocations, whose abstract object then is one
//! concrete object. Knows calls, spawns and loops; knows no order.

use crate::bits::Bits;
use crate::origins::Origins;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{StmtId, StmtKind};
use pointsto::{Act, Context, Obj, Site};

#[derive(Debug, Clone, Default)]
pub struct Unique {
    /// Activations that run at most once.
    pub once: Bits,
    pub objects: Bits,
}

/// One way an activation comes to run.
#[derive(Clone, Copy)]
enum Source {
    /// By the JVM, once.
    Start,
    Call(Act, StmtId),
    Spawn(Act, StmtId),
    Many,
}

impl Unique {
    pub fn new(world: &World<'_>, origins: &Origins) -> Unique {
        let mut unique = Unique { once: once(world, origins), objects: Bits::new() };
        for obj in world.pointsto.objects() {
            if unique.is_unique(world, obj) {
                unique.objects.insert(obj.index());
            }
        }
        unique
    }

    pub fn contains(&self, obj: Obj) -> bool {
        self.objects.contains(obj.index())
    }

    pub fn runs_once(&self, act: Act) -> bool {
        self.once.contains(act.index())
    }

    /// Does the statement of this activation execute at most once?
    pub fn executes_once(&self, world: &World<'_>, act: Act, stmt: StmtId) -> bool {
        self.runs_once(act) && world.flow(act).is_some_and(|flow| !flow.in_loop(stmt))
    }

    /// allocated by one statement of one activation, which executes at most once  ⟹  one concrete object
    fn is_unique(&self, world: &World<'_>, obj: Obj) -> bool {
        let object = world.pointsto.object(obj);
        let (method, stmt) = match object.site {
            Site::Literal(_) | Site::The => return true,
            Site::Merged | Site::Opaque => return false,
            Site::Alloc(method, stmt) | Site::Model(method, stmt, _) => (method, stmt),
        };
        let allocates = |act: Act| {
            let Some(body) = world.program.lowered(method) else { return false };
            match &body.stmts[stmt].kind {
                StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } | StmtKind::Lambda { dst, .. } => {
                    world.pointsto.pts(act, *dst).contains(obj)
                }
                StmtKind::Call { dst: Some(dst), .. } => world.pointsto.pts(act, *dst).contains(obj),
                _ => true,
            }
        };
        // Tasks that tasks allocate carry the outer context, so that any activation may have made them.
        let exact = !matches!(world.pointsto.context(object.ctx), Context::Origin(_));
        let mut makers = world
            .acts_of(method)
            .iter()
            .copied()
            .filter(|&act| (!exact || world.pointsto.ctx(act) == object.ctx) && allocates(act));
        let (Some(maker), None) = (makers.next(), makers.next()) else { return false };
        self.executes_once(world, maker, stmt)
    }
}

/// An activation runs once iff there is exactly one way it comes to run, by a statement that executes once.
/// Least solution from the roots, so that recursion never counts as once.
fn once(world: &World<'_>, origins: &Origins) -> Bits {
    let pointsto = world.pointsto;
    let mut sources: IndexVec<Act, Option<Source>> = IndexVec::new();
    let mut add = |act: Act, source: Source| {
        let known = sources.at(act);
        *known = Some(if known.is_none() { source } else { Source::Many });
    };
    for &act in pointsto.entries().iter().chain(pointsto.initializers()) {
        add(act, Source::Start);
    }
    for site in &origins.sites {
        let entry = origins.info[site.child].entry;
        let many = site.parallel || site.repeat || site.together;
        add(
            entry,
            match site.events[..] {
                [(act, stmt)] if !many => Source::Spawn(act, stmt),
                _ => Source::Many,
            },
        );
    }
    for act in pointsto.acts() {
        for &(caller, stmt) in pointsto.callers(act) {
            let many = world.runs_for_model(caller, stmt, act);
            add(act, if many { Source::Many } else { Source::Call(caller, stmt) });
        }
    }
    let mut once = Bits::with_len(pointsto.act_bound());
    let mut follow: IndexVec<Act, Vec<(StmtId, Act)>> = IndexVec::new();
    let mut left = Vec::new();
    for (act, source) in sources.iter() {
        match source {
            Some(Source::Start) => left.push(act),
            Some(Source::Call(from, stmt) | Source::Spawn(from, stmt)) => follow.at(*from).push((*stmt, act)),
            Some(Source::Many) | None => {}
        }
    }
    while let Some(act) = left.pop() {
        if once.insert(act.index()) {
            let started = follow.get(act).into_iter().flatten();
            let in_loop = |stmt| world.flow(act).is_none_or(|flow| flow.in_loop(stmt));
            left.extend(started.filter(|&&(stmt, _)| !in_loop(stmt)).map(|&(_, act)| act));
        }
    }
    once
}

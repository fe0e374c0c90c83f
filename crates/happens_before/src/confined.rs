//! Objects that only the thread that made them ever gets to: kept in variables of which each thread has its own
//! value, and nowhere else. Knows all ways from one thread to another; knows no order.

use crate::bits::Bits;
use crate::world::World;
use arena::{Id, IdSet};
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use models::Step;
use pointsto::{Act, Obj, Site, Slot};
use rustc_hash::FxHashSet;

#[derive(Debug, Default)]
pub struct Confined {
    objects: Bits,
    /// Objects that have a value for each thread.
    per_thread: Bits,
}

impl Confined {
    /// An object is confined if it comes out of something with a value for each thread, or is held by what does, and
    /// no thread can hand it to another. Greatest solution: begins with all, takes away until nothing changes.
    pub fn new(world: &World<'_>, entries: &IdSet<Act>) -> Confined {
        let mut confined = Confined::default();
        confined.find_per_thread(world);
        if confined.per_thread.is_empty() {
            return confined;
        }
        confined.find_candidates(world);
        confined.remove_all(world.pointsto.acts().filter(|&act| entries.contains(act)).flat_map(|act| {
            let params = world.flow(act).map_or(&[][..], |flow| &flow.body.params);
            params.iter().flat_map(move |&param| world.pointsto.pts(act, param).iter())
        }));
        loop {
            let mut lost = confined.held_elsewhere(world);
            for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
                confined.add_received(world, act, &mut lost);
            }
            if !confined.remove_all(lost) {
                return confined;
            }
        }
    }

    /// Variables of application code that hold such objects only.
    pub fn variables(&self, world: &World<'_>) -> FxHashSet<(Act, Var)> {
        let mut found = FxHashSet::default();
        if self.objects.is_empty() {
            return found;
        }
        for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
            let Some(flow) = world.flow(act) else { continue };
            let refs = flow.body.vars.ids().filter(|&var| flow.body.vars[var].is_ref);
            found.extend(
                refs.filter(|&var| has_all(&self.objects, world.pointsto.pts(act, var)))
                    .map(|var| (act, var)),
            );
        }
        found
    }

    fn find_per_thread(&mut self, world: &World<'_>) {
        for act in world.syncing() {
            for (stmt, step) in world.sync(act) {
                if let Step::PerThread { of } = step {
                    self.per_thread.insert_all(world.operand(act, *stmt, of).iter().map(|obj| obj.index()));
                }
            }
        }
    }

    /// What comes out of these, and all that is held by it.
    fn find_candidates(&mut self, world: &World<'_>) {
        let mut left: Vec<Obj> = Vec::new();
        for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
            let Some(body) = world.program.lowered(world.pointsto.method(act)) else { continue };
            for (_, info) in body.stmts.iter() {
                if let StmtKind::Call { dst: Some(dst), args, .. } = &info.kind
                    && args
                        .first()
                        .is_some_and(|&base| has_all(&self.per_thread, world.pointsto.pts(act, base)))
                {
                    left.extend(world.pointsto.pts(act, *dst).iter());
                }
            }
        }
        while let Some(obj) = left.pop() {
            let is_one = matches!(world.pointsto.object(obj).site, Site::Alloc(..) | Site::Model(..));
            if is_one && self.objects.insert(obj.index()) {
                left.extend(world.slots_of(obj).flat_map(|(_, held)| held.iter()));
            }
        }
    }

    fn has_any(&self, objects: &IdSet<Obj>) -> bool {
        objects.iter().any(|obj| self.objects.contains(obj.index()))
    }

    fn remove_all(&mut self, objects: impl IntoIterator<Item = Obj>) -> bool {
        objects.into_iter().fold(false, |any, obj| self.objects.remove(obj.index()) | any)
    }

    /// Candidates in statics, and in objects of the application that are none themselves. What the library keeps
    /// is nobody's until it is given out again.
    fn held_elsewhere(&self, world: &World<'_>) -> Vec<Obj> {
        let mut lost = Vec::new();
        for (slot, objects) in world.pointsto.slots() {
            let is_safe = match slot {
                Slot::Static(_) => false,
                Slot::Field(base, _) | Slot::Elements(base) => {
                    let at = base.index();
                    self.objects.contains(at) || self.per_thread.contains(at) || is_library(world, base)
                }
            };
            if !is_safe {
                lost.extend(objects.iter().filter(|obj| self.objects.contains(obj.index())));
            }
        }
        lost
    }

    /// Candidates that the library gives to application code, other than from a candidate or from what
    /// has a value for each thread, and those that lambdas carry away.
    fn add_received(&self, world: &World<'_>, act: Act, lost: &mut Vec<Obj>) {
        let Some(body) = world.program.lowered(world.pointsto.method(act)) else { return };
        let pts = |var: Var| world.pointsto.pts(act, var);
        let is_from_library = |&(caller, stmt): &(Act, StmtId)| {
            world.is_jdk(caller) || !world.bindings_are_plain(caller, stmt, act)
        };
        let is_used = |dst| body.stmts.iter().any(|(_, info)| info.kind.uses().any(|var| var == dst));
        if world.pointsto.callers(act).iter().any(is_from_library) {
            lost.extend(body.params.iter().flat_map(|&param| pts(param).iter()));
        }
        for (stmt, info) in body.stmts.iter() {
            match &info.kind {
                StmtKind::Lambda { dst, captures, .. } if !has_all(&self.objects, pts(*dst)) => {
                    lost.extend(captures.iter().flat_map(|&var| pts(var).iter()));
                }
                StmtKind::Call { dst: Some(dst), args, .. } if body.vars[*dst].is_ref => {
                    let is_own = args.first().is_some_and(|&base| {
                        has_all(&self.objects, pts(base)) || has_all(&self.per_thread, pts(base))
                    });
                    if self.has_any(pts(*dst))
                        && !is_own
                        && is_library_call(world, act, stmt)
                        && is_used(*dst)
                    {
                        lost.extend(pts(*dst).iter());
                    }
                }
                _ => {}
            }
        }
    }
}

fn has_all(known: &Bits, objects: &IdSet<Obj>) -> bool {
    !objects.is_empty() && objects.iter().all(|obj| known.contains(obj.index()))
}

fn is_library_call(world: &World<'_>, act: Act, stmt: StmtId) -> bool {
    let mut callees = world.pointsto.callees(act, stmt).iter();
    !world.pointsto.models_at(act, stmt).is_empty() || callees.any(|&callee| world.is_jdk(callee))
}

/// Made by the library for itself, or of one of its classes.
fn is_library(world: &World<'_>, obj: Obj) -> bool {
    let object = world.pointsto.object(obj);
    let by_library = match object.site {
        Site::Alloc(method, _) => world.is_jdk_method(method),
        _ => false,
    };
    let class = world.program.class(object.class);
    by_library || class.layer == Layer::Jdk && !class.is_array
}

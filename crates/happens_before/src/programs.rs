//! Which programs origins and objects belong to: every `main` is one of its own, and what one of them allocates the
//! others never see, although their code is analysed together. Knows entry points and spawns; knows no order.

use crate::HappensBefore;
use crate::bits::Bits;
use crate::origins::Origins;
use crate::types::{Origin, OriginKind};
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{Program, StmtKind};
use pointsto::{Act, Context, Obj, PointsTo, Site};

/// Entry points, by number of origin; `None` if it may be any.
pub type Programs = Option<Bits>;

/// Of each origin, the entry points that lead to it. What class initialisers or the library itself start belongs to
/// whichever program runs, and so do entry points that are no `main`: somebody calls them, perhaps in one program.
pub fn programs(world: &World<'_>, origins: &Origins) -> IndexVec<Origin, Programs> {
    let mut programs: IndexVec<Origin, Programs> = origins.info.ids().map(|_| Some(Bits::new())).collect();
    let mut children: IndexVec<Origin, Vec<Origin>> = origins.info.ids().map(|_| Vec::new()).collect();
    for (child, info) in origins.info.iter() {
        info.spawned_by.iter().for_each(|by| children[by.parent].push(child));
    }
    for (root, info) in origins.there().filter(|(_, info)| info.kind != OriginKind::Task) {
        let selector = world.program.method(world.pointsto.method(info.entry)).selector;
        let is_main = world.program.selector_text(selector).0 == "main" && world.is_static(info.entry);
        let is_any = info.kind == OriginKind::Initialization || world.is_jdk(info.entry) || !is_main;
        let mut seen = Bits::new();
        let mut left = vec![root];
        while let Some(next) = left.pop() {
            if !seen.insert(next.index()) {
                continue;
            }
            match &mut programs[next] {
                found if is_any => *found = None,
                Some(found) => _ = found.insert(root.index()),
                None => {}
            }
            left.extend(&children[next]);
        }
    }
    programs
}

/// What both belong to.
fn common(a: &Programs, b: &Programs) -> Programs {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.iter().filter(|&program| b.contains(program)).collect()),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

impl HappensBefore {
    /// Is there a program in which both origins run and the object is allocated?
    pub fn in_one_program(
        &self,
        (program, pointsto): (&Program, &PointsTo),
        origins: (Origin, Origin),
        obj: Obj,
    ) -> bool {
        let [first, second] = [origins.0, origins.1].map(|origin| &self.origin(origin).programs);
        let Some(both) = common(first, second) else { return true };
        let Some(makers) = self.makers(program, pointsto, obj) else { return true };
        let in_both = |maker: &Act| {
            self.origins_of(*maker).iter().any(|&origin| match &self.origin(origin).programs {
                Some(programs) => programs.iter().any(|program| both.contains(program)),
                None => true,
            })
        };
        makers.iter().any(in_both)
    }

    /// Activations that allocate the object; `None` if these are not known.
    fn makers(&self, program: &Program, pointsto: &PointsTo, obj: Obj) -> Option<Vec<Act>> {
        let object = pointsto.object(obj);
        let Site::Alloc(method, stmt) = object.site else { return None };
        let body = program.lowered(method)?;
        let &(StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } | StmtKind::Lambda { dst, .. }) =
            &body.stmts.get(stmt)?.kind
        else {
            return None;
        };
        let exact = !matches!(pointsto.context(object.ctx), Context::Origin(_));
        let acts = self.acts_of(method).iter().copied();
        let makers: Vec<Act> = acts
            .filter(|&act| !exact || pointsto.ctx(act) == object.ctx)
            .filter(|&act| pointsto.pts(act, dst).contains(obj))
            .collect();
        (!makers.is_empty()).then_some(makers)
    }
}

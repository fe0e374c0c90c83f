//! Origins whose tasks run one after the other on one executor. Knows how executors are made.

use crate::origins::Origins;
use crate::types::Origin;
use crate::world::{Permits, World};
use ir::StmtKind;
use models::{Source, Step};
use pointsto::{Obj, Site as ObjectSite};

/// The executor on which all tasks of the origin run one after the other. If it is not unique, it may be one of several
/// that are made in the same place.
pub fn serial_on(world: &World<'_>, origins: &Origins, origin: Origin) -> Option<Obj> {
    let mut found = None;
    for &at in &origins.sites_of[origin] {
        let site = &origins.sites[at];
        let executor = site.executors.single()?;
        let one_thread = world.permits(executor) == Some(Permits::Lock);
        if !site.serial && !one_thread && !is_serial(world, executor) {
            return None;
        }
        if found.is_some_and(|known| known != executor) {
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

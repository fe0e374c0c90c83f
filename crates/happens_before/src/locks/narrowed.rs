//! A lock as it is known if only some objects get to the parameters of its method; each question answered once. Knows
//! no walk.

use super::keys::Keys;
use super::narrow::Narrow;
use super::passing::{Passing, Restriction};
use super::room::Live;
use super::table::{LockId, LockTable};
use super::telling::{Telling, Told};
use crate::types::HeldLock;
use crate::world::World;
use ir::{StmtId, StmtKind, Var};
use models::Step as Model;
use pointsto::Act;
use std::cell::RefCell;
use track::{Asked, Changes, Kind, Read, Sizes};

#[derive(Debug)]
pub struct Narrowed {
    known: Asked<(LockId, Restriction), LockId>,
}

impl Narrowed {
    pub fn new(follows: bool) -> Narrowed {
        Narrowed { known: Asked::new(Kind::Narrowed, follows) }
    }

    pub fn update(&mut self, keys: &Keys<'_, '_>, told: &mut Told, passing: &Passing, changes: &mut Changes) {
        let table = RefCell::new(&mut told.table);
        self.known.refresh(changes, |&(lock, params)| {
            narrowed(keys, &mut table.borrow_mut(), passing, lock, params)
        });
    }

    pub fn of(
        &self,
        telling: &mut Telling<'_, '_>,
        passing: &Passing,
        lock: LockId,
        params: Restriction,
    ) -> LockId {
        if params == Restriction(0) {
            return lock;
        }
        let (keys, table) = (telling.keys, &mut telling.told.table);
        self.known.ask(&(lock, params), || narrowed(keys, table, passing, lock, params))
    }

    pub fn forget_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        self.known.forget_all_unread(changes, is_read);
    }

    pub fn show(&self, live: &mut Live) {
        self.known.each(|&(lock, params), &narrowed| {
            live.add_lock(lock);
            live.add_lock(narrowed);
            live.add_restriction(params);
        });
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.known.sizes(sizes);
    }
}

fn narrowed(
    keys: &Keys<'_, '_>,
    table: &mut LockTable,
    passing: &Passing,
    lock: LockId,
    params: Restriction,
) -> LockId {
    let narrow = Narrow { world: keys.world, paths: keys.paths };
    let known = table.lock(lock);
    let var = lock_var(narrow.world, known);
    match var.and_then(|var| Some((var, narrow.of(known.act, passing.params(params), var)?))) {
        Some((var, objects)) => {
            let narrowed = keys.among(known, var, &objects);
            table.add(&keys.world.content, narrowed)
        }
        None => lock,
    }
}

/// The variable whose object is locked; none if the lock is not taken any more.
pub fn lock_var(world: &World<'_>, lock: &HeldLock) -> Option<Var> {
    let flow = world.flow(lock.act)?;
    let Some(stmt) = lock.stmt else {
        return if world.is_static(lock.act) { None } else { flow.body.params.first().copied() };
    };
    match flow.body.stmts.get(stmt)?.kind {
        StmtKind::MonitorEnter { lock } => Some(lock),
        _ => operand_var(world, lock.act, stmt),
    }
}

fn operand_var(world: &World<'_>, act: Act, stmt: StmtId) -> Option<Var> {
    world.sync(act).iter().filter(|&&(at, _)| at == stmt).find_map(|(_, step)| match step {
        Model::Acquire { lock: operand, .. } => world.operand_var(act, stmt, operand),
        _ => None,
    })
}

//! Locks that an activation holds while something is wanted to their harm: where nestings are searched for, one
//! activation at a time. Coarse, and hardly ever another after an edit, whatever becomes of cycles of calls.

use super::held::Holding;
use super::room::Live;
use super::table::{LockId, LockTable, SetId};
use super::wants::{Harm, Wants};
use pointsto::Act;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read, Sizes};

#[derive(Debug)]
pub struct Harmful {
    known: Asked<Act, Arc<[(LockId, Harm)]>>,
}

impl Harmful {
    pub fn new(follows: bool) -> Harmful {
        Harmful { known: Asked::new(Kind::Harmful, follows) }
    }

    pub fn update(
        &mut self,
        holding: &Holding<'_, '_>,
        table: &LockTable,
        wants: &mut Wants,
        changes: &mut Changes,
    ) {
        let wants = RefCell::new(wants);
        self.known.refresh(changes, |&act| held_in(holding, table, &mut wants.borrow_mut(), act));
    }

    pub fn of(
        &self,
        holding: &Holding<'_, '_>,
        table: &LockTable,
        wants: &mut Wants,
        act: Act,
    ) -> Arc<[(LockId, Harm)]> {
        self.known.ask(&act, || held_in(holding, table, wants, act))
    }

    pub fn forget_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        self.known.forget_all_unread(changes, is_read);
    }

    pub fn show(&self, live: &mut Live) {
        self.known.each(|_, locks| locks.iter().for_each(|&(lock, _)| live.add_lock(lock)));
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.known.sizes(sizes);
    }
}

fn held_in(
    holding: &Holding<'_, '_>,
    table: &LockTable,
    wants: &mut Wants,
    act: Act,
) -> Arc<[(LockId, Harm)]> {
    let Some(locks) = holding.inside.of(act) else { return Arc::default() };
    let mut found: BTreeSet<(LockId, Harm)> = BTreeSet::new();
    let mut known: BTreeSet<LockId> = BTreeSet::new();
    let mut add = |wants: &mut Wants, set: SetId, is_harmful: &dyn Fn(&Wants, Harm) -> bool| {
        for &lock in table.set(set) {
            if !known.contains(&lock) && !holding.world.is_jdk(table.lock(lock).act) {
                let harm = wants.harm(table.lock(lock));
                if is_harmful(wants, harm) {
                    known.insert(lock);
                    found.insert((lock, harm));
                }
            }
        }
    };
    for (stmt, callee) in holding.world.pointsto.calls(act) {
        let leads = |wants: &Wants, harm: Harm| wants.leads_to(holding.world, harm, callee);
        add(wants, locks.before(stmt), &leads);
    }
    for lock_use in locks.uses() {
        if let Some(stmt) = lock_use.stmt {
            let nodes = &table.lock(lock_use.lock).nodes;
            add(wants, locks.before(stmt), &|wants, harm| wants.is_any(nodes, harm));
        }
    }
    for &(stmt, _) in holding.waits(act) {
        add(wants, locks.before(stmt), &|_, _| true);
    }
    found.into_iter().collect()
}

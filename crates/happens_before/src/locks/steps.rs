//! The calls of an activation that lead to harm, and what it wants itself, without positions: so that what is found on
//! a walk through it stays as it is when statements move. Knows one activation at a time.

use super::held::Holding;
use super::room::Live;
use super::table::{LockId, SetId};
use super::telling::Call;
use super::wants::{Harm, Wants};
use crate::world::World;
use ir::StmtId;
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read, Sizes, note};

/// A call that leads to harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub call: Call,
    /// Which of the statements with such calls.
    pub at: u32,
    /// What the caller itself holds then.
    pub held: SetId,
    /// Only code outside makes it, or not.
    pub called_back: bool,
}

/// Something that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    pub what: What,
    /// What the activation itself holds then.
    pub held: SetId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Lock(LockId),
    /// By number among the waits of the activation.
    End(usize),
}

#[derive(Debug)]
pub struct Steps {
    steps: Asked<(Act, Harm), Arc<[Step]>>,
    stmts: Asked<Call, Option<StmtId>>,
    uses: Asked<Act, Arc<[Use]>>,
    /// What is handed to code that is not analysed and may call it back, by activation.
    handed_out: FxHashMap<Act, Vec<(StmtId, Obj)>>,
}

impl Use {
    fn show(self, live: &mut Live) {
        live.add_set(self.held);
        if let What::Lock(lock) = self.what {
            live.add_lock(lock);
        }
    }
}

impl Steps {
    pub fn new(follows: bool) -> Steps {
        Steps {
            steps: Asked::new(Kind::Steps, follows),
            stmts: Asked::new(Kind::StepStmts, follows),
            uses: Asked::new(Kind::Uses, follows),
            handed_out: FxHashMap::default(),
        }
    }

    /// What no walk has read is forgotten when it may be another.
    pub fn update(
        &mut self,
        holding: &Holding<'_, '_>,
        wants: &Wants,
        is_read: impl Fn(Read) -> bool,
        changes: &mut Changes,
    ) {
        if changes.contains(Read::all(Kind::CalledBack)) {
            let mut now: FxHashMap<Act, Vec<(StmtId, Obj)>> = FxHashMap::default();
            for (act, stmt, obj) in holding.world.pointsto.called_back() {
                now.entry(act).or_default().push((stmt, obj));
            }
            now.values_mut().for_each(|places| places.sort_unstable());
            let before = std::mem::replace(&mut self.handed_out, now);
            for &act in before.keys().chain(self.handed_out.keys()) {
                if before.get(&act) != self.handed_out.get(&act) {
                    changes.add(Read::of(Kind::HandedOut, act));
                }
            }
        }
        let handed_out = &self.handed_out;
        let steps = |&(act, harm): &(Act, Harm)| steps(holding, wants, handed_out, act, harm);
        self.steps.refresh_read(changes, is_read, steps);
        self.stmts.refresh(changes, |call| call.stmt(holding.world));
        self.uses.refresh(changes, |&act| uses(holding, act));
    }

    pub fn of(&self, holding: &Holding<'_, '_>, wants: &Wants, act: Act, harm: Harm) -> Arc<[Step]> {
        self.steps.ask(&(act, harm), || steps(holding, wants, &self.handed_out, act, harm))
    }

    /// Where a call is.
    pub fn stmt(&self, world: &World<'_>, call: Call) -> Option<StmtId> {
        self.stmts.ask(&call, || call.stmt(world))
    }

    pub fn uses(&self, holding: &Holding<'_, '_>, act: Act) -> Arc<[Use]> {
        self.uses.ask(&act, || uses(holding, act))
    }

    /// Walks ask for steps and uses; who tells of what they found, where calls are.
    pub fn forget_unread(
        &mut self,
        changes: &mut Changes,
        is_read: impl Fn(Read) -> bool,
        is_told: impl Fn(Read) -> bool,
    ) {
        self.steps.forget_all_unread(changes, &is_read);
        self.uses.forget_all_unread(changes, &is_read);
        self.stmts.forget_all_unread(changes, is_told);
    }

    pub fn show(&self, live: &mut Live) {
        self.steps.each(|_, steps| steps.iter().for_each(|step| live.add_set(step.held)));
        self.uses.each(|_, uses| uses.iter().for_each(|lock_use| lock_use.show(live)));
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.steps.sizes(sizes);
        self.stmts.sizes(sizes);
        self.uses.sizes(sizes);
        sizes.add("handed out", self.handed_out.len());
    }
}

fn steps(
    holding: &Holding<'_, '_>,
    wants: &Wants,
    handed_out: &FxHashMap<Act, Vec<(StmtId, Obj)>>,
    act: Act,
    harm: Harm,
) -> Arc<[Step]> {
    let world = holding.world;
    note(Read::of(Kind::HandedOut, act));
    let handed_out = handed_out.get(&act).map_or(&[][..], Vec::as_slice);
    let mut steps: Vec<Step> = Vec::new();
    let mut last = None;
    let mut seen: FxHashMap<Act, u32> = FxHashMap::default();
    for &(stmt, callee) in world.calls.callees(act) {
        let nth = seen.entry(callee).or_default();
        let call = Call { caller: act, callee, nth: *nth };
        *nth += 1;
        if !wants.leads_to(world, harm, callee) {
            continue;
        }
        let at = steps.last().map_or(0, |step| step.at + u32::from(last != Some(stmt)));
        last = Some(stmt);
        let mut objects = handed_out.iter().filter(|&&(at, _)| at == stmt).map(|&(_, obj)| obj);
        let called_back =
            objects.any(|obj| !world.bindings_are_plain(act, stmt, callee) && runs_on(world, callee, obj));
        steps.push(Step { call, at, held: holding.inside.before(act, stmt), called_back });
    }
    steps.into()
}

fn uses(holding: &Holding<'_, '_>, act: Act) -> Arc<[Use]> {
    if holding.world.is_jdk(act) {
        return Arc::default();
    }
    let taking = holding.uses(act).iter().filter(|lock_use| !lock_use.tries);
    let locks = taking.map(|lock_use| {
        let held = lock_use.stmt.map_or(SetId(0), |stmt| holding.inside.before(act, stmt));
        Use { what: What::Lock(lock_use.lock), held }
    });
    let waits = holding.waits(act).iter().enumerate();
    let ends =
        waits.map(|(n, &(stmt, _))| Use { what: What::End(n), held: holding.inside.before(act, stmt) });
    locks.chain(ends).collect()
}

/// Is the activation code of this object?
fn runs_on(world: &World<'_>, act: Act, obj: Obj) -> bool {
    let method = world.program.method(world.pointsto.method(act));
    if let Some(lambda) = world.pointsto.lambda(obj) {
        return lambda.target.selector == method.selector;
    }
    let this = world.flow(act).and_then(|flow| flow.body.params.first().copied());
    !method.is_static() && this.is_some_and(|this| world.pointsto.pts(act, this).contains(obj))
}

//! Calls that may take long, where that hurts: while a lock is held, or on the thread of the user interface.
//! Reads summaries only.

use crate::engine::Compositional;
use crate::path::Path;
use crate::summary::{Blocking, Held, Summary, Thread};
use classfile::Layer;
use findings::{Confidence, Rule};
use ir::{MethodId, Program};
use rustc_hash::FxHashSet;

pub(crate) struct Blocked<'a> {
    pub rule: Rule,
    pub confidence: Confidence,
    pub method: MethodId,
    pub blocking: &'a Blocking,
    pub held: Vec<Held>,
}

/// A call that is further away than this was hardly meant.
const FARTHEST: u8 = 6;

/// Calls that hurt whoever makes them, if anybody.
fn near(summary: &Summary) -> impl Iterator<Item = &Blocking> {
    summary.blocking.iter().filter(|blocking| !blocking.started && blocking.depth <= FARTHEST)
}

/// Whether one of the calls is made under a lock, or on the thread of the user interface.
pub(crate) fn may_tell(summary: &Summary) -> bool {
    let is_main = summary.thread == Thread::Main;
    near(summary).any(|blocking| is_main || blocking.held.iter().any(|held| held.sure))
}

pub(crate) fn find<'a>(engine: &'a Compositional, program: &Program) -> Vec<Blocked<'a>> {
    let mut found = Vec::new();
    for slot in engine.methods.iter().filter(|slot| slot.size.may_block) {
        let (method, Some(summary)) = (&slot.method, slot.summary.get()) else { continue };
        if program.class(method.class).layer != Layer::App {
            continue;
        }
        let mut told = FxHashSet::default();
        // Whatever its parameters are.
        let what = |blocking: &Blocking| {
            let target = blocking.what.0;
            (target.class, program.selector_text(target.selector).0)
        };
        for blocking in near(summary) {
            let held: Vec<Held> = own_locks(engine, blocking);
            if !held.is_empty() && told.insert((Rule::BlockingUnderLock, what(blocking))) {
                let confidence = if blocking.depth > 3 { Confidence::Low } else { Confidence::Medium };
                found.push(Blocked {
                    rule: Rule::BlockingUnderLock,
                    confidence,
                    method: method.id,
                    blocking,
                    held,
                });
            }
            let is_main = summary.thread == Thread::Main && !is_main_below(engine, blocking);
            if is_main && told.insert((Rule::BlockingMainThread, what(blocking))) {
                let (rule, held) = (Rule::BlockingMainThread, Vec::new());
                found.push(Blocked { rule, confidence: Confidence::High, method: method.id, blocking, held });
            }
        }
    }
    found
}

/// Locks that are taken in this method and held during the call; nothing if some are taken further down already,
/// where it is told.
fn own_locks(engine: &Compositional, blocking: &Blocking) -> Vec<Held> {
    if below(engine, blocking).is_some_and(|below| below.held.iter().any(|held| held.sure)) {
        return Vec::new();
    }
    let is_own = |held: &&Held| held.sure && held.lock != Path::UNKNOWN && Some(held.lock) != blocking.but;
    blocking.held.iter().filter(is_own).copied().collect()
}

fn is_main_below(engine: &Compositional, blocking: &Blocking) -> bool {
    let callee = blocking.site.via.and_then(|(callee, _)| engine.summary(callee));
    callee.is_some_and(|summary| summary.thread == Thread::Main)
}

pub(crate) fn below<'a>(engine: &'a Compositional, blocking: &Blocking) -> Option<&'a Blocking> {
    let (callee, digest) = blocking.site.via?;
    let all = &engine.summary(callee)?.blocking;
    let at = all.binary_search_by_key(&digest, |blocking| blocking.digest).ok()?;
    Some(&all[at]).filter(|below| below.depth < blocking.depth)
}

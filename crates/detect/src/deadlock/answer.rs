//! The verdict on a lock-order cycle that was claimed without knowing the lock objects and threads of the program: may
//! threads of it be at all its steps at the same time? Searches no cycles.

use super::cycles::is_gated;
use super::{Cycle, point};
use crate::Stages;
use crate::answer::{Answer, Places, Sureness};
use crate::declared::are_never_parallel;
use crate::verdict::reason;
use findings::{Confidence, Dismissed, Place};
use happens_before::{Acquisition, HeldLock, LockNode, Nesting, Origin, Wanted};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of the nestings at one step of a cycle so many are looked at.
const MOST: usize = 64;

/// The acquisitions and lock-order edges of the program at places that are asked about.
pub(crate) struct LockOrder<'a> {
    acquired: FxHashSet<Place>,
    /// By where the held lock is taken, and the one that is waited for.
    edges: FxHashMap<[Place; 2], Vec<&'a Nesting>>,
}

impl<'a> LockOrder<'a> {
    pub(crate) fn at(stages: &Stages<'a>, asked: &FxHashSet<Place>) -> LockOrder<'a> {
        let mut order = LockOrder { acquired: FxHashSet::default(), edges: FxHashMap::default() };
        if asked.is_empty() {
            return order;
        }
        let (hb, pointsto) = (stages.happens_before, stages.pointsto);
        let mut places = Places::new(stages, asked.iter().map(|place| place.file.as_str()));
        let mut find = |lock: &HeldLock| {
            places.find(pointsto.method(lock.act), lock.stmt).filter(|place| asked.contains(place))
        };
        let is_taken = |taken: &&Acquisition| !hb.origins_of(taken.act).is_empty();
        order.acquired =
            hb.acquisitions().iter().filter(is_taken).filter_map(|taken| find(&taken.lock)).collect();
        for nesting in hb.nestings() {
            if let Wanted::Lock(wanted) = &nesting.wants
                && let (Some(held), Some(wanted)) = (find(&nesting.held), find(wanted))
            {
                let known = order.edges.entry([held, wanted]).or_default();
                if known.len() < MOST {
                    known.push(nesting);
                }
            }
        }
        order
    }

    /// What the program says about a cycle, given where each step takes the lock it holds and the one it waits for.
    pub(crate) fn answer(&self, stages: &Stages<'_>, cycle: &Cycle<'_>) -> Answer {
        if cycle.edges.iter().flatten().any(|place| !self.acquired.contains(place)) {
            return Answer::Unreached;
        }
        let step = |edge: &[Place; 2]| self.edges.get(edge).map_or(&[][..], Vec::as_slice);
        let steps: Vec<&[&Nesting]> = cycle.edges.iter().map(step).collect();
        // One step may be taken by two threads, from either side.
        let other = |at: usize| steps[(at + 1) % steps.len()];
        let mut strongest = Dismissed::NoCycle;
        for (at, mine) in steps.iter().enumerate() {
            let mut may_follow = false;
            for (one, next) in mine.iter().flat_map(|one| other(at).iter().map(move |next| (one, next))) {
                match together(stages, one, next) {
                    None => may_follow = true,
                    Some(why) => strongest = strongest.max(why),
                }
            }
            if !may_follow {
                return Answer::Dismissed(strongest);
            }
        }
        Answer::Race(Sureness { confidence: Confidence::Low, limit: Confidence::Low })
    }
}

/// Why a thread at the first cannot wait for one at the second; `None` if it may.
fn together(stages: &Stages<'_>, one: &Nesting, next: &Nesting) -> Option<Dismissed> {
    let Wanted::Lock(wanted) = &one.wants else { return Some(Dismissed::NoCycle) };
    let held: &[LockNode] = &next.held.nodes;
    if !wanted.nodes.iter().any(|node| held.contains(node)) || (wanted.shared && next.held.shared) {
        return Some(Dismissed::NoCycle);
    }
    if is_gated(one, next) {
        return Some(Dismissed::CommonLock);
    }
    let hb = stages.happens_before;
    let mut strongest = Dismissed::SingleThread;
    for (p, q) in one.origins.iter().flat_map(|&p| next.origins.iter().map(move |&q| (p, q))) {
        let why = |p: Origin, q: Origin| match p == q && !hb.origin(p).overlaps_itself {
            true => Some(Dismissed::SingleThread),
            false => {
                let (first, second) = (point(p, one), point(q, next));
                let declared = || are_never_parallel(stages, &first, &second);
                let order = hb.ordered(&first, &second).map(reason);
                order.or_else(|| declared().then_some(Dismissed::NeverParallel))
            }
        };
        strongest = strongest.max(why(p, q)?);
    }
    Some(strongest)
}

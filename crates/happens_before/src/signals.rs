//! Order by signals: what precedes a signal happens before what follows an await that needs it. Latches,
//! barriers, semaphores by their models; flags, volatile or under a lock, by the branch that tests them.

mod flags;
mod looks;
mod once;
mod section;

pub use flags::Guards;

use crate::branches::waited;
use crate::origins::Origins;
use crate::reach::{Barrier, Kills, ReachSet, Start, reach};
use crate::types::{Origin, OriginKind, Point};
use crate::unique::Unique;
use crate::world::{Permits, World};
use arena::{IdSet, IndexVec};
use ir::{Const, StmtId, StmtKind};
use looks::Looks;
use models::Step;
use once::Once;
use pointsto::{Act, Obj, PointsToDelta, Site, Slot};
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Single, note};

/// What is signalled: one concrete latch, barrier or semaphore, or a field of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Object(Obj),
    Flag(Slot),
}

#[derive(Debug, Clone, Default)]
struct Traffic {
    signals: Vec<(Act, StmtId)>,
    awaits: Kills,
    /// Origins that start only after the signal.
    late: Vec<Origin>,
    /// Of these, those that whoever signals waits for: they run while everybody is blocked.
    actions: Vec<Origin>,
}

impl Traffic {
    /// Does who signals there go on only after everybody has?
    fn blocks(&self, signal: &(Act, StmtId)) -> bool {
        self.awaits.stmts.binary_search(signal).is_ok()
    }
}

/// One subject with what it orders.
#[derive(Debug)]
struct Channel {
    /// Per signalling origin: what may still run after a signal.
    after_signal: BTreeMap<Origin, ReachSet>,
    /// Per awaiting origin: what may run before any await.
    before_await: BTreeMap<Origin, ReachSet>,
    /// Signalling origins without whose signal no await returns.
    needed: Vec<Origin>,
    /// Of these, those that are blocked from each of their signals until the await returns.
    blocked: Vec<Origin>,
    /// Origins that run only while these are blocked.
    actions: Vec<Origin>,
}

impl Channel {
    fn sets(&self) -> impl Iterator<Item = &ReachSet> {
        self.after_signal.values().chain(self.before_await.values())
    }

    /// Is it about the same origins?
    fn is_like(&self, other: &Channel) -> bool {
        let shape = |channel: &Channel| {
            let origins = channel.after_signal.keys().chain(channel.before_await.keys());
            let origins: Vec<Origin> = origins.copied().collect();
            (channel.after_signal.len(), origins)
        };
        shape(self) == shape(other)
            && (&self.needed, &self.blocked, &self.actions) == (&other.needed, &other.blocked, &other.actions)
    }
}

pub struct Signals {
    follows: bool,
    looks: Looks,
    given: Single<Given>,
}

/// All signals that order something.
#[derive(Debug, Default)]
struct Given {
    channels: Vec<Channel>,
    /// Channels by the origin whose signal is needed.
    signalled: IndexVec<Origin, Vec<u32>>,
    once: Once,
}

impl Signals {
    pub fn new(follows: bool) -> Signals {
        Signals { follows, looks: Looks::new(follows), given: Single::default() }
    }

    /// Follows a change, and tells where the order differs.
    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        guards: &Guards<'_>,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let mut own = changes.clone();
        if self.looks.update(world, origins, guards, delta, changes) {
            own.add(Read::all(Kind::Looks));
        }
        let looks = &self.looks;
        let before = self.given.update(self.follows, &own, || Given::new(world, origins, guards, looks));
        if let Some(before) = before {
            self.given.value.tell(&before, changes);
        }
    }

    /// Whoever sets a flag that is set once; also for two instances of one origin.
    pub fn precedes_once(&self, first: &Point, second: &Point) -> bool {
        note_points(first, second);
        self.given.value.once.precedes(first, second)
    }

    /// a1 → a2 iff a1 never runs after a signal of its origin, that signal is needed, and a2 runs only after
    /// an await; or if a1 belongs to a barrier action, which no party runs beside.
    pub fn precedes(&self, first: &Point, second: &Point) -> bool {
        note_points(first, second);
        let given = &self.given.value;
        given.signalled[first.origin].iter().any(|&at| {
            let channel = &given.channels[at as usize];
            let after = channel.after_signal.get(&first.origin);
            let before = channel.before_await.get(&second.origin);
            after.is_some_and(|set| !set.contains(first.act, first.stmt))
                && before.is_some_and(|set| !set.contains(second.act, second.stmt))
                || channel.actions.contains(&first.origin) && channel.blocked.contains(&second.origin)
        })
    }
}

impl Given {
    /// Tells where the order differs from that before.
    fn tell(&self, before: &Given, changes: &mut Changes) {
        let is_same = self.channels.len() == before.channels.len()
            && self.once.is_like(&before.once)
            && self.channels.iter().zip(&before.channels).all(|(now, before)| now.is_like(before));
        if !is_same {
            changes.add(Read::all(Kind::Signals));
            return;
        }
        let sets = self.sets().zip(before.sets());
        let mut differing: BTreeSet<Act> = sets.flat_map(|(now, before)| now.differing(before)).collect();
        differing.extend(self.once.differing(&before.once));
        for act in differing {
            changes.add(Read::of(Kind::Signals, act));
        }
    }

    fn sets(&self) -> impl Iterator<Item = &ReachSet> {
        self.channels.iter().flat_map(Channel::sets).chain(self.once.sets())
    }

    fn new(world: &World<'_>, origins: &Origins, guards: &Guards<'_>, looks: &Looks) -> Given {
        note(Read::all(Kind::Origins));
        note(Read::all(Kind::Looks));
        let unique = guards.unique;
        let mut traffic = BTreeMap::new();
        find_modelled(world, unique, &mut traffic);
        find_late(origins, unique, &mut traffic);
        let once = flags::find(world, origins, guards, looks, &mut traffic);
        let signalled = origins.info.ids().map(|_| Vec::new()).collect();
        let mut signals = Given { channels: Vec::new(), signalled, once };
        for (subject, traffic) in traffic {
            if let Some(channel) = channel(world, origins, unique, subject, &traffic) {
                for &origin in channel.needed.iter().chain(&channel.actions) {
                    signals.signalled[origin].push(signals.channels.len() as u32);
                }
                signals.channels.push(channel);
            }
        }
        signals
    }
}

fn note_points(first: &Point, second: &Point) {
    note(Read::all(Kind::Signals));
    note(Read::of(Kind::Signals, first.act));
    note(Read::of(Kind::Signals, second.act));
}

fn channel(
    world: &World<'_>,
    origins: &Origins,
    unique: &Unique,
    subject: Subject,
    traffic: &Traffic,
) -> Option<Channel> {
    if traffic.signals.is_empty() || traffic.awaits.is_empty() && traffic.late.is_empty() {
        return None;
    }
    let mut signalling: BTreeMap<Origin, Vec<(Act, StmtId)>> = BTreeMap::new();
    for &(act, stmt) in &traffic.signals {
        for &origin in origins.of(act) {
            signalling.entry(origin).or_default().push((act, stmt));
        }
    }
    let needed = needed(world, origins, unique, subject, traffic, &signalling);
    if needed.is_empty() {
        return None;
    }
    let awaiting: IdSet<Origin> = (traffic.awaits.acts())
        .flat_map(|act| origins.of(act).iter().copied())
        .filter(|&origin| origins.info[origin].kind != OriginKind::Initialization)
        .collect();
    let run = |origin: Origin, starts: &[Start], barrier: &Barrier<'_, '_>| {
        reach(origins.info[origin].entry, &origins.runs[origin], starts, barrier)
    };
    let (open, awaits) = (Barrier::none(world), Barrier::new(world, traffic.awaits.clone()));
    let after_signal = needed
        .iter()
        .map(|&origin| {
            let starts = signalling[&origin].iter().map(|&(act, stmt)| Start::After(act, stmt, None));
            (origin, run(origin, &starts.collect::<Vec<_>>(), &open))
        })
        .collect();
    let before_await = awaiting
        .iter()
        .map(|origin| {
            let start = Start::Entry(origins.info[origin].entry);
            (origin, run(origin, &[start], &awaits))
        })
        .chain(traffic.late.iter().map(|&origin| (origin, ReachSet::default())))
        .collect();
    let is_blocked = |origin: &Origin| signalling[origin].iter().all(|signal| traffic.blocks(signal));
    let blocked = needed.iter().copied().filter(is_blocked).collect();
    Some(Channel { after_signal, before_await, needed, blocked, actions: traffic.actions.clone() })
}

/// An await needs the signal of T if all others together cannot signal often enough. A latch or barrier made
/// with a constant counts exactly; one made with another number is taken to count everybody; anything else
/// needs one signal. Who waits at a barrier comes to it once in each of its rounds.
fn needed(
    world: &World<'_>,
    origins: &Origins,
    unique: &Unique,
    subject: Subject,
    traffic: &Traffic,
    signalling: &BTreeMap<Origin, Vec<(Act, StmtId)>>,
) -> Vec<Origin> {
    let count = match subject {
        Subject::Object(obj) => made_with(world, obj),
        Subject::Flag(_) => Count::Exactly(1),
    };
    let often = |origin: Origin, stmts: &[(Act, StmtId)]| -> Option<u64> {
        let once = |&(act, stmt): &(Act, StmtId)| unique.executes_once(world, act, stmt);
        let signals = match stmts.iter().all(|signal| traffic.blocks(signal)) {
            true => Some(1),
            false => stmts.iter().all(once).then_some(stmts.len() as u64),
        };
        note(Read::of(Kind::Once, origins.info[origin].entry));
        signals.filter(|_| origins.info[origin].runs_once)
    };
    let others = |origin: Origin| -> Option<u64> {
        note(Read::of(Kind::Once, origins.info[origin].entry));
        let own = if origins.info[origin].runs_once { Some(0) } else { None };
        let rest = signalling.iter().filter(|&(&other, _)| other != origin);
        rest.map(|(&other, stmts)| often(other, stmts)).chain([own]).sum()
    };
    let is_needed = |origin: Origin| match count {
        Count::Everybody => true,
        Count::Exactly(count) => {
            others(origin).is_some_and(|others| others < count)
            // As many signals as instances: a pool of workers that each count down once.
            || count > 1 && !origins.info[origin].runs_once && signalling.len() == 1
        }
    };
    signalling
        .keys()
        .copied()
        .filter(|&origin| origins.info[origin].kind != OriginKind::Initialization && is_needed(origin))
        .collect()
}

#[derive(Clone, Copy)]
enum Count {
    Exactly(u64),
    Everybody,
}

/// The number a latch or barrier was made with.
fn made_with(world: &World<'_>, obj: Obj) -> Count {
    if world.permits(obj).is_some() {
        return Count::Exactly(1);
    }
    let Site::Alloc(method, stmt) = world.pointsto.object(obj).site else { return Count::Exactly(1) };
    let Some(flow) = world.method_flow(method) else { return Count::Exactly(1) };
    let StmtKind::New { dst, .. } = flow.body.stmts[stmt].kind else { return Count::Exactly(1) };
    let Some(call) = flow.constructor(dst) else { return Count::Exactly(1) };
    let StmtKind::Call { args, .. } = &flow.body.stmts[call].kind else { return Count::Exactly(1) };
    let number = args.iter().skip(1).copied().find(|&arg| !flow.body.vars[arg].is_ref);
    let Some(number) = number else { return Count::Exactly(1) };
    match flow.definition(flow.source(number)) {
        Some((_, StmtKind::Const { value: Const::Int(count), .. })) => Count::Exactly(*count as u64),
        _ => Count::Everybody,
    }
}

fn find_modelled(world: &World<'_>, unique: &Unique, traffic: &mut BTreeMap<Subject, Traffic>) {
    for act in world.syncing() {
        for &(stmt, step) in world.sync(act) {
            match step {
                Step::Signal { on } => {
                    for obj in world.operand(act, stmt, on).iter() {
                        traffic.entry(Subject::Object(obj)).or_default().signals.push((act, stmt));
                    }
                }
                Step::Await { on, when } => {
                    if let Some(obj) = world.operand(act, stmt, on).single()
                        && unique.contains(obj)
                        && world.permits(obj).is_none_or(|permits| permits == Permits::Order)
                        && let Some(flow) = world.flow(act)
                    {
                        let waited = waited(flow, act, stmt, *when);
                        traffic.entry(Subject::Object(obj)).or_default().awaits.add(&waited);
                    }
                }
                _ => {}
            }
        }
    }
    for traffic in traffic.values_mut() {
        traffic.awaits.sort();
    }
}

/// Continuations: every spawn of the origin waits for a signal on this one object.
fn find_late(origins: &Origins, unique: &Unique, traffic: &mut BTreeMap<Subject, Traffic>) {
    for origin in origins.info.ids() {
        let Some((&first, rest)) = origins.sites_of[origin].split_first() else { continue };
        for after in &origins.sites[first].after {
            if let Some(obj) = after.single()
                && unique.contains(obj)
                && rest.iter().all(|&at| origins.sites[at].after.contains(after))
            {
                let traffic = traffic.entry(Subject::Object(obj)).or_default();
                traffic.late.push(origin);
                let is_action = |&at: &usize| {
                    let site = &origins.sites[at];
                    let signal = (site.act, site.stmt);
                    site.waits && traffic.signals.contains(&signal) && traffic.blocks(&signal)
                };
                if origins.sites_of[origin].iter().all(is_action) {
                    traffic.actions.push(origin);
                }
            }
        }
    }
}

//! Order by signals: what precedes a signal happens before what follows an await that needs it. Latches,
//! barriers, semaphores by their models; flags, volatile or under a lock, by the branch that tests them. Owns the order
//! in which that is found out, and what is asked of it; what it is found out from belongs to the parts.

mod candidates;
mod channels;
mod flags;
mod looks;
mod once;
mod reaches;
mod section;
mod traffic;

pub use flags::Guards;

use crate::bits::Bits;
use crate::origins::Origins;
use crate::types::{Origin, Point};
use crate::world::World;
use arena::{Id, Interner, define_id};
use channels::Channels;
use flags::{Flags, Scene};
use looks::Looks;
use once::Once;
use pointsto::{Act, Obj, PointsToDelta, Slot};
use reaches::{ReachId, Reaches, Side, Topic};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Sizes, note};
use traffic::Modelled;

/// What is signalled: one concrete latch, barrier or semaphore, or a field of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Object(Obj),
    Flag(Slot),
}

define_id! {
    /// A subject that was met.
    SubjectId
}

type Subjects = Interner<SubjectId, Subject>;

pub struct Signals {
    follows: bool,
    subjects: Subjects,
    looks: Looks,
    flags: Flags,
    once: Once,
    modelled: Modelled,
    channels: Channels,
    /// What may still run after signals, or before awaits.
    reaches: Reaches,
    given: Given,
}

/// All signals that order something.
#[derive(Debug, Default)]
struct Given {
    wires: BTreeMap<SubjectId, Wire>,
    /// By the origin whose signal is needed: what it signals.
    signalled: BTreeMap<Origin, Vec<SubjectId>>,
    /// By flag that is set once, and by origin: what may not come after that.
    open: BTreeMap<SubjectId, BTreeMap<Origin, ReachId>>,
    /// What comes before that, with the flag.
    earlier: FxHashMap<Act, Vec<(SubjectId, Bits)>>,
}

/// One channel, as it is asked.
#[derive(Debug, PartialEq, Eq)]
struct Wire {
    /// Per signalling origin: what may still run after a signal.
    after_signal: BTreeMap<Origin, ReachId>,
    /// Per awaiting origin: what may run before any await; nothing of one that starts only after the signal.
    before_await: BTreeMap<Origin, Option<ReachId>>,
    blocked: Vec<Origin>,
    actions: Vec<Origin>,
}

impl Signals {
    pub fn new(follows: bool) -> Signals {
        Signals {
            follows,
            subjects: Subjects::new(),
            looks: Looks::new(follows),
            flags: Flags::new(follows),
            once: Once::new(follows),
            modelled: Modelled::default(),
            channels: Channels::new(follows),
            reaches: Reaches::new(Kind::Signals, follows),
            given: Given::default(),
        }
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
        if changes.everything {
            *self = Signals::new(self.follows);
        }
        let scene = Scene { world, origins, guards };
        let looked_at = self.looks.update(&scene, &mut self.subjects, delta, changes);
        let flags = self.flags.update(&scene, &self.subjects, &self.looks, &looked_at, changes);
        let is_other_once = self.once.update(&scene, &self.flags, &self.looks, &flags, changes);
        let modelled = self.modelled.update(self.follows, &scene, &mut self.subjects, changes);
        let touched = flags.into_iter().chain(modelled).collect();
        let (flags, subjects) = (&self.flags, &self.subjects);
        let is_other_channel =
            self.channels.update(&scene, subjects, flags, &self.modelled, touched, changes);
        let (channels, once) = (&self.channels, &self.once);
        let wanted = channels.topics().chain(once.topics());
        let question = |topic: Topic| match topic.side {
            Side::Open => once.question(origins, topic),
            _ => channels.question(origins, topic),
        };
        self.reaches.update(&scene, wanted, question, changes);
        if changes.everything || is_other_once || is_other_channel {
            let now = Given::new(self);
            now.tell(&self.given, changes);
            self.given = now;
        }
    }

    /// Whoever sets a flag that is set once; also for two instances of one origin.
    pub fn precedes_once(&self, first: &Point, second: &Point) -> bool {
        note_points(first, second);
        let is_after = |flag: SubjectId| {
            note(Read::of(Kind::Opened, flag));
            let open = self.given.open.get(&flag).and_then(|open| open.get(&second.origin));
            open.is_some_and(|&open| !self.reaches.contains(open, second.act, second.stmt))
        };
        self.given.earlier.get(&first.act).is_some_and(|flags| {
            flags.iter().any(|(flag, stmts)| stmts.contains(first.stmt.index()) && is_after(*flag))
        })
    }

    /// a1 → a2 iff a1 never runs after a signal of its origin, that signal is needed, and a2 runs only after
    /// an await; or if a1 belongs to a barrier action, which no party runs beside.
    pub fn precedes(&self, first: &Point, second: &Point) -> bool {
        note_points(first, second);
        let is_outside = |reach: ReachId, point: &Point| !self.reaches.contains(reach, point.act, point.stmt);
        note(Read::of(Kind::Signalled, first.origin));
        self.given.signalled.get(&first.origin).into_iter().flatten().any(|subject| {
            note(Read::of(Kind::Wire, *subject));
            let Some(wire) = self.given.wires.get(subject) else { return false };
            let after = wire.after_signal.get(&first.origin);
            let before = wire.before_await.get(&second.origin);
            after.is_some_and(|&after| is_outside(after, first))
                && before.is_some_and(|before| before.is_none_or(|before| is_outside(before, second)))
                || wire.actions.contains(&first.origin) && wire.blocked.contains(&second.origin)
        })
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("subjects", self.subjects.len());
        self.looks.sizes(sizes);
        self.flags.sizes(sizes);
        self.once.sizes(sizes);
        self.channels.sizes(sizes);
        self.reaches.sizes(sizes);
    }
}

impl Given {
    fn new(signals: &Signals) -> Given {
        let mut given = Given::default();
        let id = |subject: SubjectId, side: Side, origin: Origin| {
            signals.reaches.id(Topic { subject, side }, origin)
        };
        for (subject, channel) in signals.channels.all() {
            for &origin in channel.needed.keys().chain(&channel.actions) {
                given.signalled.entry(origin).or_default().push(subject);
            }
            let after = |&origin: &Origin| Some((origin, id(subject, Side::After, origin)?));
            let before = |&origin: &Origin| Some((origin, Some(id(subject, Side::Before, origin)?)));
            let late = channel.late.iter().map(|&origin| (origin, None));
            let wire = Wire {
                after_signal: channel.needed.keys().filter_map(after).collect(),
                before_await: channel.awaiting.iter().filter_map(before).chain(late).collect(),
                blocked: channel.blocked.clone(),
                actions: channel.actions.clone(),
            };
            given.wires.insert(subject, wire);
        }
        for (subject, set) in signals.once.all() {
            for (&act, stmts) in &set.earlier {
                given.earlier.entry(act).or_default().push((subject, stmts.clone()));
            }
            let open = |&origin: &Origin| Some((origin, id(subject, Side::Open, origin)?));
            given.open.insert(subject, set.origins.iter().filter_map(open).collect());
        }
        given
    }

    /// Tells where the order differs from that before, as far as the reaches have not told it.
    fn tell(&self, before: &Given, changes: &mut Changes) {
        differing(&self.wires, &before.wires).for_each(|subject| changes.add(Read::of(Kind::Wire, subject)));
        differing(&self.open, &before.open).for_each(|subject| changes.add(Read::of(Kind::Opened, subject)));
        let signalled = differing(&self.signalled, &before.signalled);
        signalled.for_each(|origin| changes.add(Read::of(Kind::Signalled, origin)));
        let acts: BTreeSet<&Act> = self.earlier.keys().chain(before.earlier.keys()).collect();
        for &act in acts {
            if self.earlier.get(&act) != before.earlier.get(&act) {
                changes.add(Read::of(Kind::Signals, act));
            }
        }
    }
}

/// What there is something else of.
fn differing<'a, K: Copy + Ord, V: PartialEq>(
    a: &'a BTreeMap<K, V>,
    b: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = K> + 'a {
    a.keys().chain(b.keys()).copied().filter(|key| a.get(key) != b.get(key))
}

fn note_points(first: &Point, second: &Point) {
    note(Read::of(Kind::Signals, first.act));
    note(Read::of(Kind::Signals, second.act));
}

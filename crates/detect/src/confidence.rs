//! How sure a race is: what is assumed in its favour, each assumption with its words.

use crate::Stages;
use crate::access::{Access, Location, What};
use crate::asked::Questions;
use crate::cache::Caches;
use findings::Confidence;
use happens_before::{GuardReason, Origin, OriginKind, Protection, SpawnedBy};
use ir::{StmtId, StmtKind};
use pointsto::{Act, Activation, Context, Obj, Site};
use track::{Kind, Read};

/// A reason to believe a race a little less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The two accesses may be to different objects from one allocation site.
    ManyObjects,
    /// Array indices are not compared.
    Indices,
    /// Locks from one allocation site, or of the owner, are held on both sides.
    WeakLock(GuardReason),
    /// The object comes from code that was not analysed.
    Outside,
    /// Instances of one thread on objects that this thread itself allocates, and fetches nowhere.
    OwnInstances,
    /// Each instance of the thread is given an element of its own, unless the object is in there twice.
    Dealt,
    /// Code of several threads is analysed together.
    MergedCode,
    /// The same where there is only one such object: it may not get to this thread.
    MergedPaths,
    /// Every thread fills the field with the same value when it first needs it.
    Cache,
    /// A listener against another one or the thread that registers it, which has mostly done its work when events come.
    Listener,
    /// The same where only some of those that start the other are listeners.
    AfterListener,
    /// Instances of one thread, which is started in one place, once for each call of a method.
    OneByOne,
    /// One of them runs when the process ends, and what goes wrong then is soon over.
    AtExit,
    /// Both are tasks of executors from one allocation site, each of which runs them one after the other.
    OneThreadEach,
}

impl Doubt {
    fn limit(&self) -> Confidence {
        match self {
            Doubt::ManyObjects
            | Doubt::Indices
            | Doubt::OwnInstances
            | Doubt::Cache
            | Doubt::MergedPaths
            | Doubt::AfterListener
            | Doubt::OneByOne
            | Doubt::AtExit
            | Doubt::OneThreadEach => Confidence::Medium,
            Doubt::WeakLock(_) | Doubt::Outside | Doubt::Dealt | Doubt::MergedCode | Doubt::Listener => {
                Confidence::Low
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Doubt::ManyObjects => {
                "several objects are allocated there; both threads may not meet on the same one".into()
            }
            Doubt::Indices => "array indices are not told apart".into(),
            Doubt::WeakLock(GuardReason::MaybeSameOwner) => {
                "both hold the lock of an object that refers to it".into()
            }
            Doubt::WeakLock(_) => "both hold locks from one allocation site, possibly the same one".into(),
            Doubt::Outside => "the object comes from code that is not analysed".into(),
            Doubt::OwnInstances => "each instance of the thread allocates such objects of its own".into(),
            Doubt::Dealt => {
                "each instance is given another element of an array or collection, into which the object is put once".into()
            }
            Doubt::Cache => {
                "it looks like a cache: written only where it was found empty, perhaps always with the same value".into()
            }
            Doubt::Listener => {
                "a listener runs when something happens, mostly after what the thread does that registers it".into()
            }
            Doubt::AfterListener => "a listener may start it, mostly after what the other thread does".into(),
            Doubt::OneByOne => {
                "the thread is started once for each call of a method, perhaps when the one before has ended".into()
            }
            Doubt::AtExit => "one of them runs only when the process ends".into(),
            Doubt::OneThreadEach => {
                "each such executor runs one task at a time, and both may be tasks of the same one".into()
            }
            Doubt::MergedCode | Doubt::MergedPaths => {
                "the code of several threads is analysed together here".into()
            }
        }
    }
}

/// All doubts there are, in the order in which they are told.
const ALL: [Doubt; 18] = [
    Doubt::ManyObjects,
    Doubt::Outside,
    Doubt::MergedCode,
    Doubt::MergedPaths,
    Doubt::OwnInstances,
    Doubt::Indices,
    Doubt::Cache,
    Doubt::WeakLock(GuardReason::SameObject),
    Doubt::WeakLock(GuardReason::SamePath),
    Doubt::WeakLock(GuardReason::SameOwner),
    Doubt::WeakLock(GuardReason::MaybeSameOwner),
    Doubt::WeakLock(GuardReason::SameAllocation),
    Doubt::Dealt,
    Doubt::Listener,
    Doubt::AfterListener,
    Doubt::OneByOne,
    Doubt::AtExit,
    Doubt::OneThreadEach,
];

/// The doubts about one pair. Small: there are many pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Doubts(u32);

impl Doubts {
    pub(crate) fn add(&mut self, doubt: Doubt) {
        self.0 |= ALL.iter().position(|&other| other == doubt).map_or(0, |at| 1 << at);
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Doubt> {
        ALL.into_iter().enumerate().filter(move |(at, _)| self.0 & 1 << at != 0).map(|(_, doubt)| doubt)
    }

    /// The most that each of them alone allows.
    pub(crate) fn limit(self) -> Confidence {
        self.iter().map(|doubt| doubt.limit()).max().unwrap_or(Confidence::High)
    }

    /// One doubt limits the confidence; two together leave little of it.
    pub(crate) fn confidence(self) -> Confidence {
        let mut doubts = self.iter();
        match (doubts.next(), doubts.next()) {
            (None, _) => Confidence::High,
            (Some(doubt), None) => doubt.limit(),
            _ => Confidence::Low,
        }
    }
}

pub(crate) fn doubts(
    stages: &Stages<'_>,
    (questions, caches): (&Questions, &Caches),
    (a, p): (&Access, Origin),
    (b, q): (&Access, Origin),
    location: Location,
    protection: &Protection<'_>,
) -> Doubts {
    let mut doubts = Doubts::default();
    if let Some(obj) = location.obj {
        let object = stages.pointsto.object(obj);
        match object.site {
            Site::Opaque | Site::Merged => doubts.add(Doubt::Outside),
            _ if !stages.happens_before.unique(obj) => doubts.add(Doubt::ManyObjects),
            _ => {}
        }
        let merged = is_merged(stages, a.act, p) || is_merged(stages, b.act, q);
        if merged {
            let is_one = stages.happens_before.unique(obj);
            doubts.add(if is_one { Doubt::MergedPaths } else { Doubt::MergedCode });
        }
        let is_fetched = |access: &Access| {
            access.base.is_some_and(|base| questions.is_fetched(stages, p, (access.act, base, obj)))
        };
        if p == q && questions.is_only_maker(stages, p, obj) && !is_fetched(a) && !is_fetched(b) {
            doubts.add(Doubt::OwnInstances);
        }
    }
    if location.what == What::Elements && (a.index.is_none() || b.index.is_none()) {
        doubts.add(Doubt::Indices);
    }
    if let What::Field(field) | What::Static(field) = location.what
        && caches.contains(field)
    {
        doubts.add(Doubt::Cache);
    }
    if let Protection::Weak(guard) = protection {
        doubts.add(Doubt::WeakLock(guard.why));
    }
    if p == q && is_started_one_by_one(stages, p) {
        doubts.add(Doubt::OneByOne);
    }
    if p != q && [p, q].into_iter().any(|origin| runs_at_exit(stages, origin)) {
        doubts.add(Doubt::AtExit);
    }
    let executor = |origin: Origin| stages.happens_before.origin(origin).each_serial;
    if executor(p).is_some() && executor(p) == executor(q) {
        doubts.add(Doubt::OneThreadEach);
    }
    let (one, other) = (Runner::of(stages, p), Runner::of(stages, q));
    if [one, other].contains(&Runner::Listener) && ![one, other].contains(&Runner::Thread) {
        doubts.add(Doubt::Listener);
    } else if [one, other].contains(&Runner::Entry)
        && [p, q].into_iter().any(|origin| is_after_listener(stages, origin))
    {
        doubts.add(Doubt::AfterListener);
    }
    doubts
}

/// What kind of thread or task an origin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Entry,
    Thread,
    /// Registered wherever it comes from, and not started.
    Listener,
}

impl Runner {
    fn of(stages: &Stages<'_>, origin: Origin) -> Runner {
        let info = stages.happens_before.origin(origin);
        if info.kind != OriginKind::Task {
            return Runner::Entry;
        }
        // Others are registered to be run by threads of their own, as shutdown hooks are.
        if info.serial_on.is_none() {
            return Runner::Thread;
        }
        let registers =
            |by: &SpawnedBy| starting_call(stages, by).is_some_and(|name| stages.knowledge.registers(name));
        match info.spawned_by.iter().all(registers) {
            true => Runner::Listener,
            false => Runner::Thread,
        }
    }
}

/// The name of the method by whose call it is started.
fn starting_call<'a>(stages: &Stages<'a>, by: &SpawnedBy) -> Option<&'a str> {
    let method = stages.pointsto.method(by.act);
    track::note(Read::of(Kind::Body, method));
    match &stages.program.lowered(method)?.stmts[by.stmt].kind {
        StmtKind::Call { target, .. } => Some(stages.program.selector_text(target.selector).0),
        _ => None,
    }
}

/// Is it handed over to run when the process ends, and nowhere else?
fn runs_at_exit(stages: &Stages<'_>, origin: Origin) -> bool {
    let info = stages.happens_before.origin(origin);
    let is_at_exit =
        |by: &SpawnedBy| starting_call(stages, by).is_some_and(|name| stages.knowledge.runs_at_exit(name));
    info.kind == OriginKind::Task && info.spawned_by.iter().all(is_at_exit)
}

/// Is there one place that starts it, and no loop around that? It may be run for several entry points, each a program of
/// its own.
fn is_started_one_by_one(stages: &Stages<'_>, origin: Origin) -> bool {
    let info = stages.happens_before.origin(origin);
    let [by, others @ ..] = info.spawned_by.as_slice() else { return false };
    let method = stages.pointsto.method(by.act);
    let is_task = |by: &SpawnedBy| stages.happens_before.origin(by.parent).kind == OriginKind::Task;
    let is_same = |other: &SpawnedBy| stages.pointsto.method(other.act) == method && other.stmt == by.stmt;
    if !others.iter().all(|other| is_same(other) && !is_task(other) && !is_task(by)) {
        return false;
    }
    track::note(Read::of(Kind::Body, method));
    let Some(body) = stages.program.lowered(method) else { return false };
    let block_of =
        |stmt: StmtId| body.blocks.iter().find(|(_, block)| (block.first..block.end).contains(&stmt.0));
    let Some((start, _)) = block_of(by.stmt) else { return false };
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(&block) = reached.get(next) {
        next += 1;
        for &to in &body.blocks[block].succs {
            if to == start {
                return false;
            }
            if !reached.contains(&to) {
                reached.push(to);
            }
        }
    }
    true
}

/// Is it a task of the same executor as the listeners, and does one of them hand it over?
fn is_after_listener(stages: &Stages<'_>, origin: Origin) -> bool {
    let info = stages.happens_before.origin(origin);
    info.serial_on.is_some()
        && info.spawned_by.iter().any(|by| Runner::of(stages, by.parent) == Runner::Listener)
}

/// A task's code that has no context of its own: its objects are mixed with those of other threads.
pub(crate) fn is_merged(stages: &Stages<'_>, act: Act, origin: Origin) -> bool {
    let ctx = stages.pointsto.code_ctx(stages.pointsto.ctx(act));
    let is_task = stages.happens_before.origin(origin).kind == OriginKind::Task;
    is_task && !matches!(stages.pointsto.context(ctx), Context::Origin(_))
}

/// Every activation that may allocate the object is run by this origin alone.
pub(crate) fn allocated_only_by(stages: &Stages<'_>, origin: Origin, obj: Obj) -> bool {
    let object = stages.pointsto.object(obj);
    let (Site::Alloc(method, _) | Site::Model(method, ..)) = object.site else { return false };
    track::note(Read::of(Kind::ActsOf, method));
    match stages.pointsto.act(Activation { ctx: object.ctx, method }) {
        Some(act) => stages.happens_before.origins_of(act) == [origin],
        None => false,
    }
}

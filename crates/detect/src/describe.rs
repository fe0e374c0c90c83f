//! Words and places for a finding: where a statement is, which thread runs it and how it came to be, which
//! locks it holds, what a piece of memory is called.

use crate::Stages;
use crate::access::{Location, What};
use crate::anchor::Anchor;
use crate::confidence::{Doubt, Doubts};
use crate::ways::Ways;
use crate::words::Words;
use classfile::Layer;
use findings::{AccessKind, Frame, LockUse, Place, Site, fingerprint, unnumbered};
use happens_before::{Content, HeldLock, Origin, Point};
use ir::{MethodId, StmtId};
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Callers looked at on the search for a way that avoids something.
const FARTHEST: usize = 256;

#[derive(Clone, Copy)]
pub(crate) struct Describe<'a> {
    stages: &'a Stages<'a>,
    pub(crate) content: Content<'a>,
    ways: &'a Ways,
    words: &'a Words,
}

impl<'a> Describe<'a> {
    pub(crate) fn new(stages: &'a Stages<'a>, ways: &'a Ways, words: &'a Words) -> Describe<'a> {
        Describe { stages, content: Content::new(stages.program, stages.pointsto), ways, words }
    }

    /// Who calls an activation, in the order of content.
    pub(crate) fn callers(&self, act: Act) -> &'a [(Act, StmtId)] {
        self.stages.happens_before.calls(self.content).callers(act)
    }

    pub(crate) fn place(&self, act: Act, stmt: StmtId) -> Place {
        self.words.place(self.stages, self.stages.pointsto.method(act), Some(stmt))
    }

    /// One side of a finding.
    pub(crate) fn site(&self, point: Point, access: AccessKind) -> Site {
        let shown = self.users_point(point);
        let method = self.stages.pointsto.method(shown.act);
        let locks = self.locks_at([point]);
        Site {
            access,
            place: self.place(shown.act, shown.stmt),
            method: self.stages.program.method_display(method),
            origin: self.origin(point.origin),
            started: self.started(point.origin),
            locks,
            trace: self.trace(shown),
            ..Site::default()
        }
    }

    /// One side of a race against another: the way its object takes, and the locks held anywhere on it.
    pub(crate) fn site_against(
        &self,
        point: Point,
        access: AccessKind,
        anchor: Option<&Anchor>,
        other: Point,
    ) -> Site {
        let way = self.way_against(point, anchor, other);
        let (act, stmt) = way.last().copied().unwrap_or((point.act, point.stmt));
        let calls = anchor.map_or_else(Vec::new, Anchor::calls);
        let frames = way.iter().copied().chain(calls).chain([(point.act, point.stmt)]);
        let locks = self.locks_at(frames.map(|(act, stmt)| Point { act, stmt, ..point }));
        let trace = way.iter().map(|&(act, stmt)| self.frame(act, stmt)).collect();
        Site { locks, trace, ..self.site(Point { act, stmt, ..point }, access) }
    }

    /// Of the same side only what it does and where.
    pub(crate) fn place_against(
        &self,
        point: Point,
        access: AccessKind,
        anchor: Option<&Anchor>,
        other: Point,
    ) -> Site {
        let (act, stmt) = match self.layer(point.act) {
            Layer::Jdk => *self.way_against(point, anchor, other).last().unwrap_or(&(point.act, point.stmt)),
            Layer::App | Layer::Library => (point.act, point.stmt),
        };
        Site {
            access,
            place: self.place(act, stmt),
            method: self.stages.program.method_display(self.stages.pointsto.method(act)),
            origin: String::new(),
            ..Site::default()
        }
    }

    /// Calls from the start of the thread along the way its object takes, down to the access, or to the user's
    /// call that led to it when it is library code.
    pub(crate) fn way(&self, point: Point, anchor: Option<&Anchor>) -> Vec<(Act, StmtId)> {
        let top = anchor.map_or(point.act, |anchor| anchor.top().act);
        self.way_below(self.calls(point.origin, top), point, anchor)
    }

    /// Where that ends.
    pub(crate) fn shown(&self, point: Point, anchor: Option<&Anchor>) -> (Act, StmtId) {
        match self.layer(point.act) {
            Layer::Jdk => *self.way(point, anchor).last().unwrap_or(&(point.act, point.stmt)),
            Layer::App | Layer::Library => (point.act, point.stmt),
        }
    }

    /// The same through calls during which the other point may be reached and no lock is held that does not
    /// count, as far as there are such.
    fn way_against(&self, point: Point, anchor: Option<&Anchor>, other: Point) -> Vec<(Act, StmtId)> {
        let top = anchor.map_or(point.act, |anchor| anchor.top().act);
        let hb = self.stages.happens_before;
        let meets = |call: Point| {
            let next = self.words.after(self.stages, self.stages.pointsto.method(call.act), call.stmt);
            let next = next.map(|stmt| Point { stmt, ..call });
            [call].iter().chain(&next).any(|point| hb.ordered(point, &other).is_none())
        };
        let unlocked = |call: Point| !hb.holds_any(&call) && meets(call);
        // The shortest way of all, if it will do: others are searched for anew each time.
        let shortest = self.calls(point.origin, top);
        if shortest.iter().all(|&(act, stmt)| unlocked(Point { act, stmt, ..point })) {
            return self.way_below(shortest, point, anchor);
        }
        let calls = self.calls_where(point.origin, top, unlocked);
        match calls.or_else(|| self.calls_where(point.origin, top, meets)) {
            Some(calls) => self.way_below(calls, point, anchor),
            None => self.way(point, anchor),
        }
    }

    /// Is it in a constructor of the class that has the field?
    pub(crate) fn is_made_at(&self, point: Point, location: Location) -> bool {
        let What::Field(field) = location.what else { return false };
        let program = self.stages.program;
        let method = program.method_ref(self.stages.pointsto.method(point.act));
        program.selector_text(method.selector).0 == "<init>" && method.class == program.field_ref(field).class
    }

    /// Does a call on that way lead to other methods as well? Then this one may never be called there.
    pub(crate) fn may_lead_elsewhere(&self, point: Point, anchor: Option<&Anchor>, other: Point) -> bool {
        let pointsto = self.stages.pointsto;
        self.way_against(point, anchor, other).into_iter().any(|(act, stmt)| {
            let mut methods = pointsto.callees(act, stmt).iter().map(|&callee| pointsto.method(callee));
            let first = methods.next();
            methods.any(|method| Some(method) != first)
        })
    }

    fn way_below(
        &self,
        mut way: Vec<(Act, StmtId)>,
        point: Point,
        anchor: Option<&Anchor>,
    ) -> Vec<(Act, StmtId)> {
        way.extend(anchor.map_or_else(Vec::new, Anchor::calls));
        way.push((point.act, point.stmt));
        let users = way.iter().rposition(|&(act, _)| self.layer(act) != Layer::Jdk);
        way.truncate(users.map_or(way.len(), |at| at + 1));
        way
    }

    /// The shortest chain of such calls down to the activation, if it is not too far to seek. The search goes where the
    /// start of the thread is near.
    fn calls_where(
        &self,
        origin: Origin,
        act: Act,
        may_call: impl Fn(Point) -> bool,
    ) -> Option<Vec<(Act, StmtId)>> {
        let distance = |act| self.ways.distance(self.stages, origin, act);
        // For each caller how many calls it is away from the activation, and the first of them.
        let mut next: FxHashMap<Act, (u32, StmtId, Act)> = FxHashMap::default();
        let mut todo: BinaryHeap<Reverse<(u32, usize, u32, Act)>> = BinaryHeap::new();
        todo.push(Reverse((0, 0, 0, act)));
        let mut looked_at = 0;
        while let Some(Reverse((_, _, steps, callee))) = todo.pop() {
            if distance(callee) == Some(0) {
                let mut calls = Vec::new();
                let mut at = callee;
                while at != act {
                    let &(_, stmt, callee) = next.get(&at)?;
                    calls.push((at, stmt));
                    at = callee;
                }
                return Some(calls);
            }
            if next.get(&callee).is_some_and(|&(known, ..)| known < steps) || next.len() > FARTHEST {
                continue;
            }
            for &(caller, stmt) in self.callers(callee).iter() {
                let is_known =
                    caller == act || next.get(&caller).is_some_and(|&(known, ..)| known <= steps + 1);
                let Some(left) = distance(caller).filter(|_| !is_known) else { continue };
                if may_call(Point { origin, act: caller, stmt }) {
                    next.insert(caller, (steps + 1, stmt, callee));
                    looked_at += 1;
                    todo.push(Reverse((steps + 1 + left, looked_at, steps + 1, caller)));
                }
            }
        }
        None
    }

    /// One side of a finding, by way of these calls.
    pub(crate) fn site_by_calls(&self, point: Point, access: AccessKind, calls: &[(Act, StmtId)]) -> Site {
        let mut site = self.site(point, access);
        if let Some(&(first, _)) = calls.first() {
            let outer = self.calls(point.origin, first);
            let all = outer.into_iter().chain(calls.iter().copied()).chain([(point.act, point.stmt)]);
            site.trace = all.map(|(act, stmt)| self.frame(act, stmt)).collect();
        }
        site
    }

    /// The point itself, or the user's call that led to it when it is library code.
    pub(crate) fn users_point(&self, point: Point) -> Point {
        if self.layer(point.act) != Layer::Jdk {
            return point;
        }
        let trace = self.calls(point.origin, point.act);
        match trace.into_iter().rfind(|&(act, _)| self.layer(act) != Layer::Jdk) {
            Some((act, stmt)) => Point { act, stmt, ..point },
            None => point,
        }
    }

    /// Calls from the start of the thread down to the point.
    fn trace(&self, point: Point) -> Vec<Frame> {
        self.calls(point.origin, point.act)
            .into_iter()
            .chain([(point.act, point.stmt)])
            .map(|(act, stmt)| self.frame(act, stmt))
            .collect()
    }

    /// The shortest chain of calls from the start of the origin down to the activation, without it.
    fn calls(&self, origin: Origin, act: Act) -> Vec<(Act, StmtId)> {
        self.ways.calls(self.stages, &self.content, origin, act)
    }

    fn frame(&self, act: Act, stmt: StmtId) -> Frame {
        let method = self.stages.pointsto.method(act);
        Frame { method: self.stages.program.method_display(method), place: self.place(act, stmt) }
    }

    pub(crate) fn origin(&self, origin: Origin) -> String {
        let info = self.stages.happens_before.origin(origin);
        match (info.spawned_by.first(), self.start(origin)) {
            (Some(spawn), Some((act, place))) => {
                let how = if self.words.is_submitted(self.stages, spawn.act, spawn.stmt) {
                    "task submitted"
                } else {
                    "thread started"
                };
                let method = || self.stages.program.method_display(self.stages.pointsto.method(act));
                match (self.layer(act), place.line) {
                    (Layer::Jdk, _) => format!("{how} by the JDK, in {}", method()),
                    (_, 0) => format!("{how} in {}", method()),
                    (Layer::Library, line) => format!("{how} by a dependency, at {}:{line}", place.file),
                    (Layer::App, line) => format!("{how} at {}:{line}", place.file),
                }
            }
            _ => {
                let method = self.stages.pointsto.method(info.entry);
                let (name, _) =
                    self.stages.program.selector_text(self.stages.program.method_ref(method).selector);
                match name {
                    "main" => "main thread".to_string(),
                    _ => format!("entry point {}", self.stages.program.method_display(method)),
                }
            }
        }
    }

    /// Where the thread is started, if the user has that code.
    fn started(&self, origin: Origin) -> Option<Place> {
        let (act, place) = self.start(origin)?;
        (self.layer(act) != Layer::Jdk).then_some(place)
    }

    /// The statement that starts the thread; if that is in the JDK, the user's call that leads there.
    fn start(&self, origin: Origin) -> Option<(Act, Place)> {
        let info = self.stages.happens_before.origin(origin);
        let spawn = info.spawned_by.first()?;
        let in_app = |&(act, _): &(Act, StmtId)| self.layer(act) != Layer::Jdk;
        let own = (spawn.act, spawn.stmt);
        // To find a way takes long, and mostly nobody needs one.
        let nearest = || self.calls(spawn.parent, spawn.act).into_iter().rev().find(in_app).unwrap_or(own);
        let (act, stmt) = if in_app(&own) { own } else { nearest() };
        Some((act, self.place(act, stmt)))
    }

    fn layer(&self, act: Act) -> Layer {
        let program = self.stages.program;
        program.class(program.method_ref(self.stages.pointsto.method(act)).class).layer
    }

    /// What is held at any of the points. What is taken again while it is held is one lock, told where it is first.
    fn locks_at(&self, points: impl IntoIterator<Item = Point>) -> Vec<LockUse> {
        let (mut locks, mut again) = (BTreeSet::new(), BTreeSet::new());
        for point in points {
            let held = self.stages.happens_before.held(&point);
            let mut held: Vec<(LockUse, &HeldLock)> =
                held.into_iter().map(|lock| (self.lock(lock), lock)).collect();
            held.sort();
            for (at, (shown, lock)) in held.iter().enumerate() {
                let is_same = |(other, twin): &(LockUse, &HeldLock)| {
                    other.shared == shown.shared && twin.keys.iter().any(|key| lock.keys.contains(key))
                };
                let is_again = held[..at].iter().any(|other| other.0 != *shown && is_same(other));
                if is_again { &mut again } else { &mut locks }.insert(shown.clone());
            }
        }
        locks.difference(&again).cloned().collect()
    }

    pub(crate) fn lock(&self, lock: &HeldLock) -> LockUse {
        let place = self.lock_place(self.stages.pointsto.method(lock.act), lock.stmt);
        let name = self.words.lock(self.stages, lock);
        LockUse { name, place, shared: lock.shared, ..LockUse::default() }
    }

    /// Which object a lock is: what the nearest of these calls, which lead to it, names it, or where it is allocated.
    pub(crate) fn lock_object(&self, lock: &HeldLock, calls: &[(Act, StmtId)]) -> String {
        let named = |&(act, stmt): &(Act, StmtId)| {
            let mut names =
                lock.objects.iter().filter_map(|&obj| self.words.touched(self.stages, (act, stmt), obj));
            names.next().filter(|name| name != "this")
        };
        if let Some(name) = calls.iter().rev().find_map(named) {
            return format!("`{name}`");
        }
        let Some(&obj) = lock.objects.first() else { return String::new() };
        let class = self.stages.program.class_display(self.stages.pointsto.object(obj).class);
        match self.object_place(obj).filter(|_| lock.objects.len() == 1) {
            Some(place) => format!("{class} of {}:{}", place.file, place.line),
            None => class,
        }
    }

    /// The calls that lead to the activation in which a lock is taken.
    pub(crate) fn calls_to_lock(&self, origin: Origin, lock: &HeldLock) -> Vec<(Act, StmtId)> {
        self.calls(origin, lock.act)
    }

    /// Where a lock is taken by a statement, or by a synchronized method.
    pub(crate) fn lock_place(&self, method: MethodId, stmt: Option<StmtId>) -> Place {
        self.words.place(self.stages, method, stmt)
    }

    /// `bank.Account.balance`, `int[]`, `java.util.HashMap`.
    pub(crate) fn location(&self, location: Location) -> String {
        let program = self.stages.program;
        match (location.what, location.obj) {
            (What::Field(field) | What::Static(field), _) => program.field_display(field),
            (What::Elements | What::Contents, Some(obj)) => {
                program.class_display(self.stages.pointsto.object(obj).class)
            }
            (What::Elements | What::Contents, None) => String::new(),
        }
    }

    /// The same for a reader: `bank.Bank.names (java.util.ArrayList)`, by what either side calls the object, a
    /// field if one does. Not for fingerprints.
    pub(crate) fn headline(&self, location: Location, sides: [(Point, Option<&Anchor>); 2]) -> String {
        let name = self.location(location);
        match self.called(location, sides) {
            Some(called) => format!("{called} ({name})"),
            None => name,
        }
    }

    /// The field that holds the container or array, if either side calls it by one.
    pub(crate) fn held_in(&self, location: Location, sides: [(Point, Option<&Anchor>); 2]) -> Option<String> {
        self.called(location, sides).filter(|called| called.contains('.'))
    }

    /// What either side calls a container or array.
    fn called(&self, location: Location, sides: [(Point, Option<&Anchor>); 2]) -> Option<String> {
        let (What::Elements | What::Contents, Some(obj)) = (location.what, location.obj) else { return None };
        let called = |(point, anchor)| self.words.touched(self.stages, self.shown(point, anchor), obj);
        // A call or a constructor says how it was got, not where it is kept.
        let is_kept = |name: &String| name != "this" && !name.ends_with("()") && !name.starts_with("new ");
        let called: Vec<String> = sides.into_iter().filter_map(called).filter(is_kept).collect();
        called.iter().find(|name| name.contains('.')).or(called.first()).cloned()
    }

    /// Where an object is allocated.
    pub(crate) fn object_place(&self, obj: Obj) -> Option<Place> {
        match self.stages.pointsto.object(obj).site {
            pointsto::Site::Alloc(method, stmt) | pointsto::Site::Model(method, stmt, _) => {
                Some(self.words.place(self.stages, method, Some(stmt)))
            }
            _ => None,
        }
    }

    /// What identifies a pair of accesses, by the methods they are in.
    pub(crate) fn fingerprint(&self, location: Location, sides: [(MethodId, AccessKind); 2]) -> String {
        let named = sides.map(|(method, access)| (self.stages.program.method_display(method), access));
        self.fingerprint_of(location, [0, 1].map(|at| (named[at].0.as_str(), named[at].1)))
    }

    pub(crate) fn fingerprint_of(&self, location: Location, sides: [(&str, AccessKind); 2]) -> String {
        let maker_of_unnamed = match location.what {
            What::Elements | What::Contents => location.obj.and_then(|obj| self.object_maker(obj)),
            What::Field(_) | What::Static(_) => None,
        };
        let mut sides = sides.map(|(method, access)| format!("{access:?} {}", unnumbered(method)));
        sides.sort();
        let maker = maker_of_unnamed.unwrap_or_default();
        fingerprint(&["race", &self.location(location), &maker, &sides[0], &sides[1]])
    }

    /// The class whose code allocates an object.
    pub(crate) fn object_maker(&self, obj: Obj) -> Option<String> {
        match self.stages.pointsto.object(obj).site {
            pointsto::Site::Alloc(method, _) | pointsto::Site::Model(method, ..) => {
                let program = self.stages.program;
                Some(program.class_display(program.method(method).class))
            }
            _ => None,
        }
    }

    /// Why locks do not protect a pair: where both sides hold one of the same name, why that is not the same lock.
    pub(crate) fn why_unlocked(
        &self,
        sites: [&Site; 2],
        sides: [(Point, Option<&Anchor>, Point); 2],
    ) -> String {
        let [one, other] = sites.map(|site| &site.locks);
        let same =
            one.iter().find_map(|lock| Some((lock, other.iter().find(|twin| twin.name == lock.name)?)));
        let Some((lock, twin)) = same else { return "no common lock".to_string() };
        let name = &lock.name;
        if lock.shared && twin.shared {
            return format!(
                "no common lock: both hold `{name}` in read mode, which excludes no other reader"
            );
        }
        let allocated = sides.map(|(point, anchor, other)| self.allocations(name, point, anchor, other));
        match allocated.each_ref().map(|places| places.iter().collect::<Vec<_>>()) {
            [a, b] if a.len() == 1 && b.len() == 1 && a != b => format!(
                "no common lock: both hold a lock named `{name}`, but of different objects, allocated at {}:{} and {}:{}",
                a[0].file, a[0].line, b[0].file, b[0].line
            ),
            _ => format!("no common lock: both hold a lock named `{name}`, not proven to be the same object"),
        }
    }

    /// Where the locks of this name are allocated that one side holds.
    fn allocations(
        &self,
        name: &str,
        point: Point,
        anchor: Option<&Anchor>,
        other: Point,
    ) -> BTreeSet<Place> {
        let way = self.way_against(point, anchor, other);
        let calls = anchor.map_or_else(Vec::new, Anchor::calls);
        let frames = way.into_iter().chain(calls).chain([(point.act, point.stmt)]);
        let mut places = BTreeSet::new();
        for (act, stmt) in frames {
            for held in self.stages.happens_before.held(&Point { act, stmt, ..point }) {
                if self.words.lock(self.stages, held) == name {
                    places.extend(held.objects.iter().map(|&obj| self.object_place(obj).unwrap_or_default()));
                }
            }
        }
        places
    }

    /// Why nothing protects the pair.
    pub(crate) fn why_race(&self, [a, b]: [Origin; 2], doubts: Doubts, unlocked: String) -> Vec<String> {
        let origin = |origin: Origin| self.stages.happens_before.origin(origin);
        let mut why = vec![unlocked];
        if a == b {
            why.push("several instances of this thread may run at the same time".to_string());
        } else {
            let ancestor = |child: Origin, parent: Origin| {
                origin(child).spawned_by.iter().any(|spawn| spawn.parent == parent)
            };
            why.push(if ancestor(b, a) || ancestor(a, b) {
                "the started thread may still run: nothing joins it before the access".to_string()
            } else {
                "both threads may run at the same time: neither waits for the other".to_string()
            });
        }
        why.extend(doubts.iter().map(|doubt| Doubt::text(&doubt)));
        why
    }
}

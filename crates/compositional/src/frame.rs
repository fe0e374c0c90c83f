//! One method at work: its outline is run on states until they hold everywhere, then once more to write its summary.
//! Owns the way through the method; what calls and models mean is next door.

use crate::draft::Draft;
use crate::link::{Callee, Link};
use crate::outline::{Event, EventId, Outline, Return, ValueId};
use crate::path::{Path, Root, Step};
use crate::state::State;
use crate::summary::{Access, Held, Left, Nested, Returned, Site, Summary, Taken, Thread};
use crate::value::Abs;
use ir::{CallKind, ClassId, FieldId, MethodId, MethodRef};
use models::Knowledge;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of a method before it is looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    pub id: MethodId,
    pub class: ClassId,
    pub is_static: bool,
    pub is_synchronized: bool,
    pub is_constructor: bool,
    pub is_initializer: bool,
    /// Its class says that it is thread-safe.
    pub is_declared_safe: bool,
    pub thread: Thread,
    /// Locks that whoever calls it has to hold, as it says itself.
    pub needs: Vec<Path>,
    /// What it returns belongs to the caller, as it says itself.
    pub returns_new: bool,
    /// Of class, name and parameters.
    pub digest: u64,
}

/// Finds the summaries of called methods.
pub(crate) type Known<'a> = &'a (dyn Fn(MethodId) -> Option<Arc<Summary>> + Sync);

pub(crate) struct Frame<'a> {
    pub link: &'a Link,
    pub knowledge: &'a Knowledge,
    known: Known<'a>,
    pub method: &'a Method,
    pub outline: &'a Outline,
    /// What was worked out so far.
    pub values: Vec<Option<Abs>>,
    callees: Vec<Option<Arc<Callee>>>,
    /// The constructor call of each value that is made here.
    pub constructors: FxHashMap<ValueId, EventId>,
    /// Calls that start threads, and what they are waited for by.
    pub starts: Vec<Start>,
    pub thread: Thread,
    /// Functions that are being run in functions.
    pub inside: usize,
    /// What is started runs several times at once.
    pub parallel: bool,
    /// What is started now runs when something else is done.
    pub later: bool,
    /// What is started runs on this executor, which runs one task after the other.
    pub on: Option<Path>,
    /// That a function is run in place is only a guess.
    pub is_guess: bool,
    /// Starts that may have been running when a value was made.
    pub made_during: FxHashMap<ValueId, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub at: EventId,
    pub handles: Vec<Handle>,
    /// It is known what runs: not only something that the method was given.
    pub is_known: bool,
    /// Starts, as a set, that have ended before it begins.
    pub after: u64,
}

/// By what two operands are taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handle {
    Value(ValueId),
    Path(Path),
}

/// Loops settle long before this.
const MOST_ROUNDS: usize = 12;

pub(crate) fn summarise(
    link: &Link,
    knowledge: &Knowledge,
    known: Known<'_>,
    method: &Method,
    outline: &Outline,
) -> Summary {
    let mut frame = Frame::of(link, knowledge, known, method, outline);
    let states = frame.settle();
    let mut draft = Draft::default();
    frame.write(&states, &mut draft);
    draft.finish(link, method, outline, frame.thread)
}

impl<'a> Frame<'a> {
    pub(crate) fn of(
        link: &'a Link,
        knowledge: &'a Knowledge,
        known: Known<'a>,
        method: &'a Method,
        outline: &'a Outline,
    ) -> Frame<'a> {
        let mut frame = Frame {
            link,
            knowledge,
            known,
            method,
            outline,
            values: vec![None; outline.values.len()],
            callees: vec![None; outline.events.len()],
            constructors: FxHashMap::default(),
            starts: Vec::new(),
            thread: method.thread,
            inside: 0,
            parallel: false,
            later: false,
            on: None,
            is_guess: false,
            made_during: FxHashMap::default(),
        };
        frame.find_constructors();
        frame.find_thread();
        frame
    }

    /// Goes through the method with what holds before each event.
    pub(crate) fn each(&mut self, mut look: impl FnMut(&mut Frame<'a>, EventId, &State)) {
        let states = self.settle();
        for (block, state) in self.outline.blocks.iter().zip(states) {
            let Some(mut state) = state else { continue };
            for event in block.first..block.end {
                look(self, event, &state);
                self.step(event, &mut state);
            }
        }
    }
}

impl Frame<'_> {
    pub(crate) fn known(&self, method: MethodId) -> Option<Arc<Summary>> {
        (self.known)(method)
    }

    /// What the call at this event may run.
    pub(crate) fn callee(&mut self, event: EventId) -> Arc<Callee> {
        if let Some(known) = &self.callees[event as usize] {
            return known.clone();
        }
        let outline = self.outline;
        let Event::Call { target, kind, args } = &outline.events[event as usize] else {
            return Arc::default();
        };
        let receiver = args.first().filter(|_| *kind == CallKind::Virtual);
        let class = receiver.and_then(|&value| self.link.class_of(outline, value));
        let callee = self.link.callee(*target, *kind, class);
        self.callees[event as usize] = Some(callee.clone());
        callee
    }

    fn find_constructors(&mut self) {
        for (number, event) in self.outline.events.iter().enumerate() {
            if let Event::Call { kind: CallKind::Special, args, .. } = event
                && let Some(&object) = args.first()
                && matches!(self.outline.values[object as usize], crate::outline::Value::Made(_))
            {
                self.constructors.entry(object).or_insert(number as EventId);
            }
        }
    }

    /// A method that asserts its thread runs on it, and so does whoever calls one that does.
    fn find_thread(&mut self) {
        if self.thread != Thread::Unknown {
            return;
        }
        let outline = self.outline;
        let entry = outline.blocks.first().map_or(0..0, |block| block.first..block.end);
        for event in entry {
            let Event::Call { .. } = &outline.events[event as usize] else { continue };
            let callee = self.callee(event);
            self.thread = match self.knowledge.asserted(&callee.name) {
                Some(true) => Thread::Main,
                Some(false) => Thread::Background,
                None => match callee.targets.as_slice() {
                    &[target] if self.known(target).is_some_and(|summary| summary.thread == Thread::Main) => {
                        Thread::Main
                    }
                    _ => continue,
                },
            };
            return;
        }
    }

    fn first_state(&self) -> State {
        let mut state = State::default();
        if self.method.is_synchronized {
            let root = if self.method.is_static { Root::Class(self.method.class) } else { Root::Param(0) };
            state.acquire(Path::of(root), false, crate::ENTRY, None);
        }
        for &lock in &self.method.needs {
            state.acquire(lock, false, crate::ENTRY, None);
        }
        state
    }

    /// The states at the beginning of all blocks.
    fn settle(&mut self) -> Vec<Option<State>> {
        let outline = self.outline;
        let mut states: Vec<Option<State>> = vec![None; outline.blocks.len()];
        let Some(first) = states.first_mut() else { return states };
        *first = Some(self.first_state());
        for _ in 0..MOST_ROUNDS {
            let mut is_settled = true;
            for (number, block) in outline.blocks.iter().enumerate() {
                let Some(before) = states[number].clone() else { continue };
                let mut state = before.clone();
                for event in block.first..block.end {
                    self.step(event, &mut state);
                }
                for &handler in &block.handlers {
                    is_settled &= !arrive(&mut states[handler as usize], &before);
                }
                for (which, &next) in block.succs.iter().enumerate() {
                    let mut state = state.clone();
                    if let Some(test) = block.test {
                        state.decide(test.of, (which == 0) == test.first_if_true);
                    }
                    is_settled &= !arrive(&mut states[next as usize], &state);
                }
            }
            if is_settled {
                break;
            }
        }
        states
    }

    /// What one event does to the state.
    pub(crate) fn step(&mut self, event: EventId, state: &mut State) {
        let outline = self.outline;
        match &outline.events[event as usize] {
            Event::Enter(value) => {
                let abs = self.abs(*value);
                state.acquire(self.monitor(&abs), false, event, None);
            }
            Event::Exit(value) => {
                let abs = self.abs(*value);
                state.release(self.monitor(&abs), false);
            }
            Event::Write { base, field, src } => {
                let (base, src) = (self.abs(*base), self.abs(*src));
                let step = self.link.field(*field).map(Step::Field);
                if let ([base], Some(step)) = (base.paths.as_slice(), step)
                    && let Some(path) = base.then(step)
                {
                    state.give(path, src.made.is_some());
                }
            }
            Event::WriteStatic { field, src } => {
                let src = self.abs(*src);
                if let Some(field) = self.link.field(*field) {
                    state.give(Path::of(Root::Static(field)), src.made.is_some());
                }
            }
            Event::Call { .. } => self.call_step(event, state),
            _ => {}
        }
    }

    /// Goes through the method once more and writes down what happens.
    fn write(&mut self, states: &[Option<State>], draft: &mut Draft) {
        let outline = self.outline;
        let mut ends: Vec<(State, Return)> = Vec::new();
        if let Some(first) = states.first().and_then(Option::as_ref)
            && self.method.is_synchronized
        {
            for held in first.held().filter(|held| !self.method.needs.contains(&held.lock)) {
                draft.take(Taken {
                    lock: held.lock,
                    shared: false,
                    started: false,
                    tried: false,
                    of_several: false,
                    site: here(crate::ENTRY),
                    depth: 0,
                    digest: 0,
                });
            }
        }
        for (block, state) in outline.blocks.iter().zip(states) {
            let Some(mut state) = state.clone() else { continue };
            for event in block.first..block.end {
                self.write_event(event, &state, draft);
                self.step(event, &mut state);
            }
            if let Some(end) = block.returns {
                ends.push((state, end));
            }
        }
        self.write_ends(ends, draft);
    }

    pub(crate) fn write_event(&mut self, event: EventId, state: &State, draft: &mut Draft) {
        let outline = self.outline;
        match &outline.events[event as usize] {
            Event::Read { base, field } => self.write_access(Some(*base), *field, false, event, state, draft),
            Event::Write { src, .. } | Event::WriteStatic { src, .. } if self.is_same_for_all(*src) => {}
            Event::Write { base, field, src } => {
                self.write_access(Some(*base), *field, true, event, state, draft);
                self.write_store(*base, *field, *src, draft);
            }
            Event::ReadStatic { field } => self.write_access(None, *field, false, event, state, draft),
            Event::WriteStatic { field, .. } => self.write_access(None, *field, true, event, state, draft),
            Event::ReadElement { base } => self.write_element(*base, false, event, state, draft),
            Event::WriteElement { base, .. } => self.write_element(*base, true, event, state, draft),
            Event::Enter(value) => {
                let abs = self.abs(*value);
                self.write_lock(self.monitor(&abs), false, false, here(event), state, draft);
            }
            Event::Call { kind, args, .. } => {
                if let (CallKind::Special, Some(&object)) = (kind, args.first())
                    && self.constructors.get(&object) == Some(&event)
                {
                    self.made_during.insert(object, state.running);
                }
                self.write_call(event, state, draft);
            }
            Event::Return(value) => {
                let abs = self.abs(*value);
                draft.returns.push(abs);
            }
            Event::Exit(_) => {}
        }
    }

    /// A value that is the same whoever works it out: to store it twice does no harm.
    fn is_same_for_all(&mut self, value: ValueId) -> bool {
        let crate::outline::Value::Result(event) = self.outline.values[value as usize] else { return false };
        let callee = self.callee(event);
        self.link.is_functional(&callee)
    }

    fn write_access(
        &mut self,
        base: Option<ValueId>,
        field: ir::FieldRef,
        writes: bool,
        event: EventId,
        state: &State,
        draft: &mut Draft,
    ) {
        let Some(id) = self.link.field(field).filter(|&id| self.is_shared_memory(id)) else { return };
        let paths: Vec<Path> = match base {
            None => vec![Path::of(Root::Static(id))],
            Some(base) => self.abs(base).paths.iter().filter_map(|path| path.then(Step::Field(id))).collect(),
        };
        for path in &paths {
            self.write_asking(*path, writes, None, paths.len() > 1, event, state, draft);
        }
    }

    fn write_element(
        &mut self,
        base: ValueId,
        writes: bool,
        event: EventId,
        state: &State,
        draft: &mut Draft,
    ) {
        let paths = self.abs(base).paths;
        for path in &paths {
            if let Some(path) = path.then(Step::Elements) {
                self.write_asking(path, writes, None, paths.len() > 1, event, state, draft);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each says another thing about the access")]
    pub(crate) fn write_asking(
        &mut self,
        path: Path,
        writes: bool,
        asks: Option<MethodRef>,
        vague: bool,
        event: EventId,
        state: &State,
        draft: &mut Draft,
    ) {
        if state.owns(&path) {
            return;
        }
        let held: Arc<[Held]> = state.held().collect();
        let (thread, running, site) = (self.thread, state.running, here(event));
        let (started, of_task, only_if, depth, digest) = (0, false, None, 0, 0);
        draft.access(Access {
            path,
            writes,
            held,
            thread,
            started,
            running,
            of_task,
            on: None,
            asks,
            only_if,
            vague,
            of_several: false,
            waited: state.waited,
            later: false,
            site,
            depth,
            digest,
        });
    }

    /// A lock is taken here, or in something that is called here.
    pub(crate) fn write_lock(
        &mut self,
        lock: Path,
        shared: bool,
        of_several: bool,
        site: Site,
        state: &State,
        draft: &mut Draft,
    ) {
        if state.holds(lock) {
            return;
        }
        let held: Arc<[Held]> = state.held().filter(|held| held.lock != Path::UNKNOWN).collect();
        if !held.is_empty() && lock != Path::UNKNOWN {
            draft.nested.push(Nested { held, lock, shared, of_several, site });
        }
        if site.via.is_none() {
            let (started, tried, depth, digest) = (false, false, 0, 0);
            draft.take(Taken { lock, shared, started, tried, of_several, site, depth, digest });
        }
    }

    /// What an object is made with.
    fn write_store(&mut self, base: ValueId, field: ir::FieldRef, src: ValueId, draft: &mut Draft) {
        if !self.method.is_constructor {
            return;
        }
        let (base, src) = (self.abs(base), self.abs(src));
        let field: Option<FieldId> = self.link.field(field);
        if let ([Path { root: Root::Param(param), .. }], true, Some(field)) =
            (src.paths.as_slice(), base.paths == [Path::THIS], field)
            && src.paths[0].is_root()
        {
            draft.stores.push((field, *param));
        }
    }

    fn write_ends(&mut self, ends: Vec<(State, Return)>, draft: &mut Draft) {
        let Some((_, _)) = ends.first() else { return };
        let mut left: Option<Vec<Left>> = None;
        let count = ends.len();
        let mut running = 0;
        for (state, end) in &ends {
            running |= state.running;
            let (held, released) = (state.left(), state.released());
            let own = |lock: &Path| self.method.is_synchronized && *lock == self.own_lock();
            let needs = |lock: &Path| self.method.needs.contains(lock);
            let held = held.filter(|(held, _)| held.at != crate::ENTRY);
            let taken =
                held.filter(|(held, _)| held.lock != Path::UNKNOWN && !own(&held.lock) && !needs(&held.lock));
            let taken =
                taken.filter(|(held, if_true)| held.sure || (if_true.is_some() && *if_true == end.call));
            let taken = taken.map(|(held, if_true)| Left {
                lock: held.lock,
                shared: held.shared,
                taken: true,
                if_true: if_true.is_some(),
                at: held.at,
            });
            let released = released.iter().map(|&(lock, shared)| Left {
                lock,
                shared,
                taken: false,
                if_true: false,
                at: 0,
            });
            let here: Vec<Left> = taken.chain(released).collect();
            left = Some(match left {
                None => here,
                // Released on one way and not on the other: then it may be held no more.
                Some(before) => {
                    before.into_iter().filter(|left| !left.taken || here.contains(left)).collect()
                }
            });
        }
        // One of several ends: a lock that is held at some of them is one that depends on what is returned.
        let conditional = count > 1 && left.as_ref().is_some_and(Vec::is_empty);
        if conditional {
            left = self.left_if_true(&ends);
        }
        draft.leaves = left.unwrap_or_default();
        draft.detached = running & self.known_starts();
        for run in draft.runs.iter_mut().filter(|run| run.started > 0) {
            run.is_detached = running & (1 << (run.started - 1)) != 0;
        }
    }

    /// `if (!lock.tryLock()) return false; …; return true;` is common, and constants are not followed: where some
    /// ends hold a lock and others do not, it is taken to be held where the result is true.
    fn left_if_true(&self, ends: &[(State, Return)]) -> Option<Vec<Left>> {
        let mut found: Vec<Left> = Vec::new();
        for (state, _) in ends {
            for (held, _) in state.left().filter(|(held, _)| held.sure && held.lock != Path::UNKNOWN) {
                let is_own = self.method.is_synchronized && held.lock == self.own_lock();
                if !is_own && !self.method.needs.contains(&held.lock) {
                    let (lock, shared, at) = (held.lock, held.shared, held.at);
                    found.push(Left { lock, shared, taken: true, if_true: true, at });
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    fn own_lock(&self) -> Path {
        Path::of(if self.method.is_static { Root::Class(self.method.class) } else { Root::Param(0) })
    }
}

/// What a method returns, given everything it returns somewhere.
pub(crate) fn returned(values: &[Abs], method: &Method) -> Returned {
    if method.returns_new {
        return Returned { new: true, ..Returned::default() };
    }
    let outside = |path: &&Path| !matches!(path.root, Root::Made(_) | Root::Unknown);
    let mut paths: Vec<Path> =
        values.iter().flat_map(|abs| abs.paths.iter().filter(outside).copied()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(4);
    let same = |pick: fn(&Abs) -> Option<ClassId>| {
        let first = values.first().and_then(pick)?;
        values.iter().all(|abs| pick(abs) == Some(first)).then_some(first)
    };
    let view = values
        .first()
        .and_then(|abs| abs.view)
        .filter(|_| values.iter().all(|abs| abs.view == values[0].view));
    let part = !values.is_empty() && values.iter().all(|abs| abs.part);
    // What it got from its caller is as new as it was there.
    let is_passed = |path: &Path| path.is_root() && matches!(path.root, Root::Param(_));
    let is_new = |abs: &Abs| abs.new || (abs.sure && abs.paths.iter().all(is_passed));
    let new = !values.is_empty() && values.iter().all(is_new);
    Returned { paths, class: same(|abs| abs.class), view, part, new }
}

pub(crate) fn here(at: EventId) -> Site {
    Site { at, via: None }
}

/// Whether the state there is another one now.
fn arrive(there: &mut Option<State>, state: &State) -> bool {
    match there {
        Some(there) => there.meet(state),
        None => {
            *there = Some(state.clone());
            true
        }
    }
}

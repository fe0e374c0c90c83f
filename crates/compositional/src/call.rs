//! What a call does: the summaries of the program's own methods with the caller's operands put in. What the models of
//! libraries do is next door, in [`modelled`](crate::modelled).

use crate::draft::Draft;
use crate::frame::{Frame, Handle, Start, here};
use crate::link::Callee;
use crate::outline::{Event, EventId, Value, ValueId};
use crate::path::{LockKind, Path, Root};
use crate::state::State;
use crate::summary::{Access, Asked, Blocking, Called, Held, Run, Site, Stranger, Summary, Taken, Thread};
use crate::value::Abs;
use ir::{CallKind, LambdaKind, MethodId, MethodRef};
use models::Step as ModelStep;
use std::sync::Arc;

/// A call of one method, as the caller sees it.
pub(crate) struct Call<'c> {
    pub target: MethodId,
    pub args: &'c [Abs],
    pub event: EventId,
    pub state: &'c State,
    /// The start in which it runs, counted from 1.
    pub started: u8,
    /// It is called on the object that was started, which is the first operand.
    pub on_task: bool,
    /// Several run it at the same time.
    pub parallel: bool,
    /// The executor of the start, if that runs one task after the other.
    pub on: Option<Path>,
    /// What is started runs when something else is done.
    pub later: bool,
    /// How it is chosen.
    pub chosen: Chosen,
    /// By what is known of the receiver it may run another method just as well.
    pub of_several: bool,
}

/// By what it is known which method a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// It is the only one, or it is of another object.
    Alone,
    /// By what `this` is, of several.
    OfSeveral,
    /// It is the only one that `this` may run.
    OnThis,
}

impl Call<'_> {
    fn site(&self, digest: u64) -> Site {
        Site { at: self.event, via: Some((self.target, digest)) }
    }
}

/// The call itself, for those who ask who calls a method and how.
fn called(call: &Call<'_>, beside: bool) -> Called {
    let name = |abs: &Abs| match abs.paths.as_slice() {
        [path] if abs.sure => *path,
        [] if abs.new => Path::NEW,
        _ => Path::UNKNOWN,
    };
    let started = call.started > 0;
    let held = call.state.held().filter(|held| held.sure && !started);
    Called {
        target: call.target,
        held: held.map(|held| held.lock).collect(),
        args: call.args.iter().map(name).collect(),
        started,
        beside,
    }
}

/// Something that the method was given, and nothing else.
pub(crate) fn is_passed(abs: &Abs) -> bool {
    matches!(abs.paths.as_slice(), [path] if path.is_root() && matches!(path.root, Root::Param(_)))
}

/// What is further away than so many calls was hardly meant, and is told to nobody.
const FARTHEST: u8 = 10;

/// Static fields are told so many calls away: further up nobody knows more about them.
const FARTHEST_STATIC: u8 = 4;

/// Functions that are passed to functions that are passed to functions, and so on, possibly to themselves.
const DEEPEST_FUNCTION: usize = 4;

impl Frame<'_> {
    /// What a call does to locks and threads.
    pub(crate) fn call_step(&mut self, event: EventId, state: &mut State) {
        let callee = self.callee(event);
        if self.knowledge.asserts_held(&callee.name)
            && let Some(object) = self.args(event).first()
        {
            self.assert_held(event, &callee, object, state);
            return;
        }
        if let Some(model) = &callee.model {
            self.model_step(event, &callee, &model.clone(), state);
            return;
        }
        let args = self.args(event);
        self.call_starts(event, &callee, &args, state);
        if let [target] = callee.targets.as_slice()
            && let Some(summary) = self.known(*target)
        {
            for left in &summary.leaves {
                let (lock, shared) = self.moved_lock(left.lock, left.shared, &args);
                match left.taken {
                    true => state.acquire(lock, shared, event, left.if_true.then_some(event)),
                    false => self.release(lock, shared, state),
                }
            }
        }
    }

    /// A call that says whether a lock is held. Where its answer decides which way is taken, the lock is held on the one
    /// where it is yes; otherwise whoever asks relies on it.
    fn assert_held(&self, event: EventId, callee: &Callee, object: &Abs, state: &mut State) {
        let mut tests = self.outline.blocks.iter().filter_map(|block| block.test);
        let if_true = tests.any(|test| test.of == event).then_some(event);
        let is_monitor = self.knowledge.asserts_monitor(&callee.name);
        let (lock, shared) = self.lock(object);
        let mut said = Vec::new();
        if !is_monitor {
            said.push((lock, shared));
        }
        // What a method of the program means by its lock, only the program knows.
        if is_monitor || !self.link.is_of_jdk(callee) {
            said.push((self.monitor(object), false));
        }
        for (lock, shared) in said {
            if !state.holds(lock) {
                state.acquire(lock, shared, crate::ENTRY, if_true);
            }
        }
    }

    /// What happens in a call.
    pub(crate) fn write_call(&mut self, event: EventId, state: &State, draft: &mut Draft) {
        let callee = self.callee(event);
        let args = self.args(event);
        if let Event::Call { target, .. } = &self.outline.events[event as usize]
            && let Some(what) = self.blocks(&callee)
        {
            let what = (*target, what);
            let held: Arc<[Held]> = state.held().collect();
            draft.blocking.push(Blocking {
                what,
                held,
                but: None,
                started: false,
                site: here(event),
                depth: 0,
                digest: 0,
            });
        }
        self.write_asked(event, &callee, &args, state, draft);
        if let Some(model) = &callee.model {
            self.write_model(event, &callee, &model.clone(), state, draft);
            return;
        }
        let is_on_this = !callee.is_static && args.first().is_some_and(|arg| arg.paths == [Path::THIS]);
        let chosen = match callee.targets.len() {
            _ if !is_on_this || self.method.is_static => Chosen::Alone,
            0 | 1 => Chosen::OnThis,
            _ => Chosen::OfSeveral,
        };
        // What `this` is decides about its own methods, and is known where somebody asks.
        let of_several = callee.targets.len() > 1 && chosen == Chosen::Alone;
        for &target in &callee.targets {
            if let Some(summary) = self.known(target) {
                let (started, on_task, parallel) = (0, false, false);
                let (on, later, args) = (None, false, &args[..]);
                let call = Call {
                    target,
                    args,
                    event,
                    state,
                    started,
                    on_task,
                    parallel,
                    on,
                    later,
                    chosen,
                    of_several,
                };
                self.apply(&summary, &call, draft);
            }
        }
        if let (true, true, Some(receiver)) = (self.method.is_declared_safe, callee.is_stranger, args.first())
            && state.held().next().is_none()
            && let [path] = receiver.paths.as_slice()
            && matches!((path.root, path.is_root()), (Root::Param(0), false) | (Root::Static(_), _))
            && let Some(interface) = callee.owner
            && let Event::Call { target, .. } = &self.outline.events[event as usize]
        {
            draft.strangers.push(Stranger { receiver: *path, interface, target: *target, at: event });
        }
        if callee.targets.is_empty() {
            self.write_passed(event, &callee, &args, state, draft);
        }
    }

    /// A function that was passed in is called, whatever it is.
    fn write_asked(
        &mut self,
        event: EventId,
        callee: &Callee,
        args: &[Abs],
        state: &State,
        draft: &mut Draft,
    ) {
        let says_nothing = callee.model.as_ref().is_none_or(|model| model.steps.is_empty());
        if callee.is_interface
            && says_nothing
            && let Some(Abs { paths, .. }) = args.first()
            && let [path] = paths.as_slice()
            && let Root::Param(param) = path.root
            && path.is_root()
            && let Event::Call { target, .. } = &self.outline.events[event as usize]
        {
            let method = Asked::Selector(target.selector);
            self.write_run(param, method, &args[1..], event, state, 0, draft);
        }
    }

    /// Functions that are passed to something unknown are run in place.
    pub(crate) fn write_passed(
        &mut self,
        event: EventId,
        callee: &Callee,
        args: &[Abs],
        state: &State,
        draft: &mut Draft,
    ) {
        let receiver = usize::from(!callee.is_static);
        for (number, arg) in args.iter().enumerate().skip(receiver) {
            let function = callee.functions.get(number - receiver).and_then(Option::as_ref);
            if let (Some((name, args)), Some(_)) = (function, arg.made) {
                let is_guess = self.is_guess || (callee.is_interface && !self.link.is_of_jdk(callee));
                let outer = std::mem::replace(&mut self.is_guess, is_guess);
                self.run(arg, &Asked::Named(name.as_ref().into(), *args), &[], event, state, 0, draft);
                self.is_guess = outer;
            }
        }
    }

    pub(crate) fn args(&mut self, event: EventId) -> Vec<Abs> {
        let outline = self.outline;
        match &outline.events[event as usize] {
            Event::Call { args, .. } => args.iter().map(|&arg| self.abs(arg)).collect(),
            _ => Vec::new(),
        }
    }

    /// Puts what a method does into the one that calls it.
    pub(crate) fn apply(&mut self, summary: &Summary, call: &Call<'_>, draft: &mut Draft) {
        self.apply_accesses(summary, call, draft);
        self.apply_locks(summary, call, draft);
        self.apply_blocking(summary, call, draft);
        self.apply_runs(summary, call, draft);
        if self.link.is_closed(call.target) || !summary.accesses.is_empty() {
            let beside = call.state.running & self.known_starts() != 0;
            draft.calls.push(called(call, beside));
        }
    }

    fn apply_accesses(&mut self, summary: &Summary, call: &Call<'_>, draft: &mut Draft) {
        for access in &summary.accesses {
            let depth = access.depth + 1;
            if depth > FARTHEST {
                continue;
            }
            let is_static = matches!(access.path.root, Root::Static(_));
            if is_static && depth > FARTHEST_STATIC && call.started == 0 {
                continue;
            }
            // What the called method has waited for happens while it is called.
            let is_started = access.started > 0 && summary.detached & (1 << (access.started - 1)) != 0;
            let started = match call.started {
                0 if is_started => self.start_at(call.event),
                started => started,
            };
            let Some(asks) = self.still_asks(access, call.args) else { continue };
            let paths = self.moved_access(access.path, call.args);
            let held = self.moved_held(&access.held, call, started > 0);
            let beside = if call.parallel { 1 << (call.started - 1) } else { 0 };
            let running = call.state.running | self.running_inside(summary, access, call) | beside;
            let of_task = match call.started {
                0 => access.of_task,
                _ => call.on_task && access.path.root == Root::Param(0) || access.of_task,
            };
            if access.only_if.is_some_and(|method| self.never_runs(call, method)) {
                continue;
            }
            let only_if = match call.chosen {
                Chosen::Alone => None,
                Chosen::OfSeveral => Some(call.target),
                Chosen::OnThis => access.only_if,
            };
            let on = match call.started {
                0 if started == 0 => None,
                1.. if !is_started => call.on,
                _ => access.on.and_then(|executor| match self.moved(executor, call.args).as_slice() {
                    [moved] => Some(*moved),
                    _ => None,
                }),
            };
            let waited = access.waited || (started == 0 && call.state.waited);
            let later = access.later || call.later;
            let vague = access.vague || self.is_vague(access.path, call.args);
            let of_several = access.of_several || call.of_several;
            let thread = match (started, access.thread) {
                (0, Thread::Unknown) => self.thread,
                (_, thread) => thread,
            };
            for path in paths {
                if started == 0 && call.state.owns(&path) {
                    continue;
                }
                // What is made anew in each round of a loop meets only what is started in the same round.
                let running = match path.root {
                    Root::Made(value) => running & !self.made_during.get(&value).copied().unwrap_or(u64::MAX),
                    _ => running,
                };
                let (writes, held) = (access.writes, held.clone());
                let site = call.site(access.digest);
                draft.access(Access {
                    path,
                    writes,
                    held,
                    thread,
                    started,
                    running,
                    of_task,
                    on,
                    asks,
                    only_if,
                    vague,
                    of_several,
                    waited,
                    later,
                    site,
                    depth,
                    digest: 0,
                });
            }
        }
    }

    /// A field of an object that this method made is a field of that object, whatever was put in when it was made; only
    /// what lies behind it is that of somebody else.
    fn moved_access(&mut self, path: Path, args: &[Abs]) -> Vec<Path> {
        let Root::Param(number) = path.root else { return self.moved(path, args) };
        match args.get(usize::from(number)) {
            Some(arg) if path.len() == 1 => {
                let moved = arg.paths.iter().filter_map(|onto| path.rebased(*onto));
                moved.map(|path| self.link.straight(path)).collect()
            }
            _ => self.moved(path, args),
        }
    }

    /// Has the object that is called another method in the place of this one?
    fn never_runs(&self, call: &Call<'_>, method: MethodId) -> bool {
        self.link.never_runs(call.target, method)
            || (call.chosen != Chosen::Alone && self.link.never_runs(self.method.id, method))
    }

    /// Is the object that is passed in perhaps another one?
    fn is_vague(&self, path: Path, args: &[Abs]) -> bool {
        let Root::Param(number) = path.root else { return false };
        args.get(usize::from(number)).is_some_and(|arg| arg.paths.len() > 1)
    }

    /// Whether a container that was passed in is one that is not thread-safe: `None` if not, or if nobody knows.
    fn still_asks(&mut self, access: &Access, args: &[Abs]) -> Option<Option<MethodRef>> {
        let Some(target) = access.asks else { return Some(None) };
        let Root::Param(number) = access.path.root else { return None };
        let container = args.get(usize::from(number))?;
        if container.class.is_some_and(|class| self.link.is_safe(self.knowledge, class)) {
            return None;
        }
        let Some(class) = container.class else {
            return is_passed(container).then_some(Some(target));
        };
        let callee = self.link.callee(target, CallKind::Virtual, Some(class));
        let touches = |step: &ModelStep| matches!(step, ModelStep::Read { .. } | ModelStep::Write { .. });
        callee.model.as_ref().is_some_and(|model| model.steps.iter().any(touches)).then_some(None)
    }

    fn apply_locks(&mut self, summary: &Summary, call: &Call<'_>, draft: &mut Draft) {
        for taken in summary.taken.iter().filter(|taken| taken.depth < FARTHEST) {
            let (lock, shared) = self.moved_lock(taken.lock, taken.shared, call.args);
            let started = taken.started || call.started > 0;
            if lock == Path::UNKNOWN || matches!(lock.root, Root::Made(_)) {
                continue;
            }
            let site = call.site(taken.digest);
            // Nobody should have to look for a deadlock in what is only a guess.
            let of_several = taken.of_several || call.of_several;
            if !started && !taken.tried && !self.is_guess {
                self.write_lock(lock, shared, of_several, site, call.state, draft);
            }
            let (tried, depth) = (taken.tried, taken.depth + 1);
            draft.take(Taken { lock, shared, started, tried, of_several, site, depth, digest: 0 });
        }
    }

    fn apply_blocking(&mut self, summary: &Summary, call: &Call<'_>, draft: &mut Draft) {
        for blocking in summary.blocking.iter().filter(|blocking| blocking.depth < FARTHEST) {
            let started = blocking.started || call.started > 0;
            let held = self.moved_held(&blocking.held, call, started || self.is_guess);
            let but = blocking.but.map(|path| self.moved_lock(path, false, call.args).0);
            let depth = blocking.depth + 1;
            let site = call.site(blocking.digest);
            draft.blocking.push(Blocking { what: blocking.what, held, but, started, site, depth, digest: 0 });
        }
    }

    fn apply_runs(&mut self, summary: &Summary, call: &Call<'_>, draft: &mut Draft) {
        for run in &summary.runs {
            let Some(function) = call.args.get(usize::from(run.param)).cloned() else { continue };
            let passed: Vec<Abs> = run.args.iter().map(|path| self.moved_abs(*path, call.args)).collect();
            let mut inside = call.state.clone();
            if call.started == 0 && run.started == 0 {
                for held in run.held.iter() {
                    let (lock, shared) = self.moved_lock(held.lock, held.shared, call.args);
                    inside.acquire(lock, shared, call.event, None);
                }
            }
            let started = match call.started {
                0 if run.started > 0 => self.start_at(call.event),
                started => started,
            };
            let outer = std::mem::replace(&mut self.later, run.later || call.later);
            self.run(&function, &run.method, &passed, call.event, &inside, started, draft);
            self.later = outer;
        }
    }

    /// The start at this event, counted from 1; 0 if there is none.
    fn start_at(&self, event: EventId) -> u8 {
        self.starts.iter().position(|start| start.at == event).map_or(0, |at| at as u8 + 1)
    }

    /// Runs a function: a lambda, or an object that this method made.
    #[expect(clippy::too_many_arguments, reason = "each says another thing about the call")]
    pub(crate) fn run(
        &mut self,
        function: &Abs,
        method: &Asked,
        args: &[Abs],
        event: EventId,
        state: &State,
        started: u8,
        draft: &mut Draft,
    ) {
        if let Some(target) = self.target(function, method) {
            let (target, args) = (target.0, [target.1.as_slice(), args].concat());
            if let Some(summary) = self.known(target).filter(|_| self.inside < DEEPEST_FUNCTION) {
                self.inside += 1;
                let is_lambda =
                    |made: ValueId| matches!(self.outline.values[made as usize], Value::Lambda(_));
                let on_task = !function.made.is_some_and(is_lambda);
                let parallel = started > 0 && self.parallel;
                self.apply(
                    &summary,
                    &Call {
                        target,
                        args: &args,
                        event,
                        state,
                        started,
                        on_task,
                        parallel,
                        on: self.on.filter(|_| started > 0),
                        later: self.later && started > 0,
                        chosen: Chosen::Alone,
                        of_several: false,
                    },
                    draft,
                );
                self.inside -= 1;
            }
            return;
        }
        if let [path] = function.paths.as_slice()
            && let Root::Param(param) = path.root
            && path.is_root()
        {
            self.write_run(param, method.clone(), args, event, state, started, draft);
        }
    }

    /// The method that runs when an object is asked, and the operands it has from the beginning.
    fn target(&mut self, function: &Abs, method: &Asked) -> Option<(MethodId, Vec<Abs>)> {
        let outline = self.outline;
        if let Some(made) = function.made
            && let Value::Lambda(number) = outline.values[made as usize]
        {
            let lambda = &outline.lambdas[number as usize];
            let kind = lambda.call_kind();
            let class = lambda.captures.first().and_then(|&capture| self.link.class_of(outline, capture));
            let callee =
                self.link.callee(lambda.target, kind, class.filter(|_| kind == ir::CallKind::Virtual));
            let &[target] = callee.targets.as_slice() else { return None };
            let mut captured: Vec<Abs> = lambda.captures.iter().map(|&capture| self.abs(capture)).collect();
            if lambda.kind == LambdaKind::New {
                captured.insert(0, Abs::default());
            }
            return Some((target, captured));
        }
        let class = function.class?;
        let target = match method {
            Asked::Selector(selector) => {
                let answers = self.link.answers(class);
                self.link.with_selector(&answers, *selector)?
            }
            Asked::Named(name, args) => self.link.answer(class, name, usize::from(*args))?,
        };
        Some((target, vec![function.clone()]))
    }

    #[expect(clippy::too_many_arguments, reason = "each says another thing about the call")]
    fn write_run(
        &mut self,
        param: u16,
        method: Asked,
        args: &[Abs],
        event: EventId,
        state: &State,
        started: u8,
        draft: &mut Draft,
    ) {
        let name = |abs: &Abs| match abs.paths.as_slice() {
            [path] if abs.sure && !matches!(path.root, Root::Made(_)) => *path,
            _ => Path::UNKNOWN,
        };
        let args = args.iter().map(name).collect();
        let held: Arc<[Held]> = if started > 0 { Arc::default() } else { state.held().collect() };
        // Whether it is waited for is known at the end.
        let (is_detached, later) = (started > 0, self.later && started > 0);
        draft.runs.push(Run { param, method, args, held, started, is_detached, later, at: event });
    }

    fn moved_abs(&mut self, path: Path, args: &[Abs]) -> Abs {
        if let Root::Param(number) = path.root
            && path.is_root()
        {
            return args.get(usize::from(number)).cloned().unwrap_or_default();
        }
        let paths = self.moved(path, args);
        Abs { sure: paths.len() == 1, paths, ..Abs::default() }
    }

    fn moved_lock(&mut self, lock: Path, shared: bool, args: &[Abs]) -> (Path, bool) {
        if let Root::Param(number) = lock.root
            && lock.is_root()
            && let Some(arg) = args.get(usize::from(number))
        {
            return match lock.lock {
                LockKind::Monitor => (self.monitor(arg), shared),
                LockKind::Explicit => {
                    let (path, view) = self.lock(arg);
                    (path, shared || view)
                }
            };
        }
        match self.moved(lock, args).as_slice() {
            [path] => (*path, shared),
            _ => (Path::UNKNOWN, shared),
        }
    }

    fn moved_held(&mut self, held: &[Held], call: &Call<'_>, is_elsewhere: bool) -> Arc<[Held]> {
        let mut all: Vec<Held> = Vec::new();
        for held in held {
            let (lock, shared) = self.moved_lock(held.lock, held.shared, call.args);
            all.push(Held { lock, shared, sure: held.sure, at: call.event });
        }
        if !is_elsewhere {
            all.extend(call.state.held());
        }
        all.sort_unstable_by_key(|held| (held.lock, held.shared, !held.sure, held.at));
        all.dedup_by_key(|held| (held.lock, held.shared));
        all.into()
    }

    /// Whether threads that the called method starts may run at an access in it: here they are one start. What runs in
    /// a start of its own meets that start only if it was started more than once.
    fn running_inside(&self, summary: &Summary, access: &Access, call: &Call<'_>) -> u64 {
        let others = match (call.started, access.started) {
            (0, 0) => access.running & summary.seen_starts(),
            (0, started) => access.running & (1 << (started - 1)),
            _ => 0,
        };
        match self.start_at(call.event) {
            0 => 0,
            _ if others == 0 => 0,
            start => 1 << (start - 1),
        }
    }

    /// Threads that a call starts: to the caller they are one. It may still run when the call is back, unless the
    /// called method has waited for it.
    fn call_starts(&mut self, event: EventId, callee: &Callee, args: &[Abs], state: &mut State) {
        for &target in &callee.targets {
            let Some(summary) = self.known(target) else { continue };
            // What the call returns may be what one waits for.
            if summary.detached != 0 {
                let handles = self.result_of(event).map(|value| self.handle_of(value));
                let start = self.start(event, handles.into_iter().collect(), true);
                state.running |= 1 << start;
            }
            for run in summary.runs.iter().filter(|run| run.started > 0) {
                let Some(function) = args.get(usize::from(run.param)) else { continue };
                let is_known = function.made.is_some() || function.class.is_some();
                if is_known || is_passed(function) {
                    let handles = self.result_of(event).map(|value| self.handle_of(value));
                    let start = self.start(event, handles.into_iter().collect(), is_known);
                    state.running |= if run.is_detached { 1 << start } else { 0 };
                }
            }
        }
    }

    /// Starts of which it is known what runs, as a set.
    pub(crate) fn known_starts(&self) -> u64 {
        let known = self.starts.iter().enumerate().filter(|(_, start)| start.is_known);
        // The last one stands for all that there is no number for.
        known.fold(1 << 63, |all, (number, _)| all | 1 << number)
    }

    /// The number of the start at this event, from 0.
    pub(crate) fn start(&mut self, at: EventId, handles: Vec<Handle>, is_known: bool) -> u32 {
        if let Some(known) = self.starts.iter_mut().position(|start| start.at == at) {
            self.starts[known].is_known |= is_known;
            for handle in handles {
                if !self.starts[known].handles.contains(&handle) {
                    self.starts[known].handles.push(handle);
                }
            }
            return known as u32;
        }
        if self.starts.len() >= 63 {
            return 63;
        }
        self.starts.push(Start { at, handles, is_known, after: 0 });
        self.starts.len() as u32 - 1
    }

    fn blocks(&self, callee: &Callee) -> Option<u64> {
        self.link.blocks(self.knowledge, callee).then_some(callee.digest)
    }
}

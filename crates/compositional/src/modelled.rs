//! What a call into a library does: the steps of its model, with the operands of the call put in.

use crate::call::is_passed;
use crate::draft::Draft;
use crate::fields;
use crate::frame::{Frame, Handle, here};
use crate::link::{Callee, Holds};
use crate::outline::{Event, EventId, Value, ValueId};
use crate::path::{Path, Root, Step};
use crate::state::State;
use crate::summary::{Asked, Blocking, Held, Taken};
use crate::value::{Abs, Part};
use ir::access;
use models::{Member, Model, Operand, Outcome, Source, Spawn, Step as ModelStep};
use std::sync::Arc;

/// A call of a modelled method, with what its operands are.
struct Modelled<'a> {
    event: EventId,
    args: Vec<Abs>,
    values: Vec<ValueId>,
    callee: &'a Callee,
    temps: Vec<(u8, Abs)>,
    ret: Abs,
}

impl Frame<'_> {
    fn modelled<'c>(&mut self, event: EventId, callee: &'c Callee) -> Modelled<'c> {
        let values = match &self.outline.events[event as usize] {
            Event::Call { args, .. } => args.to_vec(),
            _ => Vec::new(),
        };
        Modelled { event, args: self.args(event), values, callee, temps: Vec::new(), ret: Abs::default() }
    }

    /// What an operand of a model is at this call.
    fn operand(&mut self, call: &Modelled<'_>, operand: &Operand) -> Abs {
        let mut abs = match operand.root {
            models::Root::This => call.args.first().cloned().unwrap_or_default(),
            models::Root::Param(number) => {
                let at = usize::from(number) + usize::from(!call.callee.is_static);
                call.args.get(at).cloned().unwrap_or_default()
            }
            models::Root::Ret => call.ret.clone(),
            models::Root::Temp(number) => call
                .temps
                .iter()
                .find(|(temp, _)| *temp == number)
                .map(|(_, abs)| abs.clone())
                .unwrap_or_default(),
        };
        for member in &operand.path {
            abs = match member {
                // What a container or a part of it is about is the container itself.
                Member::Model(name) if name == "of" => abs,
                Member::Model(name) => match self.part(&abs, &Part::Model(name.clone())) {
                    Some(part) => part,
                    None => {
                        let inside = self.is_filled_here(&abs);
                        Abs { new: inside, inside, ..Abs::default() }
                    }
                },
                Member::Elements => {
                    let paths: Vec<Path> =
                        abs.paths.iter().filter_map(|path| path.then(Step::Elements)).collect();
                    Abs { sure: abs.sure && paths.len() == 1, paths, ..Abs::default() }
                }
            };
        }
        abs
    }

    /// What a modelled call returns.
    pub(crate) fn modelled_result(&mut self, event: EventId, callee: &Callee, model: &Arc<Model>) -> Abs {
        let mut call = self.modelled(event, callee);
        for step in &model.steps {
            self.follow(&mut call, step);
        }
        call.ret
    }

    /// Assignments and views: what temporaries and the result are.
    fn follow(&mut self, call: &mut Modelled<'_>, step: &ModelStep) {
        match step {
            ModelStep::Assign { dst, src } => {
                let is_part = |member: &Member| *member == Member::Model("of".to_owned());
                if dst.root == models::Root::Ret && dst.path.first().is_some_and(is_part) {
                    if let Source::Value(from) = src {
                        let of = self.operand(call, from);
                        let inside = self.is_filled_here(&of);
                        call.ret = Abs { part: true, class: None, made: None, inside, ..of };
                    }
                    return;
                }
                if !dst.path.is_empty() {
                    return;
                }
                let value = match src {
                    Source::Value(from) => self.operand(call, from),
                    Source::New { class, .. } => {
                        Abs { class: Some(self.link.class_named(class)), ..Abs::default() }
                    }
                    _ => Abs::default(),
                };
                match dst.root {
                    models::Root::Ret => call.ret = value,
                    models::Root::Temp(number) => {
                        call.temps.retain(|(temp, _)| *temp != number);
                        call.temps.push((number, value));
                    }
                    _ => {}
                }
            }
            ModelStep::View { of, shared } => {
                let of = self.operand(call, of);
                call.ret = Abs { view: Some(*shared), class: None, made: None, part: false, ..of };
            }
            _ => {}
        }
    }

    pub(crate) fn model_step(
        &mut self,
        event: EventId,
        callee: &Callee,
        model: &Arc<Model>,
        state: &mut State,
    ) {
        let mut call = self.modelled(event, callee);
        for step in &model.steps {
            self.follow(&mut call, step);
            match step {
                ModelStep::Acquire { lock, shared, try_ } => {
                    let abs = self.operand(&call, lock);
                    let (path, view) = self.lock(&abs);
                    state.acquire(path, *shared || view, event, try_.then_some(event));
                }
                ModelStep::Release { lock, shared } => {
                    let abs = self.operand(&call, lock);
                    let (path, view) = self.lock(&abs);
                    self.release(path, *shared || view, state);
                }
                ModelStep::Spawn(spawn) if !spawn.waits => {
                    let task = self.operand(&call, &spawn.receiver);
                    let is_known = task.made.is_some() || task.class.is_some();
                    if is_known || is_passed(&task) {
                        let handles = self.handles(&call, spawn);
                        let after = self.ended_before(&call, spawn);
                        let start = self.start(event, handles, is_known);
                        if let Some(known) = self.starts.get_mut(start as usize) {
                            known.after |= after & !(1 << start);
                        }
                        state.running |= 1 << start;
                    }
                }
                ModelStep::Join { handle, when } if is_wait(*when) => {
                    let handle = self.handle(&call, handle);
                    self.joined(handle, state);
                }
                ModelStep::Join { handle, when } => {
                    let handle = self.handle(&call, handle);
                    let ended = self.waited_by(handle);
                    state.promise(event, *when == Outcome::True, ended);
                }
                ModelStep::JoinAll { executor, when } if is_wait(*when) => {
                    let handle = self.handle(&call, executor);
                    self.joined(handle, state);
                }
                // Whoever waits for a signal mostly waits for those it has started.
                ModelStep::Await { when, .. } if is_wait(*when) => state.running = 0,
                _ => {}
            }
        }
    }

    /// A call releases a lock. A monitor is left where its block ends, and by no call.
    pub(crate) fn release(&self, lock: Path, shared: bool, state: &mut State) {
        let is_monitor = |held: Held| {
            held.at == crate::ENTRY || matches!(self.outline.events[held.at as usize], Event::Enter(_))
        };
        if lock != Path::UNKNOWN || !state.held().all(is_monitor) {
            state.release(lock, shared);
        }
    }

    pub(crate) fn write_model(
        &mut self,
        event: EventId,
        callee: &Callee,
        model: &Arc<Model>,
        state: &State,
        draft: &mut Draft,
    ) {
        let mut call = self.modelled(event, callee);
        let runs = |step: &ModelStep| matches!(step, ModelStep::Call { .. } | ModelStep::Spawn(_));
        if model.keep_body && !model.steps.iter().any(runs) {
            let args = call.args.clone();
            self.write_passed(event, callee, &args, state, draft);
        }
        for step in &model.steps {
            self.follow(&mut call, step);
            match step {
                ModelStep::Acquire { lock, shared, try_ } => {
                    let abs = self.operand(&call, lock);
                    let (lock, view) = self.lock(&abs);
                    let (shared, site) = (*shared || view, here(event));
                    if *try_ {
                        draft.take(Taken {
                            lock,
                            shared,
                            started: false,
                            tried: true,
                            of_several: false,
                            site,
                            depth: 0,
                            digest: 0,
                        });
                    } else {
                        self.write_lock(lock, shared, false, site, state, draft);
                    }
                }
                ModelStep::Pause => self.write_pause(event, &callee.name, &call, state, draft),
                ModelStep::Read { on } => self.write_contents(&call, on, false, event, state, draft),
                ModelStep::Write { on } => self.write_contents(&call, on, true, event, state, draft),
                ModelStep::Call { receiver, method, args, .. } => {
                    let function = self.operand(&call, receiver);
                    let passed: Vec<Abs> = args.iter().map(|arg| self.operand(&call, arg)).collect();
                    if self.is_function(&call, receiver, &function) {
                        let asked = Asked::Named(method.as_str().into(), args.len() as u8);
                        self.run(&function, &asked, &passed, event, state, 0, draft);
                    }
                }
                ModelStep::Spawn(spawn) => self.write_spawn(&call, (spawn, model), event, state, draft),
                _ => {}
            }
        }
    }

    /// A call that gives up the lock it is called on, and no other.
    fn write_pause(
        &mut self,
        event: EventId,
        name: &str,
        call: &Modelled<'_>,
        state: &State,
        draft: &mut Draft,
    ) {
        let Some(receiver) = call.args.first().cloned().filter(|_| self.knowledge.pauses(name)) else {
            return;
        };
        let lock = self.monitor(&receiver);
        if let Event::Call { target, .. } = &self.outline.events[event as usize]
            && state.holds(lock)
            && lock != Path::UNKNOWN
        {
            let (what, held) = ((*target, call.callee.digest), state.held().collect());
            let (but, site) = (Some(lock), here(event));
            draft.blocking.push(Blocking { what, held, but, started: false, site, depth: 0, digest: 0 });
        }
    }

    fn is_function(&self, call: &Modelled<'_>, operand: &Operand, abs: &Abs) -> bool {
        if abs.made.is_some() {
            return true;
        }
        match operand.root {
            models::Root::Param(number) if operand.path.is_empty() => {
                call.callee.functions.get(usize::from(number)).is_some_and(Option::is_some)
            }
            _ => false,
        }
    }

    fn write_contents(
        &mut self,
        call: &Modelled<'_>,
        on: &Operand,
        writes: bool,
        event: EventId,
        state: &State,
        draft: &mut Draft,
    ) {
        let container = self.operand(call, on);
        let is_safe = |class| self.link.is_safe(self.knowledge, class);
        if container.class.is_some_and(is_safe) || call.callee.owner.is_some_and(is_safe) {
            return;
        }
        // Of which class it is must be known: most containers have a twin that is thread-safe.
        let known = container.class.is_some()
            || container.part
            || call.callee.owner.is_some_and(|owner| !self.link.is_interface(owner));
        let Event::Call { target, .. } = &self.outline.events[event as usize] else { return };
        // A mere object stands for something else, and is none.
        let object = self.link.class_named("java/lang/Object");
        let is_mere = |path: &Path| {
            let field = match (path.last(), path.root) {
                (Some(Step::Field(field)), _) | (None, Root::Static(field)) => field,
                _ => return false,
            };
            self.link.info(field).is_some_and(|info| info.holds == Holds::Only(object))
        };
        // A view of what is declared as thread-safe.
        let is_of_safe = |path: &Path| {
            path.fields().last().is_some_and(|field| self.link.holds_safe(self.knowledge, field))
        };
        let is_vague = container.paths.len() > 1;
        for path in container.paths.into_iter().filter(|path| !is_mere(path) && !is_of_safe(path)) {
            let is_passed = path.is_root() && matches!(path.root, Root::Param(_));
            if (known || is_passed)
                && let Some(path) = path.then(Step::Contents)
            {
                let asks = (!known).then_some(*target);
                self.write_asking(path, writes, asks, is_vague, event, state, draft);
            }
        }
    }

    fn write_spawn(
        &mut self,
        call: &Modelled<'_>,
        (spawn, model): (&Spawn, &Model),
        event: EventId,
        state: &State,
        draft: &mut Draft,
    ) {
        if spawn.when_parallel && !self.is_parallel(call) {
            let function = self.operand(call, &spawn.receiver);
            let asked = Asked::Named(spawn.method.as_str().into(), spawn.args.len() as u8);
            self.run(&function, &asked, &[], event, state, 0, draft);
            return;
        }
        let receiver = self.operand(call, &spawn.receiver);
        let args: Vec<Abs> = spawn.args.iter().map(|arg| self.operand(call, arg)).collect();
        let asked = Asked::Named(spawn.method.as_str().into(), spawn.args.len() as u8);
        let is_known = receiver.made.is_some() || receiver.class.is_some();
        if !is_known && receiver.paths.len() != 1 {
            return;
        }
        let handles = self.handles(call, spawn);
        let start = self.start(event, handles, is_known);
        let mut begins = state.clone();
        begins.running &= !self.starts.get(start as usize).map_or(0, |start| start.after);
        self.parallel = spawn.parallel || spawn.when_parallel;
        self.on = self.serial_executor(call, spawn, model);
        // How a library's own executor runs its tasks is not known: an event loop has one thread.
        self.later = !spawn.after.is_empty() || self.link.is_of_library(call.callee);
        self.run(&receiver, &asked, &args, event, &begins, start as u8 + 1, draft);
        (self.parallel, self.on, self.later) = (false, None, false);
    }

    /// The executor of a task, if that runs one task after the other and is always the same.
    fn serial_executor(&mut self, call: &Modelled<'_>, spawn: &Spawn, model: &Model) -> Option<Path> {
        let operand = spawn.executor.as_ref().filter(|operand| operand.path.is_empty())?;
        if let models::Root::Temp(_) = operand.root {
            let only = model.steps.iter().find_map(|step| match step {
                ModelStep::Assign { dst, src: Source::The { class, serial } } if dst == operand => {
                    (*serial || spawn.serial).then_some(class)
                }
                _ => None,
            })?;
            return Some(Path::of(Root::Class(self.link.class_named(only))));
        }
        let value = self.operand_value(call, operand)?;
        if !spawn.serial && !self.is_serial(value) {
            return None;
        }
        let abs = self.abs(value);
        let is_final = |field| self.link.info(field).is_some_and(|info| info.is(access::FINAL));
        match (abs.paths.as_slice(), &self.outline.values[value as usize]) {
            ([path], _) if abs.sure && path.fields().all(is_final) => Some(*path),
            ([], Value::Result(_)) => Some(Path::of(Root::Made(value))),
            _ => None,
        }
    }

    /// Does an executor run one task after the other?
    fn is_serial(&mut self, executor: ValueId) -> bool {
        match &self.outline.values[executor as usize] {
            Value::Field { field, .. } | Value::Static { field } => {
                let info = self.link.field(*field).and_then(|field| self.link.info(field));
                info.is_some_and(|info| info.serial == Some(true))
            }
            _ => fields::is_serial(self.link, self.outline, executor),
        }
    }

    /// Starts that have ended before a task begins.
    fn ended_before(&mut self, call: &Modelled<'_>, spawn: &Spawn) -> u64 {
        let handles: Vec<Handle> =
            spawn.after.iter().filter_map(|operand| self.handle(call, operand)).collect();
        handles.into_iter().fold(0, |ended, handle| ended | self.started_as(handle))
    }

    /// Starts with this handle, and what has ended before they begin.
    fn started_as(&self, handle: Handle) -> u64 {
        let all = self.starts.iter().enumerate();
        let known = all.filter(|(_, start)| start.handles.contains(&handle));
        known.fold(0, |ended, (number, start)| ended | 1 << number | start.after)
    }

    /// Is the stream at this call a parallel one, as far as the method itself says?
    fn is_parallel(&self, call: &Modelled<'_>) -> bool {
        let outline = self.outline;
        let mut value = match call.values.first() {
            Some(&value) => value,
            None => return false,
        };
        for _ in 0..16 {
            let Value::Result(event) = outline.values[value as usize] else { return false };
            let Event::Call { target, args, .. } = &outline.events[event as usize] else { return false };
            if self.link.makes_parallel(self.knowledge, target.selector) {
                return true;
            }
            let Some(&receiver) = args.first() else { return false };
            value = receiver;
        }
        false
    }

    fn handles(&mut self, call: &Modelled<'_>, spawn: &Spawn) -> Vec<Handle> {
        let operands = [&spawn.handle, &spawn.executor];
        operands.into_iter().flatten().filter_map(|operand| self.handle(call, operand)).collect()
    }

    fn handle(&mut self, call: &Modelled<'_>, operand: &Operand) -> Option<Handle> {
        let value = self.operand_value(call, operand).filter(|_| operand.path.is_empty())?;
        Some(self.handle_of(value))
    }

    /// The value that an operand of a model begins with.
    fn operand_value(&self, call: &Modelled<'_>, operand: &Operand) -> Option<ValueId> {
        match operand.root {
            models::Root::This => call.values.first().copied(),
            models::Root::Param(number) => {
                call.values.get(usize::from(number) + usize::from(!call.callee.is_static)).copied()
            }
            models::Root::Ret => self.result_of(call.event),
            models::Root::Temp(_) => None,
        }
    }

    /// What a call returns, if anybody looks at it.
    pub(crate) fn result_of(&self, event: EventId) -> Option<ValueId> {
        let values = self.outline.values.iter();
        Some(values.enumerate().find(|(_, value)| **value == Value::Result(event))?.0 as ValueId)
    }

    pub(crate) fn handle_of(&mut self, value: ValueId) -> Handle {
        let abs = self.abs(value);
        match (abs.made, abs.paths.as_slice()) {
            (Some(made), _) => Handle::Value(made),
            (None, [path]) => Handle::Path(*path),
            _ => Handle::Value(value),
        }
    }

    /// Starts with this handle have ended; all of them if nobody knows which.
    fn joined(&mut self, handle: Option<Handle>, state: &mut State) {
        state.waited = true;
        state.running &= !self.waited_by(handle);
    }

    fn waited_by(&self, handle: Option<Handle>) -> u64 {
        match handle.map_or(0, |handle| self.started_as(handle)) {
            0 => u64::MAX,
            known => known,
        }
    }
}

fn is_wait(when: Outcome) -> bool {
    !matches!(when, Outcome::True | Outcome::False)
}

//! Where the object of an access comes from: the callers that did not get it, nor its owner, as a parameter.
//! Locks and order are asked there too, so that code shared by many objects is judged per object.

use crate::Stages;
use crate::describe::Describe;
use crate::steps::{From, Steps};
use happens_before::{Freshness, Origin, OriginInfo, Point};
use ir::{Body, FieldId, StmtId, StmtKind, Var};
use pointsto::{Act, Obj};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use track::Asked;

/// More callers than this say nothing in particular: then the access itself stands for all.
const MOST: usize = 64;
/// Steps taken to find them.
const STEPS: usize = 2000;
/// Owners looked through between the accessed object and the one a caller passes.
const OWNERS: usize = 2;

/// A way an object reaches an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// From the access out to where the object, or its owner, comes from; never empty.
    pub(crate) levels: Vec<Level>,
    /// Fields between the accessed object and its owners, the innermost first.
    pub(crate) fields: Vec<FieldId>,
    /// Levels at which locks are held.
    pub(crate) locked: Vec<usize>,
    /// Is the object still unknown to others at a call on the way? An owner speaks for what it alone holds.
    pub(crate) is_fresh: bool,
}

/// One frame of the way, and how it knows the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Level {
    pub(crate) act: Act,
    /// The access itself, or the call that leads to it.
    pub(crate) stmt: StmtId,
    /// Refers to `obj`.
    pub(crate) base: Var,
    /// The accessed object, or the owner it is reached from.
    pub(crate) obj: Obj,
    /// How many fields lie between `obj` and the accessed object.
    pub(crate) depth: usize,
}

impl Anchor {
    pub(crate) fn top(&self) -> &Level {
        self.levels.last().unwrap_or_else(|| unreachable!("a way begins at its access"))
    }

    /// Calls from here down to the access, outermost first, without the access.
    pub(crate) fn calls(&self) -> Vec<(Act, StmtId)> {
        let mut calls = self.statements();
        calls.pop();
        calls
    }

    /// Calls from here down to the access, outermost first, and the access.
    pub(crate) fn statements(&self) -> Vec<(Act, StmtId)> {
        let levels = self.levels.iter().rev();
        let mut statements: Vec<(Act, StmtId)> = levels.map(|level| (level.act, level.stmt)).collect();
        statements.dedup();
        statements
    }

    /// Does the level belong to a caller of the access?
    pub(crate) fn is_call(&self, level: &Level) -> bool {
        !self.is_access(level.act, level.stmt)
    }

    pub(crate) fn is_access(&self, act: Act, stmt: StmtId) -> bool {
        (act, stmt) == (self.levels[0].act, self.levels[0].stmt)
    }
}

/// An access to an object, as one origin runs it, of which it is asked where the object comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Climbed {
    pub(crate) origin: Origin,
    pub(crate) act: Act,
    pub(crate) stmt: StmtId,
    pub(crate) base: Var,
    pub(crate) obj: Obj,
}

/// An object in a parameter of an activation, of which it is asked who passes it.
pub(crate) type Passed = (Act, usize, Obj);

/// A call, and the variable that it passes; `None` where a lambda or a model stands between.
pub(crate) type Bringing = (Act, StmtId, Option<Var>);

/// Who passes which objects, as far as that was asked.
pub(crate) type Brings = Asked<Passed, Arc<[Bringing]>>;

/// The calls that may bring the object, in the order of content.
pub(crate) fn bringing(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    (act, param, obj): Passed,
) -> Arc<[Bringing]> {
    let callers = describe.callers(act).iter();
    let calls = callers.map(|&(caller, stmt)| (caller, stmt, argument(stages, caller, stmt, act, param)));
    let brings =
        |&(caller, _, arg): &Bringing| arg.is_none_or(|arg| stages.pointsto.pts(caller, arg).contains(obj));
    calls.filter(brings).collect()
}

/// All ways `obj` may be what `base` refers to at the access, in code this origin runs; none means it cannot.
pub(crate) fn climb(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    known: (&Steps, &Brings),
    from: &Climbed,
) -> Arc<[Anchor]> {
    let &Climbed { origin, act, stmt, base, obj } = from;
    let start = Level { act, stmt, base, obj, depth: 0 };
    let mut climb = Climb::new(stages, describe, known, origin);
    let complete = climb.go(start);
    if complete { climb.found.into() } else { climb.alone(start) }
}

/// A level, the fields down from it, and the number of the telling frames below it.
type Seen = (Level, [Option<FieldId>; OWNERS], u32);

/// An activation at one of its statements.
type Frame = (Act, StmtId);

/// One search outwards. Of several ways to one place the first is kept: callers and owners come in the order of content.
struct Climb<'a> {
    stages: &'a Stages<'a>,
    describe: &'a Describe<'a>,
    steps: &'a Steps,
    bringing: &'a Brings,
    origin: Origin,
    /// The way so far.
    levels: Vec<Level>,
    fields: Vec<FieldId>,
    /// Frames of the way that hold locks, or may have started something by then, sorted; and their number among all
    /// there have been.
    telling: Vec<Frame>,
    number: u32,
    numbers: FxHashMap<Vec<Frame>, u32>,
    /// Of each frame, whether it holds locks, and whether it is telling.
    frames: FxHashMap<Frame, (bool, bool)>,
    /// Where the search has been: other ways to the same place with the same frames tell nothing new.
    seen: FxHashSet<Seen>,
    found: Vec<Anchor>,
}

impl<'a> Climb<'a> {
    fn new(
        stages: &'a Stages<'a>,
        describe: &'a Describe<'a>,
        (steps, bringing): (&'a Steps, &'a Brings),
        origin: Origin,
    ) -> Climb<'a> {
        Climb {
            stages,
            describe,
            steps,
            bringing,
            origin,
            levels: Vec::new(),
            fields: Vec::new(),
            telling: Vec::new(),
            number: 0,
            numbers: FxHashMap::from_iter([(Vec::new(), 0)]),
            frames: FxHashMap::default(),
            seen: FxHashSet::default(),
            found: Vec::new(),
        }
    }

    fn alone(&mut self, start: Level) -> Arc<[Anchor]> {
        [self.anchor(vec![start], Vec::new())].into()
    }

    fn anchor(&mut self, levels: Vec<Level>, fields: Vec<FieldId>) -> Anchor {
        let locked = (0..levels.len()).filter(|&at| self.frame(&levels[at]).0).collect();
        let mut anchor = Anchor { levels, fields, locked, is_fresh: false };
        anchor.is_fresh = self.is_fresh(&anchor);
        anchor
    }

    fn is_fresh(&self, way: &Anchor) -> bool {
        let hb = self.stages.happens_before;
        let speaks = |level: &Level| {
            let fields = &way.fields[..level.depth];
            let mut parts = way.levels.iter().filter(|part| part.depth < level.depth);
            fields.iter().all(|&field| hb.is_private(field)) && parts.all(|part| hb.is_part(part.obj))
        };
        way.levels.iter().filter(|level| way.is_call(level) && speaks(level)).any(|level| {
            let still = |stmt| hb.fresh(level.act, stmt, level.base) == Freshness::Unpublished;
            self.after(level).is_some_and(still)
        })
    }

    /// What holds of an object at the call that leads to the access holds at the access if the call changes nothing
    /// about it: if it still holds after the call.
    fn after(&self, level: &Level) -> Option<StmtId> {
        self.steps.next(self.stages, level.act, level.stmt)
    }

    /// Whether locks are held there, and whether anything is to be told of it.
    fn frame(&mut self, level: &Level) -> (bool, bool) {
        let (hb, origin) = (self.stages.happens_before, self.origin);
        let &Level { act, stmt, .. } = level;
        *self.frames.entry((act, stmt)).or_insert_with(|| {
            let is_locked = hb.holds_any(&Point { origin, act, stmt });
            (is_locked, is_locked || self.steps.anything_started(self.stages, act, stmt))
        })
    }

    fn number(&mut self) -> u32 {
        if let Some(&number) = self.numbers.get(&self.telling) {
            return number;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(self.telling.clone(), next);
        next
    }

    /// False if there are too many ways.
    fn go(&mut self, level: Level) -> bool {
        self.levels.push(level);
        let (frame, before) = ((level.act, level.stmt), self.number);
        let place = self.telling.binary_search(&frame).err().filter(|_| self.frame(&level).1);
        if let Some(place) = place {
            self.telling.insert(place, frame);
            self.number = self.number();
        }
        let complete = self.climb();
        if let Some(place) = place {
            self.telling.remove(place);
            self.number = before;
        }
        self.levels.pop();
        complete && self.found.len() <= MOST && self.seen.len() <= STEPS
    }

    fn stay(&mut self) {
        let found = self.anchor(self.levels.clone(), self.fields.clone());
        self.found.push(found);
    }

    fn climb(&mut self) -> bool {
        let Some(at) = self.levels.last_mut() else { return false };
        let Some(value) = self.steps.value(self.stages, at.act, at.base) else { return false };
        at.base = value.var;
        let at = *at;
        let fields = std::array::from_fn(|n| self.fields.get(n).copied());
        if !self.seen.insert((at, fields, self.number)) {
            return true;
        }
        match value.from {
            From::Parameter(param) => self.climb_callers(at, param),
            From::Field(base, field) if at.depth < OWNERS => self.climb_owners(at, base, field),
            From::Field(..) | From::Elsewhere => {
                self.stay();
                true
            }
        }
    }

    fn climb_callers(&mut self, at: Level, param: usize) -> bool {
        let (stages, describe) = (self.stages, self.describe);
        let info = stages.happens_before.origin(self.origin);
        let is_this = || param == 0 && !stages.program.method(stages.pointsto.method(at.act)).is_static();
        let is_other = runs_on_task(stages, info) && is_this() && Some(at.obj) != info.task;
        let mut stays = info.entry == at.act && !is_other;
        let passed = (at.act, param, at.obj);
        let calls = self.bringing.ask(&passed, || bringing(stages, describe, passed));
        for &(caller, stmt, arg) in calls.iter() {
            if !stages.happens_before.executes(self.origin, caller) {
                continue;
            }
            let Some(arg) = arg else {
                stays = true;
                continue;
            };
            if !self.go(Level { act: caller, stmt, base: arg, ..at }) {
                return false;
            }
        }
        if stays {
            self.stay();
        }
        true
    }

    fn climb_owners(&mut self, at: Level, base: Var, field: ir::FieldRef) -> bool {
        let Some(field) = self.stages.program.find_field(field) else { return false };
        let load = (at.act, base, field, at.obj);
        for &owner in self.steps.owners(self.stages, &self.describe.content, load).iter() {
            self.fields.push(field);
            let complete = self.go(Level { base, obj: owner, depth: at.depth + 1, ..at });
            self.fields.pop();
            if !complete {
                return false;
            }
        }
        true
    }
}

/// The variable a plain call passes; `None` where a lambda or a model stands between.
pub(crate) fn argument(
    stages: &Stages<'_>,
    caller: Act,
    stmt: StmtId,
    callee: Act,
    param: usize,
) -> Option<Var> {
    let Stages { program, pointsto, .. } = *stages;
    let body = program.lowered(pointsto.method(caller))?;
    let StmtKind::Call { target, args, .. } = &body.stmts[stmt].kind else { return None };
    let method = program.method(pointsto.method(callee));
    let same_name = target.selector == method.selector
        || program.selector_text(target.selector).0 == program.selector_text(method.selector).0;
    if same_name && args.len() == method.params.len() { args.get(param).copied() } else { None }
}

/// Is the first method of the origin one of its task object, rather than what a lambda stands for?
pub(crate) fn runs_on_task(stages: &Stages<'_>, info: &OriginInfo) -> bool {
    info.task.is_some_and(|task| stages.pointsto.lambda(task).is_none())
}

/// Through copies and casts.
pub(crate) fn plain(body: &Body, mut var: Var) -> Var {
    for _ in 0..body.vars.len() {
        match body.vars[var].def.map(|def| &body.stmts[def].kind) {
            Some(&StmtKind::Copy { src, .. } | &StmtKind::Cast { src, .. }) => var = src,
            _ => break,
        }
    }
    var
}

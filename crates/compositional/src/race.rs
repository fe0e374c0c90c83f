//! Pairs of accesses to the same path that nothing keeps apart: races, unprotected writes, container races, and
//! accesses without the lock that all others hold. Reads summaries only.

use crate::belief::{self, Common, strength};
use crate::engine::Compositional;
use crate::entry::{Entry, Seen};
use crate::evidence::Strength;
use crate::guard;
use crate::habit;
use crate::noted::note_class;
use crate::path::{Path, Root, Step};
use crate::summary::{Held, Thread};
use classfile::Layer;
use findings::{Confidence, Rule};
use ir::{ClassId, FieldId, Program};
use models::Says;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::hash_map::Entry as Entry_;

/// One thing to tell: a method that touches memory as it should not, and what that may meet.
#[derive(Debug, Clone)]
pub(crate) struct Conflict<'a> {
    pub rule: Rule,
    pub confidence: Confidence,
    /// The side that does it wrong, and one that it meets.
    pub sides: [Seen<'a>; 2],
    /// Other pairs with the same cause.
    pub also: Vec<[Seen<'a>; 2]>,
    /// The lock that others hold, with how many of how many accesses do.
    pub guard: Option<(Path, usize, usize)>,
    /// What is written depends on what was there before: `n++`, or a check before a write.
    pub is_update: bool,
    /// The code itself shows what harm it does.
    pub shows_harm: bool,
    pub why: Vec<String>,
}

/// What two accesses must have in common to meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Of(ClassId, Path),
    Static(Path),
    In(ir::MethodId, Path),
}

pub(crate) fn conflicts<'a>(
    engine: &'a Compositional,
    program: &Program,
    entries: &'a [Entry],
    is_asked: impl Fn(Root) -> bool,
) -> Vec<Conflict<'a>> {
    let mut places: FxHashMap<Place, Vec<Seen<'a>>> = FxHashMap::default();
    let is_static = |entry: &Entry| engine.method(entry.method).is_some_and(|method| method.is_static);
    for entry in entries {
        for seen in entry.accesses(engine, program).into_iter().filter(|seen| is_asked(seen.path.root)) {
            let place = match seen.path.root {
                Root::Static(_) => Place::Static(seen.path),
                Root::Made(_) => Place::In(entry.method, seen.path),
                Root::Param(number) if number > 0 || is_static(entry) => Place::In(entry.method, seen.path),
                _ => Place::Of(entry.class, seen.path),
            };
            places.entry(place).or_default().push(seen);
        }
    }
    let mut places: Vec<(Place, Vec<Seen<'a>>)> = places.into_iter().collect();
    places.sort_unstable_by_key(|(place, _)| *place);
    places.into_iter().flat_map(|(_, seen)| in_one_place(engine, program, seen)).collect()
}

/// More accesses to one place than this are not compared with each other.
const MOST_ACCESSES: usize = 400;

fn in_one_place<'a>(
    engine: &'a Compositional,
    program: &Program,
    mut seen: Vec<Seen<'a>>,
) -> Vec<Conflict<'a>> {
    // One method may be called on objects of several classes: those of its own class first.
    seen.sort_by_cached_key(|seen| {
        let Entry { method, class, is_inherited, outer, .. } = seen.entry;
        (engine.name_of(*method), seen.number, *is_inherited, outer.is_some(), program.class_name(*class))
    });
    seen.truncate(MOST_ACCESSES);
    // What fields say of themselves is asked of their classes.
    let fields = seen.first().into_iter().flat_map(|seen| seen.path.fields());
    fields.for_each(|field| note_class(program.field_ref(field).class));
    if is_excused(engine, program, &seen) {
        return Vec::new();
    }
    // What only known code calls is seen with its callers, and with the locks that they hold.
    let is_open = |seen: &&Seen<'a>| !is_seen_elsewhere(seen);
    let open: Cow<'_, [Seen<'a>]> = match seen.iter().all(|seen| is_open(&seen)) {
        true => Cow::Borrowed(&seen),
        false => Cow::Owned(seen.iter().filter(is_open).cloned().collect()),
    };
    if let Some(violations) = declared(engine, program, &open) {
        return violations;
    }
    let habit = habit::of(engine, program, &open);
    let is_only_set_up = habit::is_only_set_up(engine, program, &open);
    let common = Common { habit: habit.as_ref(), is_only_set_up };
    let usual = habit.as_ref().filter(|habit| habit.is_usual()).map(|habit| habit.lock);
    // What happens among libraries alone is not for the application to repair.
    let last: Vec<(ir::MethodId, u32)> =
        seen.iter().map(|seen| engine.last_site(seen.entry.method, seen.number)).collect();
    let layer = |method: ir::MethodId| program.class(program.method_ref(method).class).layer;
    let groups: Vec<Vec<u32>> = seen.iter().map(|seen| groups(engine, program, seen)).collect();
    let is_ours: Vec<bool> = last.iter().map(|&(method, _)| layer(method) == Layer::App).collect();
    let mut culprits: FxHashMap<ir::MethodId, Vec<[usize; 2]>> = FxHashMap::default();
    for (i, a) in seen.iter().enumerate() {
        for (j, b) in seen.iter().enumerate().skip(i) {
            if (is_ours[i] || is_ours[j])
                && (a.access.writes || b.access.writes)
                && may_meet(a, b)
                && !groups[i].iter().any(|group| groups[j].contains(group))
                && !is_protected(a, b)
            {
                let (culprit, other) = if blame(a, usual) >= blame(b, usual) { (i, j) } else { (j, i) };
                culprits.entry(seen[culprit].entry.method).or_default().push([culprit, other]);
            }
        }
    }
    if culprits.is_empty() {
        return Vec::new();
    }
    let updates = updates(&seen, &last);
    let is_update = |pair: &[usize; 2]| pair.iter().any(|&at| updates[at]);
    let writes_without: Vec<ir::MethodId> = culprits
        .iter()
        .filter(|(_, pairs)| {
            pairs.iter().any(|[culprit, _]| seen[*culprit].access.writes && seen[*culprit].held.is_empty())
        })
        .map(|(&method, _)| method)
        .collect();
    let mut found = Vec::new();
    let mut methods: Vec<ir::MethodId> = culprits.keys().copied().collect();
    methods.sort_by_key(|&method| engine.name_of(method));
    for method in methods {
        let mut pairs = culprits[&method].clone();
        // The same cause: what is written without a lock is told where it is written.
        let is_told_elsewhere = |pair: &[usize; 2]| {
            let [culprit, other] = *pair;
            !seen[culprit].access.writes
                && seen[other].held.is_empty()
                && writes_without.contains(&seen[other].entry.method)
                && seen[other].entry.method != method
        };
        if pairs.iter().all(is_told_elsewhere) {
            continue;
        }
        pairs.retain(|pair| !is_told_elsewhere(pair));
        pairs.sort_by_key(|pair| {
            let [culprit, other] = pair.map(|at| &seen[at]);
            (harm(culprit, other, pair.map(|at| updates[at])), rank(engine, culprit, other))
        });
        // Of what is run again and again, what it meets decides.
        let is_serial = pairs.iter().any(|&[culprit, _]| seen[culprit].entry.is_serial);
        let meets_itself = is_one_met_by_itself(&seen, &pairs)
            || (is_serial && culprits.values().any(|pairs| is_one_met_by_itself(&seen, pairs)));
        found.push(surest(engine, program, &seen, &pairs, (common, meets_itself), &is_update));
    }
    found
}

/// May any number of threads be at one of the writes?
fn is_one_met_by_itself(seen: &[Seen<'_>], pairs: &[[usize; 2]]) -> bool {
    pairs.iter().any(|&[culprit, other]| {
        culprit == other && seen[culprit].access.writes && seen[culprit].access.started == 0
    })
}

/// Which of them are parts of an update: a method reads the place and writes it afterwards.
fn updates(seen: &[Seen<'_>], last: &[(ir::MethodId, u32)]) -> Vec<bool> {
    let mut read: FxHashMap<ir::MethodId, u32> = FxHashMap::default();
    let mut written: FxHashMap<ir::MethodId, u32> = FxHashMap::default();
    for (seen, &(method, at)) in seen.iter().zip(last) {
        if seen.access.writes {
            written.entry(method).and_modify(|last| *last = at.max(*last)).or_insert(at);
        } else {
            read.entry(method).and_modify(|first| *first = at.min(*first)).or_insert(at);
        }
    }
    let is_part = |(seen, (method, at)): (&Seen<'_>, &(ir::MethodId, u32))| match seen.access.writes {
        true => read.get(method).is_some_and(|first| first < at),
        false => written.get(method).is_some_and(|last| last > at),
    };
    seen.iter().zip(last).map(is_part).collect()
}

/// Is the field, or its class, declared to be no matter of two threads?
fn is_excused(engine: &Compositional, program: &Program, seen: &[Seen<'_>]) -> bool {
    let path = seen.first().map(|seen| seen.path);
    let field = path.and_then(|path| field_of(&path));
    field.is_some_and(|field| engine.knowledge.declared_field(program, field).is_some())
        || path.is_some_and(|path| leads_through_stand_in(engine, program, &path))
}

/// Does the way lead through a field that holds the object of the request at hand, whichever request that is?
fn leads_through_stand_in(engine: &Compositional, program: &Program, path: &Path) -> bool {
    let Some(owner) = path.parent() else { return false };
    let is_stand_in = |field: FieldId| {
        let Some(class) = program.field(field).class_of else { return false };
        note_class(class);
        let notes = &program.class(class).annotations;
        notes.iter().any(|note| engine.knowledge.says(&program.names[note.class]).contains(&Says::PerRequest))
    };
    owner.fields().any(is_stand_in)
}

/// The field that a path ends at, or in whose array or container it ends.
fn field_of(path: &Path) -> Option<FieldId> {
    match (path.last(), path.root) {
        (Some(Step::Field(field)), _) | (None, Root::Static(field)) => Some(field),
        (Some(Step::Contents | Step::Elements), _) => field_of(&path.parent()?),
        _ => None,
    }
}

/// Does the field that a path ends at say what guards it?
pub(crate) fn is_guarded(engine: &Compositional, program: &Program, path: &Path) -> bool {
    field_of(path).is_some_and(|field| {
        note_class(program.field_ref(field).class);
        guard::of_field(program, &engine.knowledge, field).is_some()
    })
}

/// Where the field says what guards it, whoever does not hold that is wrong, and nobody else.
fn declared<'a>(engine: &Compositional, program: &Program, seen: &[Seen<'a>]) -> Option<Vec<Conflict<'a>>> {
    let path = seen.first()?.path;
    let field = field_of(&path)?;
    let (_, guard) = guard::of_field(program, &engine.knowledge, field)?;
    // What it is guarded by is said, but in words that nobody here understands.
    let guard = guard?;
    let owner = match path.last() {
        Some(Step::Field(_)) => path.parent()?,
        Some(_) => path.parent()?.parent().unwrap_or(path),
        None => path,
    };
    let guard = if let Root::Param(0) = guard.root { guard.rebased(owner)? } else { guard };
    let holds = |seen: &Seen<'_>| {
        // A class of one's own may be the lock by having one.
        let is_part = |lock: &Path| !guard.is_root() && lock.len() > guard.len() && guard.leads_to(lock);
        // One lock may be in fields of several objects, mostly of one name.
        let name = |lock: &Path| field_of(lock).map(|field| program.field_ref(field).name);
        let is_named = |lock: &Path| name(&guard).is_some() && name(lock) == name(&guard);
        let is_guard = |lock: &Path| *lock == guard || is_part(lock) || is_named(lock);
        let enough = |held: &Held| is_guard(&held.lock) && !(held.shared && seen.access.writes);
        seen.held.iter().any(|held| enough(held) || held.lock == Path::UNKNOWN)
    };
    let is_made =
        |seen: &Seen<'_>| engine.method(seen.entry.method).is_some_and(|method| method.is_constructor);
    // What only constructors write needs no guard.
    if !seen.iter().any(|seen| seen.access.writes && !is_made(seen)) {
        return Some(Vec::new());
    }
    let mut right = seen.iter().filter(|seen| holds(seen));
    let right = right.clone().find(|seen| seen.access.writes).or_else(|| right.next());
    let mut blamed: FxHashMap<ir::MethodId, Conflict<'a>> = FxHashMap::default();
    for wrong in seen.iter().filter(|seen| !holds(seen) && !engine.is_detached(seen)) {
        let sides = [wrong.clone(), right.unwrap_or(wrong).clone()];
        let is_value = matches!(wrong.path.last(), Some(Step::Field(_)) | None);
        let harm = right.and_then(|_| engine.harm(program, &sides)).map(|harm| harm.text().to_owned());
        let is_old_value = is_value && !wrong.access.writes && harm.is_none();
        let why = std::iter::once("the field says so".to_owned()).chain(harm).collect();
        // An old value, or what is mostly called under locks, is wrong by its words, and mostly does no harm. Where nobody
        // at all holds the lock, the words may be older than the code.
        let is_plain = wrong.access.started == 0;
        let name = program.selector_text(program.method_ref(wrong.entry.method).selector).0;
        let is_mild = is_old_value
            || right.is_none()
            || engine.is_only_tested(program, wrong)
            || engine.knowledge.is_rare(name)
            || is_plain && engine.is_mostly_called_under_locks(wrong.entry.method);
        let confidence = if is_mild { Confidence::Medium } else { Confidence::High };
        let (rule, also) = (Rule::GuardedBy, Vec::new());
        let guard = Some((guard, 0, 0));
        let (is_update, shows_harm) = (false, !is_mild);
        let new = Conflict { rule, confidence, sides, also, guard, is_update, shows_harm, why };
        match blamed.entry(wrong.entry.method) {
            Entry_::Occupied(mut known) if known.get().sides[0].access.depth <= wrong.access.depth => {
                known.get_mut().also.push(new.sides);
            }
            Entry_::Occupied(mut known) => {
                let before = std::mem::replace(known.get_mut(), new);
                known.get_mut().also.push(before.sides);
            }
            Entry_::Vacant(free) => {
                free.insert(new);
            }
        }
    }
    let mut found: Vec<Conflict<'a>> = blamed.into_values().collect();
    found.sort_by_key(|conflict| engine.name_of(conflict.sides[0].entry.method));
    Some(found)
}

/// Who is to blame: the one without the lock that others hold, or without any, and of two of them the one that writes.
fn blame(seen: &Seen<'_>, usual: Option<Path>) -> (bool, bool, bool, bool) {
    let lacks = usual.is_some_and(|lock| !seen.held.iter().any(|held| held.lock == lock));
    (lacks, seen.held.is_empty(), seen.access.writes, seen.access.started > 0)
}

/// What hurts most comes first: two writes or a lost update, then two methods that meet rather than one with itself,
/// then the one without a lock.
fn harm(culprit: &Seen<'_>, other: &Seen<'_>, updates: [bool; 2]) -> (bool, bool, bool, bool) {
    let are_two = !std::ptr::eq(culprit.access, other.access);
    let is_lone_read = |seen: &Seen<'_>, is_part: bool| !seen.access.writes && !is_part;
    let hurts = !is_lone_read(culprit, updates[0])
        && !is_lone_read(other, updates[1])
        && (updates.contains(&true) || are_two);
    let is_one_method = culprit.entry.method == other.entry.method;
    let both_write = culprit.access.writes && other.access.writes;
    let is_read = !is_one_method && !both_write;
    (!hurts, is_one_method, is_read, !culprit.held.is_empty())
}

/// Of those that hurt as much, the pair that tells most: on different sides of a lock, near, a write.
fn rank(
    engine: &Compositional,
    culprit: &Seen<'_>,
    other: &Seen<'_>,
) -> (bool, bool, u8, bool, u64, u64, u32, u32) {
    let is_same = std::ptr::eq(culprit.access, other.access);
    (
        is_same,
        other.held.is_empty(),
        culprit.access.depth.saturating_add(other.access.depth),
        !culprit.access.writes,
        engine.name_of(culprit.entry.method),
        engine.name_of(other.entry.method),
        culprit.number,
        other.number,
    )
}

/// May the two run at the same time, on one object?
fn may_meet(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    if are_in_turn(a, b) {
        return false;
    }
    if a.entry.method == b.entry.method && (a.access.started > 0 || b.access.started > 0) {
        return starts_meet(a, b);
    }
    if is_seen_elsewhere(a) || is_seen_elsewhere(b) {
        return false;
    }
    if a.access.of_task && b.access.of_task {
        return false;
    }
    if a.entry.method == b.entry.method && a.entry.is_serial {
        return false;
    }
    let is_own =
        |root: Root| matches!(root, Root::Made(_)) || matches!(root, Root::Param(number) if number > 0);
    if a.path.root != b.path.root || is_own(a.path.root) || (a.entry.is_inherited && b.entry.is_inherited) {
        return false;
    }
    if a.access.thread == Thread::Main && b.access.thread == Thread::Main {
        return false;
    }
    // The object of a task is run by one thread.
    if a.entry.is_task
        && b.entry.is_task
        && a.entry.method == b.entry.method
        && !matches!(a.path.root, Root::Static(_))
    {
        return false;
    }
    let believed = |seen: &Seen<'_>| {
        seen.access.thread != Thread::Main && (seen.access.started > 0 || seen.entry.evidence.is_some())
    };
    let (in_a, in_b) = (believed(a), believed(b));
    let hint = |seen: &Seen<'_>| seen.access.started == 0 && strength(seen) <= Some(Strength::Hint);
    match (in_a, in_b) {
        (false, false) => false,
        // A volatile field beside it says little, and nothing of a method that does not touch it.
        _ if hint(a) && hint(b) => false,
        // One thread that is started once and a method that nobody is known to call elsewhere.
        _ => true,
    }
}

/// Is it seen with its callers, or before others use the object? What runs in a thread that is started then is not.
fn is_seen_elsewhere(seen: &Seen<'_>) -> bool {
    seen.entry.is_inside && !(seen.entry.is_once && seen.access.started > 0)
}

/// The groups of methods that never run in parallel under which an access happens: of the methods on the way to it those
/// that do not leave it to a thread which they start.
fn groups(engine: &Compositional, program: &Program, seen: &Seen<'_>) -> Vec<u32> {
    if engine.knowledge.assumed.group_count() == 0 {
        return Vec::new();
    }
    let way = engine.way(seen.entry.method, seen.number).into_iter();
    let inside = way.filter(|(_, access)| access.started == 0);
    let groups = inside.flat_map(|(method, _)| engine.knowledge.exclusive_groups(program, method));
    groups.copied().collect()
}

/// Are both tasks of one executor that runs one task after the other?
fn are_in_turn(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    let executor = |seen: &Seen<'_>| seen.access.on.map(|executor| seen.entry.lock(executor));
    let (Some(one), Some(other)) = (executor(a), executor(b)) else { return false };
    // Two objects have two executors, and a static field is there once.
    let is_of_object = matches!(a.path.root, Root::Static(_)) && matches!(one.root, Root::Param(_));
    let is_one_call = a.entry.method == b.entry.method || !matches!(one.root, Root::Made(_));
    one == other && is_one_call && !is_of_object
}

/// Two accesses of one method, one of them at least in a thread that it starts.
fn starts_meet(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    let runs_during = |plain: &Seen<'_>, started: &Seen<'_>| {
        plain.access.started == 0 && plain.access.running & (1 << (started.access.started - 1)) != 0
    };
    match (a.access.started, b.access.started) {
        (0, _) => runs_during(a, b),
        (_, 0) => runs_during(b, a),
        (one, other) => {
            let meet = |started: u8, during: &Seen<'_>| during.access.running & (1 << (started - 1)) != 0;
            meet(one, b) || meet(other, a)
        }
    }
}

/// Is there a lock that keeps them apart, or may there be one?
fn is_protected(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    if a.held.is_empty() || b.held.is_empty() {
        return false;
    }
    let nameless = |held: &[Held]| held.iter().any(|held| held.lock == Path::UNKNOWN);
    if nameless(&a.held) || nameless(&b.held) {
        return true;
    }
    // Two objects have two locks, and a static field is there once.
    let is_of_object =
        |held: &Held| matches!(a.path.root, Root::Static(_)) && matches!(held.lock.root, Root::Param(_));
    let excludes = |mine: &Held, theirs: &Held| {
        let is_sure = |held: &Held| held.sure || held.at == crate::ENTRY;
        // Two that share it exclude nobody; one that has it alone excludes both.
        let is_alone = !(mine.shared && theirs.shared);
        mine.lock == theirs.lock && is_alone && is_sure(mine) && is_sure(theirs) && !is_of_object(mine)
    };
    a.held.iter().any(|mine| b.held.iter().any(|theirs| excludes(mine, theirs)))
}

/// Of so many pairs the surest is told, the others beside it.
const MOST_JUDGED: usize = 8;

fn surest<'a>(
    engine: &Compositional,
    program: &Program,
    seen: &[Seen<'a>],
    pairs: &[[usize; 2]],
    (common, meets_itself): (Common<'_>, bool),
    is_update: &dyn Fn(&[usize; 2]) -> bool,
) -> Conflict<'a> {
    let pair = |at: usize| pairs[at].map(|at| seen[at].clone());
    let judged = (0..pairs.len().min(MOST_JUDGED))
        .map(|at| (at, conflict(engine, program, pair(at), common, meets_itself)));
    let (told, mut best) =
        judged.min_by_key(|(at, conflict)| (conflict.confidence, *at)).expect("there is one");
    best.is_update = pairs.iter().any(is_update);
    best.also = (0..pairs.len()).filter(|&at| at != told).map(pair).collect();
    best
}

fn conflict<'a>(
    engine: &Compositional,
    program: &Program,
    sides: [Seen<'a>; 2],
    common: Common<'_>,
    meets_itself: bool,
) -> Conflict<'a> {
    let habit = common.habit.filter(|habit| !sides[0].held.iter().any(|held| held.lock == habit.lock));
    let is_container = sides[0].path.last() == Some(Step::Contents);
    let is_alone = sides.iter().all(|side| side.held.is_empty());
    let rule = match habit {
        _ if is_container => Rule::ContainerRace,
        Some(habit) if habit.is_rule() => Rule::GuardedBy,
        _ if is_alone && sides[0].access.writes && meets_itself => Rule::UnprotectedWrite,
        _ => Rule::Race,
    };
    let mut why = Vec::new();
    let (confidence, harm) =
        belief::confidence(engine, program, rule, &sides, Common { habit, ..common }, &mut why);
    let guard = habit.map(|habit| (habit.lock, habit.with, habit.of));
    let (also, is_update, shows_harm) = (Vec::new(), false, harm.is_some());
    Conflict { rule, confidence, sides, also, guard, is_update, shows_harm, why }
}

//! How sure a conflict is: what speaks for two threads being at one object at the same time, and what against it.
//! Every reason to believe less is told; knows nothing of how conflicts are found.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::evidence::{self, Strength};
use crate::frame::Method;
use crate::habit::{self, Habit};
use crate::harm::Harm;
use crate::outline::Event;
use crate::path::{Path, Root, Step};
use crate::summary::Held;
use findings::{Confidence, Rule};
use ir::{ClassId, FieldId, MethodId, Program, access};
use models::Kind;
use std::cell::LazyCell;

pub(crate) fn strength(seen: &Seen<'_>) -> Option<Strength> {
    seen.entry.evidence.as_ref().map(|evidence| evidence.strength)
}

/// What all accesses to a place have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Common<'a> {
    pub habit: Option<&'a Habit>,
    pub is_only_set_up: bool,
}

/// What speaks for it, less what speaks against it, which is written down; and the harm it does, if it is believed.
pub(crate) fn confidence(
    engine: &Compositional,
    program: &Program,
    rule: Rule,
    sides: &[Seen<'_>; 2],
    common: Common<'_>,
    why: &mut Vec<String>,
) -> (Confidence, Option<Harm>) {
    let confidence = speaks_for(rule, sides, common.habit, why);
    // It takes a look at the code, and most pairs are hardly believed before.
    let harm = LazyCell::new(|| engine.harm(program, sides));
    let first = why.len();
    let mut belief = Belief { confidence, why };
    belief.doubt_all(engine, program, (rule, sides), common, &|| *harm);
    let confidence = belief.confidence;
    if confidence == Confidence::Low {
        return (confidence, None);
    }
    if let Some(harm) = *harm {
        why.insert(first, harm.text().to_owned());
    }
    (confidence, *harm)
}

/// Calls on both sides together that make no difference to the contents of a container, or what is declared thread-safe.
const NEAR: usize = 8;
/// The same where a thread is started: what it runs is mostly a call away.
const NEAR_START: usize = 2;

/// What a reason to believe less does.
#[derive(Debug, Clone, Copy)]
enum Doubt {
    AtMost(Confidence),
    /// One step down, whatever it was.
    Less,
}

/// What is believed so far, and where the reasons go.
struct Belief<'a> {
    confidence: Confidence,
    why: &'a mut Vec<String>,
}

impl Belief<'_> {
    /// What would make no difference any more is not asked, and needs no words.
    fn doubt(&mut self, words: &str, doubt: Doubt, is_so: impl FnOnce() -> bool) {
        let now = match doubt {
            Doubt::AtMost(most) => self.confidence.max(most),
            Doubt::Less if self.confidence == Confidence::High => Confidence::Medium,
            Doubt::Less => Confidence::Low,
        };
        if now != self.confidence && is_so() {
            self.confidence = now;
            self.why.push(words.into());
        }
    }
}

fn speaks_for(rule: Rule, sides: &[Seen<'_>; 2], habit: Option<&Habit>, why: &mut Vec<String>) -> Confidence {
    let is_started = sides.iter().any(|side| side.access.started > 0);
    let is_same = sides[0].entry.method == sides[1].entry.method && !is_started_elsewhere(sides);
    let is_meant = habit.is_some_and(|habit| habit.is_meant(strength(&sides[0]).is_some()));
    let mut plain = sides.iter().filter(|side| side.access.started == 0);
    match strongest(sides) {
        Some(Strength::Promised | Strength::Declared) => Confidence::High,
        // Within one method it is known what comes before the start and what after.
        _ if is_started && (is_same || is_meant) => Confidence::High,
        _ if is_started => {
            why.push("the other side may run before the thread is started, or after it has ended".into());
            let is_far = sides[0].path.len() > 1 || depth(sides) > 4;
            match plain.all(|side| strength(side) <= Some(Strength::Hint)) && is_far {
                true => Confidence::Low,
                false => Confidence::Medium,
            }
        }
        Some(Strength::Locks) => match habit {
            Some(_) if is_meant => Confidence::High,
            // Where hardly anybody holds it, it is not what keeps them apart.
            Some(habit) if !habit.is_common() => Confidence::Low,
            Some(habit) if !habit.is_itself && (rule == Rule::GuardedBy || habit.with >= 2) => {
                why.push("lower confidence: this lock may guard other state".into());
                Confidence::Medium
            }
            Some(_) => Confidence::Medium,
            // That a method takes a lock says little about what it does without it.
            None if sides.iter().any(|side| side.held.is_empty()) => Confidence::Low,
            None => Confidence::Medium,
        },
        Some(Strength::Framework) => Confidence::Medium,
        // Whatever a task reaches, it mostly has alone.
        Some(Strength::Task) if sides[0].path.len() > 1 || depth(sides) > 2 => Confidence::Low,
        Some(Strength::Task) => Confidence::Medium,
        Some(Strength::Hint) | None => Confidence::Low,
    }
}

fn strongest(sides: &[Seen<'_>; 2]) -> Option<Strength> {
    sides.iter().filter_map(strength).max()
}

fn depth(sides: &[Seen<'_>; 2]) -> usize {
    sides.iter().map(|side| usize::from(side.access.depth)).sum()
}

impl Belief<'_> {
    /// Reasons to believe less, and how much may be believed in spite of each.
    fn doubt_all(
        &mut self,
        engine: &Compositional,
        program: &Program,
        (rule, sides): (Rule, &[Seen<'_>; 2]),
        common: Common<'_>,
        harm: &dyn Fn() -> Option<Harm>,
    ) {
        const LOW: Doubt = Doubt::AtMost(Confidence::Low);
        const MEDIUM: Doubt = Doubt::AtMost(Confidence::Medium);
        let habit = common.habit;
        let is_declared = strongest(sides) >= Some(Strength::Promised);
        let low_or_medium = if is_declared { MEDIUM } else { LOW };
        let is_plain = |side: &&Seen<'_>| side.access.started == 0;
        self.doubt("a lock is held on some ways only", LOW, || may_be_protected(&sides[0], &sides[1]));
        // What is locked there may be another object that has nothing to do with this one.
        let is_near = |held: &Held| !matches!(held.lock.root, Root::Param(number) if number > 0);
        let is_far = |side: &Seen<'_>| !side.held.is_empty() && !side.held.iter().any(is_near);
        self.doubt("the lock belongs to another object", LOW, || sides.iter().any(is_far));
        let is_on_way = |side: &Seen<'_>, is_such: &dyn Fn(&str) -> bool| {
            let way = engine.way(side.entry.method, side.number);
            way.iter()
                .any(|&(method, _)| is_such(program.selector_text(program.method_ref(method).selector).0))
        };
        let only_shows = |side: &Seen<'_>| {
            !side.access.writes && is_on_way(side, &|name| engine.knowledge.only_shows(name))
        };
        self.doubt("it is read only to be shown", LOW, || sides.iter().any(only_shows));
        let serializes = |side: &Seen<'_>| is_on_way(side, &|name| engine.knowledge.serializes(name));
        self.doubt("only serialization calls it", MEDIUM, || sides.iter().any(serializes));
        let is_rare = |side: &Seen<'_>| {
            let is_rare = |method: MethodId| {
                engine.knowledge.is_rare(program.selector_text(program.method_ref(method).selector).0)
            };
            up(engine, side.entry.method).any(is_rare)
        };
        self.doubt("it runs when nobody has the object any more", MEDIUM, || sides.iter().any(is_rare));
        let is_last = |side: &Seen<'_>| {
            let method = program.method(side.entry.method);
            let name = program.selector_text(method.selector).0;
            let is_marked = |note: &ir::Annotation| {
                engine.knowledge.says(&program.names[note.class]).contains(&models::Says::Last)
            };
            engine.knowledge.is_last(name) || method.annotations.iter().any(is_marked)
        };
        // Its requests have been answered by then; threads of its own may still run.
        let is_of_requests =
            strongest(sides) == Some(Strength::Framework) && sides.iter().all(|side| is_plain(&side));
        self.doubt("a framework calls it when it has done with the object", LOW, || {
            is_of_requests && sides.iter().any(is_last)
        });
        let is_later = sides.iter().any(|side| side.access.later);
        // Two stages that follow the same one may run side by side.
        let are_both = sides.iter().all(|side| side.access.later);
        let at_most = if strongest(sides) <= Some(Strength::Hint) && !are_both { LOW } else { MEDIUM };
        self.doubt(
            "it runs when something else is done, perhaps in order with the other side",
            at_most,
            || is_later,
        );
        let is_vague = |side: &Seen<'_>| side.access.vague;
        self.doubt("the object may be another one: it comes from several places", MEDIUM, || {
            sides.iter().any(is_vague)
        });
        self.doubt("a call on the way may lead to another method", MEDIUM, || {
            sides.iter().any(|side| side.access.of_several)
        });
        self.doubt("it is many calls away", LOW, || depth(sides) > 16);
        let is_cut = |side: &Seen<'_>| !engine.is_whole(side.entry.method, side.number);
        self.doubt("the way to it is not known to its end", LOW, || sides.iter().any(is_cut));
        let is_held_here =
            |side: &Seen<'_>| side.access.started == 0 && is_held_by_callers(engine, side, sides, habit);
        let is_all = |side: &Seen<'_>| !engine.is_called_elsewhere(side.entry.method);
        let is_named = |side: &Seen<'_>| {
            let locks = engine.held_by_callers_here(side.entry.method);
            !locks.is_empty() && !locks.contains(&Path::UNKNOWN)
        };
        let is_sure = || sides.iter().any(|side| is_held_here(side) && is_all(side) && is_named(side));
        self.doubt("all callers in the program hold the lock", LOW, is_sure);
        self.doubt("all callers that are known hold the lock", MEDIUM, || sides.iter().any(is_held_here));
        let is_indirect =
            |side: &Seen<'_>| side.entry.evidence.as_ref().is_some_and(|evidence| evidence.is_indirect);
        self.doubt("only what they call takes locks, perhaps for something else", MEDIUM, || {
            harm() != Some(Harm::HalfMade) && sides.iter().all(is_indirect)
        });
        let lacks_lock = |side: &&Seen<'_>| is_plain(side) && side.held.is_empty();
        let under_locks = |side: &Seen<'_>| engine.is_mostly_called_under_locks(side.entry.method);
        self.doubt("most calls of it in the program are made under some lock", MEDIUM, || {
            sides.iter().filter(lacks_lock).any(under_locks)
        });
        let is_harmless = |side: &Seen<'_>| side.held.is_empty() && engine.is_only_tested(program, side);
        let is_locked_write = |side: &Seen<'_>| side.access.writes && !side.held.is_empty();
        self.doubt("the value is only tested or counted, where an old one may do no harm", MEDIUM, || {
            sides.iter().any(is_harmless) && sides.iter().any(is_locked_write)
        });
        // What is read in a container that changes meanwhile may be damaged.
        let is_value = sides[0].path.last() != Some(Step::Contents);
        let is_mild = || is_value && harm().is_none();
        let most = if rule == Rule::UnprotectedWrite && depth(sides) > 2 { LOW } else { MEDIUM };
        self.doubt("nothing shows that an old value does harm here", most, is_mild);
        let is_of_locks = strongest(sides) == Some(Strength::Locks);
        self.doubt("most accesses hold no common lock, so that it is hardly what guards it", LOW, || {
            is_of_locks && is_mild() && habit.is_some_and(|habit| habit.of > 2 && !habit.is_usual())
        });
        let is_meant = |habit: &Habit| habit.is_meant(strength(&sides[0]).is_some());
        self.doubt(
            "nothing shows that the lock is meant for it, nor that an old value does harm",
            LOW,
            || is_of_locks && is_mild() && habit.is_some_and(|habit| habit.with >= 2 && !is_meant(habit)),
        );
        self.doubt("nothing shows that it meets the task, nor that an old value does harm", LOW, || {
            let are_plain = sides.iter().all(|side| is_plain(&side) && side.held.is_empty());
            let is_around = |side: &Seen<'_>| side.entry.is_task && side.entry.outer.is_some();
            are_plain && sides.iter().any(is_around) && strongest(sides) <= Some(Strength::Task) && is_mild()
        });
        self.doubt("nothing in the program calls the method, which is not public", LOW, || {
            sides.iter().any(|side| is_out_of_use(engine, program, side))
        });
        self.doubt("several accesses do without the lock, which may guard other state", MEDIUM, || {
            !is_value && is_of_locks && habit.is_some_and(|habit| !habit.is_strong())
        });
        // Such a method is mostly for tests, or for looking into the object.
        let is_for_looks = |side: &Seen<'_>| {
            let method = side.entry.method;
            let is_read = !is_value && !side.access.writes && is_plain(&side);
            is_read && !engine.is_called(method) && !is_called_by_another_name(program, method)
        };
        self.doubt("nobody in the program calls the method that reads it", MEDIUM, || {
            !is_declared && sides.iter().any(is_for_looks)
        });
        self.doubt("nobody in the program calls the method", MEDIUM, || {
            !is_declared && is_plain(&&sides[0]) && is_uncalled(engine, program, &sides[0])
        });
        self.doubt("several calls lie between", MEDIUM, || sides.iter().any(|side| side.access.depth >= FAR));
        self.doubt("it gives the object up, mostly when others have done with it", MEDIUM, || {
            is_plain(&&sides[0]) && is_on_way(&sides[0], &|name| engine.knowledge.is_end(name))
        });
        self.doubt("the class has to do with a user interface, which has one thread", MEDIUM, || {
            !is_declared && sides.iter().any(|side| is_of_ui(engine, program, side))
        });
        let only_reports = || {
            is_value
                && !sides[0].access.writes
                && is_plain(&&sides[0])
                && engine.only_reports(program, sides[0].entry.method)
        };
        self.doubt("only read to report a state, where an old value may do no harm", MEDIUM, only_reports);
        let is_tested_again =
            || habit.is_some_and(|habit| engine.is_tested_again(program, &sides[0], habit.lock));
        self.doubt("it is tested again under the lock", MEDIUM, is_tested_again);
        let is_only_ui = || {
            !is_declared
                && sides.iter().all(|side| side.held.is_empty())
                && sides.iter().any(|side| on_event_thread(engine, program, side))
                && !sides.iter().any(|side| on_other_thread(engine, program, side))
        };
        self.doubt("the event thread runs it, and mostly the other side as well", LOW, is_only_ui);
        let are_of_ui = || sides.iter().all(|side| on_event_thread(engine, program, side));
        self.doubt("the event thread runs both, as a rule", MEDIUM, || !is_declared && are_of_ui());
        // Whoever has the object, the thread that the method itself has started has it too.
        let is_beside = is_beside_own_thread(sides);
        self.doubt("only a static initializer calls it, before anybody uses the class", MEDIUM, || {
            sides.iter().any(|side| is_part_of_initializer(engine, side))
        });
        let is_listener = |side: &Seen<'_>| {
            side.access.on.is_some_and(is_event_queue) && is_registered(engine, program, side)
        };
        self.doubt(
            "a listener that is registered here runs when something happens, mostly later",
            LOW,
            || is_beside && sides.iter().any(is_listener),
        );
        let on_own = |side: &Seen<'_>| engine.is_called_on_own(side.entry.method);
        self.doubt("the program calls it only on objects that nobody else has yet", low_or_medium, || {
            !is_beside && sides.iter().filter(is_plain).any(on_own)
        });
        let are_in_one_task = || !is_beside && are_in_one_task(engine, program, sides);
        self.doubt("one and the same thread runs both", low_or_medium, are_in_one_task);
        self.doubt("one method alone calls both, one after the other", MEDIUM, || {
            are_called_by_one(engine, sides)
        });
        let have_locks = sides.iter().all(|side| !side.held.is_empty());
        self.doubt("both hold locks, but not the same", MEDIUM, || have_locks);
        // Over calls something is easily overlooked (docs/precision.md). A broken container is worth it all the same.
        let nearest = match sides.iter().any(|side| side.access.started > 0) {
            true => NEAR_START,
            false if is_value && !is_declared && harm() != Some(Harm::HalfMade) => 0,
            false => NEAR,
        };
        self.doubt("it is reached through calls", MEDIUM, || depth(sides) > nearest);
        self.doubt("it is read after the method has had the lock", MEDIUM, || {
            habit.is_some_and(|habit| comes_after(engine, &sides[0], habit))
        });
        let lets_in_many = || habit.is_some_and(|habit| gives_permits(engine, program, habit));
        self.doubt("a semaphore may let several in", MEDIUM, lets_in_many);
        let is_made_before = || !is_beside && is_made_before(engine, program, sides);
        self.doubt("whoever has the object has made it before", MEDIUM, is_made_before);
        // What is made under its lock when somebody first needs it is there for all others.
        let is_lazy = || habit.is_some_and(|habit| habit.is_itself) || harm() == Some(Harm::HalfMade);
        let is_set_up = || {
            !is_beside && !is_lazy() && (common.is_only_set_up || habit::sets_up(engine, program, &sides[0]))
        };
        // Whoever makes a task sets it up before it is run.
        let is_of_task = strongest(sides) <= Some(Strength::Task);
        let at_most = if is_of_task { Doubt::Less } else { MEDIUM };
        self.doubt("it is set where the object is made ready, perhaps before its use", at_most, is_set_up);
        let is_in_place = |side: &Seen<'_>| side.entry.is_task && engine.is_run_in_place(side.entry.method);
        self.doubt("the program calls it directly, and is not seen to start it", Doubt::Less, || {
            strongest(sides) == Some(Strength::Task) && sides.iter().any(is_in_place)
        });
        self.doubt("both test a flag under a lock before", MEDIUM, || have_flag(engine, sides));
        self.doubt("a volatile field is written after it, and read before it", MEDIUM, || {
            is_handed_over(engine, sides)
        });
        self.doubt("one thread uses such an object, as a rule", Doubt::Less, || {
            is_of_one_user(engine, program, &sides[0])
        });
        self.doubt("it may be that one of them is started only once", MEDIUM, || is_far_start(engine, sides));
        self.doubt("it is written before the thread is started", MEDIUM, || {
            comes_before_start(engine, sides)
        });
        // Within one method it is known which thread was waited for.
        let is_after_wait = || !is_beside && comes_after_wait(engine, sides);
        self.doubt("a thread is waited for before, perhaps the other one", MEDIUM, is_after_wait);
        let is_element = sides[0].path.last() == Some(Step::Elements);
        self.doubt("they may touch different elements", MEDIUM, || is_element && !is_declared);
        // It takes a look at the code.
        let is_detached = |side: &Seen<'_>| engine.is_detached(side);
        self.doubt("the field holds another object by then", LOW, || sides.iter().any(is_detached));
        self.doubt("it was made sure of under the lock just before", LOW, || engine.is_made_sure_of(sides));
        self.doubt("a flag decides that only one of the two happens", MEDIUM, || {
            engine.are_chosen_by_flag(program, sides)
        });
        let are_started = sides.iter().all(|side| side.access.started > 0);
        self.doubt("each task may have elements of its own", MEDIUM, || is_element && are_started);
    }
}

/// Does the one happen where the thread of the other is not running, so that it takes a second call of the method?
fn is_started_elsewhere(sides: &[Seen<'_>; 2]) -> bool {
    let [a, b] = sides;
    let (plain, started) = match (a.access.started, b.access.started) {
        (0, 1..) => (a, b),
        (1.., 0) => (b, a),
        _ => return false,
    };
    plain.access.running & (1 << (started.access.started - 1)) == 0
}

/// Do both happen in one call of a method, one of them in a thread that it starts and the other meanwhile?
fn is_beside_own_thread(sides: &[Seen<'_>; 2]) -> bool {
    let [one, other] = sides;
    one.entry.method == other.entry.method && (one.access.started > 0) != (other.access.started > 0)
}

/// Does the one thread of a user interface run it? What is handed to that thread says that others are there; what is
/// registered as a listener, or is a method of a component, does not.
fn on_event_thread(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let way = engine.way(side.entry.method, side.number);
    let is_of_ui = |method: MethodId| {
        let entry = program.method_ref(method);
        let is_lambda = program.selector_text(entry.selector).0.starts_with("lambda$");
        !is_lambda && evidence::of_class(program, &engine.knowledge, entry.class).main_thread
    };
    let Some(start) = way.iter().rposition(|(_, access)| access.started > 0) else {
        return way.iter().any(|&(method, _)| is_of_ui(method));
    };
    let (_, access) = way[start];
    let is_listener = way.get(start + 1).is_some_and(|&(method, _)| is_of_ui(method));
    is_listener || access.on.is_some_and(is_event_queue) && is_registered(engine, program, side)
}

/// Is it the one executor that a class stands for?
fn is_event_queue(on: Path) -> bool {
    on.is_root() && matches!(on.root, Root::Class(_))
}

/// Is what runs it registered, by the name of the call that hands it over, and not started?
fn is_registered(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let way = engine.way(side.entry.method, side.number);
    let Some(&(starter, access)) = way.iter().rev().find(|(_, access)| access.started > 0) else {
        return false;
    };
    let Some(slot) = engine.methods.get(starter) else { return false };
    match slot.packed.outline().events.get(access.site.at as usize) {
        Some(Event::Call { target, .. }) => {
            engine.knowledge.registers(program.selector_text(target.selector).0)
        }
        _ => false,
    }
}

/// Does a thread of its own run it, or does a lock say that several threads may?
fn on_other_thread(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let has_thread = side.access.started > 0 || side.entry.is_task;
    !side.held.is_empty() || has_thread && !on_event_thread(engine, program, side)
}

/// A lock that both hold, but one of them not on every way.
fn may_be_protected(a: &Seen<'_>, b: &Seen<'_>) -> bool {
    a.held
        .iter()
        .any(|mine| b.held.iter().any(|theirs| mine.lock == theirs.lock && !(mine.sure && theirs.sure)))
}

/// Do all calls in the program hold the lock of the other side, or the one that is usual?
fn is_held_by_callers(
    engine: &Compositional,
    side: &Seen<'_>,
    sides: &[Seen<'_>; 2],
    habit: Option<&Habit>,
) -> bool {
    let is_usual = |lock| habit.is_some_and(|habit| habit.lock == lock);
    let of_other = |lock| {
        let mut others = sides.iter().filter(|other| !std::ptr::eq(*other, side));
        others.any(|other| other.held.iter().any(|held| held.lock == lock))
    };
    let is_it = |lock| is_usual(lock) || of_other(lock) || lock == Path::UNKNOWN;
    engine.held_by_callers_here(side.entry.method).iter().map(|&lock| side.entry.lock(lock)).any(is_it)
}

/// Does one side wait for a thread before, while the other is what a thread runs?
fn comes_after_wait(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let is_of_thread = |side: &Seen<'_>| {
        let is_task = side.entry.is_task || engine.only_task(side.entry.method).is_some();
        side.access.started > 0 || is_task
    };
    let [one, other] = sides;
    (one.access.waited && is_of_thread(other)) || (other.access.waited && is_of_thread(one))
}

/// Is there only one method in the program that calls both sides?
fn are_called_by_one(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let [one, other] = sides.each_ref().map(|side| engine.only_caller(side.entry.method));
    let are_plain = sides.iter().all(|side| side.access.started == 0);
    are_plain && one.is_some() && one == other && sides[0].entry.method != sides[1].entry.method
}

/// Is it a method that others cannot call, of a class that is in use, and that nothing in the program calls, except tests?
fn is_out_of_use(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let method = side.entry.method;
    let entry = program.method(method);
    let is_public = |access: u16| access & access::PUBLIC != 0;
    let is_hidden = match is_public(program.class(entry.class).access) {
        true => !is_public(entry.access),
        false => is_made_elsewhere(engine, program, entry.class),
    };
    is_hidden
        && !is_asked_for(program, side)
        && !engine.is_called(method)
        && !is_called_by_another_name(program, method)
}

/// Is it run by a thread, or may a framework find it by what is written above it?
fn is_asked_for(program: &Program, side: &Seen<'_>) -> bool {
    let is_marked = !program.method(side.entry.method).annotations.is_empty();
    side.entry.is_task || is_marked || strength(side) >= Some(Strength::Framework)
}

/// Does nothing in the program call the method, by whatever name, while it calls others of the class?
fn is_uncalled(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let method = side.entry.method;
    let class = program.method_ref(method).class;
    let mut others = program.class(class).methods.iter().copied().filter(|&other| other != method);
    !is_asked_for(program, side)
        && !engine.is_called(method)
        && !is_called_by_another_name(program, method)
        && others.any(|other| engine.is_called_from_outside(other))
}

/// Has the class a field or a parameter that a user interface works on?
fn is_of_ui(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let class = program.class(side.entry.class);
    let is_it = |of: ClassId| engine.knowledge.is_of_ui(program.class_name(of));
    let of_fields = class.fields.iter().filter_map(|&field| program.field(field).class_of);
    let of_methods = class.methods.iter().flat_map(|&method| {
        let params = program.method(method).params.iter().skip(1).copied().flatten();
        params.chain(program.method(method).result)
    });
    of_fields.chain(of_methods).any(is_it) || program.superclasses(side.entry.class).any(is_it)
}

/// Does the program make objects of a class that others cannot name, and that no public class extends?
fn is_made_elsewhere(engine: &Compositional, program: &Program, class: ClassId) -> bool {
    let methods = program.class(class).methods.iter().copied();
    let mut constructors =
        methods.filter(|&method| engine.method(method).is_some_and(|method| method.is_constructor));
    let is_final = program.class(class).access & access::FINAL != 0;
    is_final && constructors.any(|constructor| engine.is_called(constructor))
}

/// Does it take the place of a method of a type above, by which it is called? Nobody copies an object by another name.
fn is_called_by_another_name(program: &Program, method: MethodId) -> bool {
    let of = program.method_ref(method);
    if program.selector_text(of.selector).0 == "clone" {
        return false;
    }
    let mut above = program.supertypes(of.class).filter(|&above| above != of.class);
    above
        .any(|above| program.declared_method(ir::MethodRef { class: above, selector: of.selector }).is_some())
}

/// What is so many calls away is reached in more ways than one can see.
const FAR: u8 = 3;

/// Calls up to a static initializer that are looked at.
const HIGHEST: usize = 4;

/// Does nothing in the program but a static initializer lead to it?
fn is_part_of_initializer(engine: &Compositional, side: &Seen<'_>) -> bool {
    let mut methods = up(engine, side.entry.method).skip(1).filter_map(|method| engine.method(method));
    side.access.started == 0 && methods.any(|method| method.is_initializer)
}

/// The method itself, the only one that calls it, the only one that calls that.
fn up(engine: &Compositional, method: MethodId) -> impl Iterator<Item = MethodId> + '_ {
    std::iter::successors(Some(method), |&method| engine.only_caller(method)).take(HIGHEST)
}

/// Is there only one thread or task that leads to both sides, and one object of it for each thread?
fn are_in_one_task(engine: &Compositional, program: &Program, sides: &[Seen<'_>; 2]) -> bool {
    let task = |side: &Seen<'_>| {
        let way = engine.way(side.entry.method, side.number);
        let (first, _) = *way.iter().find(|(_, access)| access.started == 0)?;
        match side.access.started {
            0 => engine.only_task(first),
            _ => Some(first),
        }
    };
    let (Some(one), Some(other)) = (task(&sides[0]), task(&sides[1])) else { return false };
    let is_thread = || {
        let class = program.method_ref(one).class;
        let is_task = |above| engine.knowledge.kind(program.class_name(above)) == Some(Kind::Task);
        program.superclasses(class).any(is_task)
    };
    // Two starts of one method are two threads.
    let are_started = sides.iter().all(|side| side.access.started > 0);
    one == other && !are_started && is_thread()
}

/// Does the method touch the same place under the usual lock before it reads it without? What it has found there, or
/// made sure of, is mostly what it wants to see.
fn comes_after(engine: &Compositional, side: &Seen<'_>, habit: &Habit) -> bool {
    if side.access.writes || side.access.started > 0 {
        return false;
    }
    let Some(summary) = engine.summary(side.entry.method) else { return false };
    let own = engine.way(side.entry.method, side.number);
    let mut others = summary.accesses.iter().enumerate().filter(|(_, other)| {
        let holds = |held: &Held| held.sure && side.entry.lock(held.lock) == habit.lock;
        other.path == side.access.path && other.started == 0 && other.held.iter().any(holds)
    });
    others.any(|(number, _)| {
        let way = engine.way(side.entry.method, number as u32);
        let pairs = way.iter().zip(&own);
        let mut apart = pairs.skip_while(|((_, a), (_, b))| a.site.at == b.site.at);
        apart.next().is_some_and(|((_, other), (_, own))| other.site.at < own.site.at)
    })
}

/// Do both read another field under a lock that they have in common, before they do this without it, and does one of
/// them set it there? Then the other may find out that it is not alone.
fn have_flag(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let [one, other] = sides.each_ref().map(|side| touched_before(engine, side, false));
    let mut both = one.iter().filter(|test| other.contains(test)).peekable();
    if both.peek().is_none() {
        return false;
    }
    let set: Vec<(Path, Path)> = sides.iter().flat_map(|side| touched_before(engine, side, true)).collect();
    both.any(|test| set.contains(test))
}

/// What a method has read or written before the access, and under which lock that it no longer has.
fn touched_before(engine: &Compositional, side: &Seen<'_>, writes: bool) -> Vec<(Path, Path)> {
    if side.access.started > 0 || side.access.depth > 0 {
        return Vec::new();
    }
    let Some(summary) = engine.summary(side.entry.method) else { return Vec::new() };
    let mut tested = Vec::new();
    for access in &summary.accesses {
        let is_before = access.depth == 0 && access.started == 0 && access.site.at < side.access.site.at;
        if !is_before || access.writes != writes || access.path == side.access.path {
            continue;
        }
        for held in access.held.iter().filter(|held| held.sure) {
            let is_kept = side.access.held.iter().any(|kept| kept.lock == held.lock);
            let path = side.entry.lock(access.path);
            if !is_kept && held.lock != Path::UNKNOWN {
                tested.push((path, side.entry.lock(held.lock)));
            }
        }
    }
    tested
}

/// Is a volatile field written after the one and read before the other? That orders them, if the value is looked at.
fn is_handed_over(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let (write, read) = match (sides[0].access.writes, sides[1].access.writes) {
        (true, false) => (&sides[0], &sides[1]),
        (false, true) => (&sides[1], &sides[0]),
        _ => return false,
    };
    let around = |side: &Seen<'_>, writes: bool| -> Vec<FieldId> {
        let (method, at) = engine.last_site(side.entry.method, side.number);
        let Some(slot) = engine.methods.get(method) else { return Vec::new() };
        let outline = slot.packed.outline();
        let events = outline.events.iter().enumerate();
        let fields = events.filter_map(|(number, event)| match event {
            Event::Write { field, .. } | Event::WriteStatic { field, .. } if writes => {
                (number as u32 > at).then_some(*field)
            }
            Event::Read { field, .. } | Event::ReadStatic { field } if !writes => {
                ((number as u32) < at).then_some(*field)
            }
            _ => None,
        });
        let fields = fields.filter_map(|field| engine.link.field(field));
        let is_volatile =
            |field: &FieldId| engine.link.info(*field).is_some_and(|info| info.is(access::VOLATILE));
        fields.filter(is_volatile).collect()
    };
    let written = around(write, true);
    !written.is_empty() && around(read, false).iter().any(|field| written.contains(field))
}

/// Frames of the way that lead to the start, that of the start included.
fn until_start(engine: &Compositional, side: &Seen<'_>) -> usize {
    let way = engine.way(side.entry.method, side.number);
    way.iter().take_while(|(_, access)| access.started > 0).count()
}

/// Is the thread started several calls away? There it is not seen how often, and on what executor.
fn is_far_start(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let mut started = sides.iter().filter(|side| side.access.started > 0);
    started.any(|side| until_start(engine, side) > 2)
}

/// In the method where the ways to both part, does the one come before the start of the other?
fn comes_before_start(engine: &Compositional, sides: &[Seen<'_>; 2]) -> bool {
    let [a, b] = sides;
    let (plain, started) = match (a.access.started, b.access.started) {
        (0, 1..) => (a, b),
        (1.., 0) => (b, a),
        _ => return false,
    };
    let way = |side: &Seen<'_>| engine.way(side.entry.method, side.number);
    let (before, after) = (way(plain), way(started));
    let mut apart =
        before.iter().zip(&after).skip_while(|((_, one), (_, other))| one.site.at == other.site.at);
    let is_before = apart.next().is_some_and(|((one, before), (other, after))| {
        one == other && before.site.at < after.site.at && after.started > 0
    });
    plain.entry.method == started.entry.method && is_before
}

/// Is the field one of an object that is mostly used by one thread, as a stream is?
fn is_of_one_user(engine: &Compositional, program: &Program, side: &Seen<'_>) -> bool {
    let Some(Step::Field(field)) = side.path.steps().rfind(|step| matches!(step, Step::Field(_))) else {
        return false;
    };
    let class = program.field_ref(field).class;
    let mut above = program.supertypes(class).chain([class]);
    above.any(|above| engine.knowledge.has_one_user(program.class_name(above)))
}

fn gives_permits(engine: &Compositional, program: &Program, habit: &Habit) -> bool {
    let field = match (habit.lock.last(), habit.lock.root) {
        (Some(Step::Field(field)), _) | (None, Root::Static(field)) => field,
        _ => return false,
    };
    let class = program.field(field).class_of;
    class.is_some_and(|class| engine.knowledge.gives_permits(program.class_name(class)))
}

/// Does one side happen while an object is made, and the other in a method of that object?
fn is_made_before(engine: &Compositional, program: &Program, sides: &[Seen<'_>; 2]) -> bool {
    let way = |side: &Seen<'_>| -> Vec<&Method> {
        let way = engine.way(side.entry.method, side.number);
        way.iter().filter_map(|&(method, _)| engine.method(method)).collect()
    };
    let ways = sides.each_ref().map(way);
    let is_before = |one: &[&Method], other: &[&Method]| {
        let mut makes = one.iter().filter(|method| method.is_constructor);
        makes.any(|made| {
            let is_of_it = |method: &&Method| {
                !method.is_static && program.superclasses(method.class).any(|class| class == made.class)
            };
            !other.iter().any(|method| method.is_constructor) && other.iter().any(is_of_it)
        })
    };
    is_before(&ways[0], &ways[1]) || is_before(&ways[1], &ways[0])
}

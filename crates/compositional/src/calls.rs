//! Who calls whom, in arrays by the numbers of methods. Made of what each method keeps of its calls in brief; the rest
//! is looked up in its summary where it is asked for.

use crate::lists::Lists;
use crate::methods::Methods;
use crate::path::{Path, Root};
use crate::summary::Called;
use ir::MethodId;
use serde::{Deserialize, Serialize};

/// A call as far as it can be told in a few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Brief {
    target: MethodId,
    how: u8,
}

const STARTED: u8 = 1;
const BESIDE: u8 = 2;
const HOLDS: u8 = 4;
/// Called on something that the caller has made.
const MADE: u8 = 8;
/// On the caller's own object, or a part of it.
const OWN: u8 = 16;
/// On the caller's own object itself, or on something it has made.
const INSIDE: u8 = 32;

impl Brief {
    pub fn of(called: &Called) -> Brief {
        let object = called.args.first();
        let is_made = object.is_some_and(|path| matches!(path.root, Root::Made(_)));
        let flags = [
            (STARTED, called.started),
            (BESIDE, called.beside),
            (HOLDS, !called.held.is_empty()),
            (MADE, is_made),
            (OWN, object.is_some_and(|path| path.root == Root::Param(0))),
            (INSIDE, is_made || object == Some(&Path::THIS)),
        ];
        let how = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).sum();
        Brief { target: called.target, how }
    }
}

/// A call of a method, seen from there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Call {
    /// The number of the method that calls.
    pub caller: u32,
    /// Which of its calls.
    at: u32,
    how: u8,
}

impl Call {
    /// In a thread that the caller starts.
    pub fn started(&self) -> bool {
        self.how & STARTED != 0
    }

    /// While threads may be running that the caller has started.
    pub fn beside(&self) -> bool {
        self.how & BESIDE != 0
    }

    /// While the caller holds a lock that it has taken.
    pub fn holds(&self) -> bool {
        self.how & HOLDS != 0
    }

    pub fn on_made(&self) -> bool {
        self.how & MADE != 0
    }

    pub fn on_own(&self) -> bool {
        self.how & OWN != 0
    }

    pub fn inside(&self) -> bool {
        self.how & INSIDE != 0
    }
}

pub(crate) struct Calls<'a> {
    methods: &'a Methods,
    /// By the number of the called method.
    calls: Lists<Call>,
    /// By the number of the caller: the numbers of those it calls.
    targets: Lists<u32>,
}

impl<'a> Calls<'a> {
    pub fn of(methods: &'a Methods) -> Calls<'a> {
        let count = methods.slots().len();
        let briefs = |caller: u32| methods.at_if(caller).map_or(&[][..], |slot| &slot.calls);
        // What is not looked at has no number.
        let all = |caller: u32| {
            let numbered =
                |(at, brief): (usize, &Brief)| Some((at as u32, brief.how, methods.number(brief.target)?));
            briefs(caller).iter().enumerate().filter_map(numbered)
        };
        let calls = || {
            (0..count as u32).flat_map(|caller| {
                all(caller).map(move |(at, how, target)| (target, Call { caller, at, how }))
            })
        };
        let targets =
            || (0..count as u32).flat_map(|caller| all(caller).map(move |(_, _, target)| (caller, target)));
        let (calls, targets) = rayon::join(|| Lists::of(count, calls), || Lists::of(count, targets));
        Calls { methods, calls, targets }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Methods that are called.
    pub fn called(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).filter(|&number| !self.of_method(number).is_empty())
    }

    /// The calls of a method.
    pub fn of_method(&self, number: u32) -> &[Call] {
        self.calls.get(number)
    }

    /// The methods that a method calls.
    pub fn by_method(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        self.targets.get(number).iter().copied()
    }

    /// A call with everything that is known of it.
    pub fn whole<T>(&self, call: &Call, ask: impl FnOnce(&Called) -> T) -> T {
        let summary = self.methods.at(call.caller).summary.get();
        ask(&summary.expect("who calls is summarised").calls[call.at as usize])
    }
}

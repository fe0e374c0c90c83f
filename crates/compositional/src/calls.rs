//! Who calls whom, in arrays by the numbers of methods. Made of what each method keeps of its calls in brief; the rest
//! is looked up in its summary where it is asked for.

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
#[derive(Debug, Clone, Copy)]
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
    /// Where the calls of each method begin.
    begins: Vec<u32>,
    calls: Vec<Call>,
    /// Numbers of the called methods, caller by caller, and where those of each caller begin.
    targets: Vec<u32>,
    begin_targets: Vec<u32>,
}

impl<'a> Calls<'a> {
    pub fn of(methods: &'a Methods) -> Calls<'a> {
        let count = methods.slots().len();
        let (mut targets, mut begin_targets) = (Vec::new(), Vec::with_capacity(count + 1));
        let mut begins = vec![0; count + 1];
        for number in 0..count as u32 {
            begin_targets.push(targets.len() as u32);
            let briefs = methods.at_if(number).map_or(&[][..], |slot| &slot.calls);
            for brief in briefs {
                // What is not looked at has no number.
                let target = methods.number(brief.target).unwrap_or(NOBODY);
                targets.push(target);
                if target != NOBODY {
                    begins[target as usize + 1] += 1;
                }
            }
        }
        begin_targets.push(targets.len() as u32);
        for number in 0..count {
            begins[number + 1] += begins[number];
        }
        let mut free = begins.clone();
        let mut calls = vec![Call { caller: 0, at: 0, how: 0 }; begins[count] as usize];
        for caller in 0..count as u32 {
            let briefs = methods.at_if(caller).map_or(&[][..], |slot| &slot.calls);
            let first = begin_targets[caller as usize] as usize;
            for (at, brief) in briefs.iter().enumerate().filter(|(at, _)| targets[first + at] != NOBODY) {
                let place = &mut free[targets[first + at] as usize];
                calls[*place as usize] = Call { caller, at: at as u32, how: brief.how };
                *place += 1;
            }
        }
        Calls { methods, begins, calls, targets, begin_targets }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Methods that are called.
    pub fn called(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).filter(|&number| !self.of_method(number).is_empty())
    }

    /// The calls of a method.
    pub fn of_method(&self, number: u32) -> &[Call] {
        let [first, end] = [number as usize, number as usize + 1].map(|at| self.begins[at] as usize);
        &self.calls[first..end]
    }

    /// The methods that a method calls.
    pub fn by_method(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let [first, end] = [number as usize, number as usize + 1].map(|at| self.begin_targets[at] as usize);
        self.targets[first..end].iter().copied().filter(|&target| target != NOBODY)
    }

    /// A call with everything that is known of it.
    pub fn whole<T>(&self, call: &Call, ask: impl FnOnce(&Called) -> T) -> T {
        let summary = self.methods.at(call.caller).summary.get();
        ask(&summary.expect("who calls is summarised").calls[call.at as usize])
    }
}

const NOBODY: u32 = u32::MAX;

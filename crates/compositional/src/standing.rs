//! What is asked about a method before it is known who calls it: whether others can, and whether a thread runs it.
//! Kept with the method until something changes that it was worked out from.

use crate::engine::{Compositional, Nothing};
use crate::stale::Stale;
use crate::{entry, evidence};
use ir::{ClassId, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing(u8);

impl Standing {
    const CLOSED: u8 = 1;
    const NAMELESS: u8 = 2;
    const ELSEWHERE: u8 = 4;
    const TASK: u8 = 8;

    /// Only known code can call it.
    pub fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    /// It is of a class without a name that is not what a thread runs.
    pub fn is_nameless(self) -> bool {
        self.0 & Self::NAMELESS != 0
    }

    /// It is called from where nobody sees it: by libraries, or through types that too many are below.
    pub fn is_called_elsewhere(self) -> bool {
        self.0 & Self::ELSEWHERE != 0
    }

    /// Threads or tasks run it.
    pub fn is_task(self) -> bool {
        self.0 & Self::TASK != 0
    }
}

impl Compositional {
    /// Asks again about methods of which something has changed; `escaping` are classes that escape now and did not
    /// before, or the other way round.
    pub(crate) fn ask_standing(&mut self, stale: &Stale, escaping: &[ClassId]) {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        let numbers = self.to_ask(&program, stale, escaping);
        let classes: FxHashSet<ClassId> =
            numbers.iter().map(|&number| self.methods.at(number).method.class).collect();
        let is_task = |class: ClassId| evidence::of_class(&program, &self.knowledge, class).is_task;
        let tasks: FxHashMap<ClassId, bool> =
            classes.into_par_iter().map(|class| (class, is_task(class))).collect();
        let standing: Vec<Standing> =
            numbers.par_iter().map(|&number| self.standing(&program, number, &tasks)).collect();
        for (number, standing) in numbers.into_iter().zip(standing) {
            self.methods.at_mut(number).standing = standing;
        }
        self.methods.new.clear();
        *self.link.program() = program;
    }

    fn to_ask(&self, program: &Program, stale: &Stale, escaping: &[ClassId]) -> Vec<u32> {
        let new = self.methods.new.iter().copied().filter(|&number| self.methods.at_if(number).is_some());
        let of_classes =
            stale.classes.iter().chain(escaping).flat_map(|&class| &program.class(class).methods);
        let named = stale.selectors.iter().flat_map(|&selector| self.link.bodies(selector));
        let known = of_classes.chain(named).filter_map(|&method| self.methods.number(method));
        let mut numbers: Vec<u32> = new.chain(known).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn standing(&self, program: &Program, number: u32, tasks: &FxHashMap<ClassId, bool>) -> Standing {
        let method = &self.methods.at(number).method;
        let of_task = tasks[&method.class];
        let (name, _) = program.selector_text(program.method_ref(method.id).selector);
        let is_task = of_task && self.knowledge.is_task_method(name);
        let is_nameless =
            !of_task && entry::is_nameless(program, method.class) && !self.escaping.contains(&method.class);
        let mut standing = 0;
        let mut set = |flag: u8, is_set: bool| standing |= if is_set { flag } else { 0 };
        set(Standing::CLOSED, self.link.is_closed(method.id));
        set(Standing::NAMELESS, is_nameless);
        set(Standing::TASK, is_task);
        set(Standing::ELSEWHERE, !is_task && self.link.is_called_elsewhere(program, method.id));
        Standing(standing)
    }
}

//! From what is stale to summaries: who is needed, in which order, and who looks other to its callers afterwards.
//! Knows when a method is summarised; how is next door, in [`frame`](crate::frame).

use crate::engine::{Compositional, Nothing};
use crate::fields;
use crate::frame::summarise;
use crate::link::{Callee, digest};
use crate::order::{self, Need, Needs, Order};
use crate::outline::{Event, Outline, Value};
use crate::stale::{self, Stale};
use crate::summary::Summary;
use ir::{ClassId, MethodId, Program};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Methods that call each other are looked at again until nothing changes, or so often.
const MOST_ROUNDS: usize = 8;

impl Compositional {
    /// Whatever speaks of stale names is stale.
    pub(crate) fn add_mentions(&mut self, stale: &mut Stale) {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        stale.methods.extend(stale::find(self, &program, stale));
        *self.link.program() = program;
    }

    /// What stale methods put into fields, and what is known of fields then.
    pub(crate) fn find_stores(&mut self, stale: &mut Stale) {
        let mut numbers: Vec<u32> = stale.methods.iter().copied().collect();
        numbers.sort_unstable();
        for &number in &numbers {
            let outline = self.methods.at(number).packed.outline();
            self.link.add_fields(&outline);
        }
        let stores: Vec<_> = numbers
            .par_iter()
            .map(|&number| fields::stores(&self.link, &self.methods.at(number).packed.outline()))
            .collect();
        for (number, stores) in numbers.into_iter().zip(stores) {
            self.methods.at_mut(number).facts.stores = stores;
        }
        let known = fields::known(&self.link, &self.methods);
        stale.fields.extend(self.link.set_known(&known));
    }

    /// Who is asked for when a method is summarised.
    fn needs(&self, outline: &Outline) -> Box<[Need]> {
        let (mut strong, mut weak): (Vec<MethodId>, Vec<MethodId>) = Default::default();
        let mut called = |callee: &Callee| match callee.targets.as_slice() {
            [target] => strong.push(*target),
            several => weak.extend(several),
        };
        let mut answering: Vec<ClassId> = Vec::new();
        for event in &outline.events {
            let Event::Call { target, kind, args } = event else { continue };
            let receiver = args.first().filter(|_| *kind == ir::CallKind::Virtual);
            let class = receiver.and_then(|&value| self.link.class_of(outline, value));
            called(&self.link.callee(*target, *kind, class));
            answering.extend(args.iter().filter_map(|&arg| self.link.class_of(outline, arg)));
        }
        for lambda in &outline.lambdas {
            let kind = lambda.call_kind();
            let class = lambda.captures.first().and_then(|&value| self.link.class_of(outline, value));
            let class = class.filter(|_| kind == ir::CallKind::Virtual);
            called(&self.link.callee(lambda.target, kind, class));
        }
        answering.extend(outline.values.iter().filter_map(|value| match value {
            Value::Made(class) => Some(*class),
            _ => None,
        }));
        answering.sort_unstable();
        answering.dedup();
        weak.extend(answering.into_iter().flat_map(|class| self.link.answers(class).to_vec()));
        let numbers = |methods: Vec<MethodId>, is_weak: bool| {
            let number = move |id: MethodId| Some(Need { number: self.methods.number(id)?, is_weak });
            methods.into_iter().filter_map(number)
        };
        let mut needs: Vec<Need> = numbers(strong, false).chain(numbers(weak, true)).collect();
        needs.sort_unstable();
        needs.dedup_by_key(|need| need.number);
        needs.into()
    }

    /// Summarises what is stale, and what uses summaries that are others then. How many that were, and how many of them
    /// look other to their callers.
    pub(crate) fn summarise(&mut self, stale: &Stale) -> (usize, usize) {
        let mut numbers: Vec<u32> = stale.methods.iter().copied().collect();
        numbers.sort_unstable();
        let needs: Vec<Box<[Need]>> =
            numbers.par_iter().map(|&number| self.needs(&self.methods.at(number).packed.outline())).collect();
        for (number, needs) in numbers.into_iter().zip(needs) {
            self.methods.at_mut(number).needs = needs;
        }
        let mut is_stale = vec![false; self.methods.count()];
        stale.methods.iter().for_each(|&number| is_stale[number as usize] = true);
        let Order { levels, mut cut } = order::order(&self.methods);
        for number in self.methods.all().collect::<Vec<u32>>() {
            let cut = cut.remove(&number).unwrap_or_default().into_boxed_slice();
            let slot = self.methods.at_mut(number);
            is_stale[number as usize] |= slot.cut != cut;
            slot.cut = cut;
        }
        // What looks other to its callers than it did.
        let mut is_other = vec![false; self.methods.count()];
        let (mut summaries, mut changed) = (0, 0);
        for level in levels {
            let is_to_do = |group: &&Vec<u32>| {
                let signature = self.signature(group);
                group.iter().any(|&number| {
                    let Some(slot) = self.methods.at_if(number) else { return false };
                    let is_other =
                        |need: &Need| is_other[need.number as usize] && slot.waits_for(need.number);
                    is_stale[number as usize] || slot.group != signature || slot.needs.iter().any(is_other)
                })
            };
            let groups: Vec<&Vec<u32>> = level.iter().filter(is_to_do).collect();
            let done: Vec<Vec<(u32, Arc<Summary>)>> =
                groups.par_iter().map(|group| self.group(group)).collect();
            for (group, done) in groups.into_iter().zip(done) {
                let signature = self.signature(group);
                for (number, summary) in done {
                    let slot = self.methods.at_mut(number);
                    let differs = slot.summary.as_ref().is_none_or(|before| before.digest != summary.digest);
                    is_other[number as usize] = differs;
                    summaries += 1;
                    changed += usize::from(differs);
                    (slot.summary, slot.group) = (Some(summary), signature);
                    self.touched.methods.insert(slot.method.id);
                }
            }
        }
        (summaries, changed)
    }

    /// By which methods that are summarised together are known.
    fn signature(&self, group: &[u32]) -> u64 {
        if let [alone] = group {
            return self.methods.at_if(*alone).map_or(0, |slot| slot.method.digest);
        }
        let names = group.iter().filter_map(|&number| self.methods.at_if(number));
        let mut names: Vec<u64> = names.map(|slot| slot.method.digest).collect();
        names.sort_unstable();
        digest(names)
    }

    /// Methods that need each other, until nothing changes.
    fn group(&self, group: &[u32]) -> Vec<(u32, Arc<Summary>)> {
        let mut group = group.to_vec();
        group.sort_by_key(|&number| self.methods.at(number).method.digest);
        // Those of this group, as far as they were looked at; there can be thousands.
        let mut inside: FxHashMap<u32, Option<Arc<Summary>>> =
            group.iter().map(|&number| (number, None)).collect();
        let is_alone = group.len() == 1 && !self.methods.at(group[0]).waits_for(group[0]);
        let outlines: Vec<Outline> =
            group.iter().map(|&number| self.methods.at(number).packed.outline()).collect();
        for _ in 0..MOST_ROUNDS {
            let mut is_settled = true;
            for (&number, outline) in group.iter().zip(&outlines) {
                let slot = self.methods.at(number);
                let known = |id: MethodId| {
                    // Whoever is not waited for may not be there yet, or from before.
                    let needed = self.methods.number(id).filter(|&needed| slot.waits_for(needed))?;
                    match inside.get(&needed) {
                        Some(summary) => summary.clone(),
                        None => self.methods.at(needed).summary.clone(),
                    }
                };
                let summary = summarise(&self.link, &self.knowledge, &known, &slot.method, outline);
                let new = summary.digest;
                let before = inside.insert(number, Some(Arc::new(summary))).flatten();
                is_settled &= before.is_some_and(|before| before.digest == new);
            }
            if is_settled || is_alone {
                break;
            }
        }
        group.into_iter().filter_map(|number| Some((number, inside.remove(&number)??))).collect()
    }
}

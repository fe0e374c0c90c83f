//! From what is stale to summaries: who is needed, in which order, and who looks other to its callers afterwards.
//! Knows when a method is summarised; how is next door, in [`frame`](crate::frame).

use crate::engine::{Compositional, Nothing};
use crate::fields;
use crate::frame::summarise;
use crate::link::{Callee, digest};
use crate::lists::Lists;
use crate::methods::Methods;
use crate::order::{self, Need, Order, Place, Turn};
use crate::outline::{Event, Outline, Value};
use crate::stale::{self, Stale};
use crate::summary::Summary;
use ir::{ClassId, MethodId, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
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
            .map(|&number| {
                let slot = self.methods.at(number);
                let outline = slot.packed.outline();
                let keeps = slot.method.is_constructor.then(|| fields::keeps(&self.link, &outline));
                (fields::stores(&self.link, &outline), keeps.unwrap_or_default())
            })
            .collect();
        for (number, (stores, keeps)) in numbers.into_iter().zip(stores) {
            let facts = &mut self.methods.at_mut(number).facts;
            (facts.stores, facts.keeps) = (stores, keeps);
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
        if self.ask_needs(&numbers) {
            numbers.extend(self.put_in_order());
        }
        let is_all = stale.methods.len() == self.methods.len();
        let mut queue = Queue::default();
        numbers.into_iter().for_each(|number| queue.add(self.methods.at(number).place));
        let groups = self.groups();
        let mut users: Option<Lists<u32>> = None;
        let (mut summaries, mut changed) = (0, 0);
        while let Some(next) = queue.next() {
            let members = |number: &u32| groups.get(number).cloned().unwrap_or_else(|| vec![*number]);
            let next: Vec<Vec<u32>> = next.iter().map(members).collect();
            let done: Vec<Vec<(u32, Arc<Summary>)>> =
                next.par_iter().map(|group| self.group(group)).collect();
            for (group, done) in next.into_iter().zip(done) {
                let signature = self.signature(&group);
                for (number, summary) in done {
                    let slot = self.methods.at_mut(number);
                    let differs = slot.summary.get().is_none_or(|before| before.digest != summary.digest);
                    summaries += 1;
                    changed += usize::from(differs);
                    slot.put(summary);
                    slot.group = signature;
                    self.touched.methods.insert(slot.method.id);
                    if differs && !is_all {
                        let users = users.get_or_insert_with(|| self::users(&self.methods));
                        let waiting = users.get(number).iter().map(|&user| self.methods.at(user));
                        let waiting = waiting.filter(|user| user.waits_for(number));
                        let waiting = waiting.filter(|user| user.place.group != group[0]);
                        waiting.for_each(|user| queue.add(user.place));
                    }
                }
            }
        }
        (summaries, changed)
    }

    /// Who is asked for by methods that may ask for others now. Whether that changes the order.
    fn ask_needs(&mut self, numbers: &[u32]) -> bool {
        let needs: Vec<Box<[Need]>> =
            numbers.par_iter().map(|&number| self.needs(&self.methods.at(number).packed.outline())).collect();
        let mut is_other = std::mem::take(&mut self.methods.has_others);
        let place = |number: u32| self.methods.at(number).place;
        is_other = is_other
            || !numbers.iter().zip(&needs).all(|(&number, needs)| {
                order::is_as_before(place, number, &self.methods.at(number).needs, needs)
            });
        for (&number, needs) in numbers.iter().zip(needs) {
            self.methods.at_mut(number).needs = needs;
        }
        is_other
    }

    /// Puts all methods in order. Those that wait for others than before, or are summarised together with others.
    fn put_in_order(&mut self) -> Vec<u32> {
        let Order { places, mut cut } = order::order(&self.methods);
        let all: Vec<u32> = self.methods.all().collect();
        let mut changed = Vec::new();
        for &number in &all {
            let cut = cut.remove(&number).unwrap_or_default().into_boxed_slice();
            let slot = self.methods.at_mut(number);
            slot.place = places[number as usize];
            if slot.cut != cut {
                slot.cut = cut;
                changed.push(number);
            }
        }
        let groups = self.groups();
        let is_other = |number: &u32| {
            let slot = self.methods.at(*number);
            let signature = match groups.get(&slot.place.group) {
                Some(group) if *number == group[0] => self.signature(group),
                // The first stands for all of them.
                Some(_) => return false,
                None => slot.method.digest,
            };
            slot.group != signature
        };
        changed.extend(all.into_iter().filter(is_other));
        changed
    }

    /// Methods that are summarised together with others, by the first of them.
    fn groups(&self) -> FxHashMap<u32, Vec<u32>> {
        let mut groups: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for number in self.methods.all() {
            let first = self.methods.at(number).place.group;
            if first != number {
                groups.entry(first).or_insert_with(|| vec![first]).push(number);
            }
        }
        groups
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
                        None => self.methods.at(needed).summary.get().cloned(),
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

/// Groups that are to be summarised, by when it is their turn.
#[derive(Default)]
struct Queue(BTreeMap<Turn, FxHashSet<u32>>);

impl Queue {
    fn add(&mut self, place: Place) {
        self.0.entry(place.turn).or_default().insert(place.group);
    }

    /// Those that can be summarised at the same time.
    fn next(&mut self) -> Option<Vec<u32>> {
        let (_, groups) = self.0.pop_first()?;
        let mut groups: Vec<u32> = groups.into_iter().collect();
        groups.sort_unstable();
        Some(groups)
    }
}

/// Who asks for each method.
fn users(methods: &Methods) -> Lists<u32> {
    let needs = |user: u32| methods.at(user).needs.iter().map(move |need| (need.number, user));
    Lists::of(methods.slots().len(), || methods.all().flat_map(needs))
}

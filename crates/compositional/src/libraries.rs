//! Which methods of libraries are looked at: those that the application leads to, and no others.

use crate::engine::Compositional;
use crate::methods::Slot;
use crate::outline::Event;
use crate::reading::AT_A_TIME;
use crate::sketch::{Ahead, Sketch, Wanted};
use crate::stale::Stale;
use classfile::Layer;
use ir::{ClassId, Loaded, MethodId};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl Compositional {
    /// Methods of libraries that are called from what is there, and no others. How many have come or gone.
    pub(crate) fn follow_libraries(&mut self, ahead: &Arc<Ahead>, stale: &mut Stale) -> usize {
        let mut count = 0;
        let mut new: Vec<u32> = stale.methods.iter().copied().collect();
        new.sort_unstable();
        loop {
            for &number in &new {
                let library = self.library_calls(number);
                self.methods.at_mut(number).facts.library = library;
            }
            let wanted = self.reached_libraries();
            let missing = wanted.iter().copied().filter(|&method| self.methods.get(method).is_none());
            new = self.add_libraries(ahead, missing.collect(), stale);
            count += new.len();
            if new.is_empty() {
                let is_unwanted = |slot: &&Slot| {
                    !self.classes.contains(&slot.method.class) && !wanted.contains(&slot.method.id)
                };
                let gone: Vec<MethodId> =
                    self.methods.iter().filter(is_unwanted).map(|slot| slot.method.id).collect();
                count += gone.len();
                gone.into_iter().for_each(|method| self.remove_method(method, stale));
                return count;
            }
        }
    }

    fn library_calls(&mut self, number: u32) -> Box<[MethodId]> {
        let outline = self.methods.at(number).packed.outline();
        let program = self.link.program();
        let mut found: Vec<MethodId> = Vec::new();
        for event in &outline.events {
            let Event::Call { target, .. } = event else { continue };
            let Some(method) = program.resolve_method(*target) else { continue };
            let entry = program.method(method);
            let class = program.class(entry.class);
            if class.layer == Layer::Library && class.loaded == Loaded::Yes && entry.has_code {
                found.push(method);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into()
    }

    /// All methods of libraries that the application leads to, as far as that is known.
    fn reached_libraries(&self) -> FxHashSet<MethodId> {
        let of_app = self.methods.iter().filter(|slot| self.classes.contains(&slot.method.class));
        let mut work: Vec<MethodId> = of_app.flat_map(|slot| slot.facts.library.iter().copied()).collect();
        let mut found: FxHashSet<MethodId> = FxHashSet::default();
        while let Some(method) = work.pop() {
            if found.insert(method)
                && let Some(slot) = self.methods.get(method)
            {
                work.extend(slot.facts.library.iter().copied());
            }
        }
        found
    }

    /// Their numbers, of those that can be read.
    fn add_libraries(&mut self, ahead: &Arc<Ahead>, methods: Vec<MethodId>, stale: &mut Stale) -> Vec<u32> {
        let program = self.link.program();
        let mut wanted: FxHashMap<ClassId, Vec<MethodId>> = FxHashMap::default();
        for method in methods {
            wanted.entry(program.method_ref(method).class).or_default().push(method);
        }
        let mut wanted: Vec<(String, Vec<MethodId>)> = wanted
            .into_iter()
            .map(|(class, methods)| (program.class_name(class).to_owned(), methods))
            .collect();
        wanted.sort_unstable();
        let mut new = Vec::new();
        for some in wanted.chunks(AT_A_TIME) {
            let program = self.link.program();
            let positions = |methods: &[MethodId]| methods.iter().map(|&id| program.position(id)).collect();
            let all: Vec<(&String, Vec<usize>)> =
                some.iter().map(|(name, methods)| (name, positions(methods))).collect();
            let read = |(name, positions): &(&String, Vec<usize>)| {
                Sketch::of(ahead.source(), name, &Wanted::At(positions.clone()))
            };
            let sketches: Vec<Sketch> = all.par_iter().map(read).collect();
            for (((_, methods), (_, positions)), mut sketch) in some.iter().zip(&all).zip(sketches) {
                let outlines = sketch.outlines(self.link.program(), positions);
                for (&method, outline) in methods.iter().zip(outlines) {
                    if let Some(outline) = outline {
                        self.put_method(method, &outline, stale);
                        new.extend(self.methods.number(method));
                    }
                }
            }
        }
        new
    }
}

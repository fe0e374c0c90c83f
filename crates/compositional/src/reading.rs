//! Which classes and methods there are, and what they say of themselves: the program is made that of a new class path,
//! and outlines take the place of those before. Tells what that makes stale; works out nothing from it.

use crate::engine::Compositional;
use crate::frame::Method;
use crate::link::name_digest;
use crate::methods::Slot;
use crate::outline::{Event, Outline, Packed, Value};
use crate::path::Path;
use crate::sketch::{Ahead, Sketch, Wanted};
use crate::stale::{Mention, Stale};
use crate::summary::Thread;
use classfile::Layer;
use ir::{ClassId, Loaded, MethodId};
use models::Says;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// So many classes are in memory at a time.
pub(crate) const AT_A_TIME: usize = 1024;

impl Compositional {
    /// Makes the program that of the new class path. The methods that changed classes had before, if they are summarised.
    pub(crate) fn change_program(
        &mut self,
        ahead: &Arc<Ahead>,
        classes: &[String],
        stale: &mut Stale,
    ) -> FxHashMap<ClassId, Vec<MethodId>> {
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let mut before: FxHashMap<ClassId, Vec<MethodId>> = FxHashMap::default();
        for class in classes.iter().filter_map(|name| program.find_class(name)) {
            let methods = program.class(class).methods.iter().copied();
            before.insert(class, methods.filter(|&method| self.methods.get(method).is_some()).collect());
        }
        let delta = program.diff(ahead.clone(), classes);
        stale.tell(&delta, program);
        program.commit(&delta);
        stale.tell(&delta, program);
        before
    }

    /// Reads the classes that may have changed, some at a time. How many outlines are others now.
    pub(crate) fn read_classes(
        &mut self,
        ahead: &Arc<Ahead>,
        classes: &[String],
        before: FxHashMap<ClassId, Vec<MethodId>>,
        stale: &mut Stale,
    ) -> usize {
        let read = |names: &[String]| -> Vec<Sketch> {
            names.par_iter().map(|name| Sketch::of(ahead.source(), name, &Wanted::All)).collect()
        };
        let mut outlines = 0;
        let mut chunks = classes.chunks(AT_A_TIME);
        let mut next = chunks.next().map(read);
        while let Some(sketches) = next {
            let rest = chunks.next();
            ahead.hold(&sketches);
            let put = || {
                for sketch in sketches {
                    outlines += self.put_class(sketch, &before, stale);
                }
            };
            ((), next) = rayon::join(put, || rest.map(read));
        }
        ahead.hold([]);
        outlines
    }

    /// Puts one class in place of what it was before.
    fn put_class(
        &mut self,
        mut sketch: Sketch,
        before: &FxHashMap<ClassId, Vec<MethodId>>,
        stale: &mut Stale,
    ) -> usize {
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let layer = sketch.bytes.as_ref().map(|found| found.layer);
        let known = program.find_class(&sketch.name);
        if layer != Some(Layer::App) && known.is_none() {
            return 0;
        }
        let class = program.class_id(&sketch.name);
        let is_new = program.class(class).loaded == Loaded::No;
        let old = before.get(&class).map_or(&[][..], Vec::as_slice);
        let methods = match layer {
            Some(Layer::App) => {
                let methods = program.load(class).methods.clone();
                if is_new {
                    stale.tell_new(program, class);
                }
                methods
            }
            // Of what only others have, as much as was there before.
            Some(_) => {
                let still = |method: &MethodId| program.class(class).methods.contains(method);
                old.iter().copied().filter(still).collect()
            }
            None => Vec::new(),
        };
        let positions: Vec<usize> = methods.iter().map(|&method| program.position(method)).collect();
        let outlines = sketch.outlines(program, &positions);
        match layer {
            Some(Layer::App) => self.classes.insert(class),
            _ => self.classes.remove(&class),
        };
        self.note_quiet(class);
        let mut count = 0;
        let mut gone: FxHashSet<MethodId> = old.iter().copied().collect();
        for (method, outline) in methods.into_iter().zip(outlines) {
            let Some(outline) = outline else { continue };
            gone.remove(&method);
            count += usize::from(self.put_method(method, &outline, stale));
        }
        for method in old.iter().copied().filter(|method| gone.contains(method)) {
            self.remove_method(method, stale);
            count += 1;
        }
        count
    }

    /// Whether it is another than before.
    pub(crate) fn put_method(&mut self, id: MethodId, outline: &Outline, stale: &mut Stale) -> bool {
        let packed = Packed::of(outline);
        let known = self.methods.number(id);
        if let Some(number) = known
            && self.methods.at(number).packed.means(&packed)
        {
            if self.methods.at(number).packed != packed {
                self.touched.methods.insert(id);
            }
            self.methods.at_mut(number).packed = packed;
            return false;
        }
        let number = match known {
            Some(number) => {
                self.methods.at_mut(number).packed = packed;
                number
            }
            None => {
                let method = self.described(id);
                self.link.add_method(&self.knowledge, id);
                let selector = self.link.program().method_ref(id).selector;
                stale.selectors.insert(selector);
                self.methods.add(method, packed)
            }
        };
        let returned = outline.events.iter().filter_map(|event| match event {
            Event::Return(value) => match outline.values[*value as usize] {
                Value::Made(class) => Some(class),
                _ => None,
            },
            _ => None,
        });
        let facts = &mut self.methods.at_mut(number).facts;
        (facts.escaping, facts.mentions) = (returned.collect(), Mention::all(outline));
        stale.methods.insert(number);
        true
    }

    pub(crate) fn remove_method(&mut self, id: MethodId, stale: &mut Stale) {
        let selector = self.link.program().method_ref(id).selector;
        stale.selectors.insert(selector);
        self.link.remove_method(id);
        self.touched.methods.insert(id);
        if let Some(number) = self.methods.remove(id) {
            stale.methods.remove(&number);
        }
    }

    /// Whether an interface is marked as safe, or as doing nothing but compute.
    fn note_quiet(&mut self, class: ClassId) {
        let of_app = self.classes.contains(&class);
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let says = |note: &ir::Annotation| {
            let said = self.knowledge.says(&program.names[note.class]);
            said.iter().any(|says| matches!(says, Says::ThreadSafe | Says::Immutable | Says::Functional))
        };
        let is_quiet = of_app && program.class(class).annotations.iter().any(says);
        let is_functional = |note: &ir::Annotation| {
            self.knowledge.says(&program.names[note.class]).contains(&Says::Functional)
        };
        let methods = program.class(class).methods.iter().copied();
        let functional: Vec<(MethodId, bool)> = methods
            .map(|method| (method, of_app && program.method(method).annotations.iter().any(is_functional)))
            .collect();
        self.link.set_quiet(class, is_quiet);
        functional.into_iter().for_each(|(method, says)| self.link.set_functional(method, says));
    }

    /// What methods of stale classes say of themselves, and those that speak of locks elsewhere.
    pub(crate) fn describe_again(&mut self, stale: &mut Stale) {
        if !stale.is_about_names() && stale.locked.is_empty() {
            return;
        }
        let is_told = |slot: &Slot| {
            let class = &slot.method.class;
            stale.classes.contains(class) || stale.locked.contains(class) || !slot.method.needs.is_empty()
        };
        let again: Vec<u32> = self.methods.all().filter(|&number| is_told(self.methods.at(number))).collect();
        for number in again {
            let id = self.methods.at(number).method.id;
            self.link.update_method(&self.knowledge, id);
            let now = self.described(id);
            if self.methods.at(number).method != now {
                self.methods.at_mut(number).method = now;
                stale.methods.insert(number);
            }
        }
    }

    fn described(&mut self, id: MethodId) -> Method {
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let entry = program.method(id);
        let (name, _) = program.selector_text(entry.selector);
        let says = |says: Says| {
            entry
                .annotations
                .iter()
                .any(|note| self.knowledge.says(&program.names[note.class]).contains(&says))
        };
        let of_class = |says: Says| {
            let class = program.class(entry.class);
            class
                .annotations
                .iter()
                .any(|note| self.knowledge.says(&program.names[note.class]).contains(&says))
        };
        let thread = match () {
            () if says(Says::MainThread) => Thread::Main,
            () if says(Says::BackgroundThread) => Thread::Background,
            () if says(Says::AnyThread) => Thread::Unknown,
            () if of_class(Says::MainThread) => Thread::Main,
            () => Thread::Unknown,
        };
        let is_static = entry.is_static();
        let mut needs = Vec::new();
        if says(Says::GuardedBy) {
            needs.push(crate::guard::of_method(program, &self.knowledge, id).unwrap_or(Path::UNKNOWN));
        } else if [Some(name), name.split('$').next()]
            .into_iter()
            .flatten()
            .any(|name| self.knowledge.says_held(name))
        {
            needs.push(Path::UNKNOWN);
        }
        Method {
            id,
            class: entry.class,
            is_static,
            is_synchronized: entry.is_synchronized(),
            is_constructor: name == "<init>",
            is_initializer: name == "<clinit>",
            is_declared_safe: of_class(Says::ThreadSafe),
            thread,
            needs,
            returns_new: says(Says::ReturnsOwnership),
            digest: name_digest(program, program.method_ref(id)),
        }
    }
}

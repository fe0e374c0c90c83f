//! The engine as a whole: follows the classes of a class path, works out summaries callees first, and asks the rules.
//! A first run is a change in which everything is new; owns what is kept between changes.

use crate::callers::{self, Callers};
use crate::frame::{Method, summarise};
use crate::homes::{self, Homes, Touched};
use crate::link::{Callee, Link, digest, name_digest};
use crate::methods::{Methods, Slot};
use crate::order::{Need, Needs, Order};
use crate::outline::{Event, Outline, Packed, Value};
use crate::path::Path;
use crate::sketch::{Ahead, Sketch, Wanted};
use crate::stale::{self, Stale};
use crate::summary::{Stranger, Summary, Thread};
use crate::tell::{self, Tell};
use crate::{blocking, deadlock, entry, evidence, fields, order};
use classfile::{ClassSource, Layer};
use findings::{Confidence, Finding};
use ir::{ClassId, Loaded, MethodId, Program, access};
use models::{Knowledge, Models, Says};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A program and what is known of its methods.
pub struct Compositional {
    pub(crate) link: Link,
    pub(crate) knowledge: Knowledge,
    pub(crate) methods: Methods,
    pub(crate) callers: Callers,
    /// Classes whose objects the method that makes them returns.
    pub(crate) escaping: FxHashSet<ClassId>,
    /// Classes of the application.
    pub(crate) classes: FxHashSet<ClassId>,
    /// What was found, and what has changed since.
    homes: Homes,
    touched: Touched,
}

/// How much a change had to work out again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redone {
    /// Methods whose outline is another, that came or went.
    pub outlines: usize,
    /// Methods that were summarised.
    pub summaries: usize,
    /// Of those, the ones that look other to their callers.
    pub changed: usize,
}

/// Methods that call each other are looked at again until nothing changes, or so often.
const MOST_ROUNDS: usize = 8;
/// So many classes are in memory at a time.
const AT_A_TIME: usize = 1024;

impl Compositional {
    /// Reads all classes of the application and summarises their methods, and those of libraries that they call.
    pub fn new(source: Arc<dyn ClassSource>, models: Models, knowledge: Knowledge) -> Compositional {
        let link = Link::new(Program::new(source.clone()), models);
        let mut engine = Compositional::with(link, knowledge, Methods::default(), FxHashSet::default());
        let all = source.app_classes();
        engine.apply(source, &all);
        engine
    }

    /// What follows from the rest is there after the next change.
    pub(crate) fn with(
        link: Link,
        knowledge: Knowledge,
        methods: Methods,
        classes: FxHashSet<ClassId>,
    ) -> Compositional {
        let (callers, escaping, homes, touched) = Default::default();
        Compositional { link, knowledge, methods, callers, escaping, classes, homes, touched }
    }

    /// Follows a change of the class path, given the internal names of the classes that may have come, changed or gone.
    /// Afterwards everything is as if it had been new.
    pub fn apply(&mut self, source: Arc<dyn ClassSource>, classes: &[String]) -> Redone {
        let ahead = Arc::new(Ahead::over(source));
        let mut stale = Stale::default();
        let before = self.change_program(&ahead, classes, &mut stale);
        self.link.forget(&stale);
        let mut outlines = self.read_classes(&ahead, classes, before, &mut stale);
        self.describe_again(&mut stale);
        self.add_mentions(&mut stale);
        outlines += self.follow_libraries(&ahead, &mut stale);
        self.find_stores(&mut stale);
        self.add_mentions(&mut stale);
        let (summaries, changed) = self.summarise(&stale);
        let returned = self.methods.iter().flat_map(|slot| slot.facts.escaping.iter().copied());
        let before = std::mem::replace(&mut self.escaping, returned.collect());
        self.touched.classes.extend(before.symmetric_difference(&self.escaping));
        self.touched.classes.extend(stale.classes);
        let before = std::mem::take(&mut self.callers);
        self.find_callers();
        self.touched.methods.extend(self.callers.changed(&before));
        Redone { outlines, summaries, changed }
    }

    /// How much there is of everything.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        let summaries = || self.methods.iter().filter_map(|slot| slot.summary.as_ref());
        let sum =
            |count: fn(&Summary) -> usize| summaries().map(|summary| count(summary) as u64).sum::<u64>();
        vec![
            ("summarised methods", self.methods.len() as u64),
            ("accesses in summaries", sum(|summary| summary.accesses.len())),
            ("locks in summaries", sum(|summary| summary.taken.len() + summary.nested.len())),
            ("functions in summaries", sum(|summary| summary.runs.len())),
            ("calls in summaries", sum(|summary| summary.calls.len())),
            ("blocking calls in summaries", sum(|summary| summary.blocking.len())),
            ("summaries cut", summaries().filter(|summary| summary.is_cut).count() as u64),
            ("calls not followed back", self.methods.iter().map(|slot| slot.cut.len() as u64).sum()),
        ]
    }

    /// Everything the rules have to say.
    /// Those less sure than `least` are told in brief, without ways, locks and reasons.
    pub fn findings(&mut self, least: Confidence) -> Vec<Arc<Finding>> {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        let (mut homes, touched) = (std::mem::take(&mut self.homes), std::mem::take(&mut self.touched));
        let found = homes::findings(self, &program, &mut homes, touched, least);
        let tell = Tell { engine: self, program: &program, least };
        let mut found = tell::together(once_each(found));
        found.extend(deadlock::cycles(self, &program).iter().map(|cycle| tell.cycle(cycle)));
        found.extend(blocking::find(self, &program).iter().map(|blocked| tell.blocked(blocked)));
        found.extend(
            self.strangers(&program).into_iter().map(|(method, stranger)| tell.stranger(method, stranger)),
        );
        *self.link.program() = program;
        self.homes = homes;
        tell::sorted(found)
    }

    /// Calls of interfaces that promise nothing, in classes that promise much.
    fn strangers(&self, program: &Program) -> Vec<(MethodId, &Stranger)> {
        let of_app = |slot: &&Slot| {
            program.class(slot.method.class).layer == Layer::App && !slot.method.is_constructor
        };
        let slots = self.methods.iter().filter(of_app);
        slots
            .flat_map(|slot| {
                let mut told = FxHashSet::default();
                let all = slot.summary.as_ref().map_or(&[][..], |summary| &summary.strangers).iter();
                all.filter(move |stranger| told.insert((stranger.receiver, stranger.interface)))
                    .map(|stranger| (slot.method.id, stranger))
            })
            .collect()
    }

    /// Makes the program that of the new class path. The methods that changed classes had before, if they are summarised.
    fn change_program(
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
    fn read_classes(
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
    fn put_method(&mut self, id: MethodId, outline: &Outline, stale: &mut Stale) -> bool {
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
                self.link.add_method(id);
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
        self.methods.at_mut(number).facts.escaping = returned.collect();
        stale.methods.insert(number);
        true
    }

    fn remove_method(&mut self, id: MethodId, stale: &mut Stale) {
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
    fn describe_again(&mut self, stale: &mut Stale) {
        if !stale.is_about_names() {
            return;
        }
        let is_told =
            |slot: &Slot| stale.classes.contains(&slot.method.class) || !slot.method.needs.is_empty();
        let again: Vec<u32> = self.methods.all().filter(|&number| is_told(self.methods.at(number))).collect();
        for number in again {
            let id = self.methods.at(number).method.id;
            self.link.update_method(id);
            let now = self.described(id);
            if self.methods.at(number).method != now {
                self.methods.at_mut(number).method = now;
                stale.methods.insert(number);
            }
        }
    }

    /// Whatever speaks of stale names is stale.
    fn add_mentions(&mut self, stale: &mut Stale) {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        stale.methods.extend(stale::find(self, &program, stale));
        *self.link.program() = program;
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
        } else if self.knowledge.says_held(name) {
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

    /// Methods of libraries that are called from what is there, and no others. How many have come or gone.
    fn follow_libraries(&mut self, ahead: &Arc<Ahead>, stale: &mut Stale) -> usize {
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

    /// What stale methods put into fields, and what is known of fields then.
    fn find_stores(&mut self, stale: &mut Stale) {
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
    fn summarise(&mut self, stale: &Stale) -> (usize, usize) {
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

    fn find_callers(&mut self) {
        let program = self.link.program.lock().expect("nobody panics with it");
        let (mut nameless, mut elsewhere, mut tasks) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let mut is_task: FxHashMap<ClassId, bool> = FxHashMap::default();
        for Slot { method, .. } in self.methods.iter() {
            let is_task = *is_task
                .entry(method.class)
                .or_insert_with(|| evidence::of_class(&program, &self.knowledge, method.class).is_task);
            let selector = program.method_ref(method.id).selector;
            if !is_task
                && entry::is_nameless(&program, method.class)
                && !self.escaping.contains(&method.class)
            {
                nameless.insert(method.id);
            }
            if is_task && evidence::is_task(program.selector_text(selector).0) {
                tasks.insert(method.id);
            } else if self.link.is_called_elsewhere(&program, method.id) {
                elsewhere.insert(method.id);
            }
        }
        drop(program);
        let (nameless, elsewhere, tasks) = (&nameless, &elsewhere, &tasks);
        self.callers = callers::find(self, &callers::Asked { nameless, elsewhere, tasks });
    }

    pub(crate) fn summary(&self, id: MethodId) -> Option<&Arc<Summary>> {
        self.methods.get(id)?.summary.as_ref()
    }

    pub(crate) fn method(&self, id: MethodId) -> Option<&Method> {
        Some(&self.methods.get(id)?.method)
    }
}

/// The same two lines are told once, by whoever is surest and nearest.
fn once_each(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_cached_key(|finding| {
        let length: usize = finding.sites.iter().map(|site| site.trace.len()).sum();
        // Two that have the same name are told apart by where they are.
        let places: Vec<_> = finding.sites.iter().map(|site| site.place.clone()).collect();
        (finding.confidence, length, finding.id.clone(), places, finding.message.clone())
    });
    let (mut told, mut blamed) = (FxHashSet::default(), FxHashSet::default());
    findings.retain_mut(|finding| {
        let mut places: Vec<_> = finding.sites.iter().map(|site| (site.place.clone(), site.access)).collect();
        let first = places[0].clone();
        places.sort();
        if !blamed.insert((finding.field.clone(), first)) {
            finding.confidence = Confidence::Low;
            finding.why.push("the same access is told already, against another".into());
        }
        told.insert((finding.rule, places))
    });
    findings
}

/// Can others call it?
pub(crate) fn is_callable(program: &Program, method: MethodId) -> bool {
    let entry = program.method(method);
    entry.access & (access::PRIVATE | access::SYNTHETIC) == 0
}

/// Stands in for the program while rules look at it.
struct Nothing;

impl ClassSource for Nothing {
    fn find(&self, _: &str) -> Option<classfile::ClassBytes> {
        None
    }

    fn app_classes(&self) -> Vec<String> {
        Vec::new()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

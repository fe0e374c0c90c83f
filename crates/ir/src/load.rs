//! Loading: classes with their supertypes become part of the program, supertypes first, and cycles among them are
//! cut. How a class is read is next door, in [`read`](crate::read).

use crate::hierarchy::Kin;
use crate::program::{Class, ClassId, Loaded, OBJECT_CLASS, Problem, Program};
use crate::read::{Content, Staged};
use classfile::ClassSource;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl Program {
    /// Loads the class and all its supertypes if that has not happened; afterwards `class(id).loaded != No`.
    pub fn load(&mut self, class: ClassId) -> &Class {
        if self.classes[class].loaded == Loaded::No {
            let mut stage = Stage::new(self.source.clone());
            stage.add(self, class);
            for class in std::mem::take(&mut stage.order) {
                if let Some(staged) = stage.classes.remove(&class) {
                    self.install(class, staged);
                }
            }
        }
        &self.classes[class]
    }

    /// Makes the class part of the program, or another one in it; its supertypes must be there.
    pub(crate) fn install(&mut self, class: ClassId, staged: Staged) {
        let Staged { entry, content, problems } = staged;
        let old = std::mem::replace(&mut self.classes[class], entry);
        if let Some(Content { digest, parsed, methods, fields }) = content {
            old.methods.iter().for_each(|&method| self.forget_method(method));
            old.fields.iter().for_each(|&field| self.forget_field(field));
            methods.into_iter().for_each(|(id, index, method)| self.declare_method(id, index, method));
            fields.into_iter().for_each(|(id, field)| self.declare_field(id, field));
            *self.digests.at(class) = digest;
            match parsed {
                Some(parsed) => self.parsed.insert(class, parsed),
                None => self.parsed.remove(class),
            }
        }
        self.problems.extend(problems);
        if old.loaded != Loaded::Yes {
            self.loads += 1;
        }
        let kin = Kin::of(self, class);
        *self.kin.at(class) = kin;
    }
}

/// Classes that are about to become part of the program.
pub(crate) struct Stage {
    source: Arc<dyn ClassSource>,
    pub(crate) classes: FxHashMap<ClassId, Staged>,
    /// Those that are complete, supertypes first.
    pub(crate) order: Vec<ClassId>,
    done: FxHashSet<ClassId>,
}

/// A class whose supertypes are being staged.
struct Pending {
    class: ClassId,
    /// Supertypes, and for arrays the element, that must come first.
    needs: Vec<ClassId>,
    next: usize,
    /// Position on the path of the first class that it leads back to.
    low: usize,
}

impl Stage {
    pub(crate) fn new(source: Arc<dyn ClassSource>) -> Stage {
        Stage { source, classes: FxHashMap::default(), order: Vec::new(), done: FxHashSet::default() }
    }

    pub(crate) fn source(&self) -> &Arc<dyn ClassSource> {
        &self.source
    }

    /// Completes the class: it and all its supertypes that are not loaded are read unless they are here already, and
    /// cycles are cut. Tarjan's algorithm with an explicit stack: hierarchies in hostile class files are as deep as
    /// they like.
    pub(crate) fn add(&mut self, program: &mut Program, class: ClassId) {
        if class != OBJECT_CLASS {
            // What is cut is put under Object, which has no supertypes.
            self.add(program, OBJECT_CLASS);
        }
        if !self.wants(program, class) {
            return;
        }
        // Classes whose cycles are not complete, and where they stand there.
        let (mut path, mut places) = (vec![class], FxHashMap::from_iter([(class, 0)]));
        let mut stack = vec![self.begin(program, class, 0)];
        while let Some(top) = stack.last_mut() {
            if let Some(&need) = top.needs.get(top.next) {
                top.next += 1;
                if let Some(&place) = places.get(&need) {
                    top.low = top.low.min(place);
                } else if self.wants(program, need) {
                    places.insert(need, path.len());
                    let pending = self.begin(program, need, path.len());
                    path.push(need);
                    stack.push(pending);
                }
                continue;
            }
            let (class, low) = (top.class, top.low);
            stack.pop();
            if let Some(below) = stack.last_mut() {
                below.low = below.low.min(low);
            }
            if low == places[&class] {
                let complete = path.split_off(low);
                let cycle: FxHashSet<ClassId> = complete.iter().copied().collect();
                for class in complete {
                    self.cut(class, &cycle);
                    places.remove(&class);
                    self.done.insert(class);
                    self.order.push(class);
                }
            }
        }
    }

    fn wants(&self, program: &Program, class: ClassId) -> bool {
        let is_new = || self.classes.contains_key(&class) || program.class(class).loaded == Loaded::No;
        !self.done.contains(&class) && is_new()
    }

    fn begin(&mut self, program: &mut Program, class: ClassId, low: usize) -> Pending {
        let source = &self.source;
        let staged = self.classes.entry(class).or_insert_with(|| program.read(class, &**source));
        let entry = &staged.entry;
        let needs =
            entry.super_class.iter().chain(&entry.interfaces).chain(&entry.element).copied().collect();
        Pending { class, needs, next: 0, low }
    }

    /// Classes on a cycle are not below each other: so it does not matter from which of them one came.
    fn cut(&mut self, class: ClassId, cycle: &FxHashSet<ClassId>) {
        let Some(Staged { entry, problems, .. }) = self.classes.get_mut(&class) else { return };
        let mut is_cut = entry.super_class.is_some_and(|up| cycle.contains(&up));
        if is_cut {
            entry.super_class = Some(OBJECT_CLASS);
        }
        let before = entry.interfaces.len();
        entry.interfaces.retain(|interface| !cycle.contains(interface));
        is_cut |= entry.interfaces.len() < before;
        if is_cut {
            problems.push(Problem::CyclicHierarchy(class));
        }
    }
}

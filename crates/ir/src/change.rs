//! A program becoming another: first what would differ, then the change itself, so that the stages after it can take
//! back under the old program what they conclude again under the new one. Knows classes and bodies; what an edit means
//! to an analysis is not decided here.

use crate::align::Alignment;
use crate::body::Body;
use crate::delta::{BodyChange, ClassChange, MemberChange, ProgramDelta};
use crate::load::Stage;
use crate::lower::lower_member;
use crate::program::{ClassId, Loaded, MethodId, Problem, Program};
use crate::read::{Content, Staged, digest};
use arena::Id;
use classfile::{ClassBytes, ClassSource};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Program {
    /// What differs under the class path `source` from the one the program has now, given the internal names of the
    /// classes that may have changed, come or gone. Nothing is changed yet apart from names and ids, which only grow.
    pub fn diff(&mut self, source: Arc<dyn ClassSource>, classes: &[String]) -> ProgramDelta {
        let mut delta = ProgramDelta::default();
        let mut stage = Stage::new(source);
        for name in classes {
            let Some(class) = self.find_class(name).filter(|&class| !self.class(class).is_array) else {
                continue;
            };
            if self.class(class).loaded == Loaded::No {
                delta.unloaded.push(name.clone());
                continue;
            }
            let found = stage.source().find(name);
            if !self.is_as_loaded(class, found.as_ref()) {
                let staged = self.read_bytes(class, found);
                stage.classes.insert(class, staged);
            }
        }
        self.stage_affected(&mut stage);
        let mut staged: Vec<ClassId> = stage.classes.keys().copied().collect();
        staged.sort_unstable();
        for &class in &staged {
            stage.add(self, class);
        }
        for class in staged {
            if let Some(staged) = stage.classes.get_mut(&class) {
                delta.classes.extend(self.compare(class, staged));
                self.settle(staged, class, &mut delta);
            }
        }
        delta.bodies.sort_by_key(|change| change.method);
        delta.moved.sort_by_key(|&(method, _)| method);
        delta.stage = Some(stage);
        delta
    }

    /// The difference that another body for one method makes. Nothing is changed yet.
    pub fn diff_body(&mut self, method: MethodId, body: Body) -> ProgramDelta {
        self.diff_bodies([(method, body)])
    }

    /// The same for several methods at once, each named once.
    pub fn diff_bodies(&mut self, bodies: impl IntoIterator<Item = (MethodId, Body)>) -> ProgramDelta {
        let mut delta = ProgramDelta::default();
        for (method, body) in bodies {
            delta.settle(method, self.body(method), Some(Arc::new(body)));
        }
        delta
    }

    /// Makes the program what the delta says: afterwards it answers like one that was made over the new class path,
    /// apart from ids. Problems are those of all classes ever loaded and bodies ever lowered, as they are now.
    /// Between `diff` and `commit` nobody should load or lower anything: it is mended here, but no delta tells of it.
    pub fn commit(&mut self, delta: &ProgramDelta) {
        let is_loaded = |class: ClassId| self.class(class).loaded != Loaded::No;
        let late = delta.unloaded.iter().filter(|name| self.find_class(name).is_some_and(is_loaded));
        let late: Vec<String> = late.cloned().collect();
        let affected: FxHashSet<ClassId> = if late.is_empty() {
            let changed: Vec<ClassId> = delta.classes.iter().map(|change| change.class).collect();
            self.loaded_subtypes(&changed).into_iter().collect()
        } else {
            self.classes.ids().collect()
        };
        if let Some(stage) = &delta.stage {
            self.source = stage.source().clone();
            self.drop_problems(&stage.classes);
            for &class in &stage.order {
                self.reinstall(class, &stage.classes[&class]);
            }
        }
        for (method, body) in &delta.settled {
            self.bodies.insert(*method, body.clone());
        }
        self.drop_answers(&affected);
        if !late.is_empty() {
            let rest = self.diff(self.source.clone(), &late);
            self.commit(&rest);
        }
    }

    /// Puts in bodies as they would be had they never been others. What they were, to be put back: for comparing.
    pub fn renumber(&mut self) -> Vec<(MethodId, Arc<Body>)> {
        let mut before = Vec::new();
        for (&method, body) in &mut self.bodies {
            let Some(body) = body else { continue };
            let dense = body.dense();
            if **body != dense {
                before.push((method, std::mem::replace(body, Arc::new(dense))));
            }
        }
        before
    }

    /// Takes that back.
    pub fn renumber_back(&mut self, before: Vec<(MethodId, Arc<Body>)>) {
        self.bodies.extend(before.into_iter().map(|(method, body)| (method, Some(body))));
    }

    pub(crate) fn is_as_loaded(&self, class: ClassId, found: Option<&ClassBytes>) -> bool {
        let (entry, known) = (self.class(class), self.digests.get(class).copied().flatten());
        // Of what could not be read it does not matter where it was.
        let same_layer =
            || entry.loaded == Loaded::Missing || found.is_some_and(|found| found.layer == entry.layer);
        known == found.map(digest) && same_layer()
    }

    /// If the hierarchy changes, everything below must look at its place in it again; and where a cycle was cut, it
    /// may no longer be one.
    fn stage_affected(&mut self, stage: &mut Stage) {
        let cyclic = self.problems.iter().filter_map(|problem| match problem {
            Problem::CyclicHierarchy(class) => Some(*class),
            _ => None,
        });
        let cyclic: BTreeSet<ClassId> = cyclic.collect();
        let moves = |(class, staged): (&ClassId, &Staged)| {
            let (old, new) = (&self.classes[*class], &staged.entry);
            let stays = old.super_class == new.super_class
                && old.interfaces == new.interfaces
                && old.loaded == new.loaded
                && !cyclic.contains(class);
            (!stays).then_some(*class)
        };
        let mut moving: Vec<ClassId> = stage.classes.iter().filter_map(moves).collect();
        if moving.is_empty() {
            return;
        }
        for class in cyclic {
            if !stage.classes.contains_key(&class) {
                let staged = self.read(class, &**stage.source());
                stage.classes.insert(class, staged);
                moving.push(class);
            }
        }
        for class in self.loaded_subtypes(&moving) {
            stage.classes.entry(class).or_insert_with(|| Staged::of(self.classes[class].clone()));
        }
    }

    fn compare(&self, class: ClassId, staged: &Staged) -> Option<ClassChange> {
        let (old, new) = (self.class(class).clone(), staged.entry.clone());
        let (methods, fields) = match &staged.content {
            Some(Content { methods, fields, .. }) => {
                let before = old.methods.iter().map(|&id| (id, &self.methods[id]));
                let methods = members(before, methods.iter().map(|(id, _, method)| (*id, method)));
                let before = old.fields.iter().map(|&id| (id, &self.fields[id]));
                (methods, members(before, fields.iter().map(|(id, field)| (*id, field))))
            }
            None => (Vec::new(), Vec::new()),
        };
        let change = ClassChange { class, old, new, methods, fields };
        change.is_any().then_some(change)
    }

    /// Lowers again what was lowered of the class.
    fn settle(&mut self, staged: &mut Staged, class: ClassId, delta: &mut ProgramDelta) {
        let Some(Content { parsed, methods, .. }) = &staged.content else { return };
        let indexes: FxHashMap<MethodId, u32> = methods.iter().map(|&(id, index, _)| (id, index)).collect();
        for method in self.classes[class].methods.clone() {
            let Some(old) = self.bodies.get(&method).cloned() else { continue };
            let lowered = match (parsed, indexes.get(&method)) {
                (Some(parsed), Some(&index)) => {
                    parsed.member(index as usize).map_or(Ok(None), |member| lower_member(self, &member))
                }
                _ => Ok(None),
            };
            let new = lowered.unwrap_or_else(|why| {
                staged.problems.push(Problem::Body(method, why));
                None
            });
            delta.settle(method, old, new.map(Arc::new));
        }
    }

    /// What was said of classes that are read again.
    fn drop_problems(&mut self, staged: &FxHashMap<ClassId, Staged>) {
        let is_read = |class: &ClassId| staged.get(class).is_some_and(|staged| staged.content.is_some());
        let methods = &self.methods;
        self.problems.retain(|problem| match problem {
            Problem::MissingClass(class)
            | Problem::CorruptClass(class, _)
            | Problem::NewerVersion(class, _)
            | Problem::CyclicHierarchy(class) => !is_read(class),
            Problem::Body(method, _) => !is_read(&methods[*method].class),
        });
    }

    fn reinstall(&mut self, class: ClassId, staged: &Staged) {
        if let Some(content) = &staged.content {
            let methods = content.methods.iter().map(|(id, ..)| id);
            for method in self.classes[class].methods.iter().chain(methods) {
                self.bodies.remove(method);
            }
        }
        self.install(class, staged.clone());
    }

    /// Answers about these classes were those of the old program. Fields are asked for again at once: later stages
    /// ask only for those that were asked for before.
    fn drop_answers(&mut self, classes: &FxHashSet<ClassId>) {
        if classes.is_empty() {
            return;
        }
        self.dispatch_cache.retain(|key, _| !classes.contains(&key.class));
        self.resolve_cache.retain(|key, _| !classes.contains(&key.class));
        let stale: Vec<_> = self.field_cache.extract_if(|key, _| classes.contains(&key.class)).collect();
        for (field, _) in stale {
            self.resolve_field(field);
        }
    }
}

impl ProgramDelta {
    fn settle(&mut self, method: MethodId, old: Option<Arc<Body>>, new: Option<Arc<Body>>) {
        let settled = match (old, new) {
            (None, None) => None,
            (Some(old), Some(new)) if *old == *new => Some(old),
            (Some(old), Some(new)) => {
                let (new, alignment) = Alignment::in_place(&old, &new);
                let new = Arc::new(new);
                if *old == *new {
                    Some(old)
                } else if old.means_the_same(&new) {
                    self.moved.push((method, new.clone()));
                    Some(new)
                } else {
                    let (old, new) = (Some(old), Some(new));
                    self.bodies.push(BodyChange { method, old, new: new.clone(), alignment });
                    new
                }
            }
            (old, new) => {
                self.bodies.push(BodyChange::new(method, old, new.clone()));
                new
            }
        };
        self.settled.push((method, settled));
    }
}

fn members<'a, I: Id, T: Clone + PartialEq + 'a>(
    old: impl Iterator<Item = (I, &'a T)>,
    new: impl Iterator<Item = (I, &'a T)>,
) -> Vec<MemberChange<I, T>> {
    let mut left: FxHashMap<I, &T> = old.collect();
    let mut changes = Vec::new();
    for (id, new) in new {
        let old = left.remove(&id);
        if old != Some(new) {
            changes.push(MemberChange { id, old: old.cloned(), new: Some(new.clone()) });
        }
    }
    changes.extend(left.into_iter().map(|(id, old)| MemberChange { id, old: Some(old.clone()), new: None }));
    changes.sort_unstable_by_key(|change| change.id);
    changes
}

//! What the rules about memory found, by whose memory it is: the objects of a class, or a static field. It is kept until
//! something changes that it was worked out from. Knows when to ask the rules, and nothing of what they say.

use crate::engine::Compositional;
use crate::entry::{self, Entry};
use crate::noted::{Noted, noting};
use crate::path::Root;
use crate::race;
use crate::tell::Tell;
use findings::{Confidence, Finding};
use ir::{ClassId, FieldId, MethodId, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Homes {
    classes: FxHashMap<ClassId, Told>,
    statics: FxHashMap<FieldId, Told>,
    /// For whom they were told.
    least: Confidence,
}

/// What was found at one of them.
#[derive(Default, Serialize, Deserialize)]
struct Told {
    findings: Vec<Arc<Finding>>,
    /// What it was worked out from.
    methods: Box<[MethodId]>,
    noted: Box<[ClassId]>,
    /// Static fields that methods of the class touch.
    statics: Box<[Touch]>,
}

/// A static field that methods of a class touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Touch {
    field: FieldId,
    /// In ascending order.
    methods: Box<[MethodId]>,
    /// Something may be wrong with it: it is written, or says what guards it.
    matters: bool,
}

/// Methods that touch a static field, by the class on whose objects they can be called.
type Touching = Vec<(ClassId, Box<[MethodId]>)>;

/// What has changed since the rules were asked.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub methods: FxHashSet<MethodId>,
    pub classes: FxHashSet<ClassId>,
}

/// Everything that the rules find, given what was found before.
pub(crate) fn findings(
    engine: &Compositional,
    program: &Program,
    homes: &mut Homes,
    mut touched: Touched,
    least: Confidence,
) -> Vec<Arc<Finding>> {
    if std::mem::replace(&mut homes.least, least) != least {
        *homes = Homes { least, ..Homes::default() };
    }
    for &class in &touched.classes {
        touched.methods.extend(program.class(class).methods.iter().copied());
    }
    let tell = Tell { engine, program, least };
    let inner = inner(engine, program);
    let fields = homes.ask_classes(&tell, &inner, &touched);
    homes.ask_statics(&tell, &inner, fields, &touched);
    let told = homes.classes.values().chain(homes.statics.values());
    told.flat_map(|told| &told.findings).cloned().collect()
}

/// Classes that are about the objects of each class: itself, if it is of the application, and those inside it.
type Inner = FxHashMap<ClassId, Vec<ClassId>>;

fn inner(engine: &Compositional, program: &Program) -> Inner {
    let outer = |&class: &ClassId| (class, entry::outer(program, class).map(|(outer, _)| outer));
    let outer: Vec<(ClassId, Option<ClassId>)> = engine.classes.par_iter().map(outer).collect();
    let mut inner: Inner = FxHashMap::default();
    for (class, outer) in outer {
        inner.entry(class).or_default().push(class);
        if let Some(outer) = outer {
            inner.entry(outer).or_default().push(class);
        }
    }
    inner
}

impl Homes {
    /// Asks again about classes of which something has changed. The static fields that they touch or touched.
    fn ask_classes(&mut self, tell: &Tell<'_>, inner: &Inner, touched: &Touched) -> FxHashSet<FieldId> {
        let mut fields: FxHashSet<FieldId> = FxHashSet::default();
        self.classes.retain(|class, told| {
            let is_there = inner.contains_key(class);
            if !is_there {
                fields.extend(told.statics.iter().map(|touch| touch.field));
            }
            is_there
        });
        let is_named = |class: &ClassId, members: &[ClassId]| {
            std::iter::once(class).chain(members).any(|class| touched.classes.contains(class))
        };
        let is_stale = |(class, members): &(&ClassId, &Vec<ClassId>)| match self.classes.get(class) {
            Some(told) => is_named(class, members) || told.is_stale(touched),
            None => true,
        };
        let stale: Vec<(ClassId, &Vec<ClassId>)> =
            inner.par_iter().filter(is_stale).map(|(class, members)| (*class, members)).collect();
        let ask = |(class, members): (ClassId, &Vec<ClassId>)| (class, of_class(tell, class, members));
        let told: Vec<(ClassId, Told)> = stale.into_par_iter().map(ask).collect();
        for (class, told) in told {
            let before = self.classes.remove(&class).unwrap_or_default();
            let now: FxHashSet<&Touch> = told.statics.iter().collect();
            let before: FxHashSet<&Touch> = before.statics.iter().collect();
            // What was found at a field that it touches as before says itself what it was worked out from, but for
            // classes that were not there.
            match is_named(&class, &inner[&class]) {
                true => fields.extend(now.union(&before).map(|touch| touch.field)),
                false => fields.extend(now.symmetric_difference(&before).map(|touch| touch.field)),
            }
            self.classes.insert(class, told);
        }
        fields
    }

    fn ask_statics(
        &mut self,
        tell: &Tell<'_>,
        inner: &Inner,
        mut stale: FxHashSet<FieldId>,
        touched: &Touched,
    ) {
        let others = self.statics.par_iter().filter(|(_, told)| told.is_stale(touched));
        stale.par_extend(others.map(|(&field, _)| field));
        let mut touching: FxHashMap<FieldId, Touching> = FxHashMap::default();
        let mut matter: FxHashSet<FieldId> = FxHashSet::default();
        for (&class, told) in &self.classes {
            for touch in told.statics.iter().filter(|touch| stale.contains(&touch.field)) {
                touching.entry(touch.field).or_default().push((class, touch.methods.clone()));
                if touch.matters {
                    matter.insert(touch.field);
                }
            }
        }
        touching.retain(|field, _| matter.contains(field));
        stale.iter().filter(|field| !touching.contains_key(field)).for_each(|field| {
            self.statics.remove(field);
        });
        let touching: Vec<(FieldId, Touching)> = touching.into_iter().collect();
        let ask = |(field, touching): (FieldId, Touching)| (field, of_field(tell, field, &touching, inner));
        let told: Vec<(FieldId, Told)> = touching.into_par_iter().map(ask).collect();
        self.statics.extend(told);
    }
}

impl Told {
    fn of(findings: Vec<Arc<Finding>>, noted: Noted, statics: Vec<Touch>) -> Told {
        let (methods, classes) = (noted.methods.into_iter().collect(), noted.classes.into_iter().collect());
        Told { findings, methods, noted: classes, statics: statics.into() }
    }

    fn is_stale(&self, touched: &Touched) -> bool {
        self.methods.iter().any(|method| touched.methods.contains(method))
            || self.noted.iter().any(|class| touched.classes.contains(class))
    }
}

fn of_class(tell: &Tell<'_>, class: ClassId, members: &[ClassId]) -> Told {
    let ((findings, statics), noted) = noting(|| {
        let entries = entries(tell, class, members, &|_| true);
        let is_own = |root: Root| !matches!(root, Root::Static(_));
        let conflicts = race::conflicts(tell.engine, tell.program, &entries, is_own);
        let findings = conflicts.iter().map(|conflict| Arc::new(tell.conflict(conflict))).collect();
        (findings, statics(tell, &entries))
    });
    Told::of(findings, noted, statics)
}

fn of_field(tell: &Tell<'_>, field: FieldId, touching: &Touching, inner: &Inner) -> Told {
    let (findings, noted) = noting(|| {
        let members = |class: &ClassId| inner.get(class).map_or(&[][..], Vec::as_slice);
        let entries: Vec<Entry> = touching
            .iter()
            .flat_map(|(class, methods)| {
                let touches = |method: MethodId| methods.binary_search(&method).is_ok();
                entries(tell, *class, members(class), &touches)
            })
            .collect();
        let is_it = |root: Root| root == Root::Static(field);
        let conflicts = race::conflicts(tell.engine, tell.program, &entries, is_it);
        conflicts.iter().map(|conflict| Arc::new(tell.conflict(conflict))).collect()
    });
    Told::of(findings, noted, Vec::new())
}

/// What can be called on the objects of a class, by whichever class has it.
fn entries(
    tell: &Tell<'_>,
    class: ClassId,
    members: &[ClassId],
    wanted: &dyn Fn(MethodId) -> bool,
) -> Vec<Entry> {
    let all = members.iter().flat_map(|&member| entry::of_class(tell.engine, tell.program, member, wanted));
    all.filter(|entry| entry.class == class).collect()
}

/// What is touched by methods that are called on objects of the class itself, and by whom in all.
fn statics(tell: &Tell<'_>, entries: &[Entry]) -> Vec<Touch> {
    let mut touches: FxHashMap<FieldId, (Vec<MethodId>, bool)> = FxHashMap::default();
    let mut own: FxHashSet<FieldId> = FxHashSet::default();
    for entry in entries {
        let summary = tell.engine.summary(entry.method);
        for access in summary.iter().flat_map(|summary| &summary.accesses) {
            let Root::Static(field) = access.path.root else { continue };
            let (methods, matters) = touches.entry(field).or_default();
            methods.push(entry.method);
            *matters = *matters || access.writes || race::is_guarded(tell.engine, tell.program, &access.path);
            if entry.outer.is_none() {
                own.insert(field);
            }
        }
    }
    let touches = touches.into_iter().filter(|(field, _)| own.contains(field));
    let mut touches: Vec<Touch> = touches
        .map(|(field, (mut methods, matters))| {
            methods.sort_unstable();
            methods.dedup();
            Touch { field, methods: methods.into(), matters }
        })
        .collect();
    touches.sort_unstable();
    touches
}

//! What is ever put into fields: the class of their objects where it is always the same, and views of locks.
//! Looks at what methods store, whichever class the field belongs to.

use crate::frame::Method;
use crate::link::{Holds, Link};
use crate::outline::{Event, Outline, Value, ValueId};
use ir::{CallKind, ClassId, FieldId};
use models::{Member, Source, Step};
use rustc_hash::FxHashMap;

pub(crate) fn find(link: &mut Link, methods: &[Method]) {
    let mut holds: FxHashMap<FieldId, Holds> = FxHashMap::default();
    let mut views: FxHashMap<FieldId, (FieldId, bool)> = FxHashMap::default();
    for method in methods {
        // Which field stands for a lock of which only views are kept.
        let mut stands_for: FxHashMap<ValueId, FieldId> = FxHashMap::default();
        for event in &method.outline.events {
            let (field, src) = match event {
                Event::Write { field, src, .. } | Event::WriteStatic { field, src } => (*field, *src),
                _ => continue,
            };
            let Some(field) = link.field(field) else { continue };
            if let Some((lock, shared)) = viewed(link, &method.outline, src, field, &mut stands_for) {
                views.entry(field).or_insert((lock, shared));
            }
            if let Value::Made(_) = method.outline.values[src as usize] {
                stands_for.entry(src).or_insert(field);
            }
            let is_null = method.outline.values[src as usize] == Value::Constant;
            if !is_null {
                let class = class_of(link, &method.outline, src);
                let known = holds.entry(field).or_default();
                *known = known.and(class);
            }
        }
    }
    for (field, info) in link.infos_mut() {
        info.holds = holds.get(field).copied().unwrap_or_default();
        info.view = views.get(field).copied();
    }
}

fn class_of(link: &Link, outline: &Outline, value: ValueId) -> Option<ClassId> {
    match &outline.values[value as usize] {
        Value::Made(class) => Some(*class),
        Value::Result(event) => {
            let Event::Call { target, kind, .. } = &outline.events[*event as usize] else { return None };
            let callee = link.callee(*target, *kind, None);
            let mut made = None;
            for step in &callee.model.as_ref()?.steps {
                if let Step::Assign { dst, src } = step
                    && dst.root == models::Root::Ret
                    && dst.path.is_empty()
                {
                    made = match src {
                        Source::New { class, .. } => Some(link.class_named(class)),
                        _ => None,
                    };
                }
            }
            made
        }
        _ => None,
    }
}

/// The field whose lock this value is a view of.
fn viewed(
    link: &Link,
    outline: &Outline,
    value: ValueId,
    into: FieldId,
    stands_for: &mut FxHashMap<ValueId, FieldId>,
) -> Option<(FieldId, bool)> {
    let Value::Result(event) = &outline.values[value as usize] else { return None };
    let Event::Call { target, kind: CallKind::Virtual, args } = &outline.events[*event as usize] else {
        return None;
    };
    let &receiver = args.first()?;
    let callee = link.callee(*target, CallKind::Virtual, link.class_of(outline, receiver));
    let shared = callee.model.as_ref()?.steps.iter().find_map(|step| match step {
        Step::View { of, shared } if of.root == models::Root::This && of.path == Vec::<Member>::new() => {
            Some(*shared)
        }
        _ => None,
    })?;
    match &outline.values[receiver as usize] {
        Value::Field { field, .. } | Value::Static { field } => Some((link.field(*field)?, shared)),
        Value::Made(_) => Some((*stands_for.entry(receiver).or_insert(into), shared)),
        _ => None,
    }
}

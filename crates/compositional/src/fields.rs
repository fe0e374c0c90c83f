//! What is ever put into fields: the class of their objects where it is always the same, and views of locks.
//! Looks at what methods store, whichever class the field belongs to.

use crate::link::{Known, Link};
use crate::methods::{Methods, Store, WithSiblings};
use crate::outline::{Event, Outline, Value, ValueId};
use ir::{CallKind, ClassId, FieldId, MethodRef, access};
use models::{Member, Operand, Source, Step};
use rustc_hash::FxHashMap;

/// What one method puts into fields.
pub(crate) fn stores(link: &Link, outline: &Outline) -> Box<[Store]> {
    let mut stores = Vec::new();
    // Which field stands for a lock of which only views are kept.
    let mut stands_for: FxHashMap<ValueId, FieldId> = FxHashMap::default();
    for event in &outline.events {
        let (Event::Write { field, src, .. } | Event::WriteStatic { field, src }) = event else { continue };
        let (Some(field), src) = (link.field(*field), *src) else { continue };
        let (owner, siblings) = match event {
            Event::Write { base, .. } => {
                (made_with(outline, src, *base), made_with_siblings(link, outline, src, *base))
            }
            _ => (None, None),
        };
        let view = viewed(link, outline, src, field, &mut stands_for);
        if let Value::Made(_) = outline.values[src as usize] {
            stands_for.entry(src).or_insert(field);
        }
        let is_null = matches!(outline.values[src as usize], Value::Constant | Value::One);
        let class = (!is_null).then(|| class_of(link, outline, src));
        let serial = is_serial(link, outline, src);
        let store = Store { field, class, view, owner, siblings, serial };
        if (class.is_some() || view.is_some()) && !stores.contains(&store) {
            stores.push(store);
        }
    }
    stores.into()
}

/// The constructor of a new object that gets `with` as one of its operands, and as which.
fn made_with(outline: &Outline, object: ValueId, with: ValueId) -> Option<(MethodRef, u16)> {
    let (constructor, args) = made_by(outline, object)?;
    let at = args.iter().position(|&arg| arg == with)?;
    Some((constructor, at as u16))
}

/// The constructor of a new object that gets what final fields of its owner hold, and as which operands.
fn made_with_siblings(
    link: &Link,
    outline: &Outline,
    object: ValueId,
    owner: ValueId,
) -> Option<WithSiblings> {
    let (constructor, args) = made_by(outline, object)?;
    let sibling = |(at, &arg): (usize, &ValueId)| match outline.values[arg as usize] {
        Value::Field { base, field } if base == owner => {
            let field = link.field(field).filter(|&field| is_final(link, field))?;
            Some((at as u16, field))
        }
        _ => None,
    };
    let siblings: Box<[(u16, FieldId)]> = args.iter().enumerate().filter_map(sibling).collect();
    (!siblings.is_empty()).then_some((constructor, siblings))
}

/// The constructor of a new object, with its operands.
fn made_by(outline: &Outline, object: ValueId) -> Option<(MethodRef, &[ValueId])> {
    if !matches!(outline.values[object as usize], Value::Made(_)) {
        return None;
    }
    outline.events.iter().find_map(|event| match event {
        Event::Call { target, kind: CallKind::Special, args } if args.first() == Some(&object) => {
            Some((*target, &**args))
        }
        _ => None,
    })
}

fn is_final(link: &Link, field: FieldId) -> bool {
    link.info(field).is_some_and(|info| info.is(access::FINAL))
}

/// Final fields in which a constructor keeps its parameters.
pub(crate) fn keeps(link: &Link, outline: &Outline) -> Box<[(FieldId, u16)]> {
    let kept = |event: &Event| {
        let Event::Write { base, field, src } = event else { return None };
        let (Value::Param(0), Value::Param(param)) =
            (&outline.values[*base as usize], &outline.values[*src as usize])
        else {
            return None;
        };
        Some((link.field(*field)?, *param))
    };
    outline.events.iter().filter_map(kept).collect()
}

/// What all methods together put into them.
pub(crate) fn known(link: &Link, methods: &Methods) -> FxHashMap<FieldId, Known> {
    let mut found: FxHashMap<FieldId, Known> = FxHashMap::default();
    let digest = |field: FieldId| link.info(field).map_or(0, |info| info.digest);
    for store in methods.iter().flat_map(|slot| &slot.facts.stores) {
        let known = found.entry(store.field).or_default();
        if let Some(class) = store.class {
            known.holds = known.holds.and(class);
        }
        // Of several, one that does not depend on who is asked first.
        let view = store.view.into_iter().chain(known.view);
        known.view = view.min_by_key(|&(lock, shared)| (digest(lock), shared));
        if store.class.is_some() {
            known.back = known.back.and(back(link, methods, store));
            known.alias = known.alias.and(alias(link, methods, store));
            known.serial = Some(known.serial.unwrap_or(true) && store.serial);
        }
    }
    found
}

/// The final field of what is stored that leads back to the object it is stored in.
fn back(link: &Link, methods: &Methods, store: &Store) -> Option<FieldId> {
    let (constructor, param) = store.owner?;
    kept_in(link, methods, constructor, param)
}

/// The final field of what is stored that holds what a final field of the object has that it is stored in, and that field.
fn alias(link: &Link, methods: &Methods, store: &Store) -> Option<(FieldId, FieldId)> {
    let (constructor, siblings) = store.siblings.as_ref()?;
    let kept = |&(param, own): &(u16, FieldId)| Some((kept_in(link, methods, *constructor, param)?, own));
    // Of several, one that does not depend on ids.
    siblings.iter().filter_map(kept).min_by_key(|&(inner, _)| link.info(inner).map(|info| info.digest))
}

/// The final field in which a constructor keeps one of its parameters.
fn kept_in(link: &Link, methods: &Methods, constructor: MethodRef, param: u16) -> Option<FieldId> {
    let callee = link.callee(constructor, CallKind::Special, None);
    let slot = methods.get(*callee.targets.first()?)?;
    let kept = slot.facts.keeps.iter().filter(|&&(field, kept)| kept == param && is_final(link, field));
    kept.map(|&(field, _)| field).min_by_key(|&field| link.info(field).map(|info| info.digest))
}

/// Is this an executor of a library that runs one task after the other: made so, or with one thread?
pub(crate) fn is_serial(link: &Link, outline: &Outline, value: ValueId) -> bool {
    let (target, kind, args, made) = match &outline.values[value as usize] {
        Value::Made(_) => match made_by(outline, value) {
            Some((constructor, args)) => (constructor, CallKind::Special, args, models::Root::This),
            None => return false,
        },
        Value::Result(event) => match &outline.events[*event as usize] {
            Event::Call { target, kind, args } => (*target, *kind, &**args, models::Root::Ret),
            _ => return false,
        },
        _ => return false,
    };
    let callee = link.callee(target, kind, None);
    let is_it = |operand: &Operand| operand.root == made && operand.path.is_empty();
    let is_one = |count: &Operand| match count.root {
        models::Root::Param(number) => {
            let at = usize::from(number) + usize::from(!callee.is_static);
            args.get(at).is_some_and(|&arg| outline.values[arg as usize] == Value::One)
        }
        _ => false,
    };
    let makes = |step: &Step| match step {
        Step::Assign { dst, src: Source::New { serial, .. } | Source::The { serial, .. } } => {
            *serial && is_it(dst)
        }
        Step::Permits { of, count } => is_it(of) && is_one(count),
        _ => false,
    };
    callee.model.as_ref().is_some_and(|model| model.steps.iter().any(makes))
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
    // What is in a field is not known yet.
    let class = match outline.values[receiver as usize] {
        Value::Made(class) => Some(class),
        _ => None,
    };
    let callee = link.callee(*target, CallKind::Virtual, class);
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

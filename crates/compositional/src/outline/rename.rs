//! An outline made from a class by itself, in the ids of the program.

use super::{Event, Outline, Value};
use ir::Renaming;

impl Outline {
    pub fn rename(&mut self, to: &mut Renaming<'_>) {
        self.values.iter_mut().for_each(|value| rename_value(value, to));
        self.events.iter_mut().for_each(|event| rename_event(event, to));
        for lambda in &mut self.lambdas {
            lambda.interface = to.class(lambda.interface);
            lambda.selector = to.selector(lambda.selector);
            lambda.target = to.method(lambda.target);
        }
        self.names.iter_mut().flatten().for_each(|name| *name = to.name(*name));
    }
}

fn rename_value(value: &mut Value, to: &mut Renaming<'_>) {
    match value {
        Value::Made(class) | Value::Class(class) => *class = to.class(*class),
        Value::Field { field, .. } | Value::Static { field } => *field = to.field(*field),
        Value::Param(_)
        | Value::Constant
        | Value::One
        | Value::Element { .. }
        | Value::Result(_)
        | Value::Lambda(_)
        | Value::Any(_)
        | Value::Unknown => {}
    }
}

fn rename_event(event: &mut Event, to: &mut Renaming<'_>) {
    match event {
        Event::Read { field, .. }
        | Event::Write { field, .. }
        | Event::ReadStatic { field }
        | Event::WriteStatic { field, .. } => *field = to.field(*field),
        Event::Call { target, .. } => *target = to.method(*target),
        Event::ReadElement { .. }
        | Event::WriteElement { .. }
        | Event::Enter(_)
        | Event::Exit(_)
        | Event::Return(_) => {}
    }
}

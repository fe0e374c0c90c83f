//! Random statements, and the variables they declare.

use super::values::receiver;
use super::{Local, Scope, Type, Writer, type_name};
use std::fmt::Write;

impl Writer {
    /// Some variables to work with, so that values meet.
    pub(super) fn locals(&mut self, scope: &mut Scope) {
        for _ in 0..3 + self.dice.below(3) {
            let of = self.any_type();
            self.declare(scope, of);
        }
        self.declare(scope, Type::Object);
    }

    pub(super) fn declare(&mut self, scope: &mut Scope, of: Type) {
        let value = self.value(scope, of, 2);
        let is_final = self.dice.chance(50);
        let name = self.fresh("v");
        let word = if is_final { "final " } else { "" };
        let _ = writeln!(self.text, "        {word}{} {name} = {value};", type_name(of));
        scope.locals.push(Local { name, of, is_final });
    }

    pub(super) fn block(&mut self, scope: &mut Scope, count: usize) {
        for _ in 0..count {
            if scope.fuel == 0 {
                return;
            }
            scope.fuel -= 1;
            self.statement(scope);
        }
    }

    /// A block of its own: what it declares ends with it.
    pub(super) fn inner_block(&mut self, scope: &mut Scope) {
        let depth = scope.locals.len();
        let count = 1 + self.dice.below(3);
        self.block(scope, count);
        scope.locals.truncate(depth);
    }

    pub(super) fn statement(&mut self, scope: &mut Scope) {
        match self.dice.below(30) {
            0..=5 => self.assign(scope),
            6..=8 => {
                let of = self.any_type();
                self.declare(scope, of);
            }
            9..=11 => {
                let (class, field) = self.field();
                let base = self.value(scope, Type::Class(class), 2);
                let of = self.field_type(class, &field);
                let value = self.value(scope, of, 2);
                let _ = writeln!(self.text, "        {}.{field} = {value};", receiver(&base));
            }
            12 => {
                let class = self.dice.below(self.classes.len());
                let value = self.value(scope, Type::Object, 2);
                let _ = writeln!(self.text, "        C{class}.s{class} = {value};");
            }
            13..=14 => {
                let array = self.value(scope, Type::Array, 2);
                let value = self.value(scope, Type::Object, 2);
                let _ = writeln!(self.text, "        ((Object[]) {array})[0] = {value};");
            }
            15..=17 => {
                let call = self.call(scope, 2);
                let _ = writeln!(self.text, "        {call};");
            }
            18 => {
                self.text.push_str("        if (Main.c()) {\n");
                self.inner_block(scope);
                self.text.push_str("        } else {\n");
                self.inner_block(scope);
                self.text.push_str("        }\n");
            }
            19 => {
                self.text.push_str("        while (Main.c()) {\n");
                self.inner_block(scope);
                self.text.push_str("        }\n");
            }
            20 => {
                self.text.push_str("        try {\n");
                self.inner_block(scope);
                let caught = self.fresh("e");
                let of = self.dice.pick(&["Err", "RuntimeException"]);
                let _ = writeln!(self.text, "        }} catch ({of} {caught}) {{");
                let depth = scope.locals.len();
                let of = if of == "Err" { Type::Error } else { Type::Object };
                scope.locals.push(Local { name: caught, of, is_final: true });
                self.inner_block(scope);
                scope.locals.truncate(depth);
                self.text.push_str("        }\n");
            }
            21 => {
                let value = self.value(scope, Type::Object, 2);
                let _ = writeln!(self.text, "        if (Main.c()) throw new Err({value});");
            }
            22..=23 => {
                let thread = self.value(scope, Type::Thread, 2);
                let _ = writeln!(self.text, "        {}.start();", receiver(&thread));
            }
            24 => {
                let of = self.dice.pick(&[Type::Runnable, Type::Callable]);
                let task = self.value(scope, of, 2);
                let _ = writeln!(self.text, "        Main.ex.submit(({}) {task});", type_name(of));
            }
            25..=26 => {
                let list = self.value(scope, Type::List, 1);
                let value = self.value(scope, Type::Object, 2);
                let _ = writeln!(self.text, "        {}.add({value});", receiver(&list));
            }
            27 => {
                let map = self.value(scope, Type::Map, 1);
                let (key, value) = (self.value(scope, Type::Object, 1), self.value(scope, Type::Object, 2));
                let _ = writeln!(self.text, "        {}.put({key}, {value});", receiver(&map));
            }
            28 => {
                let list = self.value(scope, Type::List, 1);
                let item = self.fresh("x");
                let _ = writeln!(self.text, "        for (Object {item} : {}) {{", receiver(&list));
                let depth = scope.locals.len();
                scope.locals.push(Local { name: item, of: Type::Object, is_final: true });
                self.inner_block(scope);
                scope.locals.truncate(depth);
                self.text.push_str("        }\n");
            }
            _ => {
                let (a, b) = (self.value(scope, Type::Array, 1), self.value(scope, Type::Array, 1));
                let _ = writeln!(self.text, "        System.arraycopy({a}, 0, {b}, 0, 1);");
            }
        }
    }

    pub(super) fn assign(&mut self, scope: &mut Scope) {
        let open: Vec<Local> = scope.locals.iter().filter(|local| !local.is_final).cloned().collect();
        if open.is_empty() {
            return self.declare(scope, Type::Object);
        }
        let local = &open[self.dice.below(open.len())];
        let value = self.value(scope, local.of, 3);
        let _ = writeln!(self.text, "        {} = {value};", local.name);
    }
}

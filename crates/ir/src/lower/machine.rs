//! The abstract machine that code is run on: an operand stack and locals that hold variables instead of values.
//! Owns their discipline (underflow, two-slot values, joins at block entries); knows no instruction.

use super::blocks::Graph;
use super::listing::Listing;
use super::live::Live;
use super::names::LocalNames;
use super::ssa::{Joined, Joins, Phi, UNDEFINED};
use crate::body::{BlockId, Stmt, StmtKind, Var};
use crate::descriptor::{self, Type};
use crate::program::{Program, access};
use arena::{Id, Name};
use classfile::{ClassFile, Code, Method, NumKind};

/// Statements with provisional variables: phis that turn out trivial are still among them.
pub(super) struct Draft {
    /// Node by node; phis are not among them.
    pub(super) stmts: Vec<Stmt>,
    /// Where the statements of each node end.
    pub(super) ends: Vec<u32>,
    pub(super) vars: Vec<DraftVar>,
    pub(super) params: Vec<Var>,
    pub(super) joins: Joins,
    pub(super) problems: Vec<String>,
}

#[derive(Clone, Copy)]
pub(super) struct DraftVar {
    pub(super) is_ref: bool,
    /// Takes two stack slots.
    pub(super) is_wide: bool,
    pub(super) name: Option<Name>,
}

pub(super) struct Machine<'m, 'a> {
    pub(super) program: &'m mut Program,
    pub(super) file: &'m ClassFile<'a>,
    names: LocalNames<'m>,
    live: &'m Live,
    max_locals: u16,
    stack: Vec<Var>,
    /// By dense number.
    locals: Vec<Var>,
    pub(super) draft: Draft,
    /// Where statements are emitted to, and what they come from.
    pub(super) block: BlockId,
    pub(super) line: u32,
    pub(super) pc: u32,
}

impl<'m, 'a> Machine<'m, 'a> {
    pub(super) fn new(
        program: &'m mut Program,
        file: &'m ClassFile<'a>,
        code: &'m Code<'_>,
        listing: &Listing<'_>,
        graph: &Graph,
        live: &'m Live,
    ) -> Self {
        Machine {
            program,
            file,
            names: LocalNames::new(code),
            live,
            max_locals: code.max_locals,
            stack: Vec::new(),
            locals: vec![UNDEFINED; live.locals()],
            draft: Draft {
                stmts: Vec::with_capacity(listing.len()),
                ends: Vec::with_capacity(graph.nodes.len()),
                vars: Vec::with_capacity(listing.len()),
                params: Vec::new(),
                joins: Joins::new(graph.nodes.len()),
                problems: Vec::new(),
            },
            block: BlockId(0),
            line: 0,
            pc: 0,
        }
    }

    pub(super) fn parameters(&mut self, method: &Method<'_>) -> Result<(), String> {
        let is_static = method.access & access::STATIC != 0;
        if descriptor::result(&method.descriptor).is_none() {
            return Err("malformed descriptor".to_owned());
        }
        let receiver = (!is_static).then_some(Type::Ref(""));
        let mut slot = 0usize;
        for kind in receiver.into_iter().chain(descriptor::parameters(&method.descriptor)) {
            let is_wide = kind == Type::Wide;
            let var = self.new_var(kind.is_ref(), is_wide);
            self.draft.params.push(var);
            if slot >= usize::from(self.max_locals) {
                return Err("more parameters than locals".to_owned());
            }
            if let Some(name) = self.names.at(slot as u16, 0) {
                self.draft.vars[var.index()].name = Some(self.program.names.intern(name));
            }
            if let Some(local) = self.live.dense(slot as u16) {
                self.locals[local] = var;
            }
            slot += if is_wide { 2 } else { 1 };
        }
        Ok(())
    }

    /// Sets locals and stack to what the node begins with.
    pub(super) fn enter(&mut self, node: u32, preds: usize) {
        self.locals.fill(UNDEFINED);
        self.stack.clear();
        let width = self.draft.joins.first_row(node).len();
        let live = self.live;
        let mut columns = 0..width;
        for (local, column) in live.at_entry(node as usize).zip(&mut columns) {
            self.locals[local] = self.join(node, column, preds, Some(live.slot(local)));
        }
        for column in columns {
            let value = self.join(node, column, preds, None);
            self.stack.push(value);
        }
    }

    /// The value of one column where the node begins; a phi is named like the local it is for.
    fn join(&mut self, node: u32, column: usize, preds: usize, slot: Option<u16>) -> Var {
        match self.draft.joins.joined(node, column, preds) {
            Joined::Same(value) => value,
            Joined::Phi { example } => {
                let like = self.draft.vars.get(example.index());
                let (is_ref, is_wide) = like.map_or((false, false), |like| (like.is_ref, like.is_wide));
                let var = self.new_var(is_ref, is_wide);
                let name = slot.and_then(|slot| self.names.at(slot, self.pc));
                self.draft.vars[var.index()].name = name.map(|name| self.program.names.intern(name));
                self.draft.joins.phis.push(Phi { var, node, column: column as u32 });
                var
            }
        }
    }

    pub(super) fn new_var(&mut self, is_ref: bool, is_wide: bool) -> Var {
        self.draft.vars.push(DraftVar { is_ref, is_wide, name: None });
        Var::new(self.draft.vars.len() - 1)
    }

    pub(super) fn emit(&mut self, kind: StmtKind) {
        self.draft.stmts.push(Stmt { kind, block: self.block, line: self.line, pc: self.pc });
    }

    pub(super) fn push(&mut self, var: Var) {
        self.stack.push(var);
    }

    /// A fresh variable of this type, on the stack.
    pub(super) fn push_new(&mut self, kind: Type<'_>) -> Var {
        let var = self.new_var(kind.is_ref(), kind == Type::Wide);
        self.stack.push(var);
        var
    }

    pub(super) fn pop(&mut self) -> Result<Var, String> {
        self.stack.pop().ok_or_else(|| format!("stack underflow at {}", self.pc))
    }

    /// Pops the arguments of a call, first argument first.
    pub(super) fn pop_many(&mut self, count: usize) -> Result<Vec<Var>, String> {
        match self.stack.len().checked_sub(count) {
            Some(rest) => Ok(self.stack.split_off(rest)),
            None => Err(format!("stack underflow at {}", self.pc)),
        }
    }

    /// Index of the value that begins `slots` slots below stack position `top`.
    fn below(&self, top: usize, slots: usize) -> Result<usize, String> {
        let (mut at, mut left) = (top, slots);
        while left > 0 {
            at = at.checked_sub(1).ok_or_else(|| format!("stack underflow at {}", self.pc))?;
            let size = if self.draft.vars[self.stack[at].index()].is_wide { 2 } else { 1 };
            left = left
                .checked_sub(size)
                .ok_or_else(|| format!("half of a long or double used at {}", self.pc))?;
        }
        Ok(at)
    }

    /// All forms of `dup`: the top `slots` again, `under` slots further down.
    pub(super) fn dup(&mut self, slots: usize, under: usize) -> Result<(), String> {
        let from = self.below(self.stack.len(), slots)?;
        let to = self.below(from, under)?;
        let copied = self.stack.len() - from;
        self.stack.extend_from_within(from..);
        self.stack[to..].rotate_right(copied);
        Ok(())
    }

    pub(super) fn drop_slots(&mut self, slots: usize) -> Result<(), String> {
        let rest = self.below(self.stack.len(), slots)?;
        self.stack.truncate(rest);
        Ok(())
    }

    fn local(&self, slot: u16, is_wide: bool) -> Result<usize, String> {
        let needed = u32::from(slot) + if is_wide { 2 } else { 1 };
        self.live
            .dense(slot)
            .filter(|_| needed <= self.max_locals.into())
            .ok_or_else(|| format!("no local {slot} at {}", self.pc))
    }

    pub(super) fn read(&mut self, slot: u16, num: Option<NumKind>) -> Result<Var, String> {
        let is_wide = matches!(num, Some(NumKind::Long | NumKind::Double));
        let local = self.local(slot, is_wide)?;
        if self.locals[local] == UNDEFINED {
            self.locals[local] = self.new_var(num.is_none(), is_wide);
        }
        Ok(self.locals[local])
    }

    /// Assigns a local; the value takes its name unless it has one already.
    pub(super) fn write(&mut self, slot: u16, is_wide: bool, value: Var, next_pc: u32) -> Result<(), String> {
        let local = self.local(slot, is_wide)?;
        self.locals[local] = value;
        let info = &mut self.draft.vars[value.index()];
        if info.name.is_none()
            && let Some(name) = self.names.at(slot, next_pc)
        {
            info.name = Some(self.program.names.intern(name));
        }
        Ok(())
    }

    /// Hands the locals a handler reads on to it.
    pub(super) fn throw_to(&mut self, handler: u32) -> Result<(), String> {
        let row = self.live.at_entry(handler as usize).map(|local| self.locals[local]);
        self.draft.joins.add_row(handler, row)
    }

    /// Hands the stack and the locals that are still read on to the next node.
    pub(super) fn leave_to(&mut self, succ: u32) -> Result<(), String> {
        let row = self.live.at_entry(succ as usize).map(|local| self.locals[local]);
        self.draft.joins.add_row(succ, row.chain(self.stack.iter().copied()))
    }
}

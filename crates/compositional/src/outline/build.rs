//! From a body to its outline: arithmetic goes, operands are named by where they come from.

use super::{Block, Event, EventId, Lambda, Outline, Return, Test, Value, ValueId};
use ir::{Body, Cond, Const, StmtKind, Var};
use rustc_hash::FxHashMap;

impl Outline {
    pub fn of(body: &Body) -> Outline {
        let mut build = Build {
            body,
            out: Outline::default(),
            values: vec![None; body.vars.len()],
            calls: FxHashMap::default(),
            reads: FxHashMap::default(),
            depth: 0,
        };
        build.out.params = body.params.len() as u16;
        build.out.names = body.params.iter().map(|&param| body.vars[param].name).collect();
        for (number, &param) in body.params.iter().enumerate() {
            build.values[param.0 as usize] = Some(build.out.values.len() as ValueId);
            build.out.values.push(Value::Param(number as u16));
        }
        let order = order(body);
        let mut place = vec![u32::MAX; body.blocks.len()];
        order.iter().enumerate().for_each(|(at, &block)| place[block as usize] = at as u32);
        for &block in &order {
            build.block(block, &place);
        }
        build.out.shrink();
        build.out
    }

    fn shrink(&mut self) {
        self.values.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.events.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.lambdas.shrink_to_fit();
    }
}

struct Build<'a> {
    body: &'a Body,
    out: Outline,
    values: Vec<Option<ValueId>>,
    /// The event of each call, by the variable that holds its result.
    calls: FxHashMap<Var, EventId>,
    /// The event of each read of a field, by the variable that holds what was read.
    reads: FxHashMap<Var, EventId>,
    /// How many values are being followed at the moment.
    depth: usize,
}

/// What comes from further away than this is not followed: code can be as deep as it likes, the stack cannot.
const DEEPEST: usize = 200;

impl Build<'_> {
    fn block(&mut self, block: u32, place: &[u32]) {
        let body = self.body;
        let entry = &body.blocks[ir::BlockId(block)];
        let first = self.out.events.len() as EventId;
        let (mut test, mut returns) = (None, None);
        for stmt in (entry.first..entry.end).map(ir::StmtId) {
            let Some(stmt) = body.stmts.get(stmt) else { continue };
            match &stmt.kind {
                StmtKind::Branch { cond, a, b: None } => test = self.test(*cond, *a),
                kind @ StmtKind::Return { value } => {
                    let call = value.and_then(|value| self.calls.get(&self.copied(value)).copied());
                    returns = Some(Return { call });
                    self.statement(kind, stmt.line);
                }
                kind => self.statement(kind, stmt.line),
            }
        }
        let end = self.out.events.len() as EventId;
        let at = |blocks: &[ir::BlockId]| -> Box<[u32]> {
            blocks.iter().map(|block| place[block.0 as usize]).filter(|&at| at != u32::MAX).collect()
        };
        let succs = at(&entry.succs);
        let handlers = at(&handlers(body, &entry.handlers));
        self.out.blocks.push(Block { first, end, succs, handlers, test, returns });
    }

    fn statement(&mut self, kind: &StmtKind, line: u32) {
        let event = match kind {
            StmtKind::Load { base, field, dst } => {
                self.reads.insert(*dst, self.out.events.len() as EventId);
                Event::Read { base: self.value(*base), field: *field }
            }
            StmtKind::Store { base, field, src } => {
                Event::Write { base: self.value(*base), field: *field, src: self.value(*src) }
            }
            StmtKind::LoadStatic { field, dst } => {
                self.reads.insert(*dst, self.out.events.len() as EventId);
                Event::ReadStatic { field: *field }
            }
            StmtKind::StoreStatic { field, src } => {
                Event::WriteStatic { field: *field, src: self.value(*src) }
            }
            StmtKind::LoadElem { base, .. } => Event::ReadElement { base: self.value(*base) },
            StmtKind::StoreElem { base, src, .. } => {
                Event::WriteElement { base: self.value(*base), src: self.value(*src) }
            }
            StmtKind::MonitorEnter { lock } => Event::Enter(self.value(*lock)),
            StmtKind::MonitorExit { lock } => Event::Exit(self.value(*lock)),
            StmtKind::Return { value: Some(value) } if self.body.vars[*value].is_ref => {
                Event::Return(self.value(*value))
            }
            StmtKind::Call { dst, kind, target, args } => {
                let args = args.iter().map(|&arg| self.value(arg)).collect();
                if let Some(dst) = dst {
                    let event = self.out.events.len() as EventId;
                    self.calls.insert(*dst, event);
                    if let Some(value) = self.values[dst.0 as usize] {
                        self.out.values[value as usize] = Value::Result(event);
                    }
                }
                Event::Call { target: *target, kind: *kind, args }
            }
            _ => return,
        };
        self.out.events.push(event);
        self.out.lines.push(line);
    }

    fn test(&mut self, cond: Cond, on: Var) -> Option<Test> {
        let first_if_true = match cond {
            Cond::Ne => true,
            Cond::Eq => false,
            _ => return None,
        };
        let on = self.copied(on);
        let of = *self.calls.get(&on).or_else(|| self.reads.get(&on))?;
        Some(Test { of, first_if_true })
    }

    fn copied(&self, mut var: Var) -> Var {
        for _ in 0..8 {
            match self.definition(var) {
                Some(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) => var = *src,
                _ => break,
            }
        }
        var
    }

    fn definition(&self, var: Var) -> Option<&StmtKind> {
        Some(&self.body.stmts.get(self.body.vars[var].def?)?.kind)
    }

    /// Where a variable comes from; the number is there before it is known, so that cycles end.
    fn value(&mut self, var: Var) -> ValueId {
        if let Some(value) = self.values[var.0 as usize] {
            return value;
        }
        self.depth += 1;
        let value = self.find_value(var);
        self.depth -= 1;
        value
    }

    fn find_value(&mut self, var: Var) -> ValueId {
        let body = self.body;
        let definition =
            body.vars[var].def.and_then(|def| body.stmts.get(def)).filter(|_| self.depth < DEEPEST);
        if let Some(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) =
            definition.map(|stmt| &stmt.kind)
            && *src != var
        {
            // Copies of each other do not exist in SSA form, whatever the bytecode was.
            let value = self.value(*src);
            self.values[var.0 as usize] = Some(value);
            return value;
        }
        let value = self.out.values.len() as ValueId;
        self.values[var.0 as usize] = Some(value);
        self.out.values.push(Value::Unknown);
        let known = definition.map_or(Value::Unknown, |stmt| self.known(var, &stmt.kind));
        self.out.values[value as usize] = known;
        value
    }

    fn known(&mut self, var: Var, kind: &StmtKind) -> Value {
        match kind {
            StmtKind::New { class, .. } | StmtKind::NewArray { class, .. } => Value::Made(*class),
            StmtKind::Const { value: Const::Class(class), .. } => Value::Class(*class),
            StmtKind::Const { value: Const::Int(1), .. } => Value::One,
            StmtKind::Const { .. } | StmtKind::Concat { .. } | StmtKind::Compute { .. } => Value::Constant,
            StmtKind::RecordMethod { .. } => Value::Constant,
            StmtKind::Load { base, field, .. } => Value::Field { base: self.value(*base), field: *field },
            StmtKind::LoadStatic { field, .. } => Value::Static { field: *field },
            StmtKind::LoadElem { base, .. } => Value::Element { base: self.value(*base) },
            StmtKind::Call { .. } => {
                self.calls.get(&var).map_or(Value::Unknown, |&event| Value::Result(event))
            }
            StmtKind::Lambda { interface, selector, target, target_kind, captures, .. } => {
                let captures = captures.iter().map(|&capture| self.value(capture)).collect();
                let lambda = Lambda {
                    interface: *interface,
                    selector: *selector,
                    target: *target,
                    kind: *target_kind,
                    captures,
                };
                self.out.lambdas.push(lambda);
                Value::Lambda(self.out.lambdas.len() as u32 - 1)
            }
            StmtKind::Phi { srcs, .. } if self.body.vars[var].is_ref => {
                let mut values: Vec<ValueId> = srcs.iter().map(|&src| self.value(src)).collect();
                values.sort_unstable();
                values.dedup();
                Value::Any(values.into())
            }
            _ => Value::Unknown,
        }
    }
}

/// As far as the first that catches everything: what it does not catch, nothing outside of it sees.
fn handlers(body: &Body, handlers: &[ir::BlockId]) -> Vec<ir::BlockId> {
    let mut reached = Vec::new();
    for &handler in handlers {
        reached.push(handler);
        let catch = body.stmts.get(ir::StmtId(body.blocks[handler].first)).map(|stmt| &stmt.kind);
        if matches!(catch, Some(StmtKind::Catch { class: None, .. })) {
            break;
        }
    }
    reached
}

/// Blocks that are reached from the entry, in the order of the body. Compilers differ in which successor of a branch comes
/// first: one that looked at that would find other places before others.
fn order(body: &Body) -> Vec<u32> {
    let mut seen = vec![false; body.blocks.len()];
    let mut left: Vec<u32> = if seen.is_empty() { Vec::new() } else { vec![0] };
    while let Some(block) = left.pop() {
        if std::mem::replace(&mut seen[block as usize], true) {
            continue;
        }
        let entry = &body.blocks[ir::BlockId(block)];
        left.extend(entry.handlers.iter().chain(&entry.succs).map(|next| next.0));
    }
    (0..body.blocks.len() as u32).filter(|&block| seen[block as usize]).collect()
}

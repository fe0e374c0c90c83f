//! Bodies as text, for tests and debugging. Owns that form only; nothing reads it back.

use crate::body::{Block, BlockId, Body, CallKind, Cond, Const, LambdaKind, Op, StmtKind, Var};
use crate::program::{ClassId, FieldRef, MethodRef, Program, Selector};
use std::fmt::Write;

/// One line per statement, block by block: `  12  v3 = v0.balance`, with source lines at the left.
pub fn dump(program: &Program, body: &Body) -> String {
    let printer = Printer { program, body };
    let mut out = String::new();
    let params: Vec<String> = body.params.iter().map(|&param| printer.var(param)).collect();
    let _ = writeln!(out, "({})", params.join(", "));
    for (id, block) in body.blocks.iter() {
        let _ = writeln!(out, "{}", printer.head(id, block));
        for (_, stmt) in body.block_stmts(id) {
            let line = if stmt.line == 0 { String::new() } else { stmt.line.to_string() };
            let _ = writeln!(out, "{line:>5}  {}", printer.stmt(&stmt.kind));
        }
    }
    for problem in &body.problems {
        let _ = writeln!(out, "problem: {problem}");
    }
    out
}

struct Printer<'p> {
    program: &'p Program,
    body: &'p Body,
}

impl Printer<'_> {
    fn head(&self, id: BlockId, block: &Block) -> String {
        let list = |word: &str, blocks: &[BlockId]| {
            if blocks.is_empty() {
                return String::new();
            }
            let numbers: Vec<String> = blocks.iter().map(|block| format!("b{}", block.0)).collect();
            format!(" {word} {}", numbers.join(" "))
        };
        let (from, to) = (list("from", &block.preds), list("->", &block.succs));
        format!("b{}:{from}{to}{}", id.0, list("throws to", &block.handlers))
    }

    fn stmt(&self, kind: &StmtKind) -> String {
        let text = self.effect(kind);
        match kind.def() {
            Some(dst) => format!("{} = {text}", self.var(dst)),
            None => text,
        }
    }

    fn effect(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::New { class, .. } => format!("new {}", self.class(*class)),
            StmtKind::NewArray { class, .. } => format!("new {}", self.class(*class)),
            StmtKind::Const { value, .. } => self.constant(value),
            StmtKind::Copy { src, .. } => self.var(*src),
            StmtKind::Cast { src, class, .. } => format!("({}) {}", self.class(*class), self.var(*src)),
            StmtKind::Phi { srcs, .. } => format!("phi{}", self.list(srcs)),
            StmtKind::Catch { class: Some(class), .. } => format!("catch {}", self.class(*class)),
            StmtKind::Catch { class: None, .. } => "catch all".to_owned(),
            StmtKind::Load { base, field, .. } => format!("{}.{}", self.var(*base), self.field(*field)),
            StmtKind::Store { base, field, src } => {
                format!("{}.{} = {}", self.var(*base), self.field(*field), self.var(*src))
            }
            StmtKind::LoadStatic { field, .. } => self.static_field(*field),
            StmtKind::StoreStatic { field, src } => {
                format!("{} = {}", self.static_field(*field), self.var(*src))
            }
            StmtKind::LoadElem { base, index, .. } => format!("{}[{}]", self.var(*base), self.var(*index)),
            StmtKind::StoreElem { base, index, src } => {
                format!("{}[{}] = {}", self.var(*base), self.var(*index), self.var(*src))
            }
            StmtKind::Call { kind, target, args, .. } => {
                let word = match kind {
                    CallKind::Virtual => "virtual",
                    CallKind::Special => "special",
                    CallKind::Static => "static",
                };
                format!("{word} {}{}", self.method(*target), self.list(args))
            }
            StmtKind::Lambda { interface, selector, target, target_kind, captures, .. } => {
                let word = match target_kind {
                    LambdaKind::Static => "static",
                    LambdaKind::Virtual => "virtual",
                    LambdaKind::Special => "special",
                    LambdaKind::New => "new",
                };
                let (interface, selector) = (self.class(*interface), self.selector(*selector));
                let (target, captures) = (self.method(*target), self.list(captures));
                format!("lambda {interface}.{selector} runs {word} {target} capturing {captures}")
            }
            StmtKind::Concat { args, .. } => format!("concat{}", self.list(args)),
            StmtKind::RecordMethod { args, fields, .. } => {
                let fields: Vec<String> = fields.iter().map(|&field| self.field(field)).collect();
                format!("record method{} over {}", self.list(args), fields.join(", "))
            }
            StmtKind::Dynamic { args, class, .. } => {
                let class = class.map_or(String::new(), |class| format!(" {}", self.class(class)));
                format!("dynamic{class}{}", self.list(args))
            }
            StmtKind::MonitorEnter { lock } => format!("enter {}", self.var(*lock)),
            StmtKind::MonitorExit { lock } => format!("exit {}", self.var(*lock)),
            StmtKind::Compute { args, op, .. } => match op {
                Op::InstanceOf(class) => format!("{} instanceof {}", self.list(args), self.class(*class)),
                Op::ArrayLength => format!("length{}", self.list(args)),
                Op::Add => format!("add{}", self.list(args)),
                Op::Compare => format!("compare{}", self.list(args)),
                Op::Other => format!("compute{}", self.list(args)),
            },
            StmtKind::Branch { cond, a, b } => {
                let sign = match cond {
                    Cond::Eq => "==",
                    Cond::Ne => "!=",
                    Cond::Lt => "<",
                    Cond::Ge => ">=",
                    Cond::Gt => ">",
                    Cond::Le => "<=",
                };
                let against = b.map_or_else(|| self.zero_of(*a).to_owned(), |b| self.var(b));
                format!("if {} {sign} {against}", self.var(*a))
            }
            StmtKind::Switch { on } => format!("switch {}", self.var(*on)),
            StmtKind::Throw { value } => format!("throw {}", self.var(*value)),
            StmtKind::Return { value: Some(value) } => format!("return {}", self.var(*value)),
            StmtKind::Return { value: None } => "return".to_owned(),
            StmtKind::Nothing => "nothing".to_owned(),
        }
    }

    fn zero_of(&self, var: Var) -> &'static str {
        if self.body.vars[var].is_ref { "null" } else { "0" }
    }

    /// `v3`, or `v3:account` where the source names it.
    fn var(&self, var: Var) -> String {
        match self.body.vars[var].name {
            Some(name) => format!("v{}:{}", var.0, &self.program.names[name]),
            None => format!("v{}", var.0),
        }
    }

    fn list(&self, vars: &[Var]) -> String {
        let vars: Vec<String> = vars.iter().map(|&var| self.var(var)).collect();
        format!("({})", vars.join(", "))
    }

    fn class(&self, class: ClassId) -> String {
        self.program.class_display(class)
    }

    fn field(&self, field: FieldRef) -> String {
        self.program.names[field.name].to_owned()
    }

    fn static_field(&self, field: FieldRef) -> String {
        format!("{}.{}", self.class(field.class), &self.program.names[field.name])
    }

    fn method(&self, method: MethodRef) -> String {
        format!("{}.{}", self.class(method.class), self.selector(method.selector))
    }

    fn selector(&self, selector: Selector) -> String {
        self.program.selector_text(selector).0.to_owned()
    }

    fn constant(&self, value: &Const) -> String {
        match value {
            Const::Null => "null".to_owned(),
            Const::Int(value) => value.to_string(),
            Const::Float => "float".to_owned(),
            Const::String(text) => format!("{:?}", &self.program.names[*text]),
            Const::Class(class) => format!("{}.class", self.class(*class)),
            Const::MethodHandle(target) => format!("handle {}", self.method(*target)),
            Const::Other(class) => format!("constant {}", self.class(*class)),
        }
    }
}

//! What statements are, apart from their variables, as numbers: equal shapes may be the same statement. Knows two
//! bodies and nothing of how their statements are matched.

use crate::body::{Body, Stmt, StmtKind, Var};
use arena::{Id, IndexVec};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Equal things get equal numbers, from 1 on.
struct Numbers<T>(FxHashMap<T, u32>);

impl<T: Hash + Eq> Numbers<T> {
    fn new() -> Self {
        Numbers(FxHashMap::default())
    }

    fn of(&mut self, item: T) -> u32 {
        let next = self.0.len() as u32 + 1;
        *self.0.entry(item).or_insert(next)
    }
}

/// What one finds for a variable looking back through copies, casts and receivers, as models of calls do for constant
/// arguments and for streams: equal numbers for the same chain of definitions. 0 is anything else, where nobody looks.
pub(super) type Looks = IndexVec<Var, u32>;

/// The looks of both bodies' variables.
pub(super) fn looks(old: &Body, new: &Body) -> (Looks, Looks) {
    // A link of a chain, and the number of the rest of it.
    let mut numbers: Numbers<(StmtKind, u32)> = Numbers::new();
    let mut of = |body: &Body| {
        let mut looks: Looks = body.vars.iter().map(|_| UNSEEN).collect();
        for var in body.vars.ids() {
            look(body, var, &mut looks, &mut numbers);
        }
        looks
    };
    (of(old), of(new))
}

const OPAQUE: u32 = 0;
const UNSEEN: u32 = u32::MAX;

fn look(body: &Body, var: Var, looks: &mut Looks, numbers: &mut Numbers<(StmtKind, u32)>) {
    let mut chain = Vec::new();
    let mut next = Some(var);
    let mut rest = OPAQUE;
    while let Some(var) = next {
        if looks[var] != UNSEEN {
            rest = looks[var];
            break;
        }
        // Until the chain is known; also ends one that goes round, which no valid body has.
        looks[var] = OPAQUE;
        let Some(def) = body.vars[var].def else { break };
        let kind = &body.stmts[def].kind;
        let link = match kind {
            StmtKind::Const { value, .. } => StmtKind::Const { dst: Var(0), value: value.clone() },
            StmtKind::Copy { .. } => StmtKind::Copy { dst: Var(0), src: Var(0) },
            &StmtKind::Cast { class, .. } => StmtKind::Cast { dst: Var(0), src: Var(0), class },
            &StmtKind::Call { kind, target, .. } => StmtKind::Call { dst: None, kind, target, args: vec![] },
            _ => break,
        };
        next = kind.uses().next();
        chain.push((var, link));
    }
    for (var, link) in chain.into_iter().rev() {
        rest = numbers.of((link, rest));
        looks[var] = rest;
    }
}

/// The shapes of a body's statements.
#[derive(Default)]
pub(super) struct Shapes {
    /// The instruction.
    pub(super) plain: Vec<u32>,
    /// Also which variables it defines and reads, by number.
    pub(super) numbered: Vec<u32>,
    /// Also the name of its result, what its operands are and what it is used for, as far as the next statement: to
    /// tell statements of one shape apart where numbers mean nothing.
    pub(super) with_neighbours: Vec<u32>,
}

/// The shapes of both bodies' statements.
pub(super) fn shapes(old: &Body, new: &Body) -> (Shapes, Shapes) {
    let mut kinds = Numbers::new();
    let mut texts: [Numbers<Vec<u32>>; 2] = [Numbers::new(), Numbers::new()];
    let mut of = |body: &Body| {
        let bare = bare_shapes(body, &mut kinds);
        let users = users(body, &bare);
        let [numbered, with_neighbours] = &mut texts;
        let mut shapes = Shapes::default();
        for (id, stmt) in body.stmts.iter() {
            let shape = bare[id.index()];
            shapes.plain.push(shape);
            let vars = stmt.kind.def().into_iter().chain(stmt.kind.uses());
            shapes.numbered.push(numbered.of([shape].into_iter().chain(vars.map(|var| var.0)).collect()));
            let mut words = vec![shape];
            let operands = stmt.kind.uses().map(|used| body.vars[used].def);
            words.extend(operands.map(|def| def.map_or(0, |def| bare[def.index()])));
            if let Some(var) = stmt.kind.def() {
                words.extend(body.vars[var].name.map(|name| name.0));
                words.extend(users[var].iter().flat_map(|&(shape, position)| [shape, position]));
            }
            shapes.with_neighbours.push(with_neighbours.of(words));
        }
        shapes
    };
    (of(old), of(new))
}

/// The instruction alone, by the number of the statement. Of variables only remains whether the result is a reference; phis may differ in how many
/// values they join.
fn bare_shapes(body: &Body, numbers: &mut Numbers<StmtKind>) -> Vec<u32> {
    let mut shape = |stmt: &Stmt| {
        let result = stmt.kind.def();
        let mut kind = stmt.kind.clone();
        let number = |var: &mut Var| *var = Var(u32::from(result == Some(*var) && body.vars[*var].is_ref));
        match &mut kind {
            StmtKind::Phi { dst, srcs } => {
                srcs.clear();
                number(dst);
            }
            other => other.rename(number),
        }
        numbers.of(kind)
    };
    let mut shapes = vec![0; body.stmts.bound()];
    for (id, stmt) in body.stmts.iter() {
        shapes[id.index()] = shape(stmt);
    }
    shapes
}

/// By which instructions each variable is read, and as which operand; in an order of no meaning.
fn users(body: &Body, bare: &[u32]) -> IndexVec<Var, Vec<(u32, u32)>> {
    let mut users: IndexVec<Var, Vec<(u32, u32)>> = body.vars.iter().map(|_| Vec::new()).collect();
    for (id, stmt) in body.stmts.iter() {
        for (position, used) in stmt.kind.uses().enumerate() {
            users[used].push((bare[id.index()], position as u32));
        }
    }
    users.iter_mut().for_each(|users| users.sort_unstable());
    users
}

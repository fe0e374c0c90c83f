//! What statements are, apart from their variables, as numbers: equal shapes may be the same statement. Knows two
//! bodies and nothing of how their statements are matched.

use crate::body::{Body, StmtId, StmtKind, Var};
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
pub(super) struct Shapes {
    /// The instruction; of a call also what its arguments look like, because models see that, and name objects after
    /// calls.
    pub(super) plain: Vec<u32>,
    /// Also the name of its result, what its operands are and what it is used for, as far as the next statement: to
    /// tell statements of one shape apart.
    pub(super) with_neighbours: Vec<u32>,
}

/// The shapes of both bodies' statements.
pub(super) fn shapes(old: &Body, new: &Body, (old_looks, new_looks): (&Looks, &Looks)) -> (Shapes, Shapes) {
    let mut bare = Numbers::new();
    let (old_bare, new_bare) = (bare_shapes(old, &mut bare), bare_shapes(new, &mut bare));
    let mut numbers = Numbers::new();
    let mut of = |body: &Body, bare: &[u32], looks: &Looks| {
        let plain: Vec<u32> = body
            .stmts
            .iter()
            .map(|(id, stmt)| {
                let mut words = vec![bare[id.index()]];
                if let StmtKind::Call { args, .. } = &stmt.kind {
                    words.extend(args.iter().map(|&arg| looks[arg]));
                }
                numbers.of(words)
            })
            .collect();
        plain
    };
    let (old_plain, new_plain) = (of(old, &old_bare, old_looks), of(new, &new_bare, new_looks));
    let mut numbers = Numbers::new();
    let mut of = |body: &Body, bare: &[u32], plain: Vec<u32>| {
        let with_neighbours = with_neighbours(body, bare, &plain).into_iter();
        Shapes { with_neighbours: with_neighbours.map(|words| numbers.of(words)).collect(), plain }
    };
    (of(old, &old_bare, old_plain), of(new, &new_bare, new_plain))
}

/// The instruction alone. Of variables only remains whether the result is a reference; phis may differ in how many
/// values they join.
fn bare_shapes(body: &Body, numbers: &mut Numbers<StmtKind>) -> Vec<u32> {
    let shape = |(_, stmt): (StmtId, &crate::body::Stmt)| {
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
    body.stmts.iter().map(shape).collect()
}

fn with_neighbours(body: &Body, bare: &[u32], plain: &[u32]) -> Vec<Vec<u32>> {
    let shape_of = |def: Option<StmtId>| def.map_or(0, |def| bare[def.index()]);
    let mut users: IndexVec<Var, Vec<(u32, u32)>> = body.vars.iter().map(|_| Vec::new()).collect();
    for (id, stmt) in body.stmts.iter() {
        for (position, used) in stmt.kind.uses().enumerate() {
            users[used].push((bare[id.index()], position as u32));
        }
    }
    let words = |(id, stmt): (StmtId, &crate::body::Stmt)| {
        let mut words = vec![plain[id.index()]];
        words.extend(stmt.kind.uses().map(|used| shape_of(body.vars[used].def)));
        if let Some(var) = stmt.kind.def() {
            words.extend(body.vars[var].name.map(|name| name.0));
            users[var].sort_unstable();
            words.extend(users[var].iter().flat_map(|&(shape, position)| [shape, position]));
        }
        words
    };
    body.stmts.iter().map(words).collect()
}

//! Values at block entries: rows of incoming values, phis where they differ, and the removal of phis that turn
//! out to choose between one value and themselves. Knows columns of values, not what they are for.

use crate::body::Var;
use arena::Id;

/// No value: the local was not assigned on this path.
pub(super) const UNDEFINED: Var = Var(u32::MAX);

/// Values held for joins in one method; real methods stay four orders of magnitude below.
const MAX_VALUES: usize = 32 << 20;

pub(super) struct Joins {
    entries: Vec<Entry>,
    pub(super) phis: Vec<Phi>,
    values: usize,
}

#[derive(Default)]
struct Entry {
    /// One row of `width` values per predecessor, in the order of predecessors.
    rows: Vec<Var>,
    width: usize,
    filled: usize,
}

/// A phi for one column of a node's rows.
#[derive(Clone, Copy)]
pub(super) struct Phi {
    pub(super) var: Var,
    pub(super) node: u32,
    pub(super) column: u32,
}

/// What a node begins with in one column.
pub(super) enum Joined {
    Same(Var),
    /// A phi is needed; `example` is one of its values, for its kind.
    Phi {
        example: Var,
    },
}

impl Joins {
    pub(super) fn new(nodes: usize) -> Joins {
        Joins {
            entries: std::iter::repeat_with(Entry::default).take(nodes).collect(),
            phis: Vec::new(),
            values: 0,
        }
    }

    /// Adds the values that `node` begins with when entered from its next predecessor.
    pub(super) fn add_row(&mut self, node: u32, row: impl Iterator<Item = Var>) -> Result<(), String> {
        let entry = &mut self.entries[node as usize];
        let before = entry.rows.len();
        entry.rows.extend(row);
        let width = entry.rows.len() - before;
        if entry.filled > 0 && width != entry.width {
            return Err("stack depths differ where paths join".to_owned());
        }
        entry.width = width;
        entry.filled += 1;
        self.values += width;
        if self.values > MAX_VALUES { Err("too many values at joins".to_owned()) } else { Ok(()) }
    }

    /// A row of `node` that is there already.
    pub(super) fn first_row(&self, node: u32) -> &[Var] {
        let entry = &self.entries[node as usize];
        &entry.rows[..entry.width]
    }

    /// The values `node` begins with; predecessors not seen yet (back edges) may bring anything.
    pub(super) fn joined(&self, node: u32, column: usize, preds: usize) -> Joined {
        let entry = &self.entries[node as usize];
        let mut values = entry.rows.iter().skip(column).step_by(entry.width.max(1)).copied();
        let first = values.next().unwrap_or(UNDEFINED);
        let same = entry.filled == preds && values.clone().all(|value| value == first);
        if same {
            return Joined::Same(first);
        }
        let example = std::iter::once(first).chain(values).find(|&value| value != UNDEFINED);
        Joined::Phi { example: example.unwrap_or(UNDEFINED) }
    }

    /// The values a phi chooses from, in the order of predecessors.
    pub(super) fn sources(&self, phi: Phi) -> impl Iterator<Item = Var> + '_ {
        let entry = &self.entries[phi.node as usize];
        entry.rows.iter().skip(phi.column as usize).step_by(entry.width.max(1)).copied()
    }

    /// Finds phis that stand for one single other value: `x = φ(v, x, v)` is `v`. Removing one may make others
    /// trivial, so their users are looked at again.
    pub(super) fn simplify(&self, vars: usize) -> Replacements {
        let mut replaced = Replacements { by: (0..vars).map(Var::new).collect() };
        if self.phis.is_empty() {
            return replaced;
        }
        const NO_PHI: u32 = u32::MAX;
        let mut phi_of = vec![NO_PHI; vars];
        for (at, phi) in self.phis.iter().enumerate() {
            phi_of[phi.var.index()] = at as u32;
        }
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.phis.len()];
        for (at, &phi) in self.phis.iter().enumerate() {
            for source in self.sources(phi).filter(|&source| source != UNDEFINED && source != phi.var) {
                if phi_of[source.index()] != NO_PHI {
                    users[phi_of[source.index()] as usize].push(at as u32);
                }
            }
        }
        let mut queued = vec![true; self.phis.len()];
        let mut left: Vec<u32> = (0..self.phis.len() as u32).rev().collect();
        while let Some(at) = left.pop() {
            queued[at as usize] = false;
            let phi = self.phis[at as usize];
            let own = replaced.find(phi.var);
            if own != phi.var {
                continue;
            }
            let mut only = None;
            let mut trivial = true;
            for source in self.sources(phi) {
                let source = replaced.find(source);
                if source == own || only == Some(source) {
                    continue;
                }
                if only.is_some() {
                    trivial = false;
                    break;
                }
                only = Some(source);
            }
            if !trivial {
                continue;
            }
            replaced.by[phi.var.index()] = only.unwrap_or(UNDEFINED);
            for &user in &users[at as usize] {
                if !std::mem::replace(&mut queued[user as usize], true) {
                    left.push(user);
                }
            }
            // Whoever used this phi now uses its value: if that is a phi, it gains those users.
            if let Some(heir) = only
                && heir != UNDEFINED
                && phi_of[heir.index()] != NO_PHI
            {
                let inherited = std::mem::take(&mut users[at as usize]);
                users[phi_of[heir.index()] as usize].extend(inherited);
            }
        }
        replaced
    }
}

pub(super) struct Replacements {
    by: Vec<Var>,
}

impl Replacements {
    /// The value that stands for `var` after all replacements.
    pub(super) fn find(&mut self, var: Var) -> Var {
        let mut root = var;
        while root != UNDEFINED && self.by[root.index()] != root {
            root = self.by[root.index()];
        }
        let mut at = var;
        while at != root {
            at = std::mem::replace(&mut self.by[at.index()], root);
        }
        root
    }
}

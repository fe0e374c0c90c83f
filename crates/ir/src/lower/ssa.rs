//! Values at block entries: rows of incoming values, phis where they differ, and the removal of phis that turn
//! out to stand for one value only. Knows columns of values, not what they are for.

use crate::body::Var;
use arena::Id;
use std::collections::VecDeque;

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

    /// Finds phis that stand for one single other value: `x = φ(v, x, v)` is `v`, and so are `x = φ(v, y)` and
    /// `y = φ(x, v)` together.
    ///
    /// Every phi is first thought to be nothing at all. value(x) = the one value of its sources, as far as they
    /// have any, else x itself for good; repeated until nothing changes.
    pub(super) fn simplify(&self, vars: usize) -> Replacements {
        let mut replaced = Replacements { by: (0..vars).map(Var::new).collect() };
        if self.phis.is_empty() {
            return replaced;
        }
        let users = Users::of(self, vars);
        let by = &mut replaced.by;
        for phi in &self.phis {
            by[phi.var.index()] = UNKNOWN;
        }
        let mut changes = vec![0u8; self.phis.len()];
        let mut queued = vec![true; self.phis.len()];
        let mut left: VecDeque<u32> = (0..self.phis.len() as u32).collect();
        while let Some(at) = left.pop_front() {
            queued[at as usize] = false;
            let phi = self.phis[at as usize];
            let old = by[phi.var.index()];
            if old == phi.var {
                continue;
            }
            let mut value = UNKNOWN;
            for source in self.sources(phi).filter(|&source| source != phi.var) {
                let source = if source == UNDEFINED { source } else { by[source.index()] };
                if source == UNKNOWN || source == value {
                    continue;
                }
                value = if value == UNKNOWN { source } else { phi.var };
                if value == phi.var {
                    break;
                }
            }
            if value == old {
                continue;
            }
            // A value may follow that of another phi a few times; whoever goes on for longer stays a phi.
            changes[at as usize] += 1;
            by[phi.var.index()] = if changes[at as usize] > MAX_CHANGES { phi.var } else { value };
            for &user in users.of_phi(at) {
                if !std::mem::replace(&mut queued[user as usize], true) {
                    left.push_back(user);
                }
            }
        }
        for phi in &self.phis {
            if by[phi.var.index()] == UNKNOWN {
                by[phi.var.index()] = UNDEFINED;
            }
        }
        self.sweep(&mut replaced);
        replaced
    }

    /// Removes phis that saw two values only for a while, when one had followed a third and the other not yet.
    fn sweep(&self, replaced: &mut Replacements) {
        for _ in 0..MAX_SWEEPS {
            let mut changed = false;
            for &phi in &self.phis {
                if replaced.find(phi.var) != phi.var {
                    continue;
                }
                let values = self.sources(phi).map(|source| replaced.find(source));
                let mut others = values.filter(|&value| value != phi.var);
                if let Some(first) = others.next()
                    && others.all(|value| value == first)
                {
                    replaced.by[phi.var.index()] = first;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
}

/// A phi none of whose sources was looked at yet.
const UNKNOWN: Var = Var(u32::MAX - 1);

const MAX_CHANGES: u8 = 8;
const MAX_SWEEPS: usize = 4;

/// Which phis read which phi, in one list.
struct Users {
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl Users {
    fn of(joins: &Joins, vars: usize) -> Users {
        const NO_PHI: u32 = u32::MAX;
        let mut phi_of = vec![NO_PHI; vars];
        for (at, phi) in joins.phis.iter().enumerate() {
            phi_of[phi.var.index()] = at as u32;
        }
        let reads = |phi: Phi| {
            let sources = joins.sources(phi).filter(move |&source| source != UNDEFINED && source != phi.var);
            sources.map(|source| phi_of[source.index()]).filter(|&read| read != NO_PHI)
        };
        let mut starts = vec![0; joins.phis.len() + 1];
        for &phi in &joins.phis {
            reads(phi).for_each(|read| starts[read as usize + 1] += 1);
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![0; next[joins.phis.len()] as usize];
        for (at, &phi) in joins.phis.iter().enumerate() {
            for read in reads(phi) {
                users[next[read as usize] as usize] = at as u32;
                next[read as usize] += 1;
            }
        }
        Users { starts, users }
    }

    fn of_phi(&self, phi: u32) -> &[u32] {
        &self.users[self.starts[phi as usize] as usize..self.starts[phi as usize + 1] as usize]
    }
}

pub(super) struct Replacements {
    by: Vec<Var>,
}

impl Replacements {
    /// The value that stands for `var`.
    pub(super) fn find(&self, mut var: Var) -> Var {
        while var != UNDEFINED && self.by[var.index()] != var {
            var = self.by[var.index()];
        }
        var
    }
}

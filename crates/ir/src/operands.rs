//! Which variable a statement defines and which it reads. The only place that lists the operands of every kind
//! of statement.

use crate::body::{StmtKind, Var};

impl StmtKind {
    /// The variable this statement defines.
    pub fn def(&self) -> Option<Var> {
        match *self {
            StmtKind::New { dst, .. }
            | StmtKind::NewArray { dst, .. }
            | StmtKind::Const { dst, .. }
            | StmtKind::Copy { dst, .. }
            | StmtKind::Cast { dst, .. }
            | StmtKind::Phi { dst, .. }
            | StmtKind::Catch { dst, .. }
            | StmtKind::Load { dst, .. }
            | StmtKind::LoadStatic { dst, .. }
            | StmtKind::LoadElem { dst, .. }
            | StmtKind::Lambda { dst, .. }
            | StmtKind::Concat { dst, .. }
            | StmtKind::RecordMethod { dst, .. }
            | StmtKind::Compute { dst, .. } => Some(dst),
            StmtKind::Call { dst, .. } | StmtKind::Dynamic { dst, .. } => dst,
            StmtKind::Store { .. }
            | StmtKind::StoreStatic { .. }
            | StmtKind::StoreElem { .. }
            | StmtKind::MonitorEnter { .. }
            | StmtKind::MonitorExit { .. }
            | StmtKind::Branch { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Throw { .. }
            | StmtKind::Return { .. }
            | StmtKind::Nothing => None,
        }
    }

    /// The variables this statement reads, in operand order, phi sources included.
    pub fn uses(&self) -> impl Iterator<Item = Var> + '_ {
        let (fixed, listed): ([Option<Var>; 3], &[Var]) = match self {
            StmtKind::New { .. }
            | StmtKind::NewArray { .. }
            | StmtKind::Const { .. }
            | StmtKind::Catch { .. }
            | StmtKind::LoadStatic { .. }
            | StmtKind::Nothing => ([None; 3], &[]),
            StmtKind::Copy { src: var, .. }
            | StmtKind::Cast { src: var, .. }
            | StmtKind::Load { base: var, .. }
            | StmtKind::StoreStatic { src: var, .. }
            | StmtKind::MonitorEnter { lock: var }
            | StmtKind::MonitorExit { lock: var }
            | StmtKind::Switch { on: var }
            | StmtKind::Throw { value: var } => ([Some(*var), None, None], &[]),
            StmtKind::Store { base, src, .. } => ([Some(*base), Some(*src), None], &[]),
            StmtKind::LoadElem { base, index, .. } => ([Some(*base), Some(*index), None], &[]),
            StmtKind::StoreElem { base, index, src } => ([Some(*base), Some(*index), Some(*src)], &[]),
            StmtKind::Branch { a, b, .. } => ([Some(*a), *b, None], &[]),
            StmtKind::Return { value } => ([*value, None, None], &[]),
            StmtKind::Phi { srcs: listed, .. }
            | StmtKind::Call { args: listed, .. }
            | StmtKind::Lambda { captures: listed, .. }
            | StmtKind::Concat { args: listed, .. }
            | StmtKind::RecordMethod { args: listed, .. }
            | StmtKind::Dynamic { args: listed, .. }
            | StmtKind::Compute { args: listed, .. } => ([None; 3], listed),
        };
        fixed.into_iter().flatten().chain(listed.iter().copied())
    }

    /// Rewrites the variables this statement reads, then the one it defines.
    pub(crate) fn rename(&mut self, mut each: impl FnMut(&mut Var)) {
        match self {
            StmtKind::New { dst, .. }
            | StmtKind::NewArray { dst, .. }
            | StmtKind::Const { dst, .. }
            | StmtKind::Catch { dst, .. }
            | StmtKind::LoadStatic { dst, .. } => each(dst),
            StmtKind::Copy { dst, src } | StmtKind::Cast { dst, src, .. } => {
                each(src);
                each(dst);
            }
            StmtKind::Load { dst, base, .. } => {
                each(base);
                each(dst);
            }
            StmtKind::LoadElem { dst, base, index } => {
                each(base);
                each(index);
                each(dst);
            }
            StmtKind::Store { base, src, .. } => {
                each(base);
                each(src);
            }
            StmtKind::StoreElem { base, index, src } => {
                each(base);
                each(index);
                each(src);
            }
            StmtKind::StoreStatic { src: var, .. }
            | StmtKind::MonitorEnter { lock: var }
            | StmtKind::MonitorExit { lock: var }
            | StmtKind::Switch { on: var }
            | StmtKind::Throw { value: var } => each(var),
            StmtKind::Branch { a, b, .. } => {
                each(a);
                b.iter_mut().for_each(each);
            }
            StmtKind::Return { value } => value.iter_mut().for_each(each),
            StmtKind::Phi { dst, srcs: listed }
            | StmtKind::Lambda { dst, captures: listed, .. }
            | StmtKind::Concat { dst, args: listed }
            | StmtKind::RecordMethod { dst, args: listed, .. }
            | StmtKind::Compute { dst, args: listed, .. } => {
                listed.iter_mut().for_each(&mut each);
                each(dst);
            }
            StmtKind::Call { dst, args, .. } | StmtKind::Dynamic { dst, args, .. } => {
                args.iter_mut().for_each(&mut each);
                dst.iter_mut().for_each(each);
            }
            StmtKind::Nothing => {}
        }
    }
}

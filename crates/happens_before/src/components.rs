//! The call graph with its cycles collapsed: what activations call, transitively, at the price of a walk over
//! few nodes. Knows calls only.

use crate::bits::Bits;
use crate::content::{Calls, Content};
use arena::Id;
use ir::StmtId;
use pointsto::{Act, PointsTo};
use rustc_hash::FxHashSet;

/// Strongly connected components of the call graph. Callees have lower numbers than their callers.
#[derive(Debug, Clone, Default)]
pub struct Components {
    of: Vec<u32>,
    /// Members by component: `members[starts[c]..starts[c + 1]]`.
    members: Vec<Act>,
    starts: Vec<u32>,
    /// The place of each activation among the members of its component, in an order that depends on content only.
    places: Vec<u32>,
    /// Other components called, in the same layout.
    called: Vec<u32>,
    called_starts: Vec<u32>,
    /// Calls of members from other components.
    callers: Vec<Vec<(Act, StmtId)>>,
}

impl Components {
    pub fn new(pointsto: &PointsTo, content: &Content<'_>, calls: &Calls<'_>) -> Components {
        let count = pointsto.act_bound();
        let callees: Vec<Vec<u32>> = (0..count)
            .map(|act| {
                let mut callees: Vec<u32> =
                    pointsto.calls(Act::new(act)).map(|(_, callee)| callee.0).collect();
                callees.sort_unstable();
                callees.dedup();
                callees
            })
            .collect();
        let mut components = Components::of_graph(&callees);
        components.places = vec![0; count];
        for component in 0..components.len() as u32 {
            if components.members(component).len() > 1 {
                let in_order = components.in_order(component, pointsto, content, calls);
                for (place, act) in in_order.into_iter().enumerate() {
                    components.places[act.index()] = place as u32;
                }
            }
        }
        components.callers = vec![Vec::new(); components.len()];
        for act in (0..count).map(Act::new) {
            let component = components.of(act);
            let of = &components.of;
            let outside = pointsto.callers(act).iter().filter(|(caller, _)| of[caller.index()] != component);
            components.callers[component as usize].extend(outside);
        }
        components
    }

    /// The members of a cycle, callees before their callers as far as there is such an order, beginning with one that
    /// is called from outside. Depends on content only.
    fn in_order(
        &self,
        component: u32,
        pointsto: &PointsTo,
        content: &Content<'_>,
        calls: &Calls<'_>,
    ) -> Vec<Act> {
        let is_inside = |act: Act| self.of(act) == component;
        let is_entry = |act: &Act| pointsto.callers(*act).iter().any(|&(caller, _)| !is_inside(caller));
        let members = || self.members(component).iter().copied();
        let first = members().filter(is_entry).min_by(|&a, &b| content.acts(a, b));
        let first = first.or_else(|| members().min_by(|&a, &b| content.acts(a, b)));
        let mut seen: FxHashSet<Act> = first.into_iter().collect();
        let mut stack: Vec<(Act, usize)> = first.map(|first| (first, 0)).into_iter().collect();
        let mut order = Vec::new();
        while let Some((act, next)) = stack.last_mut() {
            match calls.callees(*act).get(*next) {
                Some(&(_, callee)) => {
                    *next += 1;
                    if is_inside(callee) && seen.insert(callee) {
                        stack.push((callee, 0));
                    }
                }
                None => {
                    order.push(*act);
                    stack.pop();
                }
            }
        }
        order
    }

    fn of_graph(callees: &[Vec<u32>]) -> Components {
        let mut components = tarjan(callees);
        components.called_starts.push(0);
        for component in 0..components.len() {
            let members = components.members(component as u32).iter();
            let called = members.flat_map(|act| &callees[act.index()]).map(|&to| components.of[to as usize]);
            let mut called: Vec<u32> = called.filter(|&to| to != component as u32).collect();
            called.sort_unstable();
            called.dedup();
            components.called.extend(called);
            components.called_starts.push(components.called.len() as u32);
        }
        components
    }

    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn of(&self, act: Act) -> u32 {
        self.of[act.index()]
    }

    /// The component, and the place within it. Where it matters who comes first in a cycle, nobody does by chance.
    pub fn place(&self, act: Act) -> (u32, u32) {
        (self.of(act), self.places[act.index()])
    }

    pub fn members(&self, component: u32) -> &[Act] {
        &self.members[self.starts[component as usize] as usize..self.starts[component as usize + 1] as usize]
    }

    /// Other components that members call.
    pub fn called(&self, component: u32) -> &[u32] {
        let at = component as usize;
        &self.called[self.called_starts[at] as usize..self.called_starts[at + 1] as usize]
    }

    /// Statements of other components that call a member.
    pub fn callers(&self, component: u32) -> &[(Act, StmtId)] {
        &self.callers[component as usize]
    }

    /// Adds a component and everything it calls to `reached`.
    pub fn reach(&self, component: u32, reached: &mut Bits) {
        if !reached.insert(component as usize) {
            return;
        }
        let mut left = vec![component];
        while let Some(next) = left.pop() {
            for &called in self.called(next) {
                if reached.insert(called as usize) {
                    left.push(called);
                }
            }
        }
    }

    /// The members of all these components.
    pub fn acts(&self, components: &Bits) -> Bits {
        let mut acts = Bits::with_len(self.of.len());
        for component in components.iter() {
            for act in self.members(component as u32) {
                acts.insert(act.index());
            }
        }
        acts
    }
}

/// The component of each node of any graph, given by its successors.
pub fn of_nodes(successors: &[Vec<u32>]) -> Vec<u32> {
    tarjan(successors).of
}

/// Tarjan's algorithm with an explicit stack.
fn tarjan(callees: &[Vec<u32>]) -> Components {
    const UNSEEN: u32 = u32::MAX;
    let count = callees.len();
    let mut components = Components { of: vec![UNSEEN; count], starts: vec![0], ..Components::default() };
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut open: Vec<u32> = Vec::new();
    let mut work: Vec<(u32, usize)> = Vec::new();
    let mut clock = 0;
    for root in 0..count as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        work.push((root, 0));
        while let Some((act, next)) = work.pop() {
            let at = act as usize;
            if next == 0 {
                index[at] = clock;
                low[at] = clock;
                clock += 1;
                open.push(act);
            } else {
                low[at] = low[at].min(low[callees[at][next - 1] as usize]);
            }
            let mut child = None;
            let mut n = next;
            while let Some(&to) = callees[at].get(n) {
                n += 1;
                if index[to as usize] == UNSEEN {
                    child = Some(to);
                    break;
                }
                if components.of[to as usize] == UNSEEN {
                    low[at] = low[at].min(index[to as usize]);
                }
            }
            if let Some(child) = child {
                work.push((act, n));
                work.push((child, 0));
            } else if low[at] == index[at] {
                let component = components.len() as u32;
                while let Some(member) = open.pop() {
                    components.of[member as usize] = component;
                    components.members.push(Act(member));
                    if member == act {
                        break;
                    }
                }
                components.starts.push(components.members.len() as u32);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapses_cycles_and_orders_callees_first() {
        // 0 → 1 ⇄ 2 → 3, 4 → 4
        let components = Components::of_graph(&[vec![1], vec![2], vec![1, 3], vec![], vec![4]]);
        assert_eq!(components.len(), 4);
        assert_eq!(components.of(Act(1)), components.of(Act(2)));
        assert!(components.of(Act(3)) < components.of(Act(1)));
        assert!(components.of(Act(1)) < components.of(Act(0)));
        let mut reached = Bits::new();
        components.reach(components.of(Act(2)), &mut reached);
        assert_eq!(components.acts(&reached).iter().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let count = 200_000;
        let callees: Vec<Vec<u32>> =
            (0..count).map(|at| if at + 1 < count { vec![at + 1] } else { vec![0] }).collect();
        assert_eq!(Components::of_graph(&callees).len(), 1);
    }
}

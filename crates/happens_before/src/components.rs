//! The call graph with its cycles collapsed, kept up to date call by call: what activations call, transitively, at
//! the price of a walk over few nodes. Components are in an order in which callees come before their callers, which
//! a new call disturbs only between its two ends. Knows calls only.

use crate::bits::Bits;
use crate::content::{Calls, Content};
use crate::tarjan;
use arena::Id;
use ir::StmtId;
use pointsto::{Act, PointsTo, PointsToDelta};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Sizes, note};

/// Runs no longer, or never did.
const NONE: u32 = u32::MAX;
/// Labels end here, so that there is room above.
const TOP: u32 = 1 << 31;

/// Strongly connected components of the call graph.
#[derive(Debug, Clone, Default)]
pub struct Components {
    of: Vec<u32>,
    all: Vec<Component>,
    free: Vec<u32>,
    /// By label: callees have lower ones than their callers.
    order: BTreeMap<u32, u32>,
    /// The place of each activation among the members of its component, in an order that depends on content only.
    places: Vec<u32>,
    /// Who calls whom, each once.
    callees: Vec<Vec<Act>>,
    callers: Vec<Vec<Act>>,
    /// Those that the last update touched and that are still there.
    touched: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Component {
    members: Vec<Act>,
    label: u32,
}

/// What one update touches.
#[derive(Default)]
struct Touched {
    /// Components that are new, have other members, or other calls.
    components: BTreeSet<u32>,
    /// Activations that are in another component.
    acts: BTreeSet<Act>,
    /// Components that lost a call inside.
    loose: BTreeSet<u32>,
}

impl Components {
    pub fn new(pointsto: &PointsTo, content: &Content<'_>, calls: &Calls<'_>) -> Components {
        let count = pointsto.act_bound();
        let mut components =
            Components { of: vec![NONE; count], places: vec![0; count], ..Components::default() };
        let callees = |act: usize| {
            if pointsto.runs(Act::new(act)) { callees(pointsto, Act::new(act)) } else { Vec::new() }
        };
        components.callees = (0..count).map(callees).collect();
        components.callers = vec![Vec::new(); count];
        for act in (0..count).map(Act::new) {
            for &callee in &components.callees[act.index()] {
                components.callers[callee.index()].push(act);
            }
        }
        let successors: Vec<Vec<u32>> =
            components.callees.iter().map(|callees| callees.iter().map(|act| act.0).collect()).collect();
        let (of, found) = tarjan::components(&successors);
        components.all = vec![Component::default(); found as usize];
        for act in pointsto.acts() {
            components.of[act.index()] = of[act.index()];
            components.all[of[act.index()] as usize].members.push(act);
        }
        // Numbers of what does not run any more stay unused.
        components.free = (0..found).filter(|&c| components.all[c as usize].members.is_empty()).collect();
        components.order =
            (0..found).filter(|&c| !components.all[c as usize].members.is_empty()).map(|c| (c, c)).collect();
        components.spread();
        for component in components.in_order().collect::<Vec<_>>() {
            components.put_in_order(component, pointsto, content, calls);
        }
        components
    }

    /// Follows a change of the calls.
    pub fn update(
        &mut self,
        pointsto: &PointsTo,
        content: &Content<'_>,
        calls: &Calls<'_>,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let arena::Delta { added, removed } = &delta.acts;
        let acts: BTreeSet<Act> = delta.callees.iter().chain(added).chain(removed).copied().collect();
        let now = |act| if pointsto.runs(act) { callees(pointsto, act) } else { Vec::new() };
        let calls_now = acts.into_iter().map(|act| (act, now(act))).collect();
        let mut touched = self.follow(pointsto.act_bound(), calls_now, &delta.acts);
        // The order inside depends on calls with their statements.
        let moved = delta.callees.iter().chain(&delta.callers).filter(|act| self.of[act.index()] != NONE);
        let in_cycles: BTreeSet<u32> = moved
            .map(|act| self.of[act.index()])
            .chain(touched.components.iter().copied())
            .filter(|&component| self.all[component as usize].members.len() > 1)
            .collect();
        for component in in_cycles {
            if self.put_in_order(component, pointsto, content, calls) {
                touched.components.insert(component);
            }
        }
        self.touched.clear();
        for component in touched.components {
            changes.add(Read::of(Kind::Component, Act(component)));
            if !self.all[component as usize].members.is_empty() {
                self.touched.push(component);
            }
        }
        for act in touched.acts {
            changes.add(Read::of(Kind::ComponentOf, act));
        }
    }

    /// Activations come and go, and some call others now: these, ascending and each once.
    fn follow(&mut self, bound: usize, calls_now: Vec<(Act, Vec<Act>)>, acts: &arena::Delta<Act>) -> Touched {
        self.of.resize(bound, NONE);
        self.places.resize(bound, 0);
        self.callees.resize(bound, Vec::new());
        self.callers.resize(bound, Vec::new());
        let mut touched = Touched::default();
        let mut new_calls: Vec<(Act, Act)> = Vec::new();
        for (act, now) in calls_now {
            let before = std::mem::take(&mut self.callees[act.index()]);
            for &callee in before.iter().filter(|callee| now.binary_search(callee).is_err()) {
                self.callers[callee.index()].retain(|&caller| caller != act);
                self.touch_call(act, callee, &mut touched);
                if self.of[act.index()] == self.of[callee.index()] && act != callee {
                    touched.loose.insert(self.of[act.index()]);
                }
            }
            let is_new = |callee: &&Act| before.binary_search(callee).is_err();
            new_calls.extend(now.iter().filter(is_new).map(|&callee| (act, callee)));
            self.callees[act.index()] =
                now.iter().copied().filter(|callee| before.binary_search(callee).is_ok()).collect();
        }
        for component in std::mem::take(&mut touched.loose) {
            self.split(component, &mut touched);
        }
        for &act in &acts.removed {
            self.remove(act, &mut touched);
        }
        self.place_new(&new_calls, &acts.added, &mut touched);
        for (caller, callee) in new_calls {
            self.add_call(caller, callee, &mut touched);
        }
        touched
    }

    fn touch_call(&self, caller: Act, callee: Act, touched: &mut Touched) {
        let ends = [caller, callee].map(|act| self.of[act.index()]);
        touched.components.extend(ends.into_iter().filter(|&component| component != NONE));
    }

    /// A component that may have come apart.
    fn split(&mut self, component: u32, touched: &mut Touched) {
        let members = std::mem::take(&mut self.all[component as usize].members);
        let numbers: FxHashMap<Act, u32> = members.iter().copied().zip(0..).collect();
        let successors: Vec<Vec<u32>> = members
            .iter()
            .map(|act| {
                self.callees[act.index()].iter().filter_map(|callee| numbers.get(callee).copied()).collect()
            })
            .collect();
        let (of, found) = tarjan::components(&successors);
        if found == 1 {
            self.all[component as usize].members = members;
            return;
        }
        let labels = self.labels_below(component, found);
        let mut sizes = vec![0; found as usize];
        of.iter().for_each(|&part| sizes[part as usize] += 1);
        // The largest part goes on as the component: its members stay where they are.
        let largest = (0..sizes.len()).max_by_key(|&part| sizes[part]);
        self.order.remove(&self.all[component as usize].label);
        let mut parts = vec![component; found as usize];
        for (at, (part, label)) in parts.iter_mut().zip(labels).enumerate() {
            match Some(at) == largest {
                true => self.relabel(component, label),
                false => *part = self.make(label),
            }
            touched.components.insert(*part);
        }
        for (act, part) in members.into_iter().zip(of) {
            let part = parts[part as usize];
            self.all[part as usize].members.push(act);
            self.of[act.index()] = part;
            self.places[act.index()] = 0;
            if part != component {
                touched.acts.insert(act);
            }
        }
    }

    /// As many labels, the highest of which is the component's own, with none of others between them; ascending.
    fn labels_below(&mut self, component: u32, count: u32) -> Vec<u32> {
        for _ in 0..2 {
            let label = self.all[component as usize].label;
            let below = self.order.range(..label).next_back().map_or(0, |(&below, _)| below);
            if label - below > count {
                return (label - count + 1..=label).collect();
            }
            self.spread();
        }
        unreachable!("there are more labels than activations")
    }

    /// Makes room between all labels.
    fn spread(&mut self) {
        let gap = (TOP / (self.order.len() as u32 + 1)).max(1);
        let order: Vec<u32> = self.order.values().copied().collect();
        self.order.clear();
        for (at, component) in order.into_iter().enumerate() {
            let label = (at as u32 + 1) * gap;
            self.all[component as usize].label = label;
            self.order.insert(label, component);
        }
    }

    fn make(&mut self, label: u32) -> u32 {
        let component = self.free.pop().unwrap_or_else(|| {
            self.all.push(Component::default());
            self.all.len() as u32 - 1
        });
        self.all[component as usize] = Component { members: Vec::new(), label };
        self.order.insert(label, component);
        component
    }

    /// What does not run has no calls left.
    fn remove(&mut self, act: Act, touched: &mut Touched) {
        let component = std::mem::replace(&mut self.of[act.index()], NONE);
        if component == NONE {
            return;
        }
        debug_assert_eq!(self.all[component as usize].members, [act]);
        self.order.remove(&self.all[component as usize].label);
        self.all[component as usize].members.clear();
        self.free.push(component);
        touched.components.insert(component);
        touched.acts.insert(act);
    }

    /// Each just below those that call it, if they have a place. All its calls are new.
    fn place_new(&mut self, new_calls: &[(Act, Act)], added: &[Act], touched: &mut Touched) {
        let mut left: Vec<Act> = added.iter().copied().filter(|act| self.of[act.index()] == NONE).collect();
        let mut callers_of: FxHashMap<Act, Vec<Act>> = left.iter().map(|&act| (act, Vec::new())).collect();
        for &(caller, callee) in new_calls {
            if let Some(callers) = callers_of.get_mut(&callee) {
                callers.push(caller);
            }
        }
        while !left.is_empty() {
            let lowest_caller = |components: &Components, act: Act| {
                let callers = callers_of[&act].iter().map(|caller| components.of[caller.index()]);
                let callers = callers.filter(|&component| component != NONE);
                callers.min_by_key(|&component| components.all[component as usize].label)
            };
            let (called, others): (Vec<Act>, Vec<Act>) =
                left.iter().copied().partition(|&act| lowest_caller(self, act).is_some());
            let now = if called.is_empty() { vec![others[0]] } else { called };
            for &act in &now {
                let label = match lowest_caller(self, act) {
                    Some(above) => self.label_just_below(above),
                    None => self.label_on_top(),
                };
                let component = self.make(label);
                self.all[component as usize].members.push(act);
                self.of[act.index()] = component;
                self.places[act.index()] = 0;
                touched.components.insert(component);
                touched.acts.insert(act);
            }
            left.retain(|act| !now.contains(act));
        }
    }

    fn label_just_below(&mut self, component: u32) -> u32 {
        for _ in 0..2 {
            let label = self.all[component as usize].label;
            let below = self.order.range(..label).next_back().map_or(0, |(&below, _)| below);
            if label - below > 1 {
                return below + (label - below) / 2;
            }
            self.spread();
        }
        unreachable!("there are more labels than activations")
    }

    fn label_on_top(&mut self) -> u32 {
        let highest = self.order.last_key_value().map_or(0, |(&label, _)| label);
        if highest >= u32::MAX - TOP / 2 {
            self.spread();
        }
        self.order.last_key_value().map_or(0, |(&label, _)| label) + 1024
    }

    /// A call that leads upwards moves what lies between its ends, or makes it one.
    fn add_call(&mut self, caller: Act, callee: Act, touched: &mut Touched) {
        let callees = &mut self.callees[caller.index()];
        if let Err(at) = callees.binary_search(&callee) {
            callees.insert(at, callee);
            self.callers[callee.index()].push(caller);
        }
        self.touch_call(caller, callee, touched);
        let (from, to) = (self.of[caller.index()], self.of[callee.index()]);
        let (low, high) = (self.all[from as usize].label, self.all[to as usize].label);
        if high <= low {
            return;
        }
        let below = self.closure(
            to,
            |components, component| components.called(component).collect(),
            |label| label >= low,
        );
        let above =
            self.closure(from, |components, component| components.calling(component), |label| label <= high);
        let mut labels: Vec<u32> = below.union(&above).map(|&c| self.all[c as usize].label).collect();
        labels.sort_unstable();
        for label in &labels {
            self.order.remove(label);
        }
        let by_label = |components: &Components, mut some: Vec<u32>| {
            some.sort_unstable_by_key(|&c| components.all[c as usize].label);
            some
        };
        let lower = by_label(self, below.difference(&above).copied().collect());
        let upper = by_label(self, above.difference(&below).copied().collect());
        let both: Vec<u32> = below.intersection(&above).copied().collect();
        let upper_labels = labels.split_off(labels.len() - upper.len());
        let mut labels = labels.into_iter();
        for (component, label) in
            lower.into_iter().zip(&mut labels).chain(upper.into_iter().zip(upper_labels))
        {
            self.relabel(component, label);
        }
        if !both.is_empty() {
            let label = labels.next().unwrap_or_else(|| unreachable!("it had a label before"));
            self.merge(both, label, touched);
        }
    }

    fn relabel(&mut self, component: u32, label: u32) {
        self.all[component as usize].label = label;
        self.order.insert(label, component);
    }

    /// They call each other now: they become the largest of them.
    fn merge(&mut self, mut components: Vec<u32>, label: u32, touched: &mut Touched) {
        components.sort_unstable_by_key(|&c| (self.all[c as usize].members.len(), c));
        touched.components.extend(&components);
        let Some(kept) = components.pop() else { return };
        self.relabel(kept, label);
        for component in components {
            let members = std::mem::take(&mut self.all[component as usize].members);
            for &act in &members {
                self.of[act.index()] = kept;
                touched.acts.insert(act);
            }
            self.all[kept as usize].members.extend(members);
            self.free.push(component);
        }
    }

    /// Components that a walk reaches, as far as labels allow.
    fn closure(
        &self,
        from: u32,
        next: impl Fn(&Components, u32) -> Vec<u32>,
        is_inside: impl Fn(u32) -> bool,
    ) -> FxHashSet<u32> {
        let mut seen: FxHashSet<u32> = [from].into_iter().collect();
        let mut left = vec![from];
        while let Some(component) = left.pop() {
            for to in next(self, component) {
                if is_inside(self.all[to as usize].label) && seen.insert(to) {
                    left.push(to);
                }
            }
        }
        seen
    }

    fn calling(&self, component: u32) -> Vec<u32> {
        let members = self.all[component as usize].members.iter();
        let callers = members.flat_map(|act| &self.callers[act.index()]).map(|act| self.of[act.index()]);
        callers.filter(|&caller| caller != component && caller != NONE).collect()
    }

    /// Gives the members of a cycle their places. True if one has another.
    fn put_in_order(
        &mut self,
        component: u32,
        pointsto: &PointsTo,
        content: &Content<'_>,
        calls: &Calls<'_>,
    ) -> bool {
        if self.all[component as usize].members.len() < 2 {
            return false;
        }
        self.all[component as usize].members.sort_unstable();
        let mut differs = false;
        for (place, act) in self.ordered(component, pointsto, content, calls).into_iter().enumerate() {
            let known = &mut self.places[act.index()];
            differs |= std::mem::replace(known, place as u32) != place as u32;
        }
        differs
    }

    /// The members of a cycle, callees before their callers as far as there is such an order, beginning with one that
    /// is called from outside. Depends on content only.
    fn ordered(
        &self,
        component: u32,
        pointsto: &PointsTo,
        content: &Content<'_>,
        calls: &Calls<'_>,
    ) -> Vec<Act> {
        let is_inside = |act: Act| self.of[act.index()] == component;
        let is_entry = |act: &Act| pointsto.callers(*act).iter().any(|&(caller, _)| !is_inside(caller));
        let members = || self.all[component as usize].members.iter().copied();
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

    /// Components with other members or other calls than before the last update, unless it made all of them.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Every component has a number below this.
    pub fn bound(&self) -> usize {
        self.all.len()
    }

    /// Callees before their callers.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.values().copied()
    }

    /// The place of a component in that order.
    pub fn label(&self, component: u32) -> u32 {
        self.all[component as usize].label
    }

    /// Of an activation that runs.
    pub fn of(&self, act: Act) -> u32 {
        note(Read::of(Kind::ComponentOf, act));
        self.of[act.index()]
    }

    /// The component's label, and the place within it. Where it matters who comes first in a cycle, nobody does by
    /// chance.
    pub fn place(&self, act: Act) -> (u32, u32) {
        (self.label(self.of[act.index()]), self.places[act.index()])
    }

    /// In no particular order.
    pub fn members(&self, component: u32) -> &[Act] {
        note(Read::of(Kind::Component, Act(component)));
        &self.all[component as usize].members
    }

    /// Do members call each other, or themselves?
    pub fn is_cycle(&self, component: u32) -> bool {
        let members = self.members(component);
        members.len() > 1 || members.iter().any(|act| self.callees[act.index()].binary_search(act).is_ok())
    }

    /// Other components that members call, some more than once.
    pub fn called(&self, component: u32) -> impl Iterator<Item = u32> + '_ {
        let callees = self.members(component).iter().flat_map(|act| &self.callees[act.index()]);
        callees.map(|act| self.of[act.index()]).filter(move |&called| called != component)
    }

    /// Statements of other components that call a member.
    pub fn callers<'a>(
        &'a self,
        pointsto: &'a PointsTo,
        component: u32,
    ) -> impl Iterator<Item = (Act, StmtId)> + 'a {
        let callers = self.members(component).iter().flat_map(|&act| pointsto.callers(act)).copied();
        callers.filter(move |(caller, _)| self.of[caller.index()] != component)
    }

    /// Adds a component and everything it calls to `reached`.
    pub fn reach(&self, component: u32, reached: &mut Bits) {
        if !reached.insert(component as usize) {
            return;
        }
        let mut left = vec![component];
        while let Some(next) = left.pop() {
            left.extend(self.called(next).filter(|&called| reached.insert(called as usize)));
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

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("components", self.all.len());
    }
}

/// Who an activation calls, ascending, each once.
fn callees(pointsto: &PointsTo, act: Act) -> Vec<Act> {
    let mut callees: Vec<Act> = pointsto.calls(act).map(|(_, callee)| callee).collect();
    callees.sort_unstable();
    callees.dedup();
    callees
}

#[cfg(test)]
mod tests;

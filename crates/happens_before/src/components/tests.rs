//! Components that follow random calls are those that Tarjan's algorithm finds from nothing.

use super::*;

/// How many activations and calls there are, those that do not run included, and how many changes follow each other.
const ACTS: usize = 24;
const CALLS: usize = 80;
const UPDATES: usize = 400;

/// Who runs and calls whom.
#[derive(Clone)]
struct Graph {
    runs: Vec<bool>,
    calls: BTreeSet<(usize, usize)>,
}

impl Graph {
    /// What does not run neither calls nor is called.
    fn callees(&self, act: usize) -> Vec<Act> {
        let callees = self.calls.range((act, 0)..(act + 1, 0)).map(|&(_, callee)| callee);
        callees.filter(|&callee| self.runs[act] && self.runs[callee]).map(Act::new).collect()
    }

    /// Some start, some end, and some calls come and go.
    fn change(&mut self, dice: &mut Dice) {
        for _ in 0..dice.below(3) {
            let act = dice.below(ACTS);
            self.runs[act] ^= true;
        }
        for _ in 0..dice.below(5) {
            // Neither one large cycle nor none at all.
            if dice.below(2 * CALLS) < self.calls.len() {
                let at = dice.below(self.calls.len());
                self.calls =
                    self.calls.iter().enumerate().filter(|&(n, _)| n != at).map(|(_, &c)| c).collect();
            } else {
                self.calls.insert((dice.below(ACTS), dice.below(ACTS)));
            }
        }
    }

    fn apply(&self, before: &Graph, components: &mut Components) -> Touched {
        let which = |from: &Graph, to: &Graph| -> Vec<Act> {
            (0..ACTS).filter(|&act| !from.runs[act] && to.runs[act]).map(Act::new).collect()
        };
        let acts = arena::Delta { added: which(before, self), removed: which(self, before) };
        let is_other =
            |&act: &usize| before.runs[act] != self.runs[act] || before.callees(act) != self.callees(act);
        let calls_now = (0..ACTS).filter(is_other).map(|act| (Act::new(act), self.callees(act))).collect();
        components.follow(ACTS, calls_now, &acts)
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % end as u64) as usize
    }
}

fn numbers(acts: &[Act]) -> BTreeSet<usize> {
    acts.iter().map(|act| act.index()).collect()
}

/// The members of each activation's component, itself included; none of what does not run.
fn partition(graph: &Graph) -> Vec<BTreeSet<usize>> {
    let successors: Vec<Vec<u32>> =
        (0..ACTS).map(|act| graph.callees(act).iter().map(|callee| callee.0).collect()).collect();
    let of = tarjan::of_nodes(&successors);
    let members = |act: usize| (0..ACTS).filter(|&other| of[other] == of[act]).collect();
    (0..ACTS).map(|act| if graph.runs[act] { members(act) } else { BTreeSet::new() }).collect()
}

fn assert_right(graph: &Graph, components: &Components) {
    for (act, expected) in partition(graph).into_iter().enumerate() {
        let component = components.of[act];
        assert_eq!(component != NONE, graph.runs[act]);
        assert_eq!(components.callees[act], graph.callees(act));
        let callers = (0..ACTS).filter(|&caller| graph.callees(caller).contains(&Act::new(act)));
        assert_eq!(numbers(&components.callers[act]), callers.collect());
        if graph.runs[act] {
            assert_eq!(numbers(&components.all[component as usize].members), expected);
            for callee in graph.callees(act) {
                let callee = components.of[callee.index()];
                assert!(callee == component || components.label(callee) < components.label(component));
            }
        }
    }
    let in_order: Vec<u32> = components.in_order().collect();
    let used: BTreeSet<u32> = components.of.iter().copied().filter(|&component| component != NONE).collect();
    assert_eq!(in_order.iter().copied().collect::<BTreeSet<u32>>(), used);
    assert_eq!(in_order.len() + components.free.len(), components.all.len());
    for component in in_order {
        assert_eq!(components.order[&components.label(component)], component);
    }
}

#[test]
fn components_follow_random_calls() {
    for seed in 1..=20 {
        let mut dice = Dice(seed * 0x9e37_79b9);
        let mut graph = Graph { runs: vec![false; ACTS], calls: BTreeSet::new() };
        let mut components = Components::default();
        let mut sizes = BTreeSet::new();
        for _ in 0..UPDATES {
            let (before, old) = (graph.clone(), components.clone());
            graph.change(&mut dice);
            let touched = graph.apply(&before, &mut components);
            assert_right(&graph, &components);
            sizes.extend(components.all.iter().map(|component| component.members.len()));
            // Whoever read a component or asked for it is told of every difference.
            for act in 0..ACTS {
                let was = old.of.get(act).copied().unwrap_or(NONE);
                let is = components.of[act];
                assert!(was == is || touched.acts.contains(&Act::new(act)));
                let members = |components: &Components| numbers(&components.all[is as usize].members);
                if is != NONE && (is as usize) < old.all.len() && members(&old) != members(&components) {
                    assert!(touched.components.contains(&is));
                }
                if before.callees(act) != graph.callees(act) && was == is && is != NONE {
                    assert!(touched.components.contains(&is));
                }
            }
        }
        assert!(sizes.len() > 5, "cycles of many sizes come and go: {sizes:?}");
    }
}

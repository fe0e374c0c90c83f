//! Circles of locks in words.

use super::{Tell, short};
use crate::deadlock::{Cycle, Edge};
use findings::{AccessKind, Engine, Finding, LockUse, Rule, Site, fingerprint};

impl Tell<'_> {
    pub fn cycle(&self, cycle: &Cycle<'_>) -> Finding {
        let sites: Vec<Site> = cycle.edges.iter().map(|edge| self.edge(edge)).collect();
        let mut parts: Vec<String> = (sites.iter())
            .map(|site| format!("{} {} {}", site.method, name(&site.holds), name(&site.acquires)))
            .collect();
        parts.sort();
        let mut all: Vec<&str> = vec!["deadlock"];
        all.extend(parts.iter().map(String::as_str));
        let message = self.cycle_message(cycle, &sites);
        Finding {
            id: fingerprint(&all),
            rule: Rule::Deadlock,
            confidence: cycle.confidence,
            engines: vec![Engine::Compositional],
            message,
            why: cycle.why.clone(),
            fix: vec!["take the locks in the same order everywhere".into()],
            sites,
            ..Finding::default()
        }
    }

    pub(crate) fn edge(&self, edge: &Edge<'_>) -> Site {
        let way = self.way_to_lock(edge);
        let (last, event) = way[way.len() - 1];
        let place = self.place(last, event);
        let mut holds = LockUse {
            name: self.lock_in(&edge.held.lock, edge.method),
            place: self.place(edge.method, edge.held.at),
            shared: edge.held.shared,
            ..LockUse::default()
        };
        let mut acquires = LockUse {
            name: self.lock_in(&edge.nested.lock, edge.method),
            place: place.clone(),
            shared: edge.nested.shared,
            ..LockUse::default()
        };
        if holds.name == acquires.name {
            let [held, wanted] = [edge.from, edge.to].map(|kind| kind.name(self.program));
            acquires.object = if held == wanted { format!("another {wanted}") } else { wanted };
            holds.object = held;
        }
        Site {
            access: AccessKind::Acquire,
            place,
            method: self.program.method_display(last),
            origin: "any thread".into(),
            locks: vec![holds.clone()],
            holds: Some(holds),
            acquires: Some(acquires),
            trace: self.frames(way),
            ..Site::default()
        }
    }

    /// Locks by what makes two of them the same kind: `this` alone would not say whose.
    fn cycle_message(&self, cycle: &Cycle<'_>, sites: &[Site]) -> String {
        let method = |site: &Site| short(site.trace.first().map_or(&site.method, |frame| &frame.method));
        if let [site] = sites {
            return format!(
                "lock-order inversion: {} holds `{}` and waits for `{}` of the same class; two calls with the \
                 objects swapped may wait for each other",
                method(site),
                name(&site.holds),
                name(&site.acquires)
            );
        }
        let steps = cycle.edges.iter().zip(sites).map(|(edge, site)| {
            let [from, to] = [edge.from, edge.to].map(|kind| kind.name(self.program));
            format!("{from} → {to} in {}", method(site))
        });
        format!("lock-order inversion: {}", steps.collect::<Vec<_>>().join(", "))
    }

    /// The calls from where one lock is held to where the other is taken.
    fn way_to_lock(&self, edge: &Edge<'_>) -> Vec<(ir::MethodId, u32)> {
        let mut way = vec![(edge.method, edge.nested.site.at)];
        let (mut next, mut depth) = (edge.nested.site.via, u8::MAX);
        while let Some((callee, digest)) = next {
            let taken = self.engine.summary(callee).and_then(|summary| {
                let at = summary.taken.binary_search_by_key(&digest, |taken| taken.digest).ok()?;
                Some(&summary.taken[at])
            });
            let Some(taken) = taken.filter(|taken| taken.depth < depth) else { break };
            depth = taken.depth;
            way.push((callee, taken.site.at));
            next = taken.site.via;
        }
        way
    }
}

fn name(lock: &Option<LockUse>) -> String {
    lock.as_ref().map(|lock| lock.name.clone()).unwrap_or_default()
}

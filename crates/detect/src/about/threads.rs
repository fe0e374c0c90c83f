//! All threads and tasks of the program: where each starts, what it runs, and which may run at the same time. Reads the
//! state as it is.

use super::spot::Visits;
use crate::describe::Describe;
use crate::{Detect, Stages};
use findings::{Place, ThreadInfo};
use happens_before::{Origin, OriginKind};
use std::collections::BTreeSet;

impl Detect {
    /// In the order of their names.
    pub fn threads(&self, stages: &Stages<'_>) -> Vec<ThreadInfo> {
        let (ways, words) = self.asides(stages);
        let describe = Describe::new(stages, &ways, &words);
        let mut visits = Visits::new(stages, &describe);
        let hb = stages.happens_before;
        let is_code = |origin: &Origin| hb.origin(*origin).kind != OriginKind::Initialization;
        let origins: Vec<Origin> = hb.origins().filter(is_code).collect();
        let mut threads: Vec<ThreadInfo> = Vec::with_capacity(origins.len());
        for &origin in &origins {
            let info = hb.origin(origin);
            let starts = info.spawned_by.iter().map(|by| (stages.pointsto.method(by.act), Some(by.stmt)));
            let started: BTreeSet<Place> =
                starts.map(|(method, stmt)| describe.lock_place(method, stmt)).collect();
            let others = origins.iter().filter(|&&other| other != origin && hb.may_overlap(origin, other));
            let overlaps: BTreeSet<String> = others.map(|&other| visits.named(other).name).collect();
            threads.push(ThreadInfo {
                name: visits.named(origin).name,
                started: started.into_iter().collect(),
                runs: stages.program.method_display(stages.pointsto.method(info.entry)),
                is_several: info.overlaps_itself,
                is_serial: info.serial_on.is_some(),
                overlaps: overlaps.into_iter().collect(),
            });
        }
        threads.sort();
        threads
    }
}

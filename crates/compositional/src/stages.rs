//! How long each stage took, the last time that something was worked out.

use std::time::Instant;

pub(crate) struct Stages {
    last: Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Default for Stages {
    fn default() -> Stages {
        Stages { last: Instant::now(), laps: Vec::new() }
    }
}

impl Stages {
    /// A stage has ended, the next one begins.
    pub fn end(&mut self, stage: &'static str) {
        self.laps.push((stage, self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }

    /// Nothing counts before this.
    pub fn begin(&mut self) {
        self.last = Instant::now();
    }

    pub fn take(&mut self) -> Vec<(&'static str, f64)> {
        std::mem::take(&mut self.laps)
    }
}

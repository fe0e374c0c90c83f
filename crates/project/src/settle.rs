//! When a loss is a loss. Build tools delete what they are about to write again, so what has vanished is waited
//! for; knows nothing of files, and takes the time as an argument.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// Files have to stand still this long before single losses count.
    pub quiet: Duration,
    /// The same after most of a directory or a whole archive is gone: a build may compile for a while before it
    /// writes the first class again.
    pub rebuild: Duration,
    /// Nothing is waited for longer than this, even if files never stand still.
    pub patience: Duration,
}

/// While single losses are waited for nothing else is told either, so that is not done for longer than this many
/// times the quiet time.
const SHORT_PATIENCE: u32 = 10;
/// A build that writes again what it had removed may stop for this many times the quiet time.
const BETWEEN_FILES: u32 = 3;

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            quiet: Duration::from_millis(700),
            rebuild: Duration::from_secs(20),
            patience: Duration::from_secs(120),
        }
    }
}

pub struct Settle {
    pub delays: Delays,
    /// What the files looked like, as one number, and since when.
    look: u64,
    changed: Instant,
    losing: Option<Losing>,
}

#[derive(Clone, Copy)]
struct Losing {
    since: Instant,
    /// At its worst.
    drastic: bool,
}

impl Settle {
    pub fn new(delays: Delays, look: u64, now: Instant) -> Settle {
        Settle { delays, look, changed: now, losing: None }
    }

    pub fn looks_different(&self, look: u64) -> bool {
        self.look != look
    }

    pub fn saw(&mut self, look: u64, now: Instant) {
        if self.looks_different(look) {
            self.look = look;
            self.changed = now;
        }
    }

    /// How much longer something that is missing is to be waited for; nothing when it counts as lost.
    pub fn wait_for(&mut self, drastic: bool, now: Instant) -> Option<Duration> {
        let losing = self.losing.get_or_insert(Losing { since: now, drastic });
        losing.drastic |= drastic;
        let Delays { quiet, rebuild, patience } = self.delays;
        let (still, at_most) = match (drastic, losing.drastic) {
            (true, _) => (rebuild, patience),
            (false, true) => (quiet * BETWEEN_FILES, patience),
            (false, false) => (quiet, patience.min(quiet * SHORT_PATIENCE)),
        };
        let until = (self.changed.max(losing.since) + still).min(losing.since + at_most);
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    pub fn nothing_is_missing(&mut self) {
        self.losing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Delays, Settle};
    use std::time::{Duration, Instant};

    fn at(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_loss_counts_after_the_files_stood_still() {
        let start = Instant::now();
        let mut settle = Settle::new(Delays::default(), 0, start);
        for step in 1..=10 {
            settle.saw(step, at(start, step * 600));
            assert!(settle.wait_for(false, at(start, step * 600)).is_some(), "{step}");
        }
        settle.saw(10, at(start, 6_600));
        assert_eq!(settle.wait_for(false, at(start, 6_600)), Some(Duration::from_millis(100)));
        assert_eq!(settle.wait_for(false, at(start, 6_700)), None);
        assert!(settle.wait_for(true, at(start, 6_700)).is_some());
    }

    #[test]
    fn a_build_that_writes_its_classes_again_may_take_its_time() {
        let start = Instant::now();
        let mut settle = Settle::new(Delays::default(), 0, start);
        for step in 1..=50 {
            settle.saw(step, at(start, step * 2_000));
            assert!(settle.wait_for(step < 10, at(start, step * 2_000)).is_some(), "{step}");
        }
        assert_eq!(settle.wait_for(false, at(start, 102_100)), None);
    }

    #[test]
    fn files_that_never_stand_still_are_not_waited_for_without_end() {
        let start = Instant::now();
        let mut settle = Settle::new(Delays::default(), 0, start);
        let mut first = |drastic| {
            let found = (1..).find(|&step| {
                settle.saw(step, at(start, step * 500));
                settle.wait_for(drastic, at(start, step * 500)).is_none()
            });
            settle.nothing_is_missing();
            found
        };
        assert_eq!(first(true), Some(241));
        assert_eq!(first(false), Some(15));
    }
}

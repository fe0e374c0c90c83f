//! What both engines know of a lock that is taken somewhere. Where the program gets there, its threads are what counts.

use crate::Session;
use findings::{AboutLock, Covered, Place};
use std::collections::BTreeSet;

impl Session {
    /// What is done under a lock that is taken in a line of a file, which is named as findings name it. A line above a
    /// synchronized method stands for that.
    pub fn about_lock(&self, file: &str, line: u32) -> Option<AboutLock> {
        let engines = self.engines();
        let (solved, engine) = (self.solved(), self.beside.engine());
        let other = engine.and_then(|engine| engine.covers(file, line));
        let place = other.as_ref().map(|covers| covers.lock.place.clone());
        // Who knows all methods knows which of them the line belongs to.
        let next = || match engine {
            Some(_) => None,
            None => detect::head_after(solved.as_ref()?, file, line),
        };
        let covers = |line: u32| self.detect.covers(solved.as_ref()?, file, line);
        let line = place.as_ref().map_or(line, |place| place.line);
        let found = covers(line).or_else(|| covers(next()?));
        let solved = found.filter(|covers| place.is_none_or(|place| covers.lock.place == place));
        if let Some(detect::Covers { lock, method, origins, elsewhere, covered }) = solved {
            // Where the program never gets, the lock is taken too.
            let known = other.into_iter().flat_map(|covers| covers.elsewhere);
            let elsewhere: BTreeSet<Place> = elsewhere.into_iter().chain(known).collect();
            let (elsewhere, covers) = (elsewhere.into_iter().collect(), one_each(covered));
            return Some(AboutLock { lock, method, origins, elsewhere, covers, engines });
        }
        let compositional::Covers { lock, method, origins, elsewhere, covered } = other?;
        Some(AboutLock { lock, method, origins, elsewhere, covers: one_each(covered), engines })
    }
}

fn one_each(covered: Vec<Covered>) -> Vec<Covered> {
    let each = |Covered { field, accesses }| Covered { field, accesses: super::one_each(accesses) };
    covered.into_iter().map(each).collect()
}

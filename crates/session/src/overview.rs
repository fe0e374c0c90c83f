//! What a person may ask of a program as a whole: its threads, its locks, what guards its fields. Puts together what the
//! engines know, and works out nothing that could be kept.

use crate::Session;
use findings::{ClassGuards, LockInfo, ThreadInfo};
use std::collections::BTreeMap;

impl Session {
    /// All threads and tasks that entry points lead to; none if there are no entry points.
    pub fn threads(&self) -> Vec<ThreadInfo> {
        self.solved().map_or_else(Vec::new, |stages| self.detect.threads(&stages))
    }

    /// What guards the fields of the application's classes that are touched by anything.
    pub fn all_guards(&self) -> Vec<ClassGuards> {
        let mut classes = self.program.source().app_classes();
        classes.sort();
        let guards = classes
            .iter()
            .map(|class| ClassGuards { class: class.replace('/', "."), fields: self.guards(class) });
        guards.filter(|guards| !guards.fields.is_empty()).collect()
    }

    /// All locks that the application takes, with the fields that each guards.
    pub fn locks(&self) -> Vec<LockInfo> {
        let mut locks = self.beside.engine().map_or_else(Vec::new, compositional::Compositional::locks);
        let mut guarded: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ClassGuards { class, fields } in self.all_guards() {
            for field in fields {
                if let Some(guard) = field.guard {
                    let lock = match guard.name.strip_prefix("this") {
                        Some("") => format!("{class} (this)"),
                        Some(path) => format!("{class}{path}"),
                        None => guard.name,
                    };
                    guarded.entry(lock).or_default().push(format!("{class}.{}", field.field));
                }
            }
        }
        for lock in &mut locks {
            lock.guards = guarded.remove(&lock.name).unwrap_or_default();
        }
        locks
    }
}

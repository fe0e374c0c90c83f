//! Monitors of lock objects in words.

use super::{Tell, short};
use crate::misuse::Misuse;
use findings::{AccessKind, Confidence, Engine, Finding, LockUse, Rule, Site, fingerprint};

impl Tell<'_> {
    pub fn misuse(&self, misuse: &Misuse) -> Finding {
        let method = self.program.method_display(misuse.method);
        let simple = misuse.class.rsplit(['/', '$']).next().unwrap_or(&misuse.class);
        let lock =
            misuse.lock.map_or_else(|| "a lock".to_owned(), |lock| self.object_in(&lock, misuse.method));
        let place = self.place(misuse.method, misuse.at);
        let message = format!(
            "{} is synchronized on `{lock}`, a {simple}: that is its monitor, which its own methods never take",
            short(&method)
        );
        let acquires = LockUse {
            name: format!("monitor of {lock}"),
            place: place.clone(),
            shared: false,
            ..LockUse::default()
        };
        let site = Site {
            access: AccessKind::Acquire,
            place,
            method: method.clone(),
            origin: "any thread".into(),
            acquires: Some(acquires),
            trace: self.frames([(misuse.method, misuse.at)]),
            ..Site::default()
        };
        Finding {
            id: fingerprint(&[Rule::LockMisuse.id(), &method, &lock]),
            rule: Rule::LockMisuse,
            confidence: Confidence::High,
            engines: vec![Engine::Compositional],
            message,
            fix: vec![format!(
                "take the lock with the methods of {simple}, or synchronize on another object"
            )],
            sites: vec![site],
            ..Finding::default()
        }
    }
}

//! Calls that take long in words.

use super::{Tell, short};
use crate::blocking::{self, Blocked};
use findings::{AccessKind, Engine, Finding, LockUse, Rule, Site, fingerprint};

impl Tell<'_> {
    pub fn blocked(&self, blocked: &Blocked<'_>) -> Finding {
        let mut way = vec![(blocked.method, blocked.blocking.site.at)];
        let mut at = blocked.blocking;
        while let (Some(below), Some((callee, _))) = (blocking::below(self.engine, at), at.site.via) {
            way.push((callee, below.site.at));
            at = below;
        }
        let (last, event) = way[way.len() - 1];
        let what = self.called(blocked.blocking.what.0);
        let method = self.program.method_display(blocked.method);
        let use_of = |held: &crate::summary::Held| LockUse {
            name: self.lock_in(&held.lock, blocked.method),
            place: self.place(blocked.method, held.at),
            shared: held.shared,
            ..LockUse::default()
        };
        let locks: Vec<LockUse> = blocked.held.iter().map(use_of).collect();
        let names: Vec<String> = locks.iter().map(|lock| format!("`{}`", lock.name)).collect();
        let (origin, message, fix) = match blocked.rule {
            Rule::BlockingMainThread => (
                "the main thread",
                format!("{} runs on the main thread and calls {what}, which may take long", short(&method)),
                "do it on another thread, and come back with the result",
            ),
            _ => (
                "any thread",
                format!(
                    "{} holds {} while it calls {what}, which may take long",
                    short(&method),
                    names.join(", ")
                ),
                "release the lock first, or do it before the lock is taken",
            ),
        };
        let site = Site {
            access: AccessKind::Block,
            place: self.place(last, event),
            method: self.program.method_display(last),
            origin: origin.into(),
            holds: locks.first().cloned(),
            locks,
            trace: self.frames(way),
            ..Site::default()
        };
        Finding {
            id: fingerprint(&[blocked.rule.id(), &method, &what, &names.join(" ")]),
            rule: blocked.rule,
            confidence: blocked.confidence,
            engines: vec![Engine::Compositional],
            message,
            fix: vec![fix.into()],
            sites: vec![site],
            ..Finding::default()
        }
    }
}

//! Calls of interfaces that promise nothing, in words.

use super::{Tell, short};
use crate::summary::Stranger;
use findings::{AccessKind, Confidence, Engine, Finding, Rule, Site, fingerprint};
use ir::MethodId;

impl Tell<'_> {
    pub fn stranger(&self, method: MethodId, stranger: &Stranger) -> Finding {
        let name = self.program.method_display(method);
        let class = self.program.class_display(self.program.method_ref(method).class);
        let interface = self.program.class_display(stranger.interface);
        let what = self.called(stranger.target);
        let site = Site {
            access: AccessKind::Call,
            place: self.place(method, stranger.at),
            method: name.clone(),
            origin: "any thread".into(),
            concurrent: vec![format!("{class} is marked as thread-safe")],
            trace: self.frames([(method, stranger.at)]),
            ..Site::default()
        };
        let message = format!(
            "{} calls {what} without a lock, and {interface} does not say that it is thread-safe",
            short(&name)
        );
        Finding {
            id: fingerprint(&[Rule::UnsafeInterfaceCall.id(), &name, &what]),
            rule: Rule::UnsafeInterfaceCall,
            confidence: Confidence::Medium,
            engines: vec![Engine::Compositional],
            message,
            fix: vec![format!("mark {interface} as thread-safe if it is, or hold a lock")],
            sites: vec![site],
            ..Finding::default()
        }
    }
}

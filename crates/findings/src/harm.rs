//! What a finding costs if it happens: which of several equally certain ones is worth reading first. Goes by rules,
//! kinds of access and names of methods; knows nothing of how certain a finding is.

use crate::{AccessKind, Finding, Rule, Site};
use std::collections::BTreeSet;

/// Ordered so that what hurts most sorts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harm {
    /// Threads wait for each other for ever.
    Deadlock,
    /// Two writes, or a read and a write that depends on it: one thread undoes what the other did.
    LostUpdate,
    /// A container that is changed by one thread may be damaged for all.
    BrokenContainer,
    /// One thread may see an old or half-made value.
    StaleRead,
    /// The same in a method that only reports a state: `toString`, `isOpen`, `getCount`.
    StaleStatus,
}

impl Finding {
    pub fn harm(&self) -> Harm {
        match self.rule {
            Rule::Deadlock => Harm::Deadlock,
            Rule::ContainerRace => Harm::BrokenContainer,
            Rule::LockMisuse => Harm::LostUpdate,
            Rule::BlockingMainThread | Rule::BlockingUnderLock => Harm::StaleRead,
            Rule::UnsafeInterfaceCall => Harm::StaleStatus,
            Rule::Race | Rule::UnprotectedWrite | Rule::GuardedBy => self.harm_of_race(),
        }
    }

    fn harm_of_race(&self) -> Harm {
        let writes = |site: &Site| site.access == AccessKind::Write;
        if self.is_on_container() {
            Harm::BrokenContainer
        } else if self.sites.len() > 1 && self.sites.iter().all(writes) || self.loses_update() {
            Harm::LostUpdate
        } else if self.only_reports() {
            Harm::StaleStatus
        } else {
            Harm::StaleRead
        }
    }

    /// Elements of arrays are one by one what fields are.
    pub fn is_on_container(&self) -> bool {
        self.about_contents && !self.field.as_deref().unwrap_or_default().ends_with("[]")
    }

    /// Whether a method reads and writes a field without its lock: `n++`, or a check and then an act.
    pub fn loses_update(&self) -> bool {
        let of_kind = |kind: AccessKind| {
            let such = self.unguarded.iter().filter(move |one| one.access == kind);
            such.map(|one| (&one.method, &one.field))
        };
        let written: BTreeSet<_> = of_kind(AccessKind::Write).collect();
        !written.is_empty() && of_kind(AccessKind::Read).any(|read| written.contains(&read))
    }

    /// Whether one statement reads and writes a field without its lock, as `n++` does.
    pub fn updates_in_place(&self) -> bool {
        let of_kind = |kind: AccessKind| {
            let such = self.unguarded.iter().filter(move |one| one.access == kind);
            such.map(|one| (&one.method, &one.field, &one.place))
        };
        let written: BTreeSet<_> = of_kind(AccessKind::Write).collect();
        of_kind(AccessKind::Read).any(|read| written.contains(&read))
    }

    /// Whether all that lacks a lock are reads in methods that report a state.
    fn only_reports(&self) -> bool {
        let unlocked = self.sites.iter().filter(|site| site.locks.is_empty());
        let of_sites = unlocked.map(|site| (site.access, site.method.as_str()));
        let of_list = self.unguarded.iter().map(|one| (one.access, one.method.as_str()));
        let mut accesses = of_sites.chain(of_list).peekable();
        accesses.peek().is_some()
            && accesses.all(|(access, method)| access == AccessKind::Read && is_status(method))
    }
}

/// `bank.Account.getBalance()`, which takes nothing and by its name changes nothing.
fn is_status(method: &str) -> bool {
    const NAMES: [&str; 6] = ["toString", "hashCode", "size", "length", "count", "status"];
    const BEGINNINGS: [&str; 3] = ["get", "is", "has"];
    let Some(path) = method.strip_suffix("()") else { return false };
    let name = path.rsplit('.').next().unwrap_or(path);
    let begins = |beginning: &&str| {
        let rest = name.strip_prefix(*beginning);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()))
    };
    NAMES.contains(&name) || BEGINNINGS.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LockUse, Place, Unguarded};

    fn race(sides: [(AccessKind, &str); 2], is_locked: bool) -> Finding {
        let lock =
            || LockUse { name: "this".into(), place: Place::default(), shared: false, ..LockUse::default() };
        let site =
            |(access, method): (AccessKind, &str)| Site { access, method: method.into(), ..Site::default() };
        let mut sites = sides.map(site).to_vec();
        sites[0].locks.extend(is_locked.then(lock));
        let field = Some("a.C.n".to_owned());
        Finding { rule: Rule::Race, sites, field, message: "a.C.n is".into(), ..Finding::default() }
    }

    const READ: AccessKind = AccessKind::Read;
    const WRITE: AccessKind = AccessKind::Write;

    #[test]
    fn two_writes_lose_an_update() {
        assert_eq!(race([(WRITE, "a.C.set()"), (WRITE, "a.C.reset()")], true).harm(), Harm::LostUpdate);
    }

    #[test]
    fn so_does_a_method_that_reads_and_writes() {
        let access = |access, method: &str| Unguarded {
            access,
            method: method.into(),
            field: "a.C.n".into(),
            ..Unguarded::default()
        };
        let plain = race([(WRITE, "a.C.inc()"), (READ, "a.C.poll(int)")], true);
        assert_eq!(plain.harm(), Harm::StaleRead);
        let unguarded = vec![access(READ, "a.C.inc()"), access(WRITE, "a.C.inc()")];
        assert_eq!(Finding { unguarded, ..plain.clone() }.harm(), Harm::LostUpdate);
        let unguarded = vec![access(READ, "a.C.poll(int)"), access(WRITE, "a.C.inc()")];
        assert_eq!(Finding { unguarded, ..plain }.harm(), Harm::StaleRead);
    }

    #[test]
    fn a_container_is_no_array() {
        let mut finding = race([(WRITE, "a.C.add()"), (WRITE, "a.C.add()")], false);
        finding.about_contents = true;
        finding.field = Some("java.util.ArrayList".into());
        finding.message = "a.C.list (java.util.ArrayList) is written by two threads".into();
        assert_eq!(finding.harm(), Harm::BrokenContainer);
        finding.field = Some("int[]".into());
        finding.message = "a.C.array (int[]) is written by two threads".into();
        assert_eq!(finding.harm(), Harm::LostUpdate);
    }

    #[test]
    fn reads_that_only_report_come_last() {
        for method in ["a.C.toString()", "a.C.isOpen()", "a.C.getCount()", "a.C.size()"] {
            assert_eq!(race([(WRITE, "a.C.inc()"), (READ, method)], true).harm(), Harm::StaleStatus);
        }
        for method in ["a.C.get(int)", "a.C.issue()", "a.C.run()", "a.C.getter(int)"] {
            assert_eq!(race([(WRITE, "a.C.inc()"), (READ, method)], true).harm(), Harm::StaleRead);
        }
        // The write lacks the lock as well.
        let finding = race([(WRITE, "a.C.inc()"), (READ, "a.C.getCount()")], false);
        assert_eq!(finding.harm(), Harm::StaleRead);
    }
}

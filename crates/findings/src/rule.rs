//! The rules that findings are about, each a declared thing with an id, a level and a page of text. Knows nothing of how
//! they are checked.

use crate::Confidence;
use serde::{Deserialize, Serialize};

/// In the order in which findings of the same confidence are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// Two accesses to the same memory that nothing orders and no lock protects.
    #[default]
    Race,
    /// Locks that are taken in a circle.
    Deadlock,
    /// A write without a lock in code that any number of threads may run.
    UnprotectedWrite,
    /// A library container that is not thread-safe, changed without a lock.
    ContainerRace,
    /// An access without the lock that guards the field, by declaration or at all other accesses.
    GuardedBy,
    /// The monitor of an object that is a lock by its own methods.
    LockMisuse,
    /// A call, in code that must be thread-safe, of an interface that does not say that it is.
    UnsafeInterfaceCall,
    /// Something that may take long, on the thread that must stay responsive.
    BlockingMainThread,
    /// Something that may take long while a lock is held.
    BlockingUnderLock,
}

/// How bad it is, as other tools put it; ordered so that the worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Error,
    Warning,
    Note,
}

/// All that is to be said about a rule.
struct Declaration {
    id: &'static str,
    /// One line.
    summary: &'static str,
    level: Level,
    /// What one finding is called, and several.
    nouns: [&'static str; 2],
    /// A page of Markdown: a heading, a paragraph that says it all, and sections.
    page: &'static str,
}

macro_rules! page {
    ($id:literal) => {
        include_str!(concat!("../rules/", $id, ".md"))
    };
}

impl Rule {
    pub const ALL: [Rule; 9] = [
        Rule::Race,
        Rule::Deadlock,
        Rule::UnprotectedWrite,
        Rule::ContainerRace,
        Rule::GuardedBy,
        Rule::LockMisuse,
        Rule::UnsafeInterfaceCall,
        Rule::BlockingMainThread,
        Rule::BlockingUnderLock,
    ];

    fn declaration(self) -> Declaration {
        match self {
            Rule::Race => Declaration {
                id: "race",
                summary: "two accesses to the same memory that nothing orders and no lock protects",
                level: Level::Error,
                nouns: ["race", "races"],
                page: page!("race"),
            },
            Rule::Deadlock => Declaration {
                id: "deadlock",
                summary: "locks that are taken in a circle",
                level: Level::Error,
                nouns: ["deadlock", "deadlocks"],
                page: page!("deadlock"),
            },
            Rule::UnprotectedWrite => Declaration {
                id: "unprotected-write",
                summary: "a write without a lock in code that any number of threads may run",
                level: Level::Warning,
                nouns: ["unprotected write", "unprotected writes"],
                page: page!("unprotected-write"),
            },
            Rule::ContainerRace => Declaration {
                id: "container-race",
                summary: "a library container that is not thread-safe, changed without a lock",
                level: Level::Warning,
                nouns: ["container race", "container races"],
                page: page!("container-race"),
            },
            Rule::GuardedBy => Declaration {
                id: "guarded-by",
                summary: "an access without the lock that guards the field, as declared or as used elsewhere",
                level: Level::Warning,
                nouns: ["unguarded access", "unguarded accesses"],
                page: page!("guarded-by"),
            },
            Rule::LockMisuse => Declaration {
                id: "lock-misuse",
                summary: "`synchronized` on a lock object: its monitor is not the lock that its methods take",
                level: Level::Error,
                nouns: ["misused lock", "misused locks"],
                page: page!("lock-misuse"),
            },
            Rule::UnsafeInterfaceCall => Declaration {
                id: "unsafe-interface-call",
                summary: "thread-safe code that calls an interface which does not promise to be thread-safe",
                level: Level::Note,
                nouns: ["unsafe interface call", "unsafe interface calls"],
                page: page!("unsafe-interface-call"),
            },
            Rule::BlockingMainThread => Declaration {
                id: "blocking-main-thread",
                summary: "something that may take long, on the thread that must stay responsive",
                level: Level::Warning,
                nouns: ["blocking call on the main thread", "blocking calls on the main thread"],
                page: page!("blocking-main-thread"),
            },
            Rule::BlockingUnderLock => Declaration {
                id: "blocking-under-lock",
                summary: "something that may take long while a lock is held",
                level: Level::Warning,
                nouns: ["blocking call under a lock", "blocking calls under a lock"],
                page: page!("blocking-under-lock"),
            },
        }
    }

    pub fn id(self) -> &'static str {
        self.declaration().id
    }

    pub fn summary(self) -> &'static str {
        self.declaration().summary
    }

    /// The level of a finding of which nothing is doubted.
    pub fn level(self) -> Level {
        self.declaration().level
    }

    /// The level of a finding that is less certain: what may be wrong breaks nobody's build.
    pub fn level_at(self, confidence: Confidence) -> Level {
        self.level().max(match confidence {
            Confidence::High => Level::Error,
            Confidence::Medium => Level::Warning,
            Confidence::Low => Level::Note,
        })
    }

    /// "1 race", "2 races".
    pub fn counted(self, count: usize) -> String {
        let [one, many] = self.declaration().nouns;
        format!("{count} {}", if count == 1 { one } else { many })
    }

    /// What it means, why it matters, a wrong and a right example, and what to do about it, as Markdown.
    pub fn page(self) -> &'static str {
        self.declaration().page
    }

    /// What usually repairs it: a list, one item to a line.
    pub fn remedy(self) -> &'static str {
        let section = self.page().split("## How to fix it\n\n").nth(1).unwrap_or_default();
        section.split("\n\n## ").next().unwrap_or_default()
    }

    /// The paragraph of the page that says what the rule means.
    pub fn meaning(self) -> &'static str {
        self.page().split("\n\n").nth(1).unwrap_or_default().trim_end()
    }
}

impl Level {
    pub fn id(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that a reader looks for, in the order in which he does.
    const SECTIONS: [&str; 6] = [
        "## Why it matters",
        "## Wrong",
        "## Right",
        "## How to fix it",
        "## How to suppress it",
        "## When Snarl may be wrong",
    ];

    #[test]
    fn every_rule_is_found_by_its_id() {
        for rule in Rule::ALL {
            assert_eq!(Rule::named(rule.id()), Some(rule));
        }
        assert_eq!(Rule::named("Race"), None);
    }

    #[test]
    fn every_page_has_all_sections_in_order() {
        for rule in Rule::ALL {
            let headings: Vec<&str> = rule.page().lines().filter(|line| line.starts_with("## ")).collect();
            assert_eq!(headings, SECTIONS, "{}", rule.id());
            assert_eq!(rule.page().lines().next(), Some(format!("# {}", rule.id()).as_str()));
            assert!(rule.page().ends_with('\n') && !rule.page().ends_with("\n\n"), "{}", rule.id());
        }
    }

    #[test]
    fn every_page_has_a_wrong_and_a_right_example() {
        for rule in Rule::ALL {
            for heading in ["## Wrong\n", "## Right\n"] {
                let (_, section) = rule.page().split_once(heading).expect("the section");
                let section = section.split("\n## ").next().unwrap_or_default();
                assert_eq!(section.matches("```java\n").count(), 1, "{}: {heading}", rule.id());
                assert_eq!(section.matches("```").count(), 2, "{}: {heading}", rule.id());
            }
        }
    }

    #[test]
    fn every_page_says_how_its_own_rule_is_suppressed() {
        for rule in Rule::ALL {
            assert!(rule.page().contains(&format!("// snarl: ignore {} -- ", rule.id())), "{}", rule.id());
        }
    }

    #[test]
    fn summaries_are_one_line_and_meanings_a_paragraph() {
        for rule in Rule::ALL {
            assert!(!rule.summary().contains('\n') && rule.summary().len() <= 90, "{}", rule.id());
            assert!(rule.meaning().ends_with('.') && !rule.meaning().starts_with('#'), "{}", rule.meaning());
        }
    }

    #[test]
    fn remedies_are_lists() {
        for rule in Rule::ALL {
            assert!(rule.remedy().lines().count() >= 2, "{}", rule.id());
            assert!(rule.remedy().lines().all(|line| line.starts_with("- ")), "{}", rule.remedy());
        }
    }

    #[test]
    fn doubt_lowers_a_level_and_certainty_never_raises_it() {
        assert_eq!(Rule::Race.level_at(Confidence::High), Level::Error);
        assert_eq!(Rule::Race.level_at(Confidence::Medium), Level::Warning);
        assert_eq!(Rule::Race.level_at(Confidence::Low), Level::Note);
        assert_eq!(Rule::GuardedBy.level_at(Confidence::High), Level::Warning);
        assert_eq!(Rule::UnsafeInterfaceCall.level_at(Confidence::High), Level::Note);
    }

    #[test]
    fn findings_are_counted_with_proper_plurals() {
        assert_eq!(Rule::Race.counted(2), "2 races");
        assert_eq!(Rule::UnprotectedWrite.counted(1), "1 unprotected write");
        assert_eq!(Rule::GuardedBy.counted(3), "3 unguarded accesses");
        assert_eq!(Rule::BlockingUnderLock.counted(0), "0 blocking calls under a lock");
    }
}

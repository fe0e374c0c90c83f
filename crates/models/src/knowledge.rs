//! What code says about threads without a call: annotations, frameworks, assertions, and which calls take long.
//! Read from a data file; knows nothing of programs.

use crate::assumed::Assumed;
use rustc_hash::{FxHashMap, FxHashSet};
use toml::Table;

/// What an annotation says, whatever its package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Says {
    ThreadSafe,
    NotThreadSafe,
    Immutable,
    GuardedBy,
    Confined,
    Functional,
    ReturnsOwnership,
    ForTests,
    MainThread,
    BackgroundThread,
    AnyThread,
    Singleton,
    Scoped,
    Spawned,
    /// Run again and again, one run after the other.
    Repeated,
    Once,
    /// Called once, when the program or a framework has done with the object.
    Last,
    /// Whoever has one in a field has a stand-in that leads to the object of the request at hand.
    PerRequest,
    /// Of a class: members that only its module may use are public, with `$` and the module behind their names.
    ManglesInternal,
}

const WORDS: [(&str, Says); 19] = [
    ("thread-safe", Says::ThreadSafe),
    ("not-thread-safe", Says::NotThreadSafe),
    ("immutable", Says::Immutable),
    ("guarded-by", Says::GuardedBy),
    ("thread-confined", Says::Confined),
    ("functional", Says::Functional),
    ("returns-ownership", Says::ReturnsOwnership),
    ("visible-for-testing", Says::ForTests),
    ("ui-thread", Says::MainThread),
    ("worker-thread", Says::BackgroundThread),
    ("any-thread", Says::AnyThread),
    ("singleton", Says::Singleton),
    ("scoped", Says::Scoped),
    ("spawned", Says::Spawned),
    ("repeated", Says::Repeated),
    ("once", Says::Once),
    ("last", Says::Last),
    ("per-request", Says::PerRequest),
    ("mangles-internal", Says::ManglesInternal),
];

/// What being below a type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Singleton,
    MainThread,
    Task,
    /// Its methods take a lock that is not the monitor of the object.
    Lock,
}

#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// What the settings of the project say on top.
    pub assumed: Assumed,
    annotations: FxHashMap<String, Vec<Says>>,
    asserts_main: FxHashSet<String>,
    asserts_background: FxHashSet<String>,
    asserts_held: FxHashSet<String>,
    asserts_monitor: FxHashSet<String>,
    once: FxHashSet<String>,
    task_methods: FxHashSet<String>,
    parallel: FxHashSet<String>,
    pauses: FxHashSet<String>,
    held_suffixes: Vec<String>,
    last: FxHashSet<String>,
    setup_prefixes: Vec<String>,
    setup_suffixes: Vec<String>,
    /// Beginnings of names of methods that give an object up.
    end_prefixes: Vec<String>,
    /// Beginnings of names of types that one thread of a user interface works on.
    ui_types: Vec<String>,
    tests_suffixes: Vec<String>,
    shows: FxHashSet<String>,
    serializes: FxHashSet<String>,
    at_exit: FxHashSet<String>,
    counts: FxHashSet<String>,
    rare: FxHashSet<String>,
    registers_prefixes: Vec<String>,
    supertypes: FxHashMap<String, Kind>,
    concurrent: Vec<String>,
    safe: Vec<String>,
    safe_names: Vec<String>,
    permits: FxHashSet<String>,
    /// Annotations whose simple name means something else elsewhere.
    other_meanings: FxHashSet<String>,
    counters: FxHashSet<String>,
    one_user: FxHashSet<String>,
    blocking: FxHashMap<String, FxHashSet<String>>,
    blocking_names: FxHashSet<String>,
}

impl Knowledge {
    /// What ships with Snarl.
    pub fn builtin() -> Knowledge {
        match Knowledge::read(include_str!("../data/knowledge.toml")) {
            Ok(knowledge) => knowledge,
            Err(error) => unreachable!("the shipped knowledge is read by a test: {error}"),
        }
    }

    /// Another annotation of this meaning, by simple name.
    pub fn add_annotation(&mut self, meaning: &str, name: &str) -> Result<(), String> {
        let says = word(meaning)?;
        self.annotations.entry(name.to_owned()).or_default().push(says);
        Ok(())
    }

    fn read(text: &str) -> Result<Knowledge, String> {
        let document: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut knowledge = Knowledge::default();
        for (section, value) in &document {
            let table = value.as_table().ok_or_else(|| format!("`{section}` is no table"))?;
            for (key, value) in table {
                let list = strings(key, value)?;
                knowledge.add(section, key, list)?;
            }
        }
        Ok(knowledge)
    }

    fn add(&mut self, section: &str, key: &str, list: Vec<String>) -> Result<(), String> {
        match (section, key) {
            ("annotations", "other-meaning") => {
                self.other_meanings.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("annotations", meaning) => {
                word(meaning)?;
                return list.iter().try_for_each(|name| self.add_annotation(meaning, name));
            }
            ("methods", "asserts-main") => self.asserts_main.extend(list),
            ("methods", "asserts-background") => self.asserts_background.extend(list),
            ("methods", "asserts-held") => self.asserts_held.extend(list),
            ("methods", "asserts-monitor") => self.asserts_monitor.extend(list),
            ("methods", "once") => self.once.extend(list),
            ("methods", "last") => self.last.extend(list),
            ("methods", "setup-suffix") => self.setup_suffixes.extend(list),
            ("methods", "task") => self.task_methods.extend(list),
            ("methods", "parallel") => self.parallel.extend(list),
            ("methods", "pauses") => self.pauses.extend(list),
            ("methods", "held-suffix") => self.held_suffixes.extend(list),
            ("methods", "shows") => self.shows.extend(list),
            ("methods", "counts") => self.counts.extend(list),
            ("methods", "serializes") => self.serializes.extend(list),
            ("methods", "at-exit") => self.at_exit.extend(list),
            ("methods", "rare") => self.rare.extend(list),
            ("methods", "registers-prefix") => self.registers_prefixes.extend(list),
            ("methods", "tests-suffix") => self.tests_suffixes.extend(list),
            ("methods", "setup-prefix") => self.setup_prefixes.extend(list),
            ("methods", "end-prefix") => self.end_prefixes.extend(list),
            ("supertypes", "ui-types") => {
                self.ui_types.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("supertypes", "one-user") => {
                self.one_user.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("supertypes", "counters") => {
                self.counters.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("supertypes", "permits") => {
                self.permits.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("supertypes", "concurrent") => {
                self.concurrent.extend(list.into_iter().map(|name| name.replace('.', "/")));
            }
            ("supertypes", "safe-name") => self.safe_names.extend(list),
            ("supertypes", "safe") => self.safe.extend(list.into_iter().map(|name| name.replace('.', "/"))),
            ("supertypes", kind) => {
                let kind = match kind {
                    "singleton" => Kind::Singleton,
                    "main-thread" => Kind::MainThread,
                    "task" => Kind::Task,
                    "lock" => Kind::Lock,
                    other => return Err(format!("unknown key `{other}` in `supertypes`")),
                };
                self.supertypes.extend(list.into_iter().map(|name| (name.replace('.', "/"), kind)));
            }
            ("blocking", class) => {
                self.blocking_names.extend(list.iter().cloned());
                self.blocking.entry(class.replace('.', "/")).or_default().extend(list);
            }
            _ => return Err(format!("unknown key `{key}` in `{section}`")),
        }
        Ok(())
    }

    /// What an annotation of this type, by internal name, says.
    pub fn says(&self, annotation: &str) -> &[Says] {
        if self.other_meanings.contains(annotation) {
            return &[];
        }
        let simple = annotation.rsplit(['/', '$']).next().unwrap_or(annotation);
        self.annotations.get(simple).map_or(&[], Vec::as_slice)
    }

    /// Does a method of this name check that it runs on the main thread (true), or on any other?
    pub fn asserted(&self, method: &str) -> Option<bool> {
        let main = self.asserts_main.contains(method).then_some(true);
        main.or_else(|| self.asserts_background.contains(method).then_some(false))
    }

    /// Does a method of this name check that a lock is held?
    pub fn asserts_held(&self, method: &str) -> bool {
        self.asserts_held.contains(method) || self.asserts_monitor(method)
    }

    /// Does it check that the monitor of its operand is held?
    pub fn asserts_monitor(&self, method: &str) -> bool {
        self.asserts_monitor.contains(method)
    }

    /// Does the name of a method say that its caller holds the lock?
    pub fn says_held(&self, method: &str) -> bool {
        self.held_suffixes
            .iter()
            .any(|suffix| method.len() > suffix.len() && method.ends_with(suffix.as_str()))
    }

    pub fn is_once(&self, method: &str) -> bool {
        self.once.contains(method)
    }

    /// Is a method of this name what runs when a task is run?
    pub fn is_task_method(&self, method: &str) -> bool {
        self.task_methods.contains(method)
    }

    /// Does a method of this name make the steps of a stream run on several threads?
    pub fn makes_parallel(&self, method: &str) -> bool {
        self.parallel.contains(method)
    }

    /// Does a method of this name give up the lock of its object until it returns?
    pub fn pauses(&self, method: &str) -> bool {
        self.pauses.contains(method)
    }

    /// Does a method of this name only tell people what there is?
    pub fn only_shows(&self, method: &str) -> bool {
        self.shows.contains(method)
    }

    /// Does a method of this name only tell how much is in a container, without looking at what it is?
    pub fn only_counts(&self, method: &str) -> bool {
        self.counts.contains(method)
    }

    /// Does the name of a method say that it keeps a listener for later?
    pub fn registers(&self, method: &str) -> bool {
        self.registers_prefixes.iter().any(|prefix| method.starts_with(prefix.as_str()))
    }

    /// Does serialization call a method of this name?
    pub fn serializes(&self, method: &str) -> bool {
        self.serializes.contains(method)
    }

    /// Does what is handed to a method of this name run when the process ends?
    pub fn runs_at_exit(&self, method: &str) -> bool {
        self.at_exit.contains(method)
    }

    /// Does a method of this name run when nobody uses the object any more?
    pub fn is_rare(&self, method: &str) -> bool {
        self.rare.contains(method)
    }

    /// Does the name of a method say that only tests call it?
    pub fn is_for_tests(&self, method: &str) -> bool {
        self.tests_suffixes.iter().any(|suffix| method.ends_with(suffix.as_str()))
    }

    /// Does a framework call a method of this name once, when it has done with the object?
    pub fn is_last(&self, method: &str) -> bool {
        self.last.contains(method)
    }

    /// Does the name of a method say that it makes an object ready for use?
    pub fn is_setup(&self, method: &str) -> bool {
        let ends = |suffix: &String| method.ends_with(suffix.as_str());
        begins_with_word(method, &self.setup_prefixes) || self.setup_suffixes.iter().any(ends)
    }

    /// Does the name say that the method gives up the object it is called on?
    pub fn is_end(&self, method: &str) -> bool {
        begins_with_word(method, &self.end_prefixes)
    }

    /// Is it a type that the one thread of a user interface works on?
    pub fn is_of_ui(&self, class: &str) -> bool {
        self.ui_types.iter().any(|prefix| class.starts_with(prefix.as_str()))
    }

    /// Is an object of this type mostly used by one thread?
    pub fn has_one_user(&self, class: &str) -> bool {
        self.one_user.contains(class)
    }

    /// Does a lock of this class let in as many as it was told to?
    pub fn gives_permits(&self, class: &str) -> bool {
        self.permits.contains(class)
    }

    /// What it says of a class that this type, by internal name, is above it.
    pub fn kind(&self, supertype: &str) -> Option<Kind> {
        self.supertypes.get(supertype).copied()
    }

    /// Does a field of this type say that its class is meant for several threads?
    pub fn is_concurrent(&self, class: &str) -> bool {
        self.concurrent.iter().any(|prefix| class.starts_with(prefix.as_str()))
    }

    /// Is it a number or a flag that several threads may change?
    pub fn is_counter(&self, class: &str) -> bool {
        self.counters.contains(class)
    }

    /// May any thread call the methods of this class?
    pub fn is_safe(&self, class: &str) -> bool {
        let name = class.rsplit('/').next().unwrap_or(class);
        self.safe.iter().any(|prefix| class.starts_with(prefix.as_str()))
            || self.safe_names.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    /// Can a method of this name block at all?
    pub fn may_block(&self, method: &str) -> bool {
        self.blocking_names.contains(method)
    }

    pub fn blocks(&self, class: &str, method: &str) -> bool {
        self.blocking.get(class).is_some_and(|methods| methods.contains(method))
    }
}

fn word(meaning: &str) -> Result<Says, String> {
    let known = WORDS.iter().find(|(word, _)| *word == meaning).map(|&(_, says)| says);
    known.ok_or_else(|| {
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        format!("no annotation means `{meaning}`; known are {}", words.join(", "))
    })
}

fn strings(key: &str, value: &toml::Value) -> Result<Vec<String>, String> {
    let wrong = || format!("`{key}` is no list of names");
    let list = value.as_array().ok_or_else(wrong)?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn begins_with_word(name: &str, words: &[String]) -> bool {
    let ends_there = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_lowercase());
    words.iter().any(|word| name.strip_prefix(word.as_str()).is_some_and(ends_there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_knowledge_is_read() {
        let knowledge = Knowledge::builtin();
        assert_eq!(knowledge.says("net/jcip/annotations/ThreadSafe"), [Says::ThreadSafe]);
        assert_eq!(knowledge.says("my/Own$GuardedBy"), [Says::GuardedBy]);
        assert_eq!(knowledge.says("java/lang/Deprecated"), []);
        assert_eq!(knowledge.asserted("assertMainThread"), Some(true));
        assert!(knowledge.blocks("java/lang/Thread", "sleep"));
        assert!(knowledge.says_held("sizeLocked") && !knowledge.says_held("Locked"));
        assert!(
            knowledge.is_setup("setName") && knowledge.is_setup("start") && !knowledge.is_setup("settle")
        );
        assert!(knowledge.gives_permits("java/util/concurrent/Semaphore"));
        assert!(knowledge.has_one_user("java/io/InputStream"));
        assert!(knowledge.only_shows("toString"));
        assert!(knowledge.makes_parallel("parallelStream") && !knowledge.makes_parallel("stream"));
        assert!(knowledge.asserts_monitor("holdsLock") && knowledge.asserts_held("holdsLock"));
        assert!(!knowledge.asserts_monitor("isHeldByCurrentThread"));
        assert_eq!(knowledge.kind("java/util/concurrent/locks/ReentrantLock"), Some(Kind::Lock));
        assert!(knowledge.pauses("wait") && !knowledge.pauses("await"));
        assert!(knowledge.is_task_method("run") && !knowledge.is_task_method("runs"));
        assert!(knowledge.is_for_tests("getSinksForTesting") && !knowledge.is_for_tests("test"));
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(Knowledge::read("[annotations]\nthread-save = []").unwrap_err().contains("thread-save"));
        assert!(Knowledge::read("[methods]\nx = []").is_err());
        assert!(Knowledge::read("[methods]\nonce = 3").is_err());
    }
}

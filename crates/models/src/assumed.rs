//! What the settings of a project assume about its own code: memory that one thread has to itself, and methods that never
//! run in parallel. Compares names only; knows nothing of programs.

use rustc_hash::{FxHashMap, FxHashSet};

/// As it is written in the settings: `com.acme.Ui`, `com.acme.Ctx.buffer`, `com.acme.Jobs.tick`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Classes and fields that are confined to one thread.
    pub confined: Vec<String>,
    /// Groups of methods of which no two run at the same time, and none beside a second run of itself.
    pub never_parallel: Vec<Vec<String>>,
}

/// The same, for looking names up.
#[derive(Debug, Clone, Default)]
pub struct Assumed {
    confined: FxHashSet<String>,
    groups: FxHashMap<String, Vec<u32>>,
    group_count: u32,
}

impl Assumed {
    pub fn new(assumptions: &Assumptions) -> Assumed {
        let mut assumed = Assumed::default();
        assumed.confined.extend(assumptions.confined.iter().map(|name| plain(name)));
        for group in &assumptions.never_parallel {
            let number = assumed.group_count;
            assumed.group_count += 1;
            for name in group {
                assumed.groups.entry(plain(name)).or_default().push(number);
            }
        }
        assumed
    }

    /// Is the class of this internal name confined to one thread?
    pub fn is_confined_class(&self, class: &str) -> bool {
        !self.confined.is_empty() && self.confined.contains(&plain(class))
    }

    /// Is the field of this name, in the class of this internal name, confined to one thread?
    pub fn is_confined_field(&self, class: &str, field: &str) -> bool {
        !self.confined.is_empty() && self.confined.contains(&format!("{}.{field}", plain(class)))
    }

    /// How many groups of methods that never run in parallel there are; they are numbered from 0.
    pub fn group_count(&self) -> u32 {
        self.group_count
    }

    /// The groups of methods that never run in parallel to which a method of this class belongs, ascending.
    pub fn groups_of(&self, class: &str, method: &str) -> &[u32] {
        if self.groups.is_empty() {
            return &[];
        }
        self.groups.get(&format!("{}.{method}", plain(class))).map_or(&[], Vec::as_slice)
    }
}

/// However a nested class is written: with dots.
fn plain(name: &str) -> String {
    name.replace(['/', '$'], ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumed(confined: &[&str], groups: &[&[&str]]) -> Assumed {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let never_parallel = groups.iter().map(|group| owned(group)).collect();
        Assumed::new(&Assumptions { confined: owned(confined), never_parallel })
    }

    #[test]
    fn classes_and_fields_are_found_by_name() {
        let assumed = assumed(&["a.Ui", "a.Ctx$Part.buffer"], &[]);
        assert!(assumed.is_confined_class("a/Ui") && !assumed.is_confined_class("a/Ctx$Part"));
        assert!(assumed.is_confined_field("a/Ctx$Part", "buffer"));
        assert!(!assumed.is_confined_field("a/Ctx", "buffer"));
        assert_eq!(assumed.group_count(), 0);
    }

    #[test]
    fn a_method_may_belong_to_several_groups() {
        let assumed = assumed(&[], &[&["a.A.run", "a.B.run"], &["a.B.run"]]);
        assert_eq!(assumed.groups_of("a/A", "run"), [0]);
        assert_eq!(assumed.groups_of("a/B", "run"), [0, 1]);
        assert_eq!(assumed.groups_of("a/B", "stop"), []);
    }
}

//! From where class files lie to what their classes are called. The package root is found by looking into a
//! few of the files, so a directory named one level too high or too deep still gives the right names.

/// Names for class files, given their paths without `.class`, in an order that keeps directories together.
/// `read` gives the name inside file `i`; it is called about once per package root.
pub fn class_names(paths: &[&str], mut read: impl FnMut(usize) -> Option<String>) -> Vec<String> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut last = 0;
    let mut names = Vec::with_capacity(paths.len());
    for (i, path) in paths.iter().enumerate() {
        let known = rules.get(last).filter(|rule| rule.covers(path)).map(|_| last);
        if let Some(known) = known.or_else(|| rules.iter().position(|rule| rule.covers(path))) {
            last = known;
            names.push(rules[known].name(path));
            continue;
        }
        let name = read(i);
        if let Some(rule) = name.as_deref().and_then(|name| Rule::learn(path, name)) {
            last = rules.len();
            rules.push(rule);
        }
        names.push(name.unwrap_or_else(|| path.to_string()));
    }
    names
}

/// Paths under `dir` lose `strip` bytes at the front and get `add` instead.
struct Rule {
    dir: String,
    /// Directories below `dir` too.
    below: bool,
    strip: usize,
    add: String,
}

impl Rule {
    /// `None` when the file is not even named like its class.
    fn learn(path: &str, name: &str) -> Option<Rule> {
        let (dir, file) = split(path);
        let (package, simple) = split(name);
        if file != simple {
            return None;
        }
        let same = common_suffix(dir, package);
        let root = &dir[..dir.len() - same];
        let add = &package[..package.len() - same];
        // The first package component below the root belongs to that root; nothing is known of its siblings.
        let (dir, below) = match package.split_once('/') {
            Some((first, _)) if add.is_empty() => (format!("{root}{first}/"), true),
            _ => (dir.to_string(), false),
        };
        Some(Rule { dir, below, strip: root.len(), add: add.to_string() })
    }

    fn covers(&self, path: &str) -> bool {
        path.strip_prefix(self.dir.as_str()).is_some_and(|rest| self.below || !rest.contains('/'))
    }

    fn name(&self, path: &str) -> String {
        [&self.add, &path[self.strip..]].concat()
    }
}

/// `a/b/C` as `a/b/` and `C`.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

/// Length of the longest common run of whole components at the end of two directories that end in `/`.
fn common_suffix(a: &str, b: &str) -> usize {
    let parts = a.split_inclusive('/').rev().zip(b.split_inclusive('/').rev());
    parts.take_while(|(x, y)| x == y).map(|(x, _)| x.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::class_names;

    fn names(files: &[(&str, &str)]) -> (Vec<String>, usize) {
        let paths: Vec<_> = files.iter().map(|(path, _)| *path).collect();
        let mut reads = 0;
        let names = class_names(&paths, |i| {
            reads += 1;
            Some(files[i].1.to_string())
        });
        (names, reads)
    }

    fn check(files: &[(&str, &str)], most_reads: usize) {
        let (names, reads) = names(files);
        let expected: Vec<_> = files.iter().map(|(_, name)| name.to_string()).collect();
        assert_eq!(names, expected);
        assert!(reads <= most_reads, "{reads} files were opened");
    }

    #[test]
    fn one_look_is_enough_for_a_package_root() {
        check(&[("com/a/A", "com/a/A"), ("com/a/b/B", "com/a/b/B"), ("com/c/C", "com/c/C")], 1);
    }

    #[test]
    fn a_directory_named_too_high_or_too_deep_gives_the_same_names() {
        check(&[("out/main/com/a/A", "com/a/A"), ("out/main/com/b/B", "com/b/B")], 1);
        check(&[("A", "com/a/A"), ("B", "com/a/B"), ("c/C", "com/a/c/C"), ("c/D", "com/a/c/D")], 2);
    }

    #[test]
    fn several_roots_are_told_apart() {
        check(
            &[("m1/com/A", "com/A"), ("m1/com/B", "com/B"), ("m2/com/C", "com/C"), ("m2/com/D", "com/D")],
            2,
        );
    }

    #[test]
    fn the_default_package_says_nothing_about_directories_below() {
        check(&[("Main", "Main"), ("Other", "Other"), ("mod/com/A", "com/A")], 2);
    }

    #[test]
    fn a_renamed_or_misplaced_file_is_known_by_its_content() {
        check(&[("com/A", "com/A"), ("copy", "com/B"), ("x/y/C", "com/z/C")], 3);
        assert_eq!(class_names(&["com/A"], |_| None), ["com/A"]);
    }
}

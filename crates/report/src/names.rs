//! Turns the report's file names into names the reader can open, in places and inside sentences. Knows
//! nothing of the format they end up in.

use crate::Sources;
use findings::Place;

pub(crate) struct Names<'a> {
    sources: &'a dyn Sources,
}

impl<'a> Names<'a> {
    pub fn new(sources: &'a dyn Sources) -> Names<'a> {
        Names { sources }
    }

    pub fn file(&self, file: &str) -> String {
        self.sources.display(file)
    }

    /// `src/bank/Main.java:12`, or the file alone where the line is unknown.
    pub fn place(&self, place: &Place) -> String {
        match (place.file.as_str(), place.line) {
            ("", _) => "an unknown place".to_owned(),
            (file, 0) => self.file(file),
            (file, line) => format!("{}:{line}", self.file(file)),
        }
    }

    /// Two places, the second without its file where that would only repeat the first.
    pub fn pair(&self, (first, second): &(Place, Place)) -> String {
        if first.file == second.file && first.line > 0 && second.line > 0 {
            format!("{} with :{}", self.place(first), second.line)
        } else {
            format!("{} with {}", self.place(first), self.place(second))
        }
    }

    /// The file of a place in this method, guessed from the method's class where none is known.
    pub fn file_of(&self, place: &Place, method: &str) -> String {
        if place.file.is_empty() { class_file(method) } else { self.file(&place.file) }
    }

    /// A sentence of the report, with the places it mentions renamed like all others.
    pub fn prose(&self, sentence: &str) -> String {
        sentence.split(' ').map(|word| self.word(word)).collect::<Vec<_>>().join(" ")
    }

    fn word(&self, word: &str) -> String {
        let core = word.trim_matches(|c: char| "()[]{},.;:`'\"".contains(c));
        match core.rsplit_once(':') {
            Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => {
                word.replace(core, &format!("{}:{line}", self.file(file)))
            }
            _ => word.to_owned(),
        }
    }
}

/// `bank.Account$Part.run(int)` → `bank/Account.java`, where the class would usually be written.
fn class_file(method: &str) -> String {
    let path = method.split('(').next().unwrap_or_default();
    match path.rsplit_once('.') {
        Some((class, _)) => format!("{}.java", class.split('$').next().unwrap_or(class).replace('.', "/")),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Prefixed;

    impl Sources for Prefixed {
        fn text(&self, _: &str) -> Option<String> {
            None
        }

        fn display(&self, file: &str) -> String {
            format!("src/{file}")
        }
    }

    fn place(file: &str, line: u32) -> Place {
        Place { file: file.into(), line }
    }

    #[test]
    fn a_place_says_only_what_is_known() {
        let names = Names::new(&Prefixed);
        assert_eq!(names.place(&place("a/A.java", 3)), "src/a/A.java:3");
        assert_eq!(names.place(&place("a/A.java", 0)), "src/a/A.java");
        assert_eq!(names.place(&place("", 3)), "an unknown place");
    }

    #[test]
    fn a_file_that_is_not_known_is_guessed_from_the_class() {
        let names = Names::new(&Prefixed);
        let guess = |method| names.file_of(&place("", 0), method);
        assert_eq!(guess("bank.Account$Part.run(java.lang.String)"), "bank/Account.java");
        assert_eq!(guess("Main.main()"), "Main.java");
        assert_eq!(guess(""), "unknown");
        assert_eq!(names.file_of(&place("a/A.java", 0), "b.B.m()"), "src/a/A.java");
    }

    #[test]
    fn a_pair_names_a_shared_file_once() {
        let names = Names::new(&Prefixed);
        assert_eq!(names.pair(&(place("A.java", 3), place("A.java", 4))), "src/A.java:3 with :4");
        assert_eq!(names.pair(&(place("A.java", 3), place("B.java", 4))), "src/A.java:3 with src/B.java:4");
        assert_eq!(names.pair(&(place("A.java", 3), place("A.java", 0))), "src/A.java:3 with src/A.java");
    }

    #[test]
    fn places_inside_sentences_are_renamed_and_nothing_else() {
        let names = Names::new(&Prefixed);
        assert_eq!(names.prose("started at a/A.java:20, twice"), "started at src/a/A.java:20, twice");
        assert_eq!(names.prose("(see A.java:1)."), "(see src/A.java:1).");
        assert_eq!(names.prose("at 10: nothing; why: none"), "at 10: nothing; why: none");
    }
}

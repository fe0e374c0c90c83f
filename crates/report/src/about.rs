//! What is known of a field or a lock as a few lines of Markdown, for an editor to show beside the code. Chooses what is
//! worth a line; knows nothing of the analysis, nor of where a link leads.

use findings::{
    About, AboutLock, Access, AccessKind, Confidence, Covered, Engine, FieldGuard, Guard, Held, LockUse,
    Origin, Part, Place, Reported, Why,
};
use std::collections::BTreeSet;

/// Accesses or fields that are told one by one.
const MOST: usize = 6;
/// Threads of an access, places in a row, and reads that are told one by one where nothing can go wrong.
const FEW: usize = 3;
/// Findings.
const FEWEST: usize = 2;

/// From a place to what a reader can open.
pub type Link<'a> = &'a dyn Fn(&Place) -> Option<String>;

/// Who touches a field, and what guards it: about a dozen lines at most.
pub fn markdown(about: &About, link: Link<'_>) -> String {
    let (class, name) = about.field.rsplit_once('.').unwrap_or(("", &about.field));
    let words = Words::of(class, link);
    let mut text = format!("**{}** · {}\n", prose(name), words.headline(about));
    let is_told =
        |told: &&Reported| about.why == Why::Reported || told.confidence.at_least(Confidence::Medium);
    let findings: Vec<&Reported> = about.findings.iter().filter(is_told).collect();
    let told = findings.iter().take(fitting(findings.len(), FEWEST)).map(|finding| {
        let (rule, level) = (finding.rule.id(), finding.confidence.id());
        format!("\n{rule} ({level} confidence): {}\n", sentence(&finding.message))
    });
    text.extend(told);
    text.extend(more(findings.len(), FEWEST).map(|more| format!("\nand {more} findings\n")));
    let (published, before): (Vec<&Access>, Vec<&Access>) =
        about.accesses.iter().partition(|access| access.is_published);
    // Who does it wrong is what a reader looks for.
    let (wrong, right): (Vec<&Access>, Vec<&Access>) =
        published.into_iter().partition(|access| access.lacks_guard);
    let all: Vec<&Access> = wrong.into_iter().chain(right).collect();
    let words = words.without(common(&all));
    if let Some(origins) = words.common {
        text.push_str(&format!("\nall by {}\n", words.origins(origins)));
    }
    let is_only_read = matches!(about.why, Why::Final(_) | Why::NeverWritten);
    let mut list: Vec<String> = match is_only_read && all.len() > FEW {
        true => vec![words.reads(&all)],
        false => {
            all.iter().take(fitting(all.len(), MOST)).map(|access| words.access(access, about)).collect()
        }
    };
    list.extend(more(all.len(), MOST).filter(|_| !is_only_read).map(|more| format!("and {more}")));
    if !before.is_empty() {
        list.push(format!("while nobody else knows the object: {}", words.places(&before)));
    }
    text + &bullets(&list)
}

/// What is done under a lock, and where else it is taken.
pub fn lock_markdown(about: &AboutLock, link: Link<'_>) -> String {
    let method = about.method.split('(').next().unwrap_or_default();
    let words = Words::of(method.rsplit_once('.').map_or("", |(class, _)| class), link);
    let (lock, method) = (words.lock(&about.lock), words.method(&about.method));
    let mut text = format!("**{lock}** · taken in {method} by {}\n", words.origins(&about.origins));
    if !about.elsewhere.is_empty() {
        text.push_str(&format!("\nalso taken at {}\n", words.row(about.elsewhere.iter())));
    }
    if about.covers.is_empty() {
        return text + "\nnothing that could be raced for is touched under it\n";
    }
    let mut list: Vec<String> = about
        .covers
        .iter()
        .take(fitting(about.covers.len(), MOST))
        .map(|covered| words.covered(covered))
        .collect();
    list.extend(more(about.covers.len(), MOST).map(|more| format!("and {more}")));
    text + &bullets(&list)
}

/// What guards a field in a few words, if that is worth a place beside it.
pub fn lens(field: &FieldGuard) -> Option<String> {
    let words = Words::of("", &|_| None);
    match (&field.guard, &field.why) {
        (Some(Guard { name, with, of, .. }), _) if with == of => {
            Some(format!("guarded by {}", words.name(name)))
        }
        (Some(Guard { name, with, of, .. }), _) => {
            Some(format!("guarded by {} in {with} of {of} accesses", words.name(name)))
        }
        (None, Why::Reported) => Some("no guard".into()),
        (None, Why::OneThread(origin)) => Some(format!("only the {}", words.origin(origin))),
        (None, Why::NeverWritten | Why::NeverWrittenWhereReached) => Some("never written once shared".into()),
        (None, Why::Dismissed(why)) => Some(why.short().into()),
        // What is declared is read there anyway, and what is not known is no news.
        (None, _) => None,
    }
}

fn bullets(list: &[String]) -> String {
    let items: String = list.iter().map(|item| format!("- {item}\n")).collect();
    if list.is_empty() { items } else { format!("\n{items}") }
}

/// `14 more`.
fn more(all: usize, most: usize) -> Option<String> {
    all.checked_sub(fitting(all, most)).filter(|&more| more > 0).map(|more| format!("{more} more"))
}

/// How many of them are told. That there is one more takes as much room as to tell it.
fn fitting(all: usize, most: usize) -> usize {
    if all <= most + 1 { all } else { most }
}

/// Names as they are shown.
struct Words<'a> {
    /// The class of what was asked about: it need not be named.
    class: &'a str,
    link: Link<'a>,
    /// Who gets everywhere, and was told.
    common: Option<&'a [Origin]>,
}

impl<'a> Words<'a> {
    fn of(class: &'a str, link: Link<'a>) -> Words<'a> {
        Words { class, link, common: None }
    }

    fn without(self, common: Option<&'a [Origin]>) -> Words<'a> {
        Words { common, ..self }
    }
}

/// The threads of all accesses, if they are the same several: to repeat them would fill the lines.
fn common<'a>(accesses: &[&'a Access]) -> Option<&'a [Origin]> {
    let [first, rest @ ..] = accesses else { return None };
    let is_same = |access: &&&Access| access.origins == first.origins && access.engine == first.engine;
    let are_many = !rest.is_empty() && first.origins.len() > 1;
    (are_many && rest.iter().all(|access| is_same(&access))).then_some(&first.origins)
}

impl Words<'_> {
    /// One sentence.
    fn headline(&self, about: &About) -> String {
        let lock = |name: &str| format!("`{}`", code(&self.name(name)));
        let why = match &about.why {
            Why::Guarded(name) => format!("all accesses hold {}", lock(name)),
            Why::GuardedWhereReached(name) => {
                format!("all accesses that the program gets to hold {}", lock(name))
            }
            Why::OneThread(origin) => format!("only the {} touches it", self.origin(origin)),
            Why::Final(Some(class)) => {
                format!("it is final, and made for several threads: {}", prose(simple(class)))
            }
            why => prose(&why.text()),
        };
        if !about.guards.is_empty() && about.why != Why::Reported {
            let guarded: Vec<String> = about
                .guards
                .iter()
                .take(fitting(about.guards.len(), MOST))
                .map(|name| format!("`{}`", code(name)))
                .collect();
            let more = more(about.guards.len(), MOST);
            return format!(
                "guards {}; {why}",
                guarded.into_iter().chain(more).collect::<Vec<_>>().join(", ")
            );
        }
        let Some(Guard { name, with, of, is_declared }) = &about.guard else {
            return if about.why == Why::Reported { "no lock guards it".into() } else { why };
        };
        let declared = if *is_declared { " as declared," } else { "" };
        let count = format!("guarded by {}{declared} in {with} of {of} accesses", lock(name));
        match &about.why {
            Why::Guarded(_) if *is_declared => count,
            Why::Guarded(_) => why,
            Why::Reported => count,
            _ => format!("{count}; {why}"),
        }
    }

    fn access(&self, access: &Access, about: &About) -> String {
        let does = match (access.part, access.kind) {
            (Part::Field, AccessKind::Write) => "write",
            (Part::Field, _) => "read",
            (Part::Contents, AccessKind::Write) => "write to its contents",
            (Part::Contents, _) => "read of its contents",
            (Part::Elements, AccessKind::Write) => "write to an element",
            (Part::Elements, _) => "read of an element",
        };
        let is_unreached =
            access.engine == Engine::Compositional && about.engines.contains(&Engine::WholeProgram);
        let who = if is_unreached { "never reached".to_owned() } else { self.origins(&access.origins) };
        let line = format!("{does} in {} {}", self.method(&access.method), self.place(&access.place));
        let line = if self.common.is_some() { line } else { format!("{line} · {who}") };
        let locks: Vec<String> = access.locks.iter().map(|held| self.held(held, access, about)).collect();
        let line = match locks.is_empty() {
            false => format!("{line} · holds {}", locks.join(", ")),
            // Where nobody needs a lock, it is no news that there is none.
            true if access.lacks_guard || about.why == Why::Reported => format!("{line} · holds nothing"),
            true => line,
        };
        if access.lacks_guard { format!("**{line}**") } else { line }
    }

    /// Where nothing can go wrong, who reads it fits into one line.
    fn reads(&self, accesses: &[&Access]) -> String {
        let origins: BTreeSet<&Origin> = accesses.iter().flat_map(|access| &access.origins).collect();
        let origins: Vec<Origin> = origins.into_iter().cloned().collect();
        let line = format!("read at {}", self.places(accesses));
        if self.common.is_some() { line } else { format!("{line} · {}", self.origins(&origins)) }
    }

    fn covered(&self, covered: &Covered) -> String {
        let writes = covered.accesses.iter().filter(|access| access.kind == AccessKind::Write).count();
        let counts = [(covered.accesses.len() - writes, "read"), (writes, "write")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts =
            counts.map(|(count, what)| format!("{count} {what}{}", if count > 1 { "s" } else { "" }));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let places = self.places(&covered.accesses.iter().collect::<Vec<_>>());
        format!("`{}`: {counts} · {places}", code(&self.name(&covered.field)))
    }

    /// Callers may hold another `this`: then where it is taken tells which.
    fn held(&self, held: &Held, access: &Access, about: &About) -> String {
        let is_named_like = |other: &&Held| other.lock.name == held.lock.name;
        let is_guard = about.guard.as_ref().is_some_and(|guard| held.known_as.contains(&guard.name));
        match access.locks.iter().filter(is_named_like).count() {
            0 | 1 => self.lock(&held.lock),
            _ if is_guard => self.lock(&held.lock),
            _ if held.lock.place.line == 0 => format!("{} of a caller", self.lock(&held.lock)),
            _ => format!("{} of {}", self.lock(&held.lock), self.place(&held.lock.place)),
        }
    }

    fn lock(&self, lock: &LockUse) -> String {
        let name = self.name(&lock.name);
        let name = if name.contains(' ') { prose(&name) } else { format!("`{}`", code(&name)) };
        format!("{name}{}", if lock.shared { " (shared)" } else { "" })
    }

    /// `deposit(long)` for a method of the class, `Bank.transfer(Account)` for others.
    fn method(&self, method: &str) -> String {
        let (method, lambda) = match method.strip_suffix(" lambda") {
            Some(method) => (method, "a lambda in "),
            None => (method, ""),
        };
        let (path, parameters) = method.split_at(method.find('(').unwrap_or(method.len()));
        let (class, name) = path.rsplit_once('.').unwrap_or(("", path));
        let types = parameters.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let types = types.map(|types| types.split(", ").map(simple).collect::<Vec<_>>().join(", "));
        let parameters = types.map_or_else(String::new, |types| format!("({types})"));
        let shown = match name {
            "<init>" => format!("new {}{parameters}", simple(class)),
            "<clinit>" => format!("static {}", simple(class)),
            _ if class == self.class => format!("{name}{parameters}"),
            _ => format!("{}.{name}{parameters}", simple(class)),
        };
        format!("{lambda}`{}`", code(&shown))
    }

    /// `lock` for a field of the class or of the object, `Bank.lock` for others, all without packages. What is no such
    /// name stays as it is.
    fn name(&self, name: &str) -> String {
        if let Some(own) = name.strip_prefix("this.") {
            return own.to_owned();
        }
        if name.contains(|letter: char| letter.is_whitespace() || letter == '"') {
            return name.to_owned();
        }
        let own = name.strip_prefix(self.class).and_then(|rest| rest.strip_prefix('.'));
        let is_field =
            |own: &&str| !self.class.is_empty() && !own.contains('.') && !matches!(*own, "this" | "class");
        if let Some(field) = own.filter(is_field) {
            return field.to_owned();
        }
        // Packages begin with small letters, and classes do not.
        let is_package = |part: &&str| part.starts_with(char::is_lowercase);
        let packages = name.split('.').take_while(is_package).count();
        let rest: Vec<&str> = name.split('.').skip(packages).collect();
        if rest.is_empty() { name.to_owned() } else { rest.join(".") }
    }

    fn origins(&self, origins: &[Origin]) -> String {
        let told = origins.iter().take(fitting(origins.len(), FEW)).map(|origin| self.origin(origin));
        told.chain(more(origins.len(), FEW)).collect::<Vec<_>>().join(", ")
    }

    /// One of which there are several is told as several.
    fn origin(&self, Origin { name, is_several }: &Origin) -> String {
        let name = match name.strip_prefix("thread that runs ") {
            Some(method) => return format!("thread that runs {}", self.method(method)),
            None => name,
        };
        let plural = ["thread started", "task submitted"].into_iter().find_map(|one| {
            let (what, how) = one.split_once(' ').filter(|_| *is_several)?;
            Some(format!("{what}s {how}{}", name.strip_prefix(one)?))
        });
        let name = plural.as_ref().unwrap_or(name);
        let place = name.split_once(" at ").and_then(|(what, place)| {
            let (file, line) = place.rsplit_once(':')?;
            Some((what, Place { file: file.to_owned(), line: line.parse().ok()? }))
        });
        match place {
            Some((what, place)) => format!("{} at {}", prose(what), self.place(&place)),
            None => prose(name),
        }
    }

    fn place(&self, place: &Place) -> String {
        let file = prose(place.file.rsplit('/').next().unwrap_or_default());
        let shown = if place.line == 0 { file } else { format!("{file}:{}", place.line) };
        match (self.link)(place) {
            Some(link) => format!("[{shown}]({link})"),
            None => shown,
        }
    }

    fn places(&self, accesses: &[&Access]) -> String {
        self.row(accesses.iter().map(|access| &access.place))
    }

    fn row<'p>(&self, places: impl ExactSizeIterator<Item = &'p Place>) -> String {
        let (told, more) = (fitting(places.len(), FEW), more(places.len(), FEW));
        places.take(told).map(|place| self.place(place)).chain(more).collect::<Vec<_>>().join(", ")
    }
}

/// `String[]` for `java.lang.String[]`.
fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Nothing in it is taken for markup. Names come from class files and may contain anything.
fn prose(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if letter.is_control() => shown.push('\u{fffd}'),
            '\\' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' => shown.extend(['\\', letter]),
            letter => shown.push(letter),
        }
    }
    shown
}

/// The same with code between backticks in it.
fn sentence(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { prose(part) } else { format!("`{}`", code(part)) });
    parts.collect()
}

/// The same between backticks.
fn code(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() || letter == '`' { '\u{fffd}' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Rule;

    fn place(line: u32) -> Place {
        Place { file: "bank/Account.java".into(), line }
    }

    fn origin(name: &str) -> Origin {
        Origin { name: name.into(), is_several: false }
    }

    /// Without a lock, and so without the guard.
    fn access(line: u32, kind: AccessKind, method: &str) -> Access {
        Access {
            place: place(line),
            method: method.into(),
            kind,
            part: Part::Field,
            origins: vec![origin("main thread"), origin("thread started at bank/Main.java:20")],
            locks: Vec::new(),
            is_published: true,
            lacks_guard: true,
            engine: Engine::WholeProgram,
        }
    }

    fn guarded(line: u32, kind: AccessKind, method: &str) -> Access {
        let lock = LockUse { name: "this".into(), place: place(line), shared: false, ..LockUse::default() };
        let locks = vec![Held { lock, known_as: vec!["this".into()] }];
        Access { locks, lacks_guard: false, ..access(line, kind, method) }
    }

    fn about(accesses: Vec<Access>) -> About {
        let with = accesses.iter().filter(|access| !access.lacks_guard).count();
        About {
            pairs: Vec::new(),
            field: "bank.Account.balance".into(),
            guard: Some(Guard { name: "this".into(), with, of: accesses.len(), is_declared: false }),
            why: Why::Reported,
            guards: Vec::new(),
            findings: Vec::new(),
            accesses,
            engines: vec![Engine::WholeProgram, Engine::Compositional],
        }
    }

    fn shown(about: &About) -> String {
        markdown(about, &|place| Some(format!("file:{}#{}", place.file, place.line)))
    }

    #[test]
    fn who_lacks_the_guard_comes_first() {
        let read = guarded(24, AccessKind::Read, "bank.Account.deposit(long)");
        let write = access(40, AccessKind::Write, "bank.Account.reset(java.lang.String[])");
        let made = Access {
            is_published: false,
            lacks_guard: false,
            ..access(9, AccessKind::Write, "bank.Account.<init>()")
        };
        let reported = Reported {
            id: "1".into(),
            rule: Rule::Race,
            confidence: Confidence::High,
            message: "bank.Account.balance is read without `this`".into(),
        };
        let about = About {
            pairs: Vec::new(),
            guard: Some(Guard { name: "this".into(), with: 1, of: 2, is_declared: false }),
            findings: vec![reported],
            ..about(vec![made, read, write])
        };
        assert_eq!(
            shown(&about),
            "**balance** · guarded by `this` in 1 of 2 accesses\n\
             \n\
             race (high confidence): bank.Account.balance is read without `this`\n\
             \n\
             all by main thread, thread started at [Main.java:20](file:bank/Main.java#20)\n\
             \n\
             - **write in `reset(String[])` [Account.java:40](file:bank/Account.java#40) · holds nothing**\n\
             - read in `deposit(long)` [Account.java:24](file:bank/Account.java#24) · holds `this`\n\
             - while nobody else knows the object: [Account.java:9](file:bank/Account.java#9)\n"
        );
    }

    #[test]
    fn nobody_has_to_read_more_than_a_dozen_lines() {
        let all = (1..=30).map(|line| guarded(line, AccessKind::Write, "bank.Account.deposit(long)"));
        let mut about = about(all.collect());
        let finding = Reported {
            id: String::new(),
            rule: Rule::Race,
            confidence: Confidence::High,
            message: "a race".into(),
        };
        about.findings = vec![finding; 5];
        about.accesses.iter_mut().take(5).for_each(|access| access.is_published = false);
        let text = shown(&about);
        let lines = text.lines().filter(|line| !line.is_empty()).count();
        assert!(lines <= 13, "{lines}\n{text}");
        assert!(text.contains("\nand 3 more findings\n"), "{text}");
        assert!(text.contains("\n- and 19 more\n"), "{text}");
    }

    #[test]
    fn reads_that_can_do_no_harm_are_one_line() {
        let mut about =
            about((1..=5).map(|line| access(line, AccessKind::Read, "bank.Bank.look()")).collect());
        about.accesses.iter_mut().for_each(|access| access.lacks_guard = false);
        let about = About { guard: None, why: Why::Final(Some("java.util.Vector".into())), ..about };
        assert_eq!(
            markdown(&about, &|_| None),
            "**balance** · it is final, and made for several threads: Vector\n\
             \n\
             all by main thread, thread started at Main.java:20\n\
             \n\
             - read at Account.java:1, Account.java:2, Account.java:3, 2 more\n"
        );
    }

    #[test]
    fn what_is_never_reached_and_what_there_are_several_of_is_said() {
        let several = Origin { is_several: true, ..origin("thread started at bank/Main.java:20") };
        let reached =
            Access { origins: vec![several], ..guarded(3, AccessKind::Write, "bank.Bank.a() lambda") };
        let unreached =
            Access { engine: Engine::Compositional, ..guarded(4, AccessKind::Read, "bank.Account.b()") };
        let about = About { why: Why::Guarded("this.lock".into()), ..about(vec![reached, unreached]) };
        assert_eq!(
            markdown(&about, &|_| None),
            "**balance** · all accesses hold `lock`\n\
             \n\
             - write in a lambda in `Bank.a()` Account.java:3 · threads started at Main.java:20 · holds `this`\n\
             - read in `b()` Account.java:4 · never reached · holds `this`\n"
        );
    }

    #[test]
    fn names_are_no_markup() {
        let mut about = about(vec![access(1, AccessKind::Write, "a.B.`<x>`()")]);
        about.field = "a.B.__init__".into();
        about.accesses[0].origins = vec![origin("entry point a.B.*run*()")];
        assert_eq!(
            markdown(&about, &|_| None),
            "**\\_\\_init\\_\\_** · guarded by `this` in 0 of 1 accesses\n\
             \n\
             - **write in `\u{fffd}<x>\u{fffd}()` Account.java:1 · entry point a.B.\\*run\\*() · holds nothing**\n"
        );
    }

    #[test]
    fn a_lock_is_told_with_what_it_covers() {
        let lock = LockUse {
            name: "bank.Account.lock".into(),
            place: place(20),
            shared: false,
            ..LockUse::default()
        };
        let write = access(21, AccessKind::Write, "bank.Account.deposit(long)");
        let read = access(22, AccessKind::Read, "bank.Account.deposit(long)");
        let mut about = AboutLock {
            lock,
            method: "bank.Account.deposit(long)".into(),
            origins: vec![origin("main thread")],
            elsewhere: vec![place(30)],
            covers: vec![Covered { field: "bank.Account.balance".into(), accesses: vec![write, read] }],
            engines: vec![Engine::WholeProgram],
        };
        assert_eq!(
            lock_markdown(&about, &|_| None),
            "**`lock`** · taken in `deposit(long)` by main thread\n\
             \n\
             also taken at Account.java:30\n\
             \n\
             - `balance`: 1 read, 1 write · Account.java:21, Account.java:22\n"
        );
        (about.covers, about.elsewhere) = (Vec::new(), Vec::new());
        assert_eq!(
            lock_markdown(&about, &|_| None),
            "**`lock`** · taken in `deposit(long)` by main thread\n\
             \n\
             nothing that could be raced for is touched under it\n"
        );
    }

    #[test]
    fn a_lens_says_only_what_is_not_read_beside_it() {
        let field = |guard: Option<(&str, usize, usize)>, why: Why| {
            let guard =
                guard.map(|(name, with, of)| Guard { name: name.into(), with, of, is_declared: false });
            lens(&FieldGuard { field: "f".into(), guard, why, findings: Vec::new() })
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            field(Some(("this.lock", 3, 3)), Why::Guarded("this.lock".into())),
            some("guarded by lock")
        );
        assert_eq!(
            field(Some(("a.B.LOCK", 2, 3)), Why::Reported),
            some("guarded by B.LOCK in 2 of 3 accesses")
        );
        assert_eq!(field(None, Why::OneThread(origin("main thread"))), some("only the main thread"));
        assert_eq!(field(None, Why::Reported), some("no guard"));
        assert_eq!(field(None, Why::Final(None)), None);
    }
}

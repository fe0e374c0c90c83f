//! Where the program starts: every `main`, or what the user named. Also the JVM's own start-up. What is not
//! there becomes a note that says what is.

use crate::{Options, suggest};
use findings::Note;
use ir::{ClassId, Loaded, MethodId, MethodRef, Problem, Program, access};
use pointsto::Roots;
use std::collections::BTreeSet;

/// Methods of a class that are listed for the user to choose from.
const MOST_LISTED: usize = 8;

pub(crate) struct Found {
    pub(crate) roots: Roots,
    pub(crate) notes: Vec<Note>,
    /// Nobody named anything, and nothing is there.
    pub(crate) is_open: bool,
}

pub(crate) fn find(program: &mut Program, options: &Options) -> Found {
    let mut entries = Vec::new();
    let mut wrong = Vec::new();
    for name in &options.mains {
        match main_named(program, name) {
            Ok(main) => entries.push(main),
            Err(why) => wrong.push(unknown("--main", name, &why)),
        }
    }
    for name in &options.entries {
        match methods_named(program, name) {
            Ok(methods) => entries.extend(methods),
            Err(why) => wrong.push(unknown("--entry", name, &why)),
        }
    }
    let named = !(options.mains.is_empty() && options.entries.is_empty());
    if !named {
        let classes = program.source().app_classes();
        for name in &classes {
            let class = program.class_id(name);
            entries.extend(main_of(program, class));
        }
        if entries.is_empty() {
            wrong.push(no_main(classes.len()));
        }
    }
    // In whatever order they were named.
    entries.sort_by_cached_key(|&method| program.method_display(method));
    entries.dedup();
    let (left_out, kept): (Vec<MethodId>, Vec<MethodId>) =
        entries.iter().partition(|&&entry| is_excluded(program, entry, options));
    // Of the mains nobody named, those that are left out are not missed while there are others.
    if let Some(&first) = left_out.first()
        && (named || kept.is_empty())
    {
        wrong.push(excluded(program, first));
    }
    let system = program.class_id("java/lang/System");
    let boot = declared(program, system, "initPhase1").into_iter().take(1).collect();
    let is_open = !named && entries.is_empty();
    Found { roots: Roots { entries, boot }, notes: wrong, is_open }
}

fn no_main(classes: usize) -> Note {
    let looked_at = if classes == 1 { "1 class".to_string() } else { format!("{classes} classes") };
    let message = format!(
        "no entry point found: looked for `static void main(String[])` in {looked_at}; \
         say where to begin with --main CLASS or --entry CLASS.METHOD"
    );
    Note { kind: "no-entry-point".into(), message, count: 1 }
}

fn is_excluded(program: &Program, method: MethodId, options: &Options) -> bool {
    let class = program.class_display(program.method(method).class);
    options.exclude.iter().any(|prefix| class.starts_with(&prefix.replace('/', ".")))
}

fn excluded(program: &Program, entry: MethodId) -> Note {
    let entry = program.method_display(entry);
    let message =
        format!("--exclude leaves out {entry}, where the program begins: nothing would be analysed");
    Note { kind: "no-entry-point".into(), message, count: 1 }
}

fn unknown(flag: &str, name: &str, why: &str) -> Note {
    Note { kind: "unknown-entry-point".into(), message: format!("{flag} {name}: {why}"), count: 1 }
}

/// The `main` that `java CLASS` would run, which may be inherited; or why there is none.
fn main_named(program: &mut Program, name: &str) -> Result<MethodId, String> {
    let class = class_named(program, name)
        .map_err(|why| format!("{why}{}", did_you_mean(program, name, |class| class.to_string())))?;
    let family: Vec<ClassId> = program.superclasses(class).collect();
    let main = family.into_iter().find_map(|class| main_of(program, class));
    main.ok_or_else(|| {
        let methods = callable(program, class);
        format!("the class has no `static void main(String[])`{}", listed(name, &methods))
    })
}

/// All methods that `Class.method` names, overloads included; or why there are none.
fn methods_named(program: &mut Program, entry: &str) -> Result<Vec<MethodId>, String> {
    if let Some((name, _)) = entry.split_once('(') {
        return Err(format!("parameters are no part of the name; {name} begins at all methods of that name"));
    }
    let (name, method) = entry.rsplit_once('.').unwrap_or(("", entry));
    let class = match class_named(program, name) {
        Ok(class) => class,
        Err(why) => return Err(no_class_of_entry(program, entry, (name, method), &why)),
    };
    let methods = declared(program, class, method);
    let bare = |method: &MethodId| program.method(*method).access & (access::ABSTRACT | access::NATIVE);
    let with_code: Vec<MethodId> = methods.iter().copied().filter(|method| bare(method) == 0).collect();
    if let (Some(first), true) = (methods.first(), with_code.is_empty()) {
        let why = if bare(first) & access::NATIVE != 0 { "native" } else { "abstract" };
        return Err(format!("the method is {why} and has no code to begin at"));
    }
    if !with_code.is_empty() {
        return Ok(with_code);
    }
    let known = callable(program, class);
    Err(match suggest::closest(method, known.iter().map(String::as_str)) {
        Some(close) => format!("the class has no method `{method}`; did you mean {name}.{close}?"),
        None => format!("the class has no method `{method}`{}", listed(name, &known)),
    })
}

fn no_class_of_entry(program: &mut Program, entry: &str, (name, method): (&str, &str), why: &str) -> String {
    if let Ok(class) = class_named(program, entry) {
        let methods = callable(program, class);
        return format!("this is a class, and no method of one{}", listed(entry, &methods));
    }
    match name {
        "" => "expected a class and its method, as in bank.Account.deposit".to_string(),
        _ => format!("{why}{}", did_you_mean(program, name, |class| format!("{class}.{method}"))),
    }
}

/// A class that is there and can be read.
fn class_named(program: &mut Program, name: &str) -> Result<ClassId, String> {
    let name = name.replace('.', "/");
    if program.source().find(&name).is_none() {
        return Err("no such class".to_string());
    }
    let class = program.class_id(&name);
    if program.load(class).loaded == Loaded::Yes {
        return Ok(class);
    }
    let why = program.problems.iter().find_map(|problem| match problem {
        Problem::CorruptClass(corrupt, why) if *corrupt == class => Some(why.as_str()),
        _ => None,
    });
    Err(format!("the class cannot be read: {}", why.unwrap_or("it is damaged")))
}

fn did_you_mean(program: &Program, name: &str, shown: impl Fn(&str) -> String) -> String {
    let classes = program.source().app_classes();
    let named = classes.iter().filter(|class| !is_nameless(class));
    let classes: Vec<String> = named.map(|class| class.replace('/', ".")).collect();
    match suggest::closest_class(name, &classes) {
        Some(class) => format!("; did you mean {}?", shown(class)),
        None => String::new(),
    }
}

/// The compiler gives numbers to classes inside methods: nobody would begin there.
fn is_nameless(class: &str) -> bool {
    class.split('$').skip(1).any(|part| part.starts_with(|first: char| first.is_ascii_digit()))
}

/// `; for --entry: bank.Account.deposit, bank.Account.withdraw`.
fn listed(class: &str, methods: &[String]) -> String {
    if methods.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> =
        methods.iter().take(MOST_LISTED).map(|name| format!("{class}.{name}")).collect();
    if methods.len() > MOST_LISTED {
        names.push(format!("{} more", methods.len() - MOST_LISTED));
    }
    format!("; for --entry: {}", names.join(", "))
}

/// Names of the methods somebody outside may call, each once.
fn callable(program: &Program, class: ClassId) -> Vec<String> {
    let methods = program.class(class).methods.iter().map(|&method| program.method(method));
    let open = methods.filter(|method| {
        method.access & (access::PRIVATE | access::SYNTHETIC) == 0 && method.access & access::ABSTRACT == 0
    });
    let names: BTreeSet<&str> = open.map(|method| program.selector_text(method.selector).0).collect();
    names.into_iter().filter(|name| !name.starts_with('<')).map(str::to_string).collect()
}

/// `static void main(String[])`.
fn main_of(program: &mut Program, class: ClassId) -> Option<MethodId> {
    if program.load(class).loaded != Loaded::Yes {
        return None;
    }
    let selector = program.selector("main", "([Ljava/lang/String;)V");
    let main = program.declared_method(MethodRef { class, selector })?;
    (program.method(main).access & access::STATIC != 0).then_some(main)
}

/// The class's own methods of this name.
fn declared(program: &mut Program, class: ClassId, name: &str) -> Vec<MethodId> {
    program.load(class);
    let methods = program.class(class).methods.clone();
    methods.into_iter().filter(|&m| program.selector_text(program.method(m).selector).0 == name).collect()
}

//! One source file as it is edited: the classes that were made of it last, and for methods that cannot be compiled now
//! those of the last time they could. Knows nothing of other files, nor who compiles.

use crate::names::{earlier_class, earlier_lambda, with_classes};
use crate::rewrite::rewritten;
use classfile::{ClassBytes, ClassFile, Earlier, Insn, Kept, Layer, Method, lambdas_of, told_lambdas};
use compiler::{Class, FileAnswer, Status};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use syntax::LineMap;

/// The flag of the JVM specification.
const SYNTHETIC: u16 = 0x1000;

type Bytes = Arc<[u8]>;
/// Name and descriptor.
type Selector = (String, String);

/// A file as it once was, with its classes.
struct Version {
    /// Nothing if nobody knows which text these classes were made of.
    text: Option<Arc<str>>,
    classes: BTreeMap<String, Bytes>,
}

impl Version {
    fn of(classes: &BTreeMap<String, ClassBytes>, text: Option<Arc<str>>) -> Version {
        let classes = classes.iter().map(|(name, class)| (name.clone(), class.bytes.clone())).collect();
        Version { text, classes }
    }
}

/// What the classes of a build have that the compiler does not find in the same text: annotation processors have made it.
#[derive(Default)]
pub struct Generated {
    classes: BTreeSet<String>,
    methods: BTreeSet<(String, Selector)>,
}

impl Generated {
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.methods.is_empty()
    }
}

pub struct Unit {
    /// The module that it belongs to.
    pub module: String,
    /// As the compiler knows it.
    pub text: Arc<str>,
    /// What the compiler told last.
    told: BTreeMap<String, Bytes>,
    /// The same without the bytes, if it was told of the text as it is now.
    heads: Option<Vec<Class>>,
    /// As the build has left it.
    built: Arc<Version>,
    /// What only the build can make.
    pub generated: Arc<Generated>,
    /// When nothing was wrong with it.
    good: Arc<Version>,
    /// Since then: when a method was last all right, by class.
    sound: BTreeMap<(String, Selector), Arc<Version>>,
    /// Something in it cannot be compiled.
    pub is_broken: bool,
    /// Its classes as they are to be analysed.
    pub classes: BTreeMap<String, ClassBytes>,
}

impl Unit {
    /// `built` are the classes that a build has made of it, and `text` what of, if that is known.
    pub fn new(built: BTreeMap<String, ClassBytes>, text: Option<Arc<str>>) -> Unit {
        let good = Arc::new(Version::of(&built, text));
        Unit {
            module: String::new(),
            text: Arc::from(""),
            told: BTreeMap::new(),
            heads: None,
            built: good.clone(),
            generated: Arc::default(),
            good,
            sound: BTreeMap::new(),
            is_broken: false,
            classes: built,
        }
    }

    /// Takes in what the compiler says of the text as it is now; `built` are the classes of a build of the same text.
    pub fn take(&mut self, answer: FileAnswer, text: Arc<str>, built: Option<BTreeMap<String, ClassBytes>>) {
        self.text = text;
        self.is_broken = answer.has_errors;
        let has_classes = matches!(answer.status, Status::Compiled | Status::Ignored);
        self.heads = if has_classes { Some(self.learn(answer.classes)) } else { None };
        if let Some(built) = built {
            self.compare(built);
        }
        let Some(classes) = self.heads.clone() else {
            // What there is stays, further up or down.
            self.classes = self.as_it_was();
            return;
        };
        let is_broken =
            |class: &Class| class.is_problem_type || !class.stubs.is_empty() || !class.lost.is_empty();
        let version = Arc::new(Version { text: Some(self.text.clone()), classes: self.told.clone() });
        if !answer.has_syntax_errors && !classes.iter().any(is_broken) && self.generated.is_empty() {
            self.good = version;
            self.sound.clear();
            let app =
                |(name, bytes): (&String, &Bytes)| (name.clone(), ClassBytes::new(bytes.clone(), Layer::App));
            self.classes = self.told.iter().map(app).collect();
            return;
        }
        for class in classes.iter().filter(|class| !class.is_problem_type) {
            self.note_sound(class, &version);
        }
        self.classes = self.compose(&classes, answer.has_syntax_errors);
    }

    /// Finds out what a build has made of the text as it is now and the compiler has not.
    pub fn compare(&mut self, built: BTreeMap<String, ClassBytes>) {
        let built = Arc::new(Version::of(&built, Some(self.text.clone())));
        let before = std::mem::replace(&mut self.built, built);
        if Arc::ptr_eq(&self.good, &before) {
            self.good = self.built.clone();
        }
        let generated = self.heads.as_deref().map(|told| self.only_built(told));
        self.generated = Arc::new(generated.unwrap_or_default());
    }

    fn only_built(&self, told: &[Class]) -> Generated {
        let has_name =
            |name: &str| !name.split('$').any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        let mut generated = Generated::default();
        for (name, bytes) in self.built.classes.iter().filter(|(name, _)| has_name(name)) {
            match told.iter().find(|class| class.name == *name).zip(self.told.get(name)) {
                Some((class, told)) => {
                    let methods = only_in(bytes, told, class);
                    generated.methods.extend(methods.into_iter().map(|method| (name.clone(), method)));
                }
                None => _ = generated.classes.insert(name.clone()),
            }
        }
        generated
    }

    /// Keeps the bytes that were told, with names that tell.
    fn learn(&mut self, mut classes: Vec<Class>) -> Vec<Class> {
        let mut before = std::mem::take(&mut self.told);
        for class in &mut classes {
            let bytes = match class.bytes.take() {
                Some(bytes) => with_told_lambdas(bytes),
                None => match before.remove(&class.name) {
                    Some(bytes) => bytes,
                    None => continue,
                },
            };
            self.told.insert(class.name.clone(), bytes);
        }
        classes
    }

    /// Remembers of every method that can be compiled that it could.
    fn note_sound(&mut self, class: &Class, version: &Arc<Version>) {
        let Some(bytes) = self.told.get(&class.name) else { return };
        let Ok(file) = classfile::parse(bytes) else { return };
        let is_stub = |method: &Method<'_>| {
            let mut stubs = class.stubs.iter();
            stubs.any(|stub| stub.name == method.name && stub.descriptor == method.descriptor)
        };
        for method in file.methods.iter().filter(|method| !is_stub(method)) {
            self.sound.insert((class.name.clone(), selector(method)), version.clone());
        }
    }

    /// All classes when nothing was wrong last, further up or down.
    fn as_it_was(&self) -> BTreeMap<String, ClassBytes> {
        let mut composer = Composer::of(self);
        let at = composer.version(&self.good);
        self.good.classes.keys().for_each(|name| composer.keep_as_it_was(name, at));
        composer.composed
    }

    /// The classes as told, with what is missing from earlier versions. If the text is cut somewhere, classes and
    /// methods that are not there may be there.
    fn compose(&self, told: &[Class], is_cut: bool) -> BTreeMap<String, ClassBytes> {
        let mut composer = Composer::of(self);
        for class in told {
            composer.add(class, is_cut);
        }
        let is_swallowed =
            |name: &&String| !self.told.contains_key(*name) && earlier_class(name, 0).is_none();
        for name in self.good.classes.keys().filter(|_| is_cut).filter(is_swallowed) {
            let at = composer.version(&self.good);
            composer.keep_class(name, at);
        }
        for name in &self.generated.classes {
            let at = composer.version(&self.built);
            composer.keep_class(name, at);
        }
        composer.composed
    }
}

/// The names of lambdas as the JDK's compiler makes them up, which say where they stand.
fn with_told_lambdas(bytes: Vec<u8>) -> Bytes {
    let told = classfile::parse_as_written(&bytes).map(|class| told_lambdas(&class)).unwrap_or_default();
    let renamed = (!told.is_empty()).then(|| rewritten(&bytes, &|text| told.get(text).cloned(), None));
    renamed.flatten().unwrap_or_else(|| bytes.into())
}

/// Methods of a class as it was built that are not written in its source, but for what compilers make up.
fn only_in(built: &[u8], told: &[u8], class: &Class) -> Vec<Selector> {
    let (Ok(built), Ok(told)) = (classfile::parse(built), classfile::parse(told)) else { return Vec::new() };
    let now: BTreeSet<Selector> = told.methods.iter().map(selector).collect();
    let is_own = |method: &&Method<'_>| {
        method.access & SYNTHETIC == 0 && !method.name.contains('$') && *method.name != *"<clinit>"
    };
    let all: BTreeSet<Selector> = built.methods.iter().filter(is_own).map(selector).collect();
    // Where the head of a method has an error, it is written all the same.
    let stubs =
        class.stubs.iter().filter(|stub| !all.contains(&(stub.name.clone(), stub.descriptor.clone())));
    let written: BTreeSet<&String> = stubs.map(|stub| &stub.name).chain(&class.lost).collect();
    let is_generated = |method: &&Selector| !now.contains(*method) && !written.contains(&method.0);
    all.iter().filter(is_generated).cloned().collect()
}

fn selector(method: &Method<'_>) -> Selector {
    (method.name.to_string(), method.descriptor.to_string())
}

/// Puts classes together from several versions.
struct Composer<'u> {
    unit: &'u Unit,
    versions: Vec<Held>,
    composed: BTreeMap<String, ClassBytes>,
}

/// A version of which something is kept.
struct Held {
    version: Arc<Version>,
    /// From its lines to those of the text.
    lines: Option<LineMap>,
    /// Classes without names of their own, out of the way of those there are now.
    renamed: BTreeMap<String, String>,
}

impl<'u> Composer<'u> {
    fn of(unit: &'u Unit) -> Composer<'u> {
        Composer { unit, versions: Vec::new(), composed: BTreeMap::new() }
    }

    fn version(&mut self, version: &Arc<Version>) -> usize {
        if let Some(at) = self.versions.iter().position(|held| Arc::ptr_eq(&held.version, version)) {
            return at;
        }
        let at = self.versions.len();
        let lines = version.text.as_ref().map(|text| LineMap::between(text, &self.unit.text));
        let renamed =
            version.classes.keys().filter_map(|name| Some((name.clone(), earlier_class(name, at)?)));
        let renamed = renamed.collect();
        self.versions.push(Held { version: version.clone(), lines, renamed });
        at
    }

    /// A class as it was told, where `is_cut` says that methods may be missing from it.
    fn add(&mut self, class: &Class, is_cut: bool) {
        let Some(bytes) = self.unit.told.get(&class.name) else { return };
        if class.is_problem_type {
            let good = self.unit.good.clone();
            if good.classes.contains_key(&class.name) {
                let at = self.version(&good);
                self.keep_class(&class.name, at);
            } else {
                self.composed.insert(class.name.clone(), ClassBytes::new(bytes.clone(), Layer::App));
            }
            return;
        }
        let mut by_version: BTreeMap<usize, Vec<Selector>> = BTreeMap::new();
        for method in self.missing(class, bytes, is_cut) {
            if let Some(version) = self.last_sound(&class.name, &method) {
                let at = self.version(&version);
                by_version.entry(at).or_default().push(method);
            }
        }
        let earlier: Vec<Earlier> =
            by_version.into_iter().filter_map(|(at, methods)| self.earlier(class, at, methods)).collect();
        let mut composed = ClassBytes::new(bytes.clone(), Layer::App);
        composed.earlier = earlier.into();
        self.composed.insert(class.name.clone(), composed);
    }

    /// Methods that are in the source, or may be, and not in the class.
    fn missing(&self, class: &Class, bytes: &[u8], is_cut: bool) -> Vec<Selector> {
        let stubs = class.stubs.iter().map(|stub| (stub.name.clone(), stub.descriptor.clone()));
        let mut missing: BTreeSet<Selector> = stubs.collect();
        let generated = self.unit.generated.methods.iter().filter(|(name, _)| *name == class.name);
        missing.extend(generated.map(|(_, method)| method.clone()));
        // Where the head of a method has an error, what stands for it has another descriptor.
        let good_has = |method: &Selector| self.last_sound(&class.name, method).is_some();
        let others: BTreeSet<String> =
            missing.iter().filter(|stub| !good_has(stub)).map(|(name, _)| name.clone()).collect();
        if is_cut || !class.lost.is_empty() || !others.is_empty() {
            let now: BTreeSet<Selector> = classfile::parse(bytes)
                .map(|file| file.methods.iter().map(selector).collect())
                .unwrap_or_default();
            let good = self.unit.good.classes.get(&class.name);
            let before = good.and_then(|bytes| classfile::parse(bytes).ok());
            let gone = before.iter().flat_map(|file| &file.methods).map(selector);
            let is_wanted = |method: &Selector| {
                let is_named = class.lost.contains(&method.0) || others.contains(&method.0);
                !now.contains(method) && !method.0.contains('$') && (is_cut || is_named)
            };
            missing.extend(gone.filter(is_wanted));
        }
        missing.into_iter().collect()
    }

    fn last_sound(&self, class: &str, method: &Selector) -> Option<Arc<Version>> {
        let since = self.unit.sound.get(&(class.to_owned(), method.clone()));
        let has = |version: &&Arc<Version>| {
            let file = version.classes.get(class).and_then(|bytes| classfile::parse(bytes).ok());
            file.is_some_and(|file| file.methods.iter().any(|other| selector(other) == *method))
        };
        since.cloned().or_else(|| [&self.unit.good, &self.unit.built].into_iter().find(has).cloned())
    }

    /// Methods of a class as they were in a version, with the lambdas and local classes that they use.
    fn earlier(&mut self, class: &Class, at: usize, methods: Vec<Selector>) -> Option<Earlier> {
        let version = self.versions[at].version.clone();
        let bytes = version.classes.get(&class.name)?;
        let file = classfile::parse(bytes).ok()?;
        let wanted: Vec<&Method<'_>> =
            file.methods.iter().filter(|method| methods.contains(&selector(method))).collect();
        let lambdas = lambdas_of(&file, &wanted);
        let lambda_names: BTreeMap<String, String> =
            lambdas.iter().filter_map(|name| Some((name.clone(), earlier_lambda(name, at)?))).collect();
        let of_lambdas: Vec<&Method<'_>> =
            file.methods.iter().filter(|method| lambdas.contains(&*method.name)).collect();
        let used = classes_used(&file, wanted.iter().chain(&of_lambdas).copied());
        self.keep_local_classes(used, at);
        let renamed = |text: &str| with_classes(text, &self.versions[at].renamed);
        let mut methods = Vec::new();
        for method in wanted.iter().chain(&of_lambdas) {
            let (name, descriptor) = selector(method);
            let descriptor = renamed(&descriptor).unwrap_or(descriptor);
            // For those who have not noticed yet, and for those who have.
            for now in BTreeSet::from([descriptor.as_str(), standing_for(class, &name, &descriptor)]) {
                let name = lambda_names.get(&name).unwrap_or(&name).clone();
                methods.push(Kept { name, descriptor: descriptor.clone(), now: now.to_owned() });
            }
        }
        let rename = |text: &str| lambda_names.get(text).cloned().or_else(|| renamed(text));
        Some(Earlier { bytes: self.rewritten(bytes, at, &rename)?, methods })
    }

    /// A class of a version of which all classes are kept.
    fn keep_as_it_was(&mut self, name: &str, at: usize) {
        let bytes = self.versions[at].version.classes.get(name);
        if let Some(bytes) = bytes.and_then(|bytes| self.rewritten(bytes, at, &|_| None)) {
            self.composed.insert(name.to_owned(), ClassBytes::new(bytes, Layer::App));
        }
    }

    /// A class of a version among classes of others, with the local classes that it uses.
    fn keep_class(&mut self, name: &str, at: usize) {
        let version = self.versions[at].version.clone();
        let Some(bytes) = version.classes.get(name) else { return };
        if let Ok(file) = classfile::parse(bytes) {
            self.keep_local_classes(classes_used(&file, file.methods.iter()), at);
        }
        let renamed = |text: &str| with_classes(text, &self.versions[at].renamed);
        if let Some(bytes) = self.rewritten(bytes, at, &renamed) {
            let name = renamed(name).unwrap_or_else(|| name.to_owned());
            self.composed.insert(name, ClassBytes::new(bytes, Layer::App));
        }
    }

    /// Those of these that have no names of their own, and what they use in turn.
    fn keep_local_classes(&mut self, used: BTreeSet<String>, at: usize) {
        for name in used {
            let Some(new) = with_classes(&name, &self.versions[at].renamed) else { continue };
            // Taken before it is there, because local classes use each other.
            if let Entry::Vacant(free) = self.composed.entry(new) {
                free.insert(ClassBytes::new(Vec::new(), Layer::App));
                self.keep_class(&name, at);
            }
        }
    }

    fn rewritten(&self, bytes: &[u8], at: usize, rename: &dyn Fn(&str) -> Option<String>) -> Option<Bytes> {
        let lines = self.versions[at].lines.as_ref();
        let map = lines.map(|lines| move |line: u32| lines.map(line));
        rewritten(bytes, rename, map.as_ref().map(|map| map as &dyn Fn(u32) -> u32))
    }
}

/// The descriptor of what stands for a method now: where its result is of no known type, that of a stub.
fn standing_for<'a>(class: &'a Class, name: &str, descriptor: &'a str) -> &'a str {
    fn parameters(descriptor: &str) -> &str {
        descriptor.rsplit_once(')').map_or(descriptor, |(parameters, _)| parameters)
    }
    let mut stubs = class.stubs.iter().filter(|stub| stub.name == name);
    if stubs.clone().any(|stub| stub.descriptor == descriptor) {
        return descriptor;
    }
    let stub = stubs.find(|stub| parameters(&stub.descriptor) == parameters(descriptor));
    stub.map_or(descriptor, |stub| &stub.descriptor)
}

/// The classes that code makes objects of, calls or reads.
fn classes_used<'c, 'a: 'c>(
    file: &'c ClassFile<'a>,
    methods: impl Iterator<Item = &'c Method<'a>>,
) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for code in methods.filter_map(|method| method.code.as_ref()) {
        for (_, insn) in code.instructions(file).flatten() {
            let class = match insn {
                Insn::New(class) | Insn::CheckCast(class) => class,
                Insn::GetStatic(field) | Insn::GetField(field) => field.class,
                Insn::Invoke { method, .. } => method.class,
                _ => continue,
            };
            if *class != *file.name {
                used.insert(class.into_owned());
            }
        }
    }
    used
}

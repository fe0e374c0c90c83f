//! One program to analyse both ways. Knows how to compile, open and solve it, not what must come out.

use crate::compare::{self, Counts};
use crate::naive;
use classfile::ClassSource;
use fixture::{Compiler, Fixture};
use ir::{MethodId, Program, ProgramDelta, access};
use models::Models;
use pointsto::{Ctx, Obj, Options, PointsTo, Roots};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

static BUILTIN: LazyLock<Models> = LazyLock::new(Models::builtin);

static THREADS_ONLY: LazyLock<Models> = LazyLock::new(|| {
    let mut models = Models::default();
    for (file, text) in [
        ("policy.toml", include_str!("../../../models/data/policy.toml")),
        ("threads.toml", include_str!("../../../models/data/threads.toml")),
        ("executors.toml", include_str!("../../../models/data/executors.toml")),
    ] {
        models.add(file, text).expect("shipped models");
    }
    models
});

/// Differences shown of one program.
const SHOWN: usize = 30;

pub struct Case {
    pub name: String,
    pub options: Options,
    /// Only the models of threads and executors are used, so that the bodies of containers are analysed.
    pub few_models: bool,
    /// Models on top of the shipped ones.
    pub models: String,
    /// The class whose `main` is run; without one, every `main`.
    pub main: Option<String>,
    /// Classes and names of methods that are entry points too.
    pub entries: Vec<(String, &'static str)>,
    /// Whether the JVM's own start-up is analysed.
    pub boot: bool,
    pub classes: Arc<dyn ClassSource>,
}

/// The next edit of a program, in words and as a delta.
pub type NextEdit<'a> = &'a mut dyn FnMut(&mut Program, &PointsTo) -> Option<(String, ProgramDelta)>;

/// What the solver alone says.
pub struct Solved {
    pub acts: usize,
    pub merged_origins: u64,
    /// Names of the methods that run.
    pub methods: BTreeSet<String>,
    /// Everything, with the solver's ids.
    pub dump: String,
}

/// One directory of classes per program. The compiler's scratch directory serves one thread at a time.
pub fn compile(fixtures: &[Fixture]) -> Vec<PathBuf> {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _guard = COMPILING.lock();
    let compiled = Compiler::of_environment().compile_all(fixtures).expect("a JDK");
    let classes = fixtures.iter().zip(compiled);
    classes
        .map(|(fixture, classes)| classes.unwrap_or_else(|why| panic!("{}: {why}", fixture.name)))
        .collect()
}

pub fn compile_source(name: &str, source: String) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.java"));
    fs::write(&path, &source).expect("a writable target directory");
    compile(&[Fixture { name: name.to_string(), path, source }]).remove(0)
}

pub fn open(classes: &Path) -> Arc<dyn ClassSource> {
    let request = project::Request { paths: vec![classes.to_path_buf()], ..Default::default() };
    Arc::new(project::open(&request).expect("readable classes"))
}

impl Case {
    pub fn new(name: &str, classes: Arc<dyn ClassSource>) -> Case {
        Case {
            name: name.to_string(),
            options: Options::default(),
            few_models: false,
            models: String::new(),
            main: None,
            entries: Vec::new(),
            boot: false,
            classes,
        }
    }

    /// Solves both ways and insists that the results are the same.
    pub fn agree(&self) -> Counts {
        self.agree_within(u64::MAX).expect("no limit")
    }

    /// As [`Case::agree`], unless the solver finds more than so many facts.
    pub fn agree_within(&self, most_facts: u64) -> Option<Counts> {
        let (mut program, mut models, roots) = self.load();
        let mut solver = PointsTo::default();
        solver.apply(&mut program, &mut models, &roots, &self.options, &|_| ());
        if solver.facts() > most_facts {
            return None;
        }
        Some(self.insist(&mut program, &mut models, &roots, &solver, &self.name))
    }

    fn insist(
        &self,
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        solver: &PointsTo,
        what: &str,
    ) -> Counts {
        let naive = naive::solve(program, models, roots, &self.options);
        let (differences, counts) = compare::compare(program, solver, naive);
        let shown: Vec<&str> = differences.iter().take(SHOWN).map(String::as_str).collect();
        assert!(shown.is_empty(), "{what}: {} differences\n{}", differences.len(), shown.join("\n"));
        counts
    }

    /// Follows edits, and after each insists that the state is that of a program that was never another. Stops
    /// where `next` has no more edits, or the solver finds more than so many facts.
    pub fn agree_under_edits(&self, most_facts: u64, next: NextEdit<'_>) -> Counts {
        let (mut program, mut models, roots) = self.load();
        let mut solver = PointsTo::default();
        solver.apply(&mut program, &mut models, &roots, &self.options, &|_| ());
        let mut counts = Counts::default();
        let mut done = self.name.clone();
        while let Some((edit, delta)) = next(&mut program, &solver) {
            done = format!("{done}, {edit}");
            let mut find = |program: &mut Program| self.roots(program);
            let told = solver.update(&mut program, &mut models, &delta, &mut find, &self.options, &|_| ());
            counts.rebuilt += usize::from(told.rebuilt);
            if solver.facts() > most_facts {
                break;
            }
            let roots = self.roots(&mut program);
            counts.add(self.insist(&mut program, &mut models, &roots, &solver, &done));
        }
        counts
    }

    pub fn solve(&self) -> Solved {
        let (mut program, mut models, roots) = self.load();
        let mut solver = PointsTo::default();
        solver.apply(&mut program, &mut models, &roots, &self.options, &|_| ());
        let methods = solver.acts().map(|act| program.method_display(solver.method(act)).to_string());
        Solved {
            acts: solver.act_count(),
            merged_origins: solver.gaps(&program).merged_origins,
            methods: methods.collect(),
            dump: dump(&program, &solver),
        }
    }

    fn load(&self) -> (Program, Models, Roots) {
        let mut program = Program::new(self.classes.clone());
        let mut models = if self.few_models { THREADS_ONLY.clone() } else { BUILTIN.clone() };
        models.add(&self.name, &self.models).unwrap_or_else(|error| panic!("{error}\n{}", self.models));
        let roots = self.roots(&mut program);
        (program, models, roots)
    }

    fn roots(&self, program: &mut Program) -> Roots {
        let mut roots = Roots::default();
        let mains = match &self.main {
            Some(main) => vec![main.clone()],
            None => self.classes.app_classes(),
        };
        for class in &mains {
            roots.entries.extend(named(program, class, "main"));
        }
        for (class, name) in &self.entries {
            roots.entries.extend(named(program, class, name));
        }
        if self.boot {
            roots.boot = named(program, "java/lang/System", "initPhase1");
        }
        roots
    }
}

fn named(program: &mut Program, class: &str, name: &str) -> Vec<MethodId> {
    let class = program.class_id(class);
    let methods = program.load(class).methods.clone();
    let is_named = |&method: &MethodId| {
        let info = program.method(method);
        let is_bridge = info.access & access::BRIDGE != 0;
        program.selector_text(info.selector).0 == name && !is_bridge
    };
    methods.into_iter().filter(is_named).collect()
}

fn dump(program: &Program, solver: &PointsTo) -> String {
    let mut out = String::new();
    for obj in 0..solver.object_bound() {
        let object = solver.object(Obj(obj as u32));
        let _ = writeln!(out, "{obj}: {object:?} {:?}", solver.context(object.ctx));
    }
    for act in solver.acts() {
        let (ctx, method): (Ctx, MethodId) = (solver.ctx(act), solver.method(act));
        let name = program.method_display(method);
        let _ = writeln!(out, "{act:?}: {ctx:?} {:?} {method:?} {name}", solver.context(ctx));
        let _ = writeln!(out, "    calls {:?}", solver.calls(act).collect::<Vec<_>>());
        let _ = writeln!(out, "    called by {:?}", solver.callers(act));
        let Some(body) = program.lowered(method) else { continue };
        for var in body.vars.ids() {
            let _ = writeln!(out, "    {var:?} {:?}", solver.pts(act, var));
        }
        for stmt in body.stmts.ids() {
            let _ = writeln!(out, "    {stmt:?} {:?}", solver.models_at(act, stmt));
        }
    }
    let mut slots: Vec<String> = solver.slots().map(|(slot, held)| format!("{slot:?} {held:?}")).collect();
    slots.sort();
    let _ = writeln!(out, "{}\n{:?}", slots.join("\n"), solver.spawns());
    let _ = writeln!(out, "{:?}\n{:?}", solver.entries(), solver.initializers());
    out
}

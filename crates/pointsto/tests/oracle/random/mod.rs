//! Writes random Java programs, small and dense: everything may flow everywhere. Knows Java's types well enough
//! that every program compiles, and nothing of what the analysis makes of it.

mod models;
mod statements;
mod values;

use std::fmt::Write;

/// A program, the models of its library class, and choices for the analysis.
pub struct RandomProgram {
    /// One class that holds all others, `main` in its `Main`.
    pub source: String,
    pub name: String,
    pub models: String,
    /// Library containers are analysed by their bodies.
    pub few_models: bool,
    pub exclude: Vec<String>,
    pub origin_budget: u64,
    /// `Class.method` entry points besides `main`.
    pub entries: Vec<(String, &'static str)>,
}

/// What the source of programs needs before them.
pub const IMPORTS: &str = "import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
";

/// The same program for the same seed.
pub fn program(seed: u64) -> RandomProgram {
    program_named(format!("R{seed}"), seed)
}

/// Programs of one name and several seeds are versions of one another: their classes have the same names.
pub fn program_named(name: String, seed: u64) -> RandomProgram {
    let mut writer =
        Writer { dice: Dice(seed), name: name.clone(), text: String::new(), classes: Vec::new(), names: 0 };
    let _ = writeln!(writer.text, "class {name} {{");
    writer.choose_classes();
    writer.write_program();
    writer.text.push_str("}\n");
    let models = writer.models();
    let mut exclude = vec![format!("{name}$Outside"), format!("{name}$Hook")];
    if writer.dice.chance(20) {
        exclude.push("java/util/".to_string());
    }
    let origin_budget = writer.dice.pick(&[0, 40, 400, 40_000, 40_000]);
    let few_models = writer.dice.chance(15);
    let mut entries = Vec::new();
    if writer.dice.chance(25) {
        let class = writer.dice.below(writer.classes.len());
        entries.push((format!("{name}$C{class}"), writer.dice.pick(&["m", "u", "run"])));
    }
    RandomProgram { source: writer.text, name, models, few_models, exclude, origin_budget, entries }
}

/// A small generator of numbers (splitmix64), good enough to mix choices.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Object,
    Class(usize),
    /// An interface of the program with one abstract and one default method.
    Shape,
    /// A functional interface that is not analysed, with a default method.
    Hook,
    Runnable,
    Callable,
    Supplier,
    Function,
    BiFunction,
    Array,
    ClassArray(usize),
    List,
    Map,
    Thread,
    Lib,
    Error,
}

#[derive(Clone, Copy)]
struct Class {
    parent: Parent,
    is_shape: bool,
    is_runnable: bool,
    /// The class of its field `g`.
    other: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Parent {
    Object,
    Class(usize),
    Thread,
    /// An abstract class that is not analysed.
    Outside,
}

#[derive(Clone)]
struct Local {
    name: String,
    of: Type,
    /// May be captured, and is not assigned to.
    is_final: bool,
}

/// What can be named at a point of a body.
#[derive(Clone, Default)]
struct Scope {
    locals: Vec<Local>,
    /// The class whose `this` there is.
    this: Option<usize>,
    /// Statements that may still be written, so that bodies end.
    fuel: usize,
}

struct Writer {
    dice: Dice,
    /// Of the class around all others.
    name: String,
    text: String,
    classes: Vec<Class>,
    names: usize,
}

const LIB_METHODS: [(&str, usize); 6] =
    [("keep", 1), ("swap", 1), ("later", 1), ("pipe", 2), ("pass", 2), ("make", 1)];

const FRAME: &str = "
interface Shape { Object m(Object a); default Object d(Object a) { return m(a); } }
interface Hook { Object hook(Object a); default Object twice(Hook h) { return h.hook(hook(h)); } }
static abstract class Outside {
    Object kept;
    abstract Object m(Object a);
    Object open(Outside o) { return o.m(this); }
    static Object give(Hook h, Object o) { return h.hook(o); }
    Object take(Shape s, Runnable r) { r.run(); return s.m(kept); }
    static Object[] many(Object... all) { return all; }
}
static class Err extends RuntimeException { Object in; Err(Object in) { this.in = in; } }
";

impl Writer {
    fn choose_classes(&mut self) {
        let count = 3 + self.dice.below(4);
        for n in 0..count {
            let parent = match self.dice.below(10) {
                0..=2 => Parent::Object,
                3 => Parent::Thread,
                4 => Parent::Outside,
                _ if n == 0 => Parent::Object,
                _ => Parent::Class(self.dice.below(n)),
            };
            let (is_shape, is_runnable) = (self.dice.chance(50), self.dice.chance(40));
            let other = self.dice.below(count);
            self.classes.push(Class { parent, is_shape, is_runnable, other });
        }
    }

    fn write_program(&mut self) {
        self.text.push_str(FRAME);
        self.write_lib();
        for class in 0..self.classes.len() {
            self.write_class(class);
        }
        self.text.push_str(
            "static class Main {\n    static int n;\n    static boolean c() { return n++ % 3 == 0; }\n",
        );
        self.text.push_str("    static Object make(Class c) {\n");
        self.text
            .push_str("        try { return c.newInstance(); } catch (Exception e) { return e; }\n    }\n");
        self.text.push_str("    static ExecutorService ex = Executors.newFixedThreadPool(2);\n");
        let mut scope = Scope { fuel: 26, ..Scope::default() };
        self.text.push_str("    public static void main(String[] args) {\n");
        self.locals(&mut scope);
        self.block(&mut scope, 14);
        self.text.push_str("    }\n}\n");
    }

    /// A class whose methods have models, and a subclass that overrides some.
    fn write_lib(&mut self) {
        self.text.push_str("static class Lib {\n    Object f;\n    Object call() { return f; }\n");
        for (name, params) in LIB_METHODS {
            let params: Vec<String> = (0..params).map(|n| format!("Object p{n}")).collect();
            let _ = writeln!(self.text, "    Object {name}({}) {{ return f; }}", params.join(", "));
        }
        self.text.push_str("    static Object stat(Object p0, Object p1) { return p0; }\n}\n");
        self.text.push_str("static class LibSub extends Lib {\n");
        self.text.push_str("    LibSub make(Object p0) { f = p0; return this; }\n");
        self.method(None, "Object pass(Object a, Object b)", &[("a", Type::Object), ("b", Type::Object)]);
        self.text.push_str("}\n");
    }

    fn write_class(&mut self, n: usize) {
        let Class { parent, is_shape, is_runnable, other } = self.classes[n];
        let extends = match parent {
            Parent::Object => String::new(),
            Parent::Class(up) => format!(" extends C{up}"),
            Parent::Thread => " extends Thread".to_string(),
            Parent::Outside => " extends Outside".to_string(),
        };
        let mut interfaces = Vec::new();
        interfaces.extend(is_shape.then_some("Shape"));
        interfaces.extend(is_runnable.then_some("Runnable"));
        let implements = if interfaces.is_empty() {
            String::new()
        } else {
            format!(" implements {}", interfaces.join(", "))
        };
        let _ = writeln!(self.text, "static class C{n}{extends}{implements} {{");
        let _ = writeln!(self.text, "    Object f{n}; C{other} g{n}; Object[] h{n}; static Object s{n};");
        if self.dice.chance(30) {
            let _ = writeln!(self.text, "    static Object t{n} = new C{n}();");
        }
        let _ = writeln!(self.text, "    C{n}() {{ }}");
        self.method(Some(n), &format!("C{n}(Object a)"), &[("a", Type::Object)]);
        let root = !matches!(parent, Parent::Class(_));
        if root || self.dice.chance(60) {
            self.method(Some(n), "public Object m(Object a)", &[("a", Type::Object)]);
        }
        if root || self.dice.chance(50) {
            self.method(Some(n), "public void run()", &[]);
        }
        self.method(Some(n), "private Object p(Object a)", &[("a", Type::Object)]);
        self.method(None, "static Object u(Object a)", &[("a", Type::Object)]);
        if self.dice.chance(30) {
            self.text.push_str("    public String toString() { return \"\" + m(this); }\n");
        }
        if self.dice.chance(30) {
            let _ = writeln!(self.text, "    public boolean equals(Object o) {{ f{n} = o; return c(); }}");
            let _ = writeln!(self.text, "    public int hashCode() {{ s{n} = this; return 1; }}");
            self.text.push_str("    static boolean c() { return Main.c(); }\n");
        }
        self.text.push_str("}\n");
    }

    /// A method with a random body; constructors and `run` return nothing.
    fn method(&mut self, this: Option<usize>, head: &str, params: &[(&str, Type)]) {
        let mut scope = Scope { this, fuel: 9, ..Scope::default() };
        for &(name, of) in params {
            scope.locals.push(Local { name: name.to_string(), of, is_final: true });
        }
        let _ = writeln!(self.text, "    {head} {{");
        self.locals(&mut scope);
        let count = 2 + self.dice.below(5);
        self.block(&mut scope, count);
        if head.contains("Object p") || head.contains("Object m") || head.contains("Object u") {
            let result = self.value(&scope, Type::Object, 2);
            let _ = writeln!(self.text, "        return {result};");
        }
        self.text.push_str("    }\n");
    }

    fn any_type(&mut self) -> Type {
        let class = self.dice.below(self.classes.len());
        self.dice.pick(&[
            Type::Object,
            Type::Object,
            Type::Class(class),
            Type::Class(class),
            Type::Class(class),
            Type::Shape,
            Type::Hook,
            Type::Runnable,
            Type::Callable,
            Type::Supplier,
            Type::Function,
            Type::BiFunction,
            Type::Array,
            Type::ClassArray(class),
            Type::List,
            Type::Map,
            Type::Thread,
            Type::Lib,
            Type::Error,
        ])
    }

    fn field(&mut self) -> (usize, String) {
        let class = self.dice.below(self.classes.len());
        let kind = self.dice.pick(&["f", "f", "g", "h"]);
        (class, format!("{kind}{class}"))
    }

    fn field_type(&self, class: usize, field: &str) -> Type {
        match field.as_bytes()[0] {
            b'f' => Type::Object,
            b'h' => Type::Array,
            _ => Type::Class(self.classes[class].other),
        }
    }

    /// A class that extends the one that is not analysed.
    fn outside_class(&mut self) -> Option<usize> {
        let classes: Vec<usize> =
            (0..self.classes.len()).filter(|&class| self.root(class) == Parent::Outside).collect();
        if classes.is_empty() { None } else { Some(classes[self.dice.below(classes.len())]) }
    }

    fn root(&self, mut class: usize) -> Parent {
        while let Parent::Class(up) = self.classes[class].parent {
            class = up;
        }
        self.classes[class].parent
    }

    fn is_a(&self, sub: Type, sup: Type) -> bool {
        let class = match (sub, sup) {
            _ if sub == sup || sup == Type::Object => return true,
            (Type::ClassArray(_), Type::Array) => return true,
            (Type::Thread, Type::Runnable) => return true,
            (Type::Class(class), _) => class,
            _ => return false,
        };
        let up = match self.classes[class].parent {
            Parent::Class(up) => self.is_a(Type::Class(up), sup),
            Parent::Thread => matches!(sup, Type::Thread | Type::Runnable),
            Parent::Object | Parent::Outside => false,
        };
        let info = &self.classes[class];
        up || info.is_shape && sup == Type::Shape || info.is_runnable && sup == Type::Runnable
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }
}

fn type_name(of: Type) -> String {
    match of {
        Type::Class(class) => format!("C{class}"),
        Type::ClassArray(class) => format!("C{class}[]"),
        Type::Array => "Object[]".to_string(),
        Type::Error => "Err".to_string(),
        other => format!("{other:?}"),
    }
}

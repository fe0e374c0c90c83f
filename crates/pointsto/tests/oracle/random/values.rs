//! Random expressions of a wanted type.

use super::{LIB_METHODS, Local, Parent, Scope, Type, Writer, type_name};

impl Writer {
    /// An expression of the type. The deeper, the simpler.
    pub(super) fn value(&mut self, scope: &Scope, of: Type, depth: usize) -> String {
        let fitting: Vec<&Local> = scope.locals.iter().filter(|local| self.is_a(local.of, of)).collect();
        if !fitting.is_empty() && self.dice.chance(if depth == 0 { 95 } else { 55 }) {
            return fitting[self.dice.below(fitting.len())].name.clone();
        }
        if let Some(this) = scope.this
            && self.is_a(Type::Class(this), of)
            && self.dice.chance(30)
        {
            return "this".to_string();
        }
        if depth == 0 {
            return self.made(scope, of, 0);
        }
        match self.dice.below(10) {
            // Anything, as long as it is checked.
            0..=1 if of != Type::Object => {
                let any = self.value(scope, Type::Object, depth - 1);
                format!("(({}) (Object) {any})", type_name(of))
            }
            0..=5 if of == Type::Object => self.loaded(scope, depth - 1),
            _ => self.made(scope, of, depth - 1),
        }
    }

    /// An expression of type Object that looks somewhere.
    pub(super) fn loaded(&mut self, scope: &Scope, depth: usize) -> String {
        match self.dice.below(12) {
            0..=2 => {
                let (class, field) = self.field();
                let base = self.value(scope, Type::Class(class), depth);
                format!("{}.{field}", receiver(&base))
            }
            3 => {
                let class = self.dice.below(self.classes.len());
                format!("C{class}.s{class}")
            }
            4..=5 => format!("({})[0]", self.value(scope, Type::Array, depth)),
            6 => {
                let list = self.value(scope, Type::List, depth);
                let get = self.dice.pick(&["get(0)", "iterator().next()", "toArray()"]);
                format!("{}.{get}", receiver(&list))
            }
            7 => {
                let map = self.value(scope, Type::Map, depth);
                let key = self.value(scope, Type::Object, 0);
                format!("{}.get({key})", receiver(&map))
            }
            8 => {
                let error = self.value(scope, Type::Error, depth);
                format!("{}.in", receiver(&error))
            }
            9 => format!("(\"\" + {})", self.value(scope, Type::Object, depth)),
            _ => self.call(scope, depth),
        }
    }

    /// An expression of type Object that is a call.
    pub(super) fn call(&mut self, scope: &Scope, depth: usize) -> String {
        let arg = self.value(scope, Type::Object, depth.min(1));
        let class = self.dice.below(self.classes.len());
        match self.dice.below(24) {
            0..=2 => {
                let base = self.value(scope, Type::Class(class), depth);
                format!("{}.m({arg})", receiver(&base))
            }
            3..=4 => format!("C{class}.u({arg})"),
            5 => match scope.this {
                Some(_) => format!("p({arg})"),
                None => format!("C{class}.u({arg})"),
            },
            6 => match scope.this.map(|this| self.classes[this].parent) {
                Some(Parent::Class(_)) => format!("super.m({arg})"),
                _ => format!("C{class}.u({arg})"),
            },
            7 => {
                let shape = self.value(scope, Type::Shape, depth);
                format!("{}.{}({arg})", receiver(&shape), self.dice.pick(&["m", "d"]))
            }
            8..=9 => {
                let function = self.value(scope, Type::Function, depth);
                format!("{}.apply({arg})", receiver(&function))
            }
            10 => {
                let function = self.value(scope, Type::BiFunction, depth);
                let other = self.value(scope, Type::Object, 0);
                format!("{}.apply({arg}, {other})", receiver(&function))
            }
            11 => {
                let supplier = self.value(scope, Type::Supplier, depth);
                format!("{}.get()", receiver(&supplier))
            }
            12..=14 => {
                let lib = self.value(scope, Type::Lib, depth);
                let (method, params) = self.dice.pick(&LIB_METHODS);
                let mut args = vec![arg];
                for _ in 1..params {
                    args.push(self.value(scope, Type::Object, 1));
                }
                format!("{}.{method}({})", receiver(&lib), args.join(", "))
            }
            15 => {
                let other = self.value(scope, Type::Object, 1);
                format!("Lib.stat({arg}, {other})")
            }
            16 => {
                let hook = self.value(scope, Type::Hook, depth);
                format!("Outside.give({hook}, {arg})")
            }
            17 => match self.outside_class() {
                Some(class) => {
                    let base = self.value(scope, Type::Class(class), depth);
                    let shape = self.value(scope, Type::Shape, depth.min(1));
                    let task = self.value(scope, Type::Runnable, depth.min(1));
                    format!("{}.take({shape}, {task})", receiver(&base))
                }
                None => format!("Outside.many({arg})"),
            },
            18 => format!("Main.make(C{class}.class)"),
            19..=20 => {
                let list = self.value(scope, Type::List, depth);
                let function = self.value(scope, Type::Function, depth.min(1));
                let how = self.dice.pick(&["stream", "parallelStream"]);
                format!("{}.{how}().map({function}).toArray()", receiver(&list))
            }
            21 => {
                let supplier = self.value(scope, Type::Supplier, depth);
                let function = self.value(scope, Type::Function, depth.min(1));
                format!("CompletableFuture.supplyAsync({supplier}).thenApply({function}).join()")
            }
            22 => format!("new AtomicReference({arg}).get()"),
            _ => {
                let map = self.value(scope, Type::Map, depth);
                let function = self.value(scope, Type::Function, depth);
                format!("{}.computeIfAbsent({arg}, {function})", receiver(&map))
            }
        }
    }

    /// A new object of the type.
    pub(super) fn made(&mut self, scope: &Scope, of: Type, depth: usize) -> String {
        match of {
            Type::Object => {
                let class = self.dice.below(self.classes.len());
                self.made(scope, Type::Class(class), depth)
            }
            Type::Class(class) => {
                let below: Vec<usize> = (0..self.classes.len())
                    .filter(|&other| self.is_a(Type::Class(other), Type::Class(class)))
                    .collect();
                let class = below[self.dice.below(below.len())];
                if depth > 0 && self.dice.chance(40) {
                    return format!("new C{class}({})", self.value(scope, Type::Object, depth - 1));
                }
                format!("new C{class}()")
            }
            Type::Array | Type::ClassArray(_) => {
                let (element, name) = match of {
                    Type::ClassArray(class) => (Type::Class(class), format!("C{class}")),
                    _ => (Type::Object, "Object".to_string()),
                };
                match self.dice.below(5) {
                    0 => {
                        let array = self.value(scope, of, 0);
                        format!("{}.clone()", receiver(&array))
                    }
                    1 => format!("({name}[]) Arrays.copyOf({}, 2)", self.value(scope, of, 0)),
                    2 => format!("new {name}[1]"),
                    _ => format!("new {name}[] {{ {} }}", self.value(scope, element, depth.min(1))),
                }
            }
            Type::List => match self.dice.below(6) {
                0 => "new LinkedList()".to_string(),
                1 => format!("((List) Arrays.asList({}))", self.value(scope, Type::Array, 0)),
                2 => format!("((List) List.of({}))", self.value(scope, Type::Class(0), 0)),
                3 => format!("Collections.synchronizedList({})", self.value(scope, Type::List, 0)),
                _ => "new ArrayList()".to_string(),
            },
            Type::Map => {
                self.dice.pick(&["new HashMap()", "new ConcurrentHashMap()", "new TreeMap()"]).to_string()
            }
            Type::Thread => {
                let threads: Vec<usize> = (0..self.classes.len())
                    .filter(|&class| self.is_a(Type::Class(class), Type::Thread))
                    .collect();
                if !threads.is_empty() && self.dice.chance(40) {
                    let class = threads[self.dice.below(threads.len())];
                    return self.made(scope, Type::Class(class), depth);
                }
                format!("new Thread({})", self.value(scope, Type::Runnable, depth))
            }
            Type::Lib => self.dice.pick(&["new Lib()", "new LibSub()"]).to_string(),
            Type::Error => format!("new Err({})", self.value(scope, Type::Object, 0)),
            Type::Shape | Type::Hook | Type::Function => self.function(scope, of, &["Object"]),
            Type::BiFunction => self.function(scope, of, &["Object", "Object"]),
            Type::Callable | Type::Supplier | Type::Runnable => self.function(scope, of, &[]),
        }
    }

    /// A lambda or a method reference, with its type said.
    pub(super) fn function(&mut self, scope: &Scope, of: Type, params: &[&str]) -> String {
        let name = type_name(of);
        let class = self.dice.below(self.classes.len());
        let arrow = match (self.dice.below(10), params.len()) {
            (0, 1) => Some(format!("C{class}::u")),
            (1, 1) => Some(format!("C{class}::new")),
            (0, 0) => Some(format!("C{class}::new")),
            (2, 1) => {
                let base = self.value(scope, Type::Class(class), 0);
                Some(format!("{}::m", receiver(&base)))
            }
            (3, 1) if scope.this.is_some() => Some("this::p".to_string()),
            (4, 1) => {
                let lib = self.value(scope, Type::Lib, 0);
                Some(format!("{}::{}", receiver(&lib), self.dice.pick(&["keep", "swap", "later", "make"])))
            }
            (0, 2) => Some("Lib::stat".to_string()),
            // Unbound; what it is called with may be anything.
            (1, 2) => Some(format!("(BiFunction<C{class}, Object, Object>) C{class}::m")),
            (3, 2) if scope.this.is_some() => {
                let this = scope.this.unwrap_or_default();
                Some(format!("(BiFunction<C{this}, Object, Object>) C{this}::p"))
            }
            (2, 2) => {
                let lib = self.value(scope, Type::Lib, 0);
                Some(format!("{}::{}", receiver(&lib), self.dice.pick(&["pipe", "pass"])))
            }
            (1, 0) if of == Type::Runnable => {
                let thread = self.value(scope, Type::Thread, 0);
                Some(format!("{}::run", receiver(&thread)))
            }
            (1..=2, 0) => {
                let supplier = self.value(scope, Type::Supplier, 0);
                Some(format!("{}::get", receiver(&supplier)))
            }
            (3, 0) if scope.this.is_some() && of == Type::Runnable => Some("this::run".to_string()),
            _ => None,
        };
        if let Some(arrow) = arrow {
            return format!("(({name}) {arrow})");
        }
        let mut inner = Scope { this: scope.this, ..Scope::default() };
        inner.locals = scope.locals.iter().filter(|local| local.is_final).cloned().collect();
        let mut heads = Vec::new();
        for _ in params {
            let param = self.fresh("a");
            heads.push(param.clone());
            inner.locals.push(Local { name: param, of: Type::Object, is_final: true });
        }
        let body = match of {
            Type::Runnable => self.call(&inner, 1),
            _ => self.value(&inner, Type::Object, 1),
        };
        format!("(({name}) ({}) -> {body})", heads.join(", "))
    }
}

/// The expression with something after it: a method or a field.
pub(super) fn receiver(value: &str) -> String {
    format!("({value})")
}

//! The order of things by what they are: their names, their position, what they are made of. After edits ids come in
//! another order than in a cold run, so whoever chooses one of several for the reader chooses by this. Names are
//! compared when it comes to that and not before; knows nothing of what is chosen.

use arena::Name;
use ir::{ClassId, FieldId, MethodId, Program, StmtId};
use pointsto::{Act, Context, Ctx, Obj, PointsTo, PointsToDelta, Site};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Compares by content. Two things are equal here only if they are one. Nothing is noted: an edit keeps the order of
/// what it keeps.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    program: &'a Program,
    pointsto: &'a PointsTo,
}

impl<'a> Content<'a> {
    pub fn new(program: &'a Program, pointsto: &'a PointsTo) -> Content<'a> {
        Content { program, pointsto }
    }

    pub fn names(&self, a: Name, b: Name) -> Ordering {
        unless_same(a, b, || self.program.names[a].cmp(&self.program.names[b]))
    }

    pub fn classes(&self, a: ClassId, b: ClassId) -> Ordering {
        unless_same(a, b, || {
            let name = |class: ClassId| self.program.class_name(class);
            name(a).cmp(name(b))
        })
    }

    pub fn methods(&self, a: MethodId, b: MethodId) -> Ordering {
        unless_same(a, b, || {
            let (left, right) = (self.program.method_ref(a), self.program.method_ref(b));
            let text = |selector| self.program.selector_text(selector);
            self.classes(left.class, right.class).then_with(|| text(left.selector).cmp(&text(right.selector)))
        })
    }

    pub fn fields(&self, a: FieldId, b: FieldId) -> Ordering {
        unless_same(a, b, || {
            let (left, right) = (self.program.field_ref(a), self.program.field_ref(b));
            let by_name = || self.names(left.name, right.name);
            let by_type = || self.names(left.descriptor, right.descriptor);
            self.classes(left.class, right.class).then_with(by_name).then_with(by_type)
        })
    }

    pub fn acts(&self, a: Act, b: Act) -> Ordering {
        unless_same(a, b, || {
            let by_method = self.methods(self.pointsto.method(a), self.pointsto.method(b));
            by_method.then_with(|| self.contexts(self.pointsto.ctx(a), self.pointsto.ctx(b)))
        })
    }

    /// Statements of activations: calls, accesses.
    pub fn frames(&self, a: (Act, StmtId), b: (Act, StmtId)) -> Ordering {
        let by_method = self.methods(self.pointsto.method(a.0), self.pointsto.method(b.0));
        by_method.then_with(|| a.1.cmp(&b.1)).then_with(|| self.acts(a.0, b.0))
    }

    pub fn objects(&self, a: Obj, b: Obj) -> Ordering {
        unless_same(a, b, || {
            let (left, right) = track::unnoted(|| (self.pointsto.object(a), self.pointsto.object(b)));
            let by_class = || self.classes(left.class, right.class);
            self.sites(left.site, right.site)
                .then_with(by_class)
                .then_with(|| self.contexts(left.ctx, right.ctx))
        })
    }

    pub fn sites(&self, a: Site, b: Site) -> Ordering {
        let kind = |site: Site| match site {
            Site::Alloc(..) => 0,
            Site::Model(..) => 1,
            Site::Merged => 2,
            Site::The => 3,
            Site::Literal(_) => 4,
            Site::Opaque => 5,
        };
        match (a, b) {
            (Site::Alloc(m, s), Site::Alloc(n, t)) => self.methods(m, n).then_with(|| s.cmp(&t)),
            (Site::Model(m, s, i), Site::Model(n, t, j)) => {
                self.methods(m, n).then_with(|| (s, i).cmp(&(t, j)))
            }
            (Site::Literal(c), Site::Literal(d)) => self.classes(c, d),
            _ => kind(a).cmp(&kind(b)),
        }
    }

    /// What a context is made of was there before it, so this comes to an end.
    fn contexts(&self, a: Ctx, b: Ctx) -> Ordering {
        let kind = |context: Context| match context {
            Context::Shared => 0,
            Context::Entry => 1,
            Context::Main(_) => 2,
            Context::Origin(_) => 3,
            Context::Made(_) => 4,
            Context::Container(_) => 5,
            Context::Call(..) => 6,
            Context::Inherited(..) => 7,
            Context::Helper(..) => 8,
        };
        unless_same(a, b, || match (self.pointsto.context(a), self.pointsto.context(b)) {
            (Context::Main(m), Context::Main(n)) => self.methods(m, n),
            (Context::Origin(o), Context::Origin(p))
            | (Context::Made(o), Context::Made(p))
            | (Context::Container(o), Context::Container(p)) => self.objects(o, p),
            (Context::Call(c, m, s), Context::Call(d, n, t))
            | (Context::Helper(c, m, s), Context::Helper(d, n, t)) => {
                self.methods(m, n).then_with(|| s.cmp(&t)).then_with(|| self.contexts(c, d))
            }
            (Context::Inherited(c, k), Context::Inherited(d, l)) => {
                self.classes(k, l).then_with(|| self.contexts(c, d))
            }
            (left, right) => kind(left).cmp(&kind(right)),
        })
    }
}

fn unless_same<I: PartialEq>(a: I, b: I, compare: impl FnOnce() -> Ordering) -> Ordering {
    if a == b { Ordering::Equal } else { compare() }
}

type Sorted<T> = OnceLock<Box<[T]>>;

/// Calls put in order so far.
#[derive(Debug, Default)]
pub struct SortedCalls {
    callers: Vec<Sorted<(Act, StmtId)>>,
    callees: Vec<Sorted<(StmtId, Act)>>,
}

impl SortedCalls {
    /// Forgets the order of calls that changed.
    pub fn update(&mut self, pointsto: &PointsTo, delta: &PointsToDelta) {
        if delta.rebuilt {
            *self = SortedCalls::default();
        }
        self.callers.resize_with(pointsto.act_bound(), OnceLock::new);
        self.callees.resize_with(pointsto.act_bound(), OnceLock::new);
        for act in &delta.callers {
            self.callers[act.0 as usize].take();
        }
        for act in &delta.callees {
            self.callees[act.0 as usize].take();
        }
    }
}

/// Who calls whom, in the order of content; put in order when first asked for.
#[derive(Clone, Copy)]
pub struct Calls<'a> {
    content: Content<'a>,
    sorted: &'a SortedCalls,
}

impl<'a> Calls<'a> {
    pub fn new(content: Content<'a>, sorted: &'a SortedCalls) -> Calls<'a> {
        Calls { content, sorted }
    }

    /// Statements that run this activation in place.
    pub fn callers(&self, act: Act) -> &'a [(Act, StmtId)] {
        let callers = self.content.pointsto.callers(act);
        if callers.len() < 2 {
            return callers;
        }
        self.sorted.callers[act.0 as usize].get_or_init(|| {
            let mut callers: Box<[(Act, StmtId)]> = callers.into();
            callers.sort_by(|&a, &b| self.content.frames(a, b));
            callers
        })
    }

    /// What a statement runs in place.
    pub fn callees_at(&self, act: Act, stmt: StmtId) -> &'a [(StmtId, Act)] {
        let callees = self.callees(act);
        let from = callees.partition_point(|&(at, _)| at < stmt);
        let to = callees.partition_point(|&(at, _)| at <= stmt);
        &callees[from..to]
    }

    /// What an activation runs in place, by statement.
    pub fn callees(&self, act: Act) -> &'a [(StmtId, Act)] {
        let callees = self.content.pointsto.calls(act);
        self.sorted.callees[act.0 as usize].get_or_init(|| {
            let mut callees: Box<[(StmtId, Act)]> = callees.collect();
            callees.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| self.content.acts(a.1, b.1)));
            callees
        })
    }
}

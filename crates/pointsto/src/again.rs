//! What has to be concluded again though no statement of it changed: because the hierarchy did, or because other
//! code is told apart. Taken back before the change and put back after it, so that what comes out the same is
//! never missed in between.

use crate::edit::Edited;
use crate::flow::Link;
use crate::graph::{CallId, EdgeId, Use, UseId};
use crate::rule::{Rule, RuleId};
use crate::select::{Contexts, Own};
use crate::solver::Solver;
use crate::state::{Call, PointsTo, Target};
use crate::support::Reason;
use crate::types::*;
use arena::{IdSet, Name};
use ir::{
    CallKind, ClassChange, ClassId, FieldRef, Loaded, MemberChange, Method, MethodId, MethodRef, Program,
    ProgramDelta, Selector, StmtId, StmtKind,
};
use rustc_hash::FxHashSet;

/// What the hierarchy answers differently about.
#[derive(Default)]
pub(crate) struct Affected {
    /// Classes of which more than members changed, and all below them.
    classes: FxHashSet<ClassId>,
    /// Those of which methods changed, and all below them; what they are called, and which they are.
    with_methods: FxHashSet<ClassId>,
    selectors: FxHashSet<Selector>,
    methods: FxHashSet<MethodId>,
    /// The same for fields.
    with_fields: FxHashSet<ClassId>,
    fields: FxHashSet<Name>,
    /// Whether one of the methods initialises its class.
    initialisers: bool,
}

impl Affected {
    pub(crate) fn by(program: &Program, delta: &ProgramDelta) -> Affected {
        let below = |is_such: &dyn Fn(&ClassChange) -> bool| {
            let such: Vec<ClassId> =
                delta.classes.iter().filter(|change| is_such(change)).map(|change| change.class).collect();
            program.loaded_subtypes(&such).into_iter().collect::<FxHashSet<ClassId>>()
        };
        // Who calls a method does not ask whether it is synchronized.
        let is_other = |method: &&MemberChange<MethodId, Method>| !method.is_of_lock();
        let methods = delta.classes.iter().flat_map(|change| &change.methods).filter(is_other);
        let methods: FxHashSet<MethodId> = methods.map(|method| method.id).collect();
        let selectors: FxHashSet<Selector> =
            methods.iter().map(|&method| program.method_ref(method).selector).collect();
        let fields = delta.classes.iter().flat_map(|change| &change.fields);
        Affected {
            classes: below(&|change| change.header_changed()),
            with_methods: below(&|change| change.methods.iter().any(|method| is_other(&method))),
            initialisers: selectors.iter().any(|&selector| program.selector_text(selector).0 == "<clinit>"),
            selectors,
            methods,
            with_fields: below(&|change| !change.fields.is_empty()),
            fields: fields.map(|field| program.field_ref(field.id).name).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.with_methods.is_empty() && self.with_fields.is_empty()
    }

    /// Does the hierarchy itself differ?
    pub(crate) fn moves(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Methods that are declared otherwise.
    pub(crate) fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.methods.iter().copied()
    }

    fn has(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }

    /// May any method that is looked for in this class be another?
    fn has_methods(&self, class: ClassId) -> bool {
        self.has(class) || self.with_methods.contains(&class)
    }

    fn has_method(&self, method: MethodRef) -> bool {
        self.has(method.class)
            || self.with_methods.contains(&method.class) && self.selectors.contains(&method.selector)
    }

    fn has_field(&self, field: FieldRef) -> bool {
        self.has(field.class) || self.with_fields.contains(&field.class) && self.fields.contains(&field.name)
    }

    fn is_initialised_otherwise(&self, class: ClassId) -> bool {
        self.has(class) || self.initialisers && self.with_methods.contains(&class)
    }

    /// May a call on an object of a class with other methods run another one?
    fn calls(&self, program: &Program, target: Target) -> bool {
        let is_called = |name: Name| {
            let mut selectors = self.selectors.iter();
            selectors.any(|&selector| program.selector_text(selector).0 == &program.names[name])
        };
        match target {
            Target::Virtual(target) => self.selectors.contains(&target.selector),
            Target::Named(name, _) => is_called(name),
            Target::Fixed(method) => self.methods.contains(&method),
        }
    }
}

/// Statements, uses with objects, and rules that are run again.
#[derive(Default)]
pub(crate) struct Again {
    stmts: Vec<(Act, StmtId)>,
    fired: Vec<(UseId, Obj)>,
    rules: Vec<RuleId>,
}

impl Again {
    pub(crate) fn extend(&mut self, more: Again) {
        self.stmts.extend(more.stmts);
        self.fired.extend(more.fired);
        self.rules.extend(more.rules);
    }

    /// Without what is taken back already, and without statements that the edit itself puts in.
    pub(crate) fn leave_out(&mut self, state: &PointsTo, edited: &[Edited], taken: &Again) {
        let taken_stmts: FxHashSet<_> = taken.stmts.iter().collect();
        self.stmts.retain(|at| {
            let method = state.acts[at.0].method;
            let is_coming = |body: &Edited| body.method == method && body.coming.contains(&at.1);
            !taken_stmts.contains(at) && !edited.iter().any(is_coming)
        });
        let fired: FxHashSet<_> = taken.fired.iter().collect();
        self.fired.retain(|at| !fired.contains(at));
        let rules: FxHashSet<_> = taken.rules.iter().collect();
        self.rules.retain(|id| !rules.contains(id));
    }

    /// Statements of a method have other numbers now.
    pub(crate) fn rename(&mut self, state: &PointsTo, edited: &Edited) {
        for (act, stmt) in &mut self.stmts {
            if state.acts[*act].method == edited.method {
                *stmt = edited.renamed[stmt];
            }
        }
    }
}

impl Solver<'_> {
    pub(crate) fn take_back(&mut self, again: &Again) {
        self.run_again(again, false);
        for &id in &again.rules {
            let held = &mut self.state.rules.held[id];
            if std::mem::take(&mut held.ran) {
                for effect in std::mem::take(&mut held.effects) {
                    self.unsupport(effect, Reason::Rule(id));
                }
            }
        }
    }

    pub(crate) fn put_back(&mut self, again: &Again) {
        self.run_again(again, true);
        for &id in &again.rules {
            self.run_rule(id);
        }
    }

    fn run_again(&mut self, again: &Again, adding: bool) {
        for &(act, stmt) in &again.stmts {
            let Some(rule) = self.state.rules.find(Rule::Active(act)) else { continue };
            let Some(body) = self.state.frames[act].shape.body.clone() else { continue };
            self.begin(Reason::Rule(rule), adding);
            self.run_stmt(act, stmt, &body.stmts[stmt].kind);
        }
        for &(id, obj) in &again.fired {
            let what = self.state.graph.uses[id].what;
            self.begin(Reason::Fired(id, obj), adding);
            self.fire(what, obj);
        }
    }

    /// What asks the hierarchy about affected classes.
    pub(crate) fn affected(&mut self, affected: &Affected, edited: &[Edited]) -> Again {
        let mut again = Again::default();
        if affected.is_empty() {
            return again;
        }
        for (method, acts) in &self.state.acts_of {
            let Some(body) = self.state.shapes.get(method).and_then(|shape| shape.body.as_ref()) else {
                continue;
            };
            let program = &mut *self.program;
            let mentions = body.stmts.iter().filter(|(_, stmt)| mentions(program, &stmt.kind, affected));
            let stmts: Vec<StmtId> = mentions
                .map(|(stmt, _)| stmt)
                .filter(|stmt| !edited.iter().any(|body| body.method == *method && body.going.contains(stmt)))
                .collect();
            for &act in acts.iter().filter(|&&act| self.state.frames[act].runs) {
                again.stmts.extend(stmts.iter().map(|&stmt| (act, stmt)));
            }
        }
        let objects = self.affected_objects(affected);
        self.collect_fired(&mut again, &objects, &|_, _| false);
        self.collect_called(&mut again, affected, &objects);
        let rules = self.state.rules.iter().filter(|(_, held)| held.ran);
        let asks = rules.filter(|&(id, held)| self.asks(held.what, affected, &objects, id));
        again.rules = asks.map(|(id, _)| id).collect();
        again
    }

    fn affected_objects(&self, affected: &Affected) -> IdSet<Obj> {
        let is_affected = |(obj, object): &(Obj, &Object)| {
            affected.has(object.class)
                || matches!(object.site, Site::Literal(class) if affected.has_methods(class))
                || self.state.lambdas.get(obj).is_some_and(|lambda| affected.has_method(lambda.target))
        };
        self.state.objects.items().iter().filter(is_affected).map(|(obj, _)| obj).collect()
    }

    /// Uses that have fired for one of the objects, or for any if they are such a call.
    fn collect_fired(&self, again: &mut Again, objects: &IdSet<Obj>, is_such: &dyn Fn(&Call, Obj) -> bool) {
        for (id, placed) in self.state.graph.uses.iter() {
            if !placed.alive || placed.late {
                continue;
            }
            let held = self.state.graph.pts(placed.node);
            let any_such = match placed.what {
                Use::Receive(call) => Some(&self.state.calls[call]),
                _ => None,
            };
            if held.intersects(objects) || any_such.is_some_and(|call| call.lambda.is_some()) {
                let is_again =
                    |&obj: &Obj| objects.contains(obj) || any_such.is_some_and(|call| is_such(call, obj));
                again.fired.extend(held.iter().filter(is_again).map(|obj| (id, obj)));
            }
        }
    }

    /// Calls on objects of classes with other methods, where one of these is called.
    fn collect_called(&self, again: &mut Again, affected: &Affected, objects: &IdSet<Obj>) {
        let is_such = |(obj, object): &(Obj, &Object)| {
            affected.with_methods.contains(&object.class) && !objects.contains(*obj)
        };
        let receivers: IdSet<Obj> =
            self.state.objects.items().iter().filter(is_such).map(|(obj, _)| obj).collect();
        if receivers.is_empty() {
            return;
        }
        for (id, placed) in self.state.graph.uses.iter().filter(|(_, placed)| placed.alive && !placed.late) {
            let Use::Receive(call) = placed.what else { continue };
            if affected.calls(self.program, self.state.calls[call].target) {
                let held = self.state.graph.pts(placed.node).intersection(&receivers);
                again.fired.extend(held.iter().map(|obj| (id, obj)));
            }
        }
    }

    /// What sees the arguments and the result of a call on receivers that stay.
    pub(crate) fn collect_of_call(&self, again: &mut Again, call: CallId) {
        let rules = self.state.rules.of_call(call).iter().copied();
        again.rules.extend(rules.filter(|&id| self.state.rules.held[id].ran));
        let Some(&Some(this)) = self.state.calls[call].args.first() else { return };
        let Some(id) = self.state.graph.find_use(this, Use::Receive(call)) else { return };
        let placed = &self.state.graph.uses[id];
        if placed.alive && !placed.late {
            let sees = |&obj: &Obj| {
                let class = self.state.objects[obj].class;
                self.state.lambdas.contains_key(&obj) || self.program.class(class).loaded == Loaded::Missing
            };
            let held = self.state.graph.pts(this);
            again.fired.extend(held.iter().filter(sees).map(|obj| (id, obj)));
        }
    }

    /// Does the rule ask the hierarchy about affected classes?
    fn asks(&self, rule: Rule, affected: &Affected, objects: &IdSet<Obj>, id: RuleId) -> bool {
        let of_method = |method: MethodId| {
            affected.has(self.program.method_ref(method).class) || affected.methods.contains(&method)
        };
        let class_of = |obj: Obj| self.state.objects[obj].class;
        match rule {
            Rule::Active(_) | Rule::Boot(_) | Rule::Nested(..) | Rule::Thrown(..) => false,
            Rule::Initialised(class) => affected.is_initialised_otherwise(class),
            Rule::Constructed(_, class, ..) => affected.has_methods(class),
            Rule::Entry(_, method) | Rule::OpaqueCall(_, method) => of_method(method),
            Rule::Connected(_, act) | Rule::ExpandedInside(act, _) => of_method(self.state.acts[act].method),
            Rule::Expanded(_, model, ..) => {
                self.state.rules.held[id].method.is_none_or(of_method)
                    || self.models.model(model).looks_back()
            }
            Rule::LambdaCalled(call) => match self.state.calls[call].target {
                Target::Fixed(method) => of_method(method) || passes(self.program, method, affected),
                Target::Virtual(target) => affected.has_method(target),
                Target::Named(..) => false,
            },
            Rule::LambdaMade(_, obj) | Rule::OpaqueArray(obj) => objects.contains(obj),
            Rule::CalledBack(_, obj, class) => {
                objects.contains(obj) || affected.has_methods(class) || affected.has_methods(class_of(obj))
            }
        }
    }

    /// What depends on whether some code is told apart.
    pub(crate) fn told_apart_otherwise(
        &mut self,
        told_apart: &Contexts,
        edited: &[Edited],
        taken: &Again,
    ) -> Again {
        let mut again = Again::default();
        let difference = self.state.told_apart.difference(told_apart);
        let sites: FxHashSet<Site> = difference
            .iter()
            .filter_map(|&own| match own {
                Own::Task(site) => Some(site),
                Own::Main(_) => None,
            })
            .collect();
        if sites.is_empty() {
            return again;
        }
        let is_task = |obj: Obj| sites.contains(&self.state.objects[obj].site);
        let objects: IdSet<Obj> =
            self.state.objects.items().iter().map(|(obj, _)| obj).filter(|&obj| is_task(obj)).collect();
        self.collect_fired(&mut again, &objects, &|call, _| call.lambda.is_some_and(is_task));
        for &site in &sites {
            let (Site::Alloc(method, stmt) | Site::Model(method, stmt, _)) = site else { continue };
            for &act in self.state.acts_of.get(&method).into_iter().flatten() {
                let is_there = self.state.frames[act].shape.body.as_ref();
                if self.state.frames[act].runs && is_there.is_some_and(|body| body.stmts.get(stmt).is_some())
                {
                    again.stmts.push((act, stmt));
                }
            }
        }
        let is_at = |call: &Call| {
            let place = &self.state.places[call.place];
            let method = self.state.acts[place.act].method;
            sites
                .iter()
                .any(|site| matches!(*site, Site::Model(of, stmt, _) if (of, stmt) == (method, place.stmt)))
        };
        for (id, held) in self.state.rules.iter().filter(|(_, held)| held.ran) {
            let is_again = match held.what {
                Rule::Expanded(call, ..) | Rule::Constructed(call, ..) => is_at(&self.state.calls[call]),
                Rule::LambdaCalled(call) => self.state.calls[call].lambda.is_some_and(is_task),
                Rule::LambdaMade(_, obj) => is_task(obj) || objects.contains(obj),
                _ => false,
            };
            if is_again {
                again.rules.push(id);
            }
        }
        again.leave_out(self.state, edited, taken);
        again
    }

    /// Facts about affected objects that no longer pass a filter are in doubt; those that pass now will.
    pub(crate) fn refilter(&mut self, affected: &Affected) {
        self.state.graph.tell();
        self.state.graph.flow.filters.forget();
        let is_affected = |(_, object): &(Obj, &Object)| affected.has(object.class);
        let objects: IdSet<Obj> =
            self.state.objects.items().iter().filter(is_affected).map(|(obj, _)| obj).collect();
        let edges: Vec<EdgeId> = self.state.graph.edges.ids().collect();
        for id in edges {
            let Link { src, dst, filter, .. } = self.state.graph.flow.links[id];
            let (Some(class), true) = (filter, self.state.graph.edges[id].alive) else { continue };
            let candidates = self.state.graph.pts(src).intersection(&objects);
            if candidates.is_empty() {
                continue;
            }
            let owned = self.state.graph.flow.owned_of(id, &objects);
            let program = &mut *self.program;
            let mut stopped = IdSet::new();
            for obj in owned.iter() {
                let is_subtype = &mut |sub, sup| program.is_subtype(sub, sup);
                if !self.state.graph.flow.passes(Some(class), obj, is_subtype) {
                    stopped.insert(obj);
                }
            }
            if !stopped.is_empty() {
                self.state.graph.flow.own_mut(id).subtract(&stopped);
            }
            self.doubt_facts(dst, stopped);
            self.state.graph.revive_edge(id);
        }
    }
}

/// Does the method take or return objects of affected classes? Calls of static ones are told apart by that.
fn passes(program: &Program, method: MethodId, affected: &Affected) -> bool {
    let method = program.method(method);
    method.params.iter().flatten().chain(&method.result).any(|&class| affected.has(class))
}

/// Does running the statement ask the hierarchy about affected classes?
fn mentions(program: &mut Program, kind: &StmtKind, affected: &Affected) -> bool {
    match kind {
        StmtKind::New { class, .. } => affected.is_initialised_otherwise(*class),
        StmtKind::NewArray { class, .. } => affected.has(*class),
        StmtKind::Load { field, .. }
        | StmtKind::Store { field, .. }
        | StmtKind::LoadStatic { field, .. }
        | StmtKind::StoreStatic { field, .. } => {
            affected.has_field(*field) || affected.is_initialised_otherwise(field.class)
        }
        StmtKind::Call { kind: CallKind::Static, target, .. } => {
            let method = program.resolve_method(*target);
            let is_other =
                |method: MethodId| affected.methods.contains(&method) || passes(program, method, affected);
            affected.has_method(*target)
                || affected.is_initialised_otherwise(target.class)
                || method.is_some_and(is_other)
        }
        StmtKind::Call { target, .. } => affected.has_method(*target),
        StmtKind::Lambda { interface, target, .. } => {
            affected.has_methods(*interface) || affected.has_method(*target)
        }
        StmtKind::Const { value: ir::Const::Other(class) | ir::Const::Class(class), .. } => {
            affected.has_methods(*class)
        }
        StmtKind::Dynamic { class: Some(class), .. } => affected.has_methods(*class),
        _ => false,
    }
}

//! Places and the objects they hold; which object an allocation makes.

use super::{Naive, Objects, Place};
use ir::{Body, ClassId, FieldId, OBJECT_CLASS, Var, access};
use pointsto::{Activation, Ctx, Obj, Object, Site, Slot};

impl Naive<'_> {
    /// Where a variable of a body keeps its objects.
    pub(super) fn var(&self, act: Activation, body: &Body, var: Var) -> Place {
        if body.vars[var].is_ref { Place::Var(act, var) } else { Place::Nothing }
    }

    pub(super) fn read(&mut self, place: &Place) -> Objects {
        match place {
            Place::Just(obj) => Objects::from([*obj]),
            Place::Field(base, field) => {
                let slots = self.read(base).into_iter().filter_map(|obj| self.field_of(obj, *field));
                let slots: Vec<Slot> = slots.collect();
                slots.into_iter().flat_map(|slot| self.read(&Place::Slot(slot))).collect()
            }
            Place::Elements(base) => {
                let arrays = self.read(base).into_iter().filter(|&obj| self.is_array(obj));
                let arrays: Vec<Obj> = arrays.collect();
                arrays.into_iter().flat_map(|obj| self.read(&Place::Slot(Slot::Elements(obj)))).collect()
            }
            _ => self.facts.held.get(place).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn add(&mut self, place: &Place, obj: Obj) {
        self.write(place, &Objects::from([obj]), None);
    }

    /// Those of the objects that are instances of the filter go to the place.
    pub(super) fn write(&mut self, place: &Place, objects: &Objects, filter: Option<ClassId>) {
        let passing: Objects = objects.iter().copied().filter(|&obj| self.passes(obj, filter)).collect();
        if passing.is_empty() {
            return;
        }
        match place {
            Place::Just(_) | Place::Nothing => {}
            // o ∈ base  ⟹  o.f holds what the type of f admits
            Place::Field(base, field) => {
                let filter = self.program.field(*field).class_of;
                for owner in self.read(base) {
                    if let Some(slot) = self.field_of(owner, *field) {
                        self.write(&Place::Slot(slot), &passing, filter);
                    }
                }
            }
            Place::Elements(base) => {
                for array in self.read(base) {
                    if self.is_array(array) && !self.empty.contains(&array) {
                        let filter = self.program.class(self.class_of(array)).element;
                        self.write(&Place::Slot(Slot::Elements(array)), &passing, filter);
                    }
                }
            }
            _ => {
                let held = self.facts.held.entry(place.clone()).or_default();
                let before = held.len();
                held.extend(passing);
                self.changed |= held.len() > before;
            }
        }
    }

    /// `from → to`, for instances of the filter.
    pub(super) fn flow(&mut self, from: &Place, to: &Place, filter: Option<ClassId>) {
        let objects = self.read(from);
        self.write(to, &objects, filter);
    }

    pub(super) fn passes(&mut self, obj: Obj, filter: Option<ClassId>) -> bool {
        let class = self.class_of(obj);
        filter.is_none_or(|filter| self.program.is_subtype(class, filter))
    }

    /// The field of an object, if objects of its class have it. Fields of models are on all objects.
    pub(super) fn field_of(&mut self, obj: Obj, field: FieldId) -> Option<Slot> {
        let owner = self.program.field(field).class;
        let class = self.class_of(obj);
        self.program.is_subtype(class, owner).then_some(Slot::Field(obj, field))
    }

    /// All reference fields of an object, or its elements, each with the type it admits.
    pub(super) fn reference_slots(&mut self, obj: Obj) -> Vec<(Slot, Option<ClassId>)> {
        let class = self.class_of(obj);
        let info = self.program.load(class);
        if info.is_array {
            return vec![(Slot::Elements(obj), info.element)];
        }
        let classes: Vec<ClassId> = self.program.superclasses(class).collect();
        let fields = classes.iter().flat_map(|&class| self.program.class(class).fields.iter().copied());
        let slot = |field| {
            let info = self.program.field(field);
            let is_instance = info.access & access::STATIC == 0;
            (is_instance && info.class_of.is_some()).then_some((Slot::Field(obj, field), info.class_of))
        };
        fields.filter_map(slot).collect()
    }

    pub(super) fn class_of(&self, obj: Obj) -> ClassId {
        self.facts.objects[obj].class
    }

    pub(super) fn is_array(&self, obj: Obj) -> bool {
        self.program.class(self.class_of(obj)).is_array
    }

    pub(super) fn object(&mut self, object: Object) -> Obj {
        self.program.load(object.class);
        self.facts.objects.intern(object)
    }

    /// What an allocation in a context makes: merged classes have one object for all.
    pub(super) fn new_object(&mut self, ctx: Ctx, site: Site, class: ClassId) -> Obj {
        if self.traits(class).merged {
            return self.merged_object(class);
        }
        let ctx = if self.is_throwable(class) { self.facts.code_ctx(ctx) } else { ctx };
        let ctx = self.heap_ctx(ctx, site);
        self.object(Object { site, ctx, class })
    }

    pub(super) fn is_throwable(&mut self, class: ClassId) -> bool {
        let throwable = self.program.class_id("java/lang/Throwable");
        !self.program.class(class).is_array && self.program.is_subtype(class, throwable)
    }

    /// Objects take the context that makes them. A task made by a task's task takes the context of the second,
    /// so that chains of tasks end.
    pub(super) fn heap_ctx(&self, ctx: Ctx, site: Site) -> Ctx {
        if self.small.contains(&site)
            && let Some(task) = self.facts.task_behind(ctx)
            && let outer = self.facts.objects[task].ctx
            && self.facts.task_behind(outer).is_some()
        {
            return outer;
        }
        ctx
    }

    /// Where what is thrown in a context is caught: all library code is one.
    pub(super) fn thrown(&self, ctx: Ctx) -> Place {
        let ctx = self.facts.code_ctx(ctx);
        Place::Thrown(if self.is_application_ctx(ctx) { ctx } else { self.shared })
    }

    pub(super) fn merged_object(&mut self, class: ClassId) -> Obj {
        self.object(Object { site: Site::Merged, ctx: self.shared, class })
    }

    pub(super) fn string(&mut self) -> Obj {
        let class = self.program.class_id("java/lang/String");
        self.merged_object(class)
    }

    pub(super) fn literal(&mut self, of: ClassId) -> Obj {
        let class = self.program.class_id("java/lang/Class");
        self.object(Object { site: Site::Literal(of), ctx: self.shared, class })
    }

    /// A value of this type from code that is not analysed; arrays come filled.
    pub(super) fn outside_object(&mut self, class: ClassId) -> Obj {
        if self.traits(class).merged {
            return self.merged_object(class);
        }
        let obj = self.object(Object { site: Site::Opaque, ctx: self.shared, class });
        if let Some(element) = self.program.class(class).element {
            let element = self.outside_object(element);
            self.add(&Place::Slot(Slot::Elements(obj)), element);
        }
        obj
    }

    pub(super) fn model_field(&mut self, name: &str) -> FieldId {
        self.program.model_field(OBJECT_CLASS, name)
    }
}

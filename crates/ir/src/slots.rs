//! Ids of members for good: the same declaration has the same id in every version of a class, also after it was gone
//! for a while. Knows which ids are given out, not which members there are.

use crate::program::{Field, FieldId, FieldRef, Method, MethodId, MethodRef, Program};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Members that have an id and that no class declares now: gone, or about to come.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Undeclared {
    methods: FxHashMap<MethodRef, MethodId>,
    fields: FxHashMap<FieldRef, FieldId>,
}

impl Program {
    /// The id that a method declared like this has, had or will have.
    pub(crate) fn method_slot(&mut self, key: MethodRef) -> MethodId {
        if let Some(&id) = self.method_ids.get(&key) {
            return id;
        }
        *self.undeclared.methods.entry(key).or_insert_with(|| {
            self.method_index.push(0);
            self.methods.push(Method {
                class: key.class,
                selector: key.selector,
                access: 0,
                params: Vec::new(),
                result: None,
                has_code: false,
                throws: Vec::new(),
                annotations: Vec::new(),
            })
        })
    }

    /// The id that a field declared like this has, had or will have.
    pub(crate) fn field_slot(&mut self, key: FieldRef) -> FieldId {
        if let Some(&id) = self.field_ids.get(&key) {
            return id;
        }
        *self.undeclared.fields.entry(key).or_insert_with(|| {
            self.fields.push(Field {
                class: key.class,
                name: key.name,
                descriptor: key.descriptor,
                access: 0,
                class_of: None,
                annotations: Vec::new(),
            })
        })
    }

    pub(crate) fn declare_method(&mut self, id: MethodId, index: u32, method: Method) {
        let key = MethodRef { class: method.class, selector: method.selector };
        self.undeclared.methods.remove(&key);
        self.method_ids.insert(key, id);
        self.method_index[id] = index;
        self.methods[id] = method;
    }

    pub(crate) fn declare_field(&mut self, id: FieldId, field: Field) {
        let key = FieldRef { class: field.class, name: field.name, descriptor: field.descriptor };
        self.undeclared.fields.remove(&key);
        self.field_ids.insert(key, id);
        self.fields[id] = field;
    }

    /// The entry stays, for whoever still speaks of the method.
    pub(crate) fn forget_method(&mut self, id: MethodId) {
        let Method { class, selector, .. } = self.methods[id];
        let key = MethodRef { class, selector };
        self.method_ids.remove(&key);
        self.undeclared.methods.insert(key, id);
    }

    /// The entry stays, for whoever still speaks of the field.
    pub(crate) fn forget_field(&mut self, id: FieldId) {
        let Field { class, name, descriptor, .. } = self.fields[id];
        let key = FieldRef { class, name, descriptor };
        self.field_ids.remove(&key);
        self.undeclared.fields.insert(key, id);
    }
}

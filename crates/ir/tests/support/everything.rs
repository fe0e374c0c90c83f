//! Loads one class, lowers all its methods and asks everything that can be asked about them, whatever the bytes.

use classfile::{ClassBytes, ClassSource, Layer};
use ir::cfg::{Dominators, Edges, Loops, blocks_in_cycles};
use ir::{Body, Program, StmtKind, verify};
use std::sync::Arc;

/// How many methods have a body; `None` if the class was refused.
pub fn lower_everything(bytes: &[u8]) -> Option<usize> {
    let name = classfile::parse(bytes).ok()?.name.into_owned();
    let source = Arc::new(Single { name: name.clone(), bytes: bytes.into() });
    let mut program = Program::new(source);
    let class = program.class_id(&name);
    let mut lowered = 0;
    for method in program.load(class).methods.clone() {
        assert!(!program.method_display(method).is_empty());
        let Some(body) = program.body(method) else { continue };
        lowered += 1;
        if let Err(wrong) = verify(&body) {
            panic!("{}: {wrong}\n{}", program.method_display(method), ir::dump(&program, &body));
        }
        ask_about(&mut program, &body);
    }
    assert!(!program.class_file(class).is_empty());
    program.functional_method(class);
    for field in program.class(class).fields.clone() {
        assert!(!program.field_display(field).is_empty());
    }
    Some(lowered)
}

fn ask_about(program: &mut Program, body: &Body) {
    assert!(!ir::dump(program, body).is_empty());
    assert_eq!(body.reverse_postorder(Edges::All).len(), body.blocks.len());
    for edges in [Edges::All, Edges::Normal] {
        let dominators = Dominators::new(body, edges);
        let loops = Loops::new(body, &dominators, edges);
        let cyclic = blocks_in_cycles(body, edges);
        for (at, is_cyclic) in cyclic.iter().enumerate() {
            let block = ir::BlockId(at as u32);
            // Every natural loop is a cycle.
            assert!(*is_cyclic || loops.header(block).is_none());
            assert!(loops.header(block).is_none_or(|header| dominators.dominates(header, block)));
        }
    }
    for (_, stmt) in body.stmts.iter() {
        match &stmt.kind {
            StmtKind::Call { target, .. } => {
                let resolved = program.resolve_method(*target);
                let called = program.dispatch_call(target.class, *target);
                assert!(called.is_none() || resolved.is_some());
                program.dispatch(target.class, target.selector);
            }
            StmtKind::Load { field, .. } | StmtKind::LoadStatic { field, .. } => {
                program.resolve_field(*field);
            }
            StmtKind::Cast { class, .. } | StmtKind::New { class, .. } | StmtKind::NewArray { class, .. } => {
                assert!(program.is_subtype(*class, *class));
                assert!(program.is_subtype(*class, ir::OBJECT_CLASS));
                program.is_subtype(ir::OBJECT_CLASS, *class);
            }
            StmtKind::Lambda { interface, .. } => {
                program.functional_method(*interface);
            }
            _ => {}
        }
    }
}

struct Single {
    name: String,
    bytes: Arc<[u8]>,
}

impl ClassSource for Single {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        (name == self.name).then(|| ClassBytes::new(self.bytes.clone(), Layer::App))
    }

    fn app_classes(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

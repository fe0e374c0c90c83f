//! `invokedynamic`: the bootstrap methods whose meaning the platform fixes (lambdas, string concatenation,
//! records, pattern switches). Everything else stays an opaque, counted [`StmtKind::Dynamic`].

use super::machine::Machine;
use crate::body::{LambdaKind, Op, StmtKind};
use crate::descriptor::{self, Type};
use classfile::{BootstrapArg, Handle, HandleKind};

impl Machine<'_, '_> {
    pub(super) fn invoke_dynamic(
        &mut self,
        bootstrap: u16,
        name: &str,
        descriptor: &str,
    ) -> Result<(), String> {
        let result = descriptor::result(descriptor).ok_or("malformed call site descriptor")?;
        let args = self.pop_many(descriptor::parameters(descriptor).count())?;
        let file = self.file;
        let site = file.bootstrap_methods.get(usize::from(bootstrap));
        let factory = site.map(|site| (&*site.handle.class, &*site.handle.name));
        let static_args = site.map_or(&[][..], |site| &site.args);
        match (factory, result) {
            (Some(("java/lang/invoke/LambdaMetafactory", _)), Some(Type::Ref(interface))) => {
                if let [BootstrapArg::MethodType(erased), BootstrapArg::MethodHandle(handle), ..] =
                    static_args
                    && let Some(target_kind) = lambda_kind(handle)
                    && descriptor::result(&handle.descriptor).is_some()
                {
                    let interface = self.program.class_id(interface);
                    let selector = self.program.selector(name, erased);
                    let target = self.method_ref(&handle.class, &handle.name, &handle.descriptor);
                    let dst = self.push_new(Type::Ref(""));
                    self.emit(StmtKind::Lambda {
                        dst,
                        interface,
                        selector,
                        target,
                        target_kind,
                        captures: args,
                    });
                    return Ok(());
                }
            }
            (Some(("java/lang/invoke/StringConcatFactory", _)), Some(result @ Type::Ref(_))) => {
                let dst = self.push_new(result);
                self.emit(StmtKind::Concat { dst, args });
                return Ok(());
            }
            (Some(("java/lang/runtime/ObjectMethods", _)), Some(result)) => {
                let mut fields = Vec::new();
                for arg in static_args {
                    if let BootstrapArg::MethodHandle(handle) = arg
                        && handle.kind == HandleKind::GetField
                    {
                        fields.push(self.field_ref(&handle.class, &handle.name, &handle.descriptor));
                    }
                }
                let dst = self.push_new(result);
                self.emit(StmtKind::RecordMethod { dst, args, fields });
                return Ok(());
            }
            (Some(("java/lang/runtime/SwitchBootstraps", _)), Some(result @ (Type::Narrow | Type::Wide))) => {
                let dst = self.push_new(result);
                self.emit(StmtKind::Compute { dst, args, op: Op::Other });
                return Ok(());
            }
            _ => {}
        }
        if !matches!(result, Some(Type::Narrow | Type::Wide)) {
            let (class, method) = factory.unwrap_or(("?", "?"));
            self.draft.problems.push(format!("unknown bootstrap {}.{method}", class.replace('/', ".")));
        }
        let class = result.and_then(Type::class).map(|class| self.program.class_id(class));
        let dst = result.map(|kind| self.push_new(kind));
        self.emit(StmtKind::Dynamic { dst, args, class });
        Ok(())
    }
}

fn lambda_kind(handle: &Handle<'_>) -> Option<LambdaKind> {
    match handle.kind {
        HandleKind::InvokeStatic => Some(LambdaKind::Static),
        HandleKind::InvokeVirtual | HandleKind::InvokeInterface => Some(LambdaKind::Virtual),
        HandleKind::InvokeSpecial => Some(LambdaKind::Special),
        HandleKind::NewInvokeSpecial => Some(LambdaKind::New),
        HandleKind::GetField | HandleKind::GetStatic | HandleKind::PutField | HandleKind::PutStatic => None,
    }
}

package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FunctionalExpression;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.lookup.ExtraCompilerModifiers;
import org.eclipse.jdt.internal.compiler.lookup.LocalTypeBinding;
import org.eclipse.jdt.internal.compiler.lookup.MethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;
import org.eclipse.jdt.internal.compiler.lookup.SourceTypeBinding;
import org.eclipse.jdt.internal.compiler.lookup.SyntheticMethodBinding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Takes out of a file what depends on the files that are compiled with it, so that its classes are
 * the same whether it is compiled alone or with all others. Each step is called when the compiler
 * has done what it is named after.
 */
final class Steady {
    private Steady() {}

    /**
     * Types that are static without saying so count as generic if the type around them is, but only
     * as long as that is a source: fields of such types would have a needless generic signature.
     */
    static void declared(CompilationUnitDeclaration unit) {
        types(
                unit,
                type -> {
                    SourceTypeBinding binding = type.binding;
                    if (binding.isMemberType()
                            && binding.isStatic()
                            && type.typeParameters == null) {
                        binding.modifiers &= ~ExtraCompilerModifiers.AccGenericSignature;
                    }
                });
    }

    /**
     * Bridges to a superclass that not everybody may see would not know nested types of a class not
     * yet resolved.
     */
    static void beforeVerification(CompilationUnitDeclaration unit) {
        types(
                unit,
                type -> {
                    ReferenceBinding above = type.binding.superclass();
                    for (; above != null && !above.isPublic(); above = above.superclass())
                        above.methods();
                });
    }

    /**
     * Bridges come in an order of hash tables, and those to methods of another file have their
     * annotations if that file is compiled too.
     */
    static void verified(CompilationUnitDeclaration unit) {
        types(
                unit,
                type -> {
                    SyntheticMethodBinding[] all = type.binding.syntheticMethods();
                    if (all == null) return;
                    List<SyntheticMethodBinding> bridges = new ArrayList<>();
                    for (SyntheticMethodBinding method : all) {
                        if (isBridge(method)) bridges.add(method);
                    }
                    int[] places = bridges.stream().mapToInt(bridge -> bridge.index).toArray();
                    bridges.sort(Comparator.comparing(Steady::nameAndSignature));
                    for (int i = 0; i < places.length; i++) {
                        SyntheticMethodBinding bridge = bridges.get(i);
                        bridge.index = places[i];
                        // A copy is not found in the other file's tree, and so has no annotations.
                        MethodBinding target = bridge.targetMethod;
                        if (!isOf(unit, target.declaringClass)) {
                            bridge.targetMethod = new MethodBinding(target, target.declaringClass);
                        }
                    }
                });
    }

    private static boolean isBridge(SyntheticMethodBinding method) {
        return method.purpose == SyntheticMethodBinding.BridgeMethod
                || method.purpose == SyntheticMethodBinding.SuperMethodAccess;
    }

    private static String nameAndSignature(MethodBinding method) {
        return new String(method.selector) + new String(method.signature());
    }

    private static boolean isOf(CompilationUnitDeclaration unit, ReferenceBinding type) {
        return type instanceof SourceTypeBinding source
                && source.scope != null
                && source.scope.compilationUnitScope() == unit.scope;
    }

    /**
     * Lambdas and the classes of enum constants are put in the order of the text. The compiler
     * takes them as it first looks at them, and it looks early at a constant that another file
     * uses.
     */
    static void resolved(CompilationUnitDeclaration unit) {
        numberLambdas(unit);
        types(
                unit,
                type -> {
                    ReferenceBinding[] permitted =
                            type.binding.isEnum() ? type.binding.permittedTypes : null;
                    if (permitted != null)
                        Arrays.sort(permitted, Comparator.comparingInt(Steady::place));
                });
    }

    private static int place(ReferenceBinding type) {
        return type instanceof LocalTypeBinding local ? local.sourceStart : 0;
    }

    private static void numberLambdas(CompilationUnitDeclaration unit) {
        if (unit.functionalExpressionsCount == 0) return;
        FunctionalExpression[] all =
                Arrays.copyOf(unit.functionalExpressions, unit.functionalExpressionsCount);
        Arrays.sort(
                all,
                Comparator.<FunctionalExpression>comparingInt(one -> one.sourceStart)
                        .thenComparingInt(one -> -one.sourceEnd));
        Map<TypeDeclaration, Integer> next = new HashMap<>();
        for (FunctionalExpression lambda : all) {
            TypeDeclaration type = lambda.enclosingScope.classScope().referenceContext;
            lambda.ordinal = next.merge(type, 1, Integer::sum) - 1;
        }
    }

    /** All types of the file that have a name outside of bodies, and could be made sense of. */
    private static void types(CompilationUnitDeclaration unit, Consumer<TypeDeclaration> look) {
        if (unit.types == null) return;
        for (TypeDeclaration type : unit.types) types(type, look);
    }

    private static void types(TypeDeclaration type, Consumer<TypeDeclaration> look) {
        if (type.binding == null) return;
        look.accept(type);
        if (type.memberTypes == null) return;
        for (TypeDeclaration member : type.memberTypes) types(member, look);
    }
}

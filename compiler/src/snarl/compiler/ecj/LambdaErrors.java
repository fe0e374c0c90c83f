package snarl.compiler.ecj;

import org.eclipse.jdt.core.compiler.CategorizedProblem;
import org.eclipse.jdt.internal.compiler.ASTVisitor;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.LambdaExpression;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.lookup.BlockScope;
import org.eclipse.jdt.internal.compiler.lookup.LocalTypeBinding;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps an error inside a lambda to the method around it. The compiler blames the whole type for an
 * error in a lambda that stands at the outermost level of a method, and would make stubs of all its
 * methods.
 */
final class LambdaErrors {
    private LambdaErrors() {}

    static void confine(CompilationUnitDeclaration unit) {
        CompilationResult result = unit.compilationResult;
        if (!result.hasErrors() || unit.ignoreFurtherInvestigation || unit.types == null) return;
        List<Integer> errors = new ArrayList<>();
        for (int i = 0; i < result.problemCount; i++) {
            CategorizedProblem problem = result.problems[i];
            if (problem.isError()) errors.add(problem.getSourceStart());
        }
        for (TypeDeclaration type : unit.types) confine(type, errors);
        for (LocalTypeBinding local : unit.localTypes.values()) {
            if (local.scope != null) confine(local.scope.referenceContext, errors);
        }
    }

    private static void confine(TypeDeclaration type, List<Integer> errors) {
        if (type.memberTypes != null) {
            for (TypeDeclaration member : type.memberTypes) confine(member, errors);
        }
        if (!type.ignoreFurtherInvestigation || type.methods == null) return;
        Set<AbstractMethodDeclaration> blamed = new LinkedHashSet<>();
        boolean inLambda = false;
        for (int error : errors) {
            if (error < type.declarationSourceStart
                    || error > type.declarationSourceEnd
                    || inMember(type, error)) continue;
            AbstractMethodDeclaration method = methodAround(type, error);
            if (method == null) return; // the type itself is to blame
            blamed.add(method);
            inLambda |= isInLambda(method, type, error);
        }
        if (!inLambda) return;
        type.ignoreFurtherInvestigation = false;
        for (AbstractMethodDeclaration method : blamed) method.ignoreFurtherInvestigation = true;
    }

    private static boolean inMember(TypeDeclaration type, int position) {
        if (type.memberTypes == null) return false;
        for (TypeDeclaration member : type.memberTypes) {
            if (member.declarationSourceStart <= position
                    && position <= member.declarationSourceEnd) return true;
        }
        return false;
    }

    private static AbstractMethodDeclaration methodAround(TypeDeclaration type, int position) {
        for (AbstractMethodDeclaration method : type.methods) {
            if (!method.isClinit() && method.bodyStart <= position && position <= method.bodyEnd)
                return method;
        }
        return null;
    }

    private static boolean isInLambda(
            AbstractMethodDeclaration method, TypeDeclaration type, int position) {
        boolean[] found = new boolean[1];
        method.traverse(
                new ASTVisitor() {
                    @Override
                    public boolean visit(LambdaExpression lambda, BlockScope scope) {
                        found[0] |= lambda.sourceStart <= position && position <= lambda.sourceEnd;
                        return true;
                    }
                },
                type.scope);
        return found[0];
    }
}

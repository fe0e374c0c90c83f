package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FunctionalExpression;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers the lambdas of each type in the order of the text. The compiler numbers them as it first
 * looks at them, and it looks early at a constant that another file uses: the names would depend on
 * what is compiled together.
 */
final class LambdaNames {
    private LambdaNames() {}

    /**
     * To be called when all bodies are resolved, and before anything takes a name from the numbers.
     */
    static void assign(CompilationUnitDeclaration unit) {
        if (unit.functionalExpressionsCount == 0) return;
        FunctionalExpression[] all =
                Arrays.copyOf(unit.functionalExpressions, unit.functionalExpressionsCount);
        Arrays.sort(
                all,
                Comparator.<FunctionalExpression>comparingInt(lambda -> lambda.sourceStart)
                        .thenComparingInt(lambda -> -lambda.sourceEnd));
        Map<TypeDeclaration, Integer> next = new HashMap<>();
        for (FunctionalExpression lambda : all) {
            TypeDeclaration type = lambda.enclosingScope.classScope().referenceContext;
            lambda.ordinal = next.merge(type, 1, Integer::sum) - 1;
        }
    }
}

package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.parser.Parser;
import org.eclipse.jdt.internal.compiler.problem.ProblemReporter;

/**
 * Parses every file with a parser of its own. The compiler would use one for all, and what it
 * recovers from a syntax error then depends on the files that came before.
 */
final class EcjParser extends Parser {
    private final ProblemReporter reporter;
    private final boolean literals;

    EcjParser(ProblemReporter reporter, boolean literals) {
        super(reporter, literals);
        this.reporter = reporter;
        this.literals = literals;
    }

    @Override
    public CompilationUnitDeclaration dietParse(ICompilationUnit source, CompilationResult result) {
        return new Parser(reporter, literals).dietParse(source, result);
    }

    @Override
    public void getMethodBodies(CompilationUnitDeclaration unit) {
        new Parser(reporter, literals).getMethodBodies(unit);
    }
}

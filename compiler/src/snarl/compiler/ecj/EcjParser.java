package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.parser.Parser;
import org.eclipse.jdt.internal.compiler.problem.ProblemReporter;

import java.util.function.Consumer;

/**
 * Parses every file with a parser of its own. The compiler would use one for all, and what it
 * recovers from a syntax error then depends on the files that came before.
 */
final class EcjParser extends Parser {
    private final ProblemReporter reporter;
    private final boolean literals;
    private final Consumer<CompilationUnitDeclaration> look;

    /**
     * @param look sees every file before anything is made of it
     */
    EcjParser(
            ProblemReporter reporter,
            boolean literals,
            Consumer<CompilationUnitDeclaration> look) {
        super(reporter, literals);
        this.reporter = reporter;
        this.literals = literals;
        this.look = look;
    }

    @Override
    public CompilationUnitDeclaration dietParse(ICompilationUnit source, CompilationResult result) {
        CompilationUnitDeclaration unit = new Parser(reporter, literals).dietParse(source, result);
        look.accept(unit);
        return unit;
    }

    @Override
    public void getMethodBodies(CompilationUnitDeclaration unit) {
        new Parser(reporter, literals).getMethodBodies(unit);
    }
}

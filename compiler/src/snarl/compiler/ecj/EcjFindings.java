package snarl.compiler.ecj;

import org.eclipse.jdt.core.compiler.CategorizedProblem;
import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.ClassFile;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.lookup.LocalTypeBinding;
import org.eclipse.jdt.internal.compiler.util.Messages;

import snarl.compiler.shape.ProblemStubs;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Compiled.MethodName;
import snarl.compiler.state.Compiled.Status;
import snarl.compiler.state.Problem;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What is to be learnt from a file's syntax tree while the compiler still has it: what it declares,
 * which types were given up, which methods got lost. Together with the compiler's result it becomes
 * a {@link Compiled}.
 */
final class EcjFindings {
    private String failure;
    private boolean attributed = true;
    private String packageName = "";
    private final Set<String> declared = new TreeSet<>();
    private final Set<String> problemTypes = new HashSet<>();
    private final Map<String, List<String>> lost = new HashMap<>();

    /** Whether a type that others can see was given up. */
    private boolean givenUp;

    /**
     * Where the first type begins, behind imports: one that is not found damages nothing by itself.
     */
    private int typesBegin;

    /** Where the bodies of methods are in the text: from and behind. */
    private final List<int[]> bodies = new ArrayList<>();

    private EcjFindings() {}

    static EcjFindings failed(String message) {
        EcjFindings found = new EcjFindings();
        found.failure = message;
        return found;
    }

    static EcjFindings in(CompilationUnitDeclaration unit) {
        EcjFindings found = new EcjFindings();
        found.attributed = !unit.ignoreFurtherInvestigation;
        if (unit.currentPackage != null)
            found.packageName = CharOperation.toString(unit.currentPackage.tokens);
        if (unit.types != null) {
            String prefix =
                    found.packageName.isEmpty() ? "" : found.packageName.replace('.', '/') + "/";
            if (unit.types.length > 0) found.typesBegin = unit.types[0].declarationSourceStart;
            for (TypeDeclaration type : unit.types) {
                found.declared.add(prefix + new String(type.name));
                found.look(type, unit.ignoreFurtherInvestigation);
            }
        }
        for (LocalTypeBinding local : unit.localTypes.values()) {
            if (local.scope != null) found.look(local.scope.referenceContext, false);
        }
        return found;
    }

    /** A type whose enclosing type was given up is given up with it. */
    private void look(TypeDeclaration type, boolean outerGivenUp) {
        boolean broken = outerGivenUp || type.ignoreFurtherInvestigation;
        if (type.binding != null && type.binding.constantPoolName() != null) {
            String name = new String(type.binding.constantPoolName());
            if (broken) problemTypes.add(name);
            givenUp |= broken && !type.binding.isLocalType();
            if (type.methods != null) {
                for (AbstractMethodDeclaration method : type.methods) look(method, name);
            }
        }
        if (type.memberTypes != null) {
            for (TypeDeclaration member : type.memberTypes) look(member, broken);
        }
    }

    private void look(AbstractMethodDeclaration method, String typeName) {
        if (method.isClinit()) return;
        // Constructors that are not written down have places, but not their own.
        if (method.bodyEnd > method.bodyStart && method.bodyStart > method.declarationSourceStart)
            bodies.add(new int[] {method.bodyStart, method.bodyEnd});
        if (method.binding == null) {
            String name = method.isConstructor() ? "<init>" : new String(method.selector);
            lost.computeIfAbsent(typeName, none -> new ArrayList<>()).add(name);
        }
    }

    Compiled result(CompilationResult result) {
        if (failure != null) return Compiled.failed("the compiler gave up: " + failure);
        return new Compiled(
                Status.COMPILED,
                result.hasErrors(),
                result.hasSyntaxError,
                attributed,
                isDamaged(result) ? outline(result) : null,
                problems(result),
                classes(result),
                packageName,
                declared,
                EcjReferences.of(result));
    }

    private boolean isDamaged(CompilationResult result) {
        if (!result.hasErrors()) return false;
        if (result.hasInconsistentToplevelHierarchies || !attributed || givenUp || !lost.isEmpty())
            return true;
        for (CategorizedProblem problem : result.getProblems()) {
            if (problem.isError()
                    && problem.getSourceStart() >= typesBegin
                    && !isInBody(problem.getSourceStart())) return true;
        }
        return false;
    }

    private boolean isInBody(int position) {
        return bodies.stream().anyMatch(body -> body[0] <= position && position <= body[1]);
    }

    /** The text without what is in bodies of methods, which nobody sees from outside. */
    private String outline(CompilationResult result) {
        char[] text = result.getCompilationUnit().getContents();
        for (int[] body : bodies)
            Arrays.fill(
                    text,
                    Math.max(0, body[0]),
                    Math.max(body[0], Math.min(text.length, body[1])),
                    ' ');
        return new String(text).replace(" ", "");
    }

    private List<ClassOutput> classes(CompilationResult result) {
        List<ClassOutput> classes = new ArrayList<>();
        for (ClassFile file : result.getClassFiles()) {
            String name = new String(file.fileName());
            byte[] bytes = file.getBytes();
            List<MethodName> stubs =
                    result.hasErrors() ? ProblemStubs.in(bytes, stubMessage()) : List.of();
            classes.add(
                    new ClassOutput(
                            name,
                            bytes,
                            problemTypes.contains(name),
                            stubs,
                            lost.getOrDefault(name, List.of())));
        }
        classes.sort((one, other) -> one.name().compareTo(other.name()));
        return classes;
    }

    /** What the texts for one problem and for several begin with. */
    private static String stubMessage() {
        return CharOperation.charToString(
                Messages.compilation_unresolvedProblem
                        .substring(0, Messages.compilation_unresolvedProblem.indexOf(':'))
                        .toCharArray());
    }

    private static List<Problem> problems(CompilationResult result) {
        List<Problem> problems = new ArrayList<>();
        if (!result.hasProblems()) return problems;
        int[] lineEnds = result.getLineSeparatorPositions();
        for (CategorizedProblem problem : result.getProblems()) {
            int start = Math.max(0, problem.getSourceStart());
            int end = Math.max(start, problem.getSourceEnd() + 1);
            int line = line(lineEnds, start);
            int endLine = line(lineEnds, Math.max(start, end - 1));
            problems.add(
                    new Problem(
                            problem.isError() ? Problem.ERROR : Problem.WARNING,
                            line,
                            start - lineStart(lineEnds, line) + 1,
                            endLine,
                            end - lineStart(lineEnds, endLine) + 1,
                            problem.getID(),
                            problem.getMessage()));
        }
        return problems;
    }

    private static int line(int[] lineEnds, int position) {
        int low = 0;
        int high = lineEnds.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (lineEnds[middle] < position) low = middle + 1;
            else high = middle;
        }
        return low + 1;
    }

    private static int lineStart(int[] lineEnds, int line) {
        return line == 1 ? 0 : lineEnds[line - 2] + 1;
    }
}

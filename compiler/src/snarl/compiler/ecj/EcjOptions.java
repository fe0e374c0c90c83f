package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.classfmt.ClassFileConstants;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;
import org.eclipse.jdt.internal.compiler.impl.IrritantSet;

import snarl.compiler.wire.Request.ModuleConfig;

/**
 * The compiler's settings for a module: language level and debug information; no warnings, no
 * annotation processing.
 */
final class EcjOptions extends CompilerOptions {
    EcjOptions(ModuleConfig config) {
        long newest = ClassFileConstants.getLatestJDKLevel();
        long wanted = jdkLevel(config.level());
        // The compiler knows previews of the newest version only. Those of older versions have
        // mostly become
        // part of the language since, so the newest language is closer than the one without them.
        long source = config.preview() ? newest : wanted;
        sourceLevel = source;
        complianceLevel = source;
        targetJDK = wanted;
        enablePreviewFeatures = config.preview() && wanted == newest;

        produceDebugAttributes =
                ClassFileConstants.ATTR_SOURCE
                        | ClassFileConstants.ATTR_LINES
                        | ClassFileConstants.ATTR_VARS;
        produceReferenceInfo = true;
        // Otherwise a read into a local variable that nobody uses is dropped, and with it an
        // access.
        preserveAllLocalVariables = true;
        performMethodsFullRecovery = true;
        performStatementsRecovery = true;
        processAnnotations = false;
        docCommentSupport = false;
        warningThreshold = new IrritantSet(0);
        taskTags = null;
        analyseResourceLeaks = false;
    }

    private static long jdkLevel(int level) {
        return (long) (ClassFileConstants.MAJOR_VERSION_0 + level) << 16;
    }
}

package snarl.compiler.shape;

import snarl.compiler.shape.ClassBytes.Slice;

/**
 * Where a class file says it comes from. A name alone does not tell: generated sources declare
 * types like {@code Some$$Thing} by themselves.
 *
 * @param sourceFile without directories; empty if the class does not say
 * @param nested whether the class stands inside another one
 */
public record Origin(String sourceFile, boolean nested) {
    public static Origin of(byte[] classFile) {
        ClassBytes file = ClassBytes.withoutMembers(classFile);
        Slice source = file.attributes.get("SourceFile");
        return new Origin(
                source == null ? "" : file.utf8(file.open(source).u2()),
                file.innerClasses().stream().anyMatch(inner -> inner.name().equals(file.name)));
    }
}

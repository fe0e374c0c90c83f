package snarl.compiler.state;

import snarl.compiler.classpath.Location;

/** What there is under the name of a class. */
public sealed interface Found {
    /** A class of a source file. */
    record Live(Unit owner, OfferedClass offered) implements Found {}

    /** A class file of the JDK or the class path. */
    record Read(Location location) implements Found {}
}

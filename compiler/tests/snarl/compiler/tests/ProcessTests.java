package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.tests.Client.Frame;
import snarl.compiler.tests.Client.Result;
import snarl.compiler.wire.Encoder;
import snarl.compiler.wire.Frames;

import java.util.List;
import java.util.Random;

/** The process as its parent sees it, over pipes. */
final class ProcessTests {
    private ProcessTests() {}

    static void add(Suite suite) {
        suite.test(
                "process: it greets, compiles, follows an edit and says goodbye",
                () -> {
                    try (Client client = new Client()) {
                        Frame welcome = client.greet();
                        equal(Frames.WELCOME, welcome.kind());
                        equal(
                                List.of(Frames.MAGIC, Frames.VERSION),
                                List.of(welcome.body().readInt(), welcome.body().readInt()));
                        equal("ecj", Client.text(welcome.body()));
                        client.configure(
                                1,
                                "",
                                17,
                                "A.java",
                                "class A { int one() { return 1; } int two() { return missing; } }",
                                "B.java",
                                "class B { A a; }");
                        Result first = client.result();
                        equal(
                                List.of("two()I"),
                                first.filesByPath().get("A.java").classes().get("A").stubs());
                        equal(
                                List.of("0 1:54-1:61 missing cannot be resolved to a variable"),
                                first.filesByPath().get("A.java").problems());
                        equal(1, first.filesByPath().get("A.java").flags());
                        holds(
                                first.filesByPath().get("B.java").classes().get("B").bytes().length
                                        > 50,
                                "no bytes");
                        client.replace(
                                2,
                                "A.java",
                                "class A { int one() { return 1; } int two() { return 2; } }");
                        Result second = client.result();
                        equal(
                                List.of(2, 1, 1),
                                List.of(
                                        second.request(),
                                        second.files(),
                                        second.filesByPath().size()));
                        client.send(new Encoder(Frames.SHUTDOWN));
                        equal(Frames.BYE, client.receive().kind());
                        equal(0, client.exit());
                    }
                });
        suite.test(
                "process: it ends when its input does, also in the middle of a frame",
                () -> {
                    for (byte[] beginning :
                            List.of(
                                    new byte[0],
                                    new byte[] {0, 0},
                                    new byte[] {0, 0, 0, 9, 1, 2})) {
                        try (Client client = new Client()) {
                            client.greet();
                            client.raw(beginning);
                            client.closeInput();
                            equal(0, client.exit());
                        }
                    }
                });
        suite.test(
                "process: malformed frames are answered with errors, and it lives on",
                () -> {
                    try (Client client = new Client()) {
                        client.greet();
                        byte[][] wrong = {
                            {0, 0, 0, 0},
                            {0, 0, 0, 1, 99},
                            {0, 0, 0, 3, Frames.HELLO, 1, 2},
                            {0, 0, 0, 2, Frames.SHUTDOWN, 1},
                            {0, 0, 0, 9, Frames.CONFIGURE, 0, 0, 0, 7, 127, 127, 127, 127},
                            {0, 0, 0, 9, Frames.CONFIGURE, 0, 0, 0, 7, -1, 127, 127, 127},
                        };
                        for (byte[] frame : wrong) {
                            client.raw(frame);
                            equal(Frames.ERROR, client.receive().kind());
                        }
                        client.raw(wrong[4]);
                        holds(
                                Client.error(client.receive()).startsWith("7: malformed"),
                                "the error names the request");
                        client.configure(8, "", 17, "A.java", "class A { }");
                        equal(8, client.result().request());
                    }
                });
        suite.test(
                "process: random bytes inside frames never kill it",
                () -> {
                    try (Client client = new Client()) {
                        client.greet();
                        Random random = new Random(5);
                        for (int i = 0; i < 300; i++) {
                            byte[] frame = new byte[5 + random.nextInt(60)];
                            random.nextBytes(frame);
                            frame[0] = frame[1] = frame[2] = 0;
                            frame[3] = (byte) (frame.length - 4);
                            frame[4] = (byte) (2 + random.nextInt(2));
                            client.raw(frame);
                            equal(Frames.ERROR, client.receive().kind());
                        }
                        client.send(new Encoder(Frames.PING).i32(3));
                        equal(Frames.PONG, client.receive().kind());
                    }
                });
        suite.test(
                "process: another version of the protocol and strangers are turned away",
                () -> {
                    try (Client client = new Client()) {
                        client.send(new Encoder(Frames.HELLO).i32(Frames.MAGIC).i32(99));
                        holds(Client.error(client.receive()).contains("version 99"), "an error");
                        client.send(new Encoder(Frames.HELLO).i32(12).i32(1));
                        equal(Frames.ERROR, client.receive().kind());
                        equal(Frames.WELCOME, client.greet().kind());
                    }
                });
        suite.test(
                "process: a request about a module that is not there is refused",
                () -> {
                    try (Client client = new Client()) {
                        client.greet();
                        client.replace(4, "A.java", "class A { }");
                        equal("4: there is no module m", Client.error(client.receive()));
                    }
                });
        suite.test(
                "process: pings are answered while it works, and later changes take over those that"
                        + " wait",
                () -> {
                    try (Client client = new Client()) {
                        client.greet();
                        StringBuilder large = new StringBuilder("class Large { ");
                        for (int i = 0; i < 700; i++)
                            large.append(
                                    "int m"
                                            + i
                                            + "(java.util.List<String> l) { return"
                                            + " l.stream().mapToInt(s -> s.length() + "
                                            + i
                                            + ").sum(); }\n");
                        client.configure(
                                1, "", 17, "Large.java", large + "}", "A.java", "class A { }");
                        client.send(new Encoder(Frames.PING).i32(77));
                        Frame pong = client.receive();
                        equal(Frames.PONG, pong.kind());
                        for (int request = 2; request <= 4; request++)
                            client.replace(request, "A.java", "class A { int x" + request + "; }");
                        equal(1, client.result().request());
                        equal("2 by 3", superseded(client.receive()));
                        equal("3 by 4", superseded(client.receive()));
                        Result last = client.result();
                        equal(4, last.request());
                        equal(1, last.filesByPath().size());
                    }
                });
        suite.test(
                "process: cancelled work is done with the next request",
                () -> {
                    try (Client client = new Client()) {
                        client.greet();
                        StringBuilder large = new StringBuilder("{ ");
                        for (int i = 0; i < 400; i++)
                            large.append(
                                    "int m"
                                            + i
                                            + "(java.util.List<String> l) { return"
                                            + " l.stream().mapToInt(s -> s.length() + "
                                            + i
                                            + ").sum(); }\n");
                        client.configure(
                                1,
                                "",
                                17,
                                "A.java",
                                "class A " + large + "}",
                                "B.java",
                                "class B " + large + "}",
                                "C.java",
                                "class C " + large + "}");
                        client.send(new Encoder(Frames.CANCEL).i32(1));
                        equal("1 by -1", superseded(client.receive()));
                        client.replace(2, "D.java", "class D { }");
                        Result result = client.result();
                        equal(2, result.request());
                        equal(
                                List.of("A.java", "B.java", "C.java", "D.java"),
                                List.copyOf(result.filesByPath().keySet()));
                    }
                });
        suite.test(
                "process: a file for which memory does not suffice fails alone",
                () -> {
                    StringBuilder huge = new StringBuilder("class Huge {\n");
                    for (int i = 0; i < 20_000; i++) {
                        huge.append("int m" + i + "(int a) { int b = a * " + i + "; return b; }\n");
                    }
                    try (Client client = Client.withMemory("20m")) {
                        client.greet();
                        client.configure(1, "", 17, "A.java", "class A { }", "H.java", huge + "}");
                        Result result = client.result();
                        equal(0, result.filesByPath().get("A.java").status());
                        equal(3, result.filesByPath().get("H.java").status());
                        client.replace(2, "H.java", "class Huge { }");
                        equal(0, client.result().filesByPath().get("H.java").status());
                    }
                });
        suite.test(
                "process: javac speaks the same protocol and says who it is",
                () -> {
                    try (Client client = new Client("--javac")) {
                        Frame welcome = client.greet();
                        welcome.body().readLong();
                        equal("javac", Client.text(welcome.body()));
                        client.configure(
                                1,
                                "",
                                17,
                                "A.java",
                                "class A { int two() { return missing; } }",
                                "B.java",
                                "class B { }");
                        Result result = client.result();
                        equal(4, result.filesByPath().get("A.java").status());
                        holds(
                                result.filesByPath().get("B.java").classes().containsKey("B"),
                                result);
                    }
                });
    }

    private static String superseded(Frame frame) throws Exception {
        equal(Frames.SUPERSEDED, frame.kind());
        return frame.body().readInt() + " by " + frame.body().readInt();
    }
}

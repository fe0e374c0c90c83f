package snarl.compiler.wire;

import snarl.compiler.wire.Request.Cancel;
import snarl.compiler.wire.Request.Change;
import snarl.compiler.wire.Request.ClassPathChanged;
import snarl.compiler.wire.Request.Configure;
import snarl.compiler.wire.Request.DropModule;
import snarl.compiler.wire.Request.Edit;
import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.Hello;
import snarl.compiler.wire.Request.ModuleChange;
import snarl.compiler.wire.Request.ModuleConfig;
import snarl.compiler.wire.Request.Ping;
import snarl.compiler.wire.Request.Remove;
import snarl.compiler.wire.Request.Replace;
import snarl.compiler.wire.Request.Shutdown;

/** Reads requests from frames, and checks nothing but their form. */
public final class Requests {
    private Requests() {}

    public static Request read(byte[] frame) throws MalformedFrame {
        Decoder in = new Decoder(frame, 1);
        int kind = frame[0] & 0xFF;
        Request request =
                switch (kind) {
                    case Frames.HELLO -> new Hello(in.i32(), in.i32());
                    case Frames.CONFIGURE -> new Configure(in.i32(), in.list(Requests::config));
                    case Frames.CHANGE -> new Change(in.i32(), in.list(Requests::change));
                    case Frames.CANCEL -> new Cancel(in.i32());
                    case Frames.PING -> new Ping(in.i32());
                    case Frames.SHUTDOWN -> new Shutdown();
                    default -> throw new MalformedFrame("no such kind of frame: " + kind);
                };
        in.end();
        return request;
    }

    /** The request number of a frame that cannot be read as a whole, so that the error names it. */
    public static int numberOf(byte[] frame) {
        int kind = frame[0] & 0xFF;
        if (kind != Frames.CONFIGURE && kind != Frames.CHANGE) return Frames.NO_REQUEST;
        try {
            return new Decoder(frame, 1).i32();
        } catch (MalformedFrame none) {
            return Frames.NO_REQUEST;
        }
    }

    private static ModuleConfig config(Decoder in) throws MalformedFrame {
        return new ModuleConfig(
                in.text(),
                in.text(),
                in.i32(),
                in.i32(),
                in.bool(),
                in.text(),
                in.bool(),
                in.list(Decoder::text),
                in.list(Decoder::text),
                in.list(Decoder::text),
                in.list(Requests::file));
    }

    private static FileText file(Decoder in) throws MalformedFrame {
        String path = in.text();
        return new FileText(path, in.bool() ? in.text() : null);
    }

    private static ModuleChange change(Decoder in) throws MalformedFrame {
        return new ModuleChange(in.text(), in.list(Requests::edit));
    }

    private static Edit edit(Decoder in) throws MalformedFrame {
        int kind = in.u8();
        return switch (kind) {
            case 0 -> new Replace(file(in));
            case 1 -> new Remove(in.text());
            case 2 -> new ClassPathChanged(in.text());
            case 3 -> new DropModule();
            default -> throw new MalformedFrame("no such kind of edit: " + kind);
        };
    }
}

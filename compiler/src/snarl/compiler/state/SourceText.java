package snarl.compiler.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;

/**
 * The text of a source file as it was when it was read or handed over, and how reading went. It
 * never looks at the disk again: what a compile sees does not change under it.
 *
 * @param fault why there is no text, or null
 * @param remark what is odd about the text, or null
 */
public record SourceText(String text, String fault, String remark) {
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    public static SourceText of(String text) {
        return new SourceText(withoutMark(text), null, null);
    }

    public static SourceText read(String path, Charset charset) {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(Path.of(path));
        } catch (NoSuchFileException gone) {
            return new SourceText("", "there is no such file", null);
        } catch (IOException | InvalidPathException | OutOfMemoryError unreadable) {
            return new SourceText("", "cannot be read: " + unreadable, null);
        }
        // A mark at the beginning says more about the bytes than any setting.
        Charset real = startsWith(bytes, 0xEF, 0xBB, 0xBF) ? StandardCharsets.UTF_8 : charset;
        try {
            CharBuffer text =
                    real.newDecoder()
                            .onMalformedInput(CodingErrorAction.REPORT)
                            .onUnmappableCharacter(CodingErrorAction.REPORT)
                            .decode(ByteBuffer.wrap(bytes));
            return of(text.toString());
        } catch (CharacterCodingException wrong) {
            String text = withoutMark(new String(bytes, real));
            return new SourceText(
                    text, null, "is not " + real.name() + "; what cannot be read is replaced");
        }
    }

    /**
     * Whether one of the names stands somewhere in the text; too often yes rather than too often
     * no.
     */
    public boolean mentionsAny(Collection<String> names) {
        if (text.contains("\\u")) return true; // names may be written in escapes
        for (String name : names) {
            if (text.contains(name)) return true;
        }
        return false;
    }

    private static String withoutMark(String text) {
        return !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
    }

    private static boolean startsWith(byte[] bytes, int... wanted) {
        if (bytes.length < wanted.length) return false;
        for (int i = 0; i < wanted.length; i++) {
            if ((bytes[i] & 0xFF) != wanted[i]) return false;
        }
        return true;
    }
}

"""A class as if somebody had edited it: one of its methods is no longer synchronized. Knows class files only."""

import struct
import zipfile

SYNCHRONIZED = 0x0020
# Bytes behind the tag of each kind of constant; of text it is the length that counts.
CONSTANTS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
TEXT = 1
LONG = (5, 6)


def touch(jar, name, into):
    """A copy of the jar in which the class is another."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            new.writestr(entry, without_a_lock(data) if entry.filename == name else data)


def without_a_lock(data):
    """The class with its first synchronized method made a plain one."""
    at = after_constants(data) + 6
    (interfaces,) = struct.unpack_from(">H", data, at)
    at = after_members(data, at + 2 + 2 * interfaces)
    (methods,) = struct.unpack_from(">H", data, at)
    at += 2
    for _ in range(methods):
        (access,) = struct.unpack_from(">H", data, at)
        if access & SYNCHRONIZED:
            return data[:at] + struct.pack(">H", access & ~SYNCHRONIZED) + data[at + 2 :]
        at = after_member(data, at)
    raise SystemExit("no method of the class is synchronized")


def after_constants(data):
    (count,) = struct.unpack_from(">H", data, 8)
    at, number = 10, 1
    while number < count:
        tag = data[at]
        at += 1 + (2 + struct.unpack_from(">H", data, at + 1)[0] if tag == TEXT else CONSTANTS[tag])
        number += 2 if tag in LONG else 1
    return at


def after_members(data, at):
    (count,) = struct.unpack_from(">H", data, at)
    at += 2
    for _ in range(count):
        at = after_member(data, at)
    return at


def after_member(data, at):
    (attributes,) = struct.unpack_from(">H", data, at + 6)
    at += 8
    for _ in range(attributes):
        at += 6 + struct.unpack_from(">I", data, at + 2)[0]
    return at

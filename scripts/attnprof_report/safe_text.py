"""Text of users and files on its way to a terminal: nothing of it commands the terminal or hides what it says."""

import re
import sys

# C0, DEL, C1; marks, overrides and isolates of direction; line separators; an invisible mark; bytes that were no UTF-8.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(match):
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte, as surrogateescape has it
        code -= 0xDC00
    return NAMES.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def printable(text):
    """On one line: what a terminal would obey as \\n, \\x1b, \\u202e."""
    return UNSAFE.sub(_escape, str(text))


def printable_lines(text):
    """The same, but for line ends and tabs."""
    return UNSAFE.sub(lambda match: match[0] if match[0] in "\n\t" else _escape(match), str(text))


class SafeStream:
    """A stream for people, whatever is printed to it."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(printable_lines(text))

    def writelines(self, lines):
        self.stream.writelines(map(printable_lines, lines))

    def __getattr__(self, name):
        return getattr(self.stream, name)


def make_streams_safe():
    """Standard output and error of a script that prints text: cells and names of files reach no terminal as they are."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))

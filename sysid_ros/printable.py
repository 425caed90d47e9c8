# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Text from files as a terminal may have it: control sequences are shown, not obeyed.

Names of topics, bags and model elements come from files, which strangers write. An escape
sequence in one can clear the screen, forge a line or set the clipboard. Everything that is printed
passes through here, at the edge; inside the package text stays as it is.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

# Control characters but for tab and line feed; what reorders lines; halves of surrogate pairs.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return a text in which control sequences are spelled out, such as that of escape."""
    return OBEYED.sub(lambda found: _spelled(found[0]), text)


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def print_text(text: object, *, stream: TextIO | None = None) -> None:
    """Print a line in which control sequences are shown, to standard output by default."""
    print(printable(str(text)), file=stream, flush=True)


def complain(text: str) -> None:
    """Print a sentence of the program to standard error."""
    print_text(f"sysid_ros: {text}", stream=sys.stderr)

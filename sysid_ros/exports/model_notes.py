# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comment at the top of a model file that says what the file cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sysid_ros.files import read_regular, replace_file
from sysid_ros.robots import XmlText


def add_notes(path: Path, corrections: Sequence[str]) -> None:
    """Say in a model file what was identified and is not in it; nothing where all of it is.

    Args:
      path: MJCF or URDF.
      corrections: What is missing, as from
        :func:`~sysid_ros.judgement.signal_corrections.signal_corrections`.
    """
    if corrections:
        replace_file(path, with_notes(read_regular(path), corrections))


def with_notes(text: bytes, corrections: Sequence[str]) -> bytes:
    """Return an XML text with a comment in front of its root."""
    lines = [
        "Identified by sysid_ros. Not in this file, as no model has a place for it:",
        *(f"  {one}" for one in corrections),
        "Whoever simulates with this file has to do that to the signals.",
    ]
    said = re.sub(r"-(?=-)|-$", "- ", "\n".join(lines))  # XML allows no two hyphens in a comment
    start = XmlText(text).root.start
    return text[:start] + f"<!--\n{said}\n-->\n".encode() + text[start:]

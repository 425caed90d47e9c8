# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files that compiled functions are made of: numba looks at the one that defines each alone."""

from __future__ import annotations

import hashlib
from pathlib import Path


def source_files() -> tuple[str, ...]:
    """List the files whose change makes functions compile anew that call functions here."""
    return tuple(str(path) for path in sorted(Path(__file__).parent.glob("*.py")))


def digest_of(*files: str | Path) -> str:
    """A digest of files and those of this room, for functions that are closures over it."""
    found = hashlib.sha256()
    for file in (*files, *source_files()):
        found.update(Path(file).read_bytes())
    return found.hexdigest()


def compiled_in(*rooms: Path) -> list[Path]:
    """The files of rooms that hold compiled functions, or the named tuples that these take.

    Machine code knows the places of fields, not their names.
    """
    files = [file for room in rooms for file in sorted(room.glob("*.py"))]
    texts = ((file, file.read_bytes()) for file in files)
    return [file for file, text in texts if b"@compiled" in text or b"(NamedTuple)" in text]

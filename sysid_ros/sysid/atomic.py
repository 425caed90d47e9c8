"""Files that are either complete or absent."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sysid_ros.errors import OutputError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in ``path``'s folder that replaces ``path`` when all went well.

    Args:
      path: The file to write; its folder must exist.

    Yields:
      The temporary file, open for writing bytes.

    Raises:
      OutputError: The folder or the file cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files private
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 to ``path``, atomically.

    Raises:
      OutputError: The folder or the file cannot be written.
    """
    with replacing(path) as stream:
        stream.write(text.encode("utf-8"))


def _umask() -> int:
    """The process's file mode mask, which POSIX lets one read only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

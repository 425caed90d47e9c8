# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files that are either complete or absent."""

from __future__ import annotations

import contextlib
import os
import secrets
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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
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

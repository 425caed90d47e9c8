# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files and folders that are either complete or absent, also after a power cut."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from sysid_ros.errors import OutputError


class _TriedError(Exception):
    """Ends a file that was only tried."""


@contextlib.contextmanager
def translated_os_errors(path: Path) -> Iterator[None]:
    """Turn every ``OSError`` inside into an :class:`OutputError` that names ``path``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot write to {path}: {reason}; choose another output folder"
        ) from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in ``path``'s folder that replaces ``path`` when all went well.

    Its content is on the disk before it gets the name, and the name before this returns.

    Args:
      path: The file to write; its folder must exist.

    Yields:
      The temporary file, open for writing bytes.

    Raises:
      OutputError: The folder or the file cannot be written, or is there and no regular file; what
        is there is untouched then.
    """
    with translated_os_errors(path):
        if path.exists() and not path.is_file():  # else root would replace even /dev/null
            what = "it is a folder" if path.is_dir() else "it is there already and no regular file"
            raise OutputError(f"cannot write to {path}: {what}; choose another file")
    with _naming(path, Path.replace) as stream:
        yield stream


def check_replaceable(path: Path) -> None:
    """Find out before long work whether :func:`replacing` will do; nothing is left behind.

    Raises:
      OutputError: As of :func:`replacing`.
    """
    with contextlib.suppress(_TriedError), replacing(path):
        raise _TriedError


def replace_file(path: Path, content: bytes | str) -> None:
    """Write ``content``, text as UTF-8, such that a reader sees the old file or the new.

    Raises:
      OutputError: As of :func:`replacing`.
    """
    with replacing(path) as stream:
        stream.write(_encoded(content))


def write_new_file(path: Path, content: bytes | str) -> None:
    """Write ``content``, text as UTF-8, into a file that is there as a whole or not at all.

    Raises:
      OutputError: There is something called ``path``, or it cannot be written.
    """
    with _naming(path, _as_new) as stream:
        stream.write(_encoded(content))


def _as_new(temporary: Path, path: Path) -> None:
    """Name a file; a link, unlike a replacement, refuses to overwrite."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links, as of a memory card
        path.open("xb").close()
        temporary.replace(path)


@contextlib.contextmanager
def _naming(path: Path, named: Callable[[Path, Path], object]) -> Iterator[BinaryIO]:
    """Open a temporary file that ``named(temporary, path)`` names once it is on the disk."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    with translated_os_errors(path):
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            named(temporary, path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def _encoded(content: bytes | str) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def rename_folder(folder: Path, target: Path) -> None:
    """Give a finished folder its name, with everything in it on the disk.

    Its files were written by :func:`replacing`.

    Raises:
      OSError: There is something called ``target``, or the folder cannot be renamed.
    """
    sync_folder(folder)
    folder.rename(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in ``folder`` to the disk, as far as its file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

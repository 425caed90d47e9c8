# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Opening the files that a user names: regular ones, never a pipe or a device.

Reading a FIFO waits for ever, a device such as ``/dev/zero`` never ends, and some devices do
something when they are opened. Every reader of a user's file opens it here.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

LARGEST = 512 << 20  # bytes that are read into memory at once

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file for reading bytes; the caller closes it.

    Raises:
      OSError: It cannot be opened, or is no regular file; ``strerror`` says what it is.
    """
    check_regular(path)  # opening some devices has effects; so has their absence on a pipe
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check(os.fstat(descriptor).st_mode, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def target_said(path: Path) -> str:
    """Return where a link leads, as words to put behind its name; nothing for other paths."""
    try:
        return f" (a link to {path.readlink()})"
    except (OSError, ValueError):  # no link, or a name too long or with a NUL
        return ""


def read_regular(path: str | Path, largest: int = LARGEST) -> bytes:
    """Return the content of a file of so many bytes at most.

    Raises:
      OSError: As :func:`open_regular`, or it is larger.
    """
    with open_regular(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        reason = f"it has more than {largest >> 20} MiB, which is not read"
        raise OSError(errno.EFBIG, reason, str(path))
    return content


def read_regular_text(path: str | Path, encoding: str = "utf-8") -> str:
    """Return the text in a file.

    Raises:
      OSError: As :func:`open_regular`.
      UnicodeDecodeError: It is no text in that encoding.
    """
    return read_regular(path).decode(encoding)


def check_regular(path: str | Path) -> None:
    """Refuse what others than Python will open, such as MuJoCo a mesh, if it is no regular file.

    Raises:
      OSError: It is not there or is no regular file.
    """
    _check(Path(path).stat().st_mode, path)


def _check(mode: int, path: str | Path) -> None:
    if stat.S_ISREG(mode):
        return
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, f"it is {kind}, not a file", str(path))

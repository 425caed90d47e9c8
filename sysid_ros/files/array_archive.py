# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Archives of arrays (``.npz``) that a stranger may have made."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.files.regular_file import open_regular

_LARGEST = 4 << 30  # bytes, unpacked: an hour of thirty joints at 1 kHz is a tenth of that


@contextmanager
def open_arrays(path: Path, largest: int = _LARGEST) -> Iterator[Any]:
    """Open an archive of arrays by name; no object is unpickled.

    Args:
      path: Of the file.
      largest: Bytes that all arrays together may have, unpacked.

    Yields:
      What ``numpy.load`` gives.

    Raises:
      OSError: It cannot be opened or is no regular file.
      zipfile.BadZipFile: It is no archive.
      ValueError: It claims to unpack to more than is read.
    """
    with open_regular(path) as stream:
        with zipfile.ZipFile(stream) as archive:
            claimed = sum(entry.file_size for entry in archive.infolist())
        if claimed > largest:
            raise ValueError(f"its arrays unpack to {claimed} bytes; at most {largest} are read")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            yield arrays

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of bag formats, and opening a file by what it starts with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags import mcap_records, storage_mcap, storage_rosbag1, storage_sqlite3
from sysid_ros.recording.bags.decompression import UNDECOMPRESSABLE, decompress_file
from sysid_ros.recording.bags.storage import Storage

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC = 16  # bytes


@dataclass(frozen=True)
class StorageFormat:
    """One format of bag files.

    Attributes:
      magic: What its files start with.
      open: Opens a file, given how messages call it and whether damaged parts are left out.
    """

    magic: bytes
    open: Callable[[Path, Path, bool], Storage]


STORAGE_FORMATS = (
    StorageFormat(
        mcap_records.MAGIC,
        lambda path, shown, salvage: storage_mcap.McapStorage(path, salvage=salvage, shown=shown),
    ),
    StorageFormat(
        storage_sqlite3.MAGIC,
        lambda path, shown, salvage: storage_sqlite3.Sqlite3Storage(
            path, salvage=salvage, shown=shown
        ),
    ),
    StorageFormat(
        storage_rosbag1.MAGIC,
        lambda path, shown, salvage: storage_rosbag1.Rosbag1Storage(
            path, salvage=salvage, shown=shown
        ),
    ),
)


def open_storage(path: Path, stack: ExitStack, salvage: bool) -> Storage:
    """Open one file of a bag, decompressed first where it is compressed as a whole.

    Args:
      path: The file.
      stack: Keeps what has to be removed when the bag is closed.
      salvage: Whether damaged parts are left out with a warning, where the format allows.

    Raises:
      BagError: The file cannot be read, is damaged, or is of no known format.
    """
    try:
        start, shown = _start(path), path
        if start.startswith(ZSTD_MAGIC):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="sysid_ros_")))
            decompress_file(path, folder / path.stem)
            path = folder / path.stem
            start = _start(path)
        for form in STORAGE_FORMATS:
            if start.startswith(form.magic):
                return form.open(path, shown, salvage)
    except UNDECOMPRESSABLE as error:
        raise BagError(f"{path} cannot be read: {error}") from error
    what = f"starts with {start[:8].hex(' ')}" if start else "is empty (0 bytes)"
    if path != shown:
        what = f"was cut off or {what} once decompressed"
    raise BagError(f"{shown} {what}; it is no MCAP, SQLite or ROS 1 bag")


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(_LONGEST_MAGIC)

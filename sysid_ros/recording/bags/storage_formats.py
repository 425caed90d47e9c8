# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of bag formats, and opening a file by what it starts with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags import mcap_records, storage_mcap, storage_rosbag1, storage_sqlite3
from sysid_ros.recording.bags.decompression import UNDECOMPRESSABLE, decompress_file
from sysid_ros.recording.bags.storage import Storage

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC = 16  # bytes


# By what their files start with.
STORAGE_FORMATS: Mapping[bytes, type[Storage]] = {
    mcap_records.MAGIC: storage_mcap.McapStorage,
    storage_sqlite3.MAGIC: storage_sqlite3.Sqlite3Storage,
    storage_rosbag1.MAGIC: storage_rosbag1.Rosbag1Storage,
}


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
        for magic, form in STORAGE_FORMATS.items():
            if start.startswith(magic):
                return form(path, salvage=salvage, shown=shown)
    except UNDECOMPRESSABLE as error:
        raise BagError(f"{path} cannot be read: {error}") from error
    what = f"starts with {start[:8].hex(' ')}" if start else "is empty (0 bytes)"
    if path != shown:
        what = f"was cut off or {what} once decompressed"
    raise BagError(f"{shown} {what}; it is no MCAP, SQLite or ROS 1 bag")


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(_LONGEST_MAGIC)

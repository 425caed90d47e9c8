# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files that make up a bag, and what its ``metadata.yaml`` says about them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sysid_ros.errors import BagError, listed
from sysid_ros.files import open_regular, read_yaml, target_said

_SUFFIXES = (".mcap", ".db3", ".bag", ".mcap.zstd", ".db3.zstd", ".mcap.zst", ".db3.zst")
_REMEDY = "name the storage file, or make a whole bag with sysid_ros recover"
_PART = re.compile(r"(?P<name>.*)_(?P<number>\d+)\.[a-z0-9.]+")
_UNFINISHED = ".bag.active"  # what ROS 1 calls a bag that is being recorded


@dataclass(frozen=True)
class BagFiles:
    """A bag's files in recording order."""

    path: Path  # what the user named
    files: tuple[Path, ...]  # the storage files
    # messages per topic according to ``metadata.yaml``; ``None`` without one
    promised: Mapping[str, int] | None = None
    message_compression: bool = False  # whether each message is compressed by itself (zstd)
    ros_distro: str = ""  # the distribution that recorded it, empty where unknown
    warnings: tuple[str, ...] = ()  # what had to be assumed, one sentence each

    def sha256(self) -> str:
        """Return a hash of the storage files' contents, in order."""
        digest = hashlib.sha256()
        for path in self.files:
            with open_regular(path) as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()


def find_bag_files(path: Path) -> BagFiles:
    """Find the files of a bag.

    Args:
      path: A storage file, or a folder with or without ``metadata.yaml``; naming
        ``metadata.yaml`` itself names its folder.

    Raises:
      BagError: The path is missing or is not a bag, ``metadata.yaml`` is malformed or names a
        file that is not there, or a folder without it holds several recordings.
    """
    if path.name == "metadata.yaml":
        path = path.parent
    try:
        if not path.exists():
            if target := target_said(path):
                raise BagError(f"bag {path}{target} does not exist: the link leads nowhere")
            raise BagError(f"bag {path} does not exist{_neighbours(path)}")
        if path.is_file():
            return BagFiles(path, (path,))
        if not path.is_dir():
            raise BagError(f"{path} is not a bag: it is neither a file nor a folder")
        metadata = path / "metadata.yaml"
        if metadata.is_file():
            return _from_metadata(path, metadata)
        return _without_metadata(path)
    except (OSError, ValueError) as error:  # no permission, a name too long or with a NUL
        raise BagError(f"bag {str(path)[:200]} cannot be read: {error.args[-1]}") from error


def _without_metadata(folder: Path) -> BagFiles:
    """The parts of one recording, which recorders number: ``NAME_0``, ``NAME_1``, ..."""
    files = storage_files(folder)
    if len(files) == 1:
        return BagFiles(folder, files)
    parts = [_PART.fullmatch(file.name) for file in files]
    numbers = [int(part["number"]) for part in parts if part is not None]
    names = {re.sub(r"\d+", "", part["name"]) for part in parts if part is not None}
    if len(numbers) < len(files) or len(names) > 1 or len(set(numbers)) < len(files):
        held = listed((file.name for file in files), 3)
        raise BagError(
            f"{folder} has no metadata.yaml and holds several recordings ({held}); name one"
        )
    missing = sorted(set(range(max(numbers))) - set(numbers))
    said = (f"{folder.name} lacks part {missing[0]} of its recording.",) if missing else ()
    return BagFiles(folder, files, warnings=said)


def storage_files(folder: Path) -> tuple[Path, ...]:
    """The storage files in a folder in recording order, whatever ``metadata.yaml`` says.

    Raises:
      BagError: There are none.
    """
    suffixes = (*_SUFFIXES, _UNFINISHED)
    files = [entry for entry in folder.iterdir() if entry.name.endswith(suffixes)]
    if not files:
        raise BagError(
            f"{folder} is not a bag: it holds neither metadata.yaml nor "
            f"{', '.join(_SUFFIXES[:3])} files{_bags_within(folder)}"
        )
    return tuple(sorted(files, key=_natural_order))


def _from_metadata(folder: Path, metadata: Path) -> BagFiles:
    try:
        content = read_yaml(metadata)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BagError(f"{metadata} cannot be read: {reason}; {_REMEDY}") from error
    try:
        info = content["rosbag2_bagfile_information"]
        names = [PurePosixPath(name).name for name in info["relative_file_paths"]]
        promised: dict[str, int] = {}
        for topic in info["topics_with_message_count"]:
            name = topic["topic_metadata"]["name"]
            promised[name] = promised.get(name, 0) + int(topic["message_count"])
        mode = str(info.get("compression_mode") or "").lower()
        distro = str(info.get("ros_distro") or "")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BagError(f"{metadata} is not a rosbag2 description; {_REMEDY}") from error
    if not names:
        raise BagError(f"{metadata} names no storage file")
    missing = [name + target_said(folder / name) for name in names if not (folder / name).is_file()]
    if missing:
        raise BagError(
            f"bag {folder} is incomplete: metadata.yaml names {', '.join(missing)}, not there"
        )
    files = tuple(folder / name for name in names)
    there = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_SUFFIXES))
    # rosbag2 decompresses a file beside it
    others = [name for name in there if not any(own.startswith(name) for own in names)]
    said = (
        (f"{folder.name} holds {listed(others, 3)}, left out: metadata.yaml names others.",)
        if others
        else ()
    )
    return BagFiles(folder, files, promised, mode == "message", distro, said)


def _neighbours(path: Path) -> str:
    """Name the bags beside a missing one."""
    try:
        beside = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return f"; nor does its folder {path.parent}"
    return f"; {path.parent} has: {listed(beside, 8)}" if beside else f"; {path.parent} is empty"


def _bags_within(folder: Path) -> str:
    """Name the bags in a folder of bags, to be taken one by one; empty if there are none."""
    names = sorted(metadata.parent.name for metadata in folder.glob("*/metadata.yaml"))
    return f"; bags in it: {listed(names)}" if names else ""


def _natural_order(path: Path) -> list[tuple[int, int | str]]:
    """Sort ``bag_10`` after ``bag_9``."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]

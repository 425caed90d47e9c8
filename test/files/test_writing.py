# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is written is on the disk before it gets its name, and the name before anybody is told."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sysid_ros.errors import OutputError
from sysid_ros.files import replace_file


def test_content_then_name_then_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if folder else f"content of {os.fstat(descriptor).st_size}")
        real_sync(descriptor)

    def replace(path: Path, target: Path) -> Path:
        done.append(f"named {target.name}")
        return real_replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    replace_file(tmp_path / "result.json", "{}")
    assert done == ["content of 2", "named result.json", "folder"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    replace_file(tmp_path / "state", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match="No space left"):
        replace_file(tmp_path / "state", b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["state"]
    assert (tmp_path / "state").read_bytes() == b"old"


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    """Root could give a file the name of a device, such as /dev/null."""
    os.mkfifo(tmp_path / "device")
    for path, why in ((tmp_path / "device", "no regular file"), (Path("/"), "it is a folder")):
        with pytest.raises(OutputError, match=why):
            replace_file(path, "page")
    assert stat.S_ISFIFO((tmp_path / "device").stat().st_mode)

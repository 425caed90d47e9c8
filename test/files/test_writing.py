# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is written is on the disk before it gets its name, and the name before anybody is told."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sysid_ros.errors import OutputError
from sysid_ros.files import replace_file, write_new_file


@pytest.mark.parametrize("write", [replace_file, write_new_file])
def test_content_then_name_then_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, str], None]
) -> None:
    done: list[str] = []
    real_sync, real_replace, real_link = os.fsync, Path.replace, os.link

    def sync(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if folder else f"content of {os.fstat(descriptor).st_size}")
        real_sync(descriptor)

    def replace(path: Path, target: Path) -> Path:
        done.append(f"named {target.name}")
        return real_replace(path, target)

    def link(path: Path, target: Path) -> None:
        done.append(f"named {target.name}")
        real_link(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr(Path, "replace", replace)
    write(tmp_path / "result.json", "{}")
    assert done == ["content of 2", "named result.json", "folder"]
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_a_new_file_is_never_written_over_another(tmp_path: Path) -> None:
    write_new_file(tmp_path / "experiment.yaml", "mine")
    with pytest.raises(OutputError, match="File exists"):
        write_new_file(tmp_path / "experiment.yaml", "proposed")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


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


def test_new_file_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_new_file(tmp_path / "new.yaml", "whole")
    assert [one.name for one in tmp_path.iterdir()] == ["new.yaml"]
    assert (tmp_path / "new.yaml").read_text() == "whole"
    with pytest.raises(OutputError, match="exists"):
        write_new_file(tmp_path / "new.yaml", "other")
    assert (tmp_path / "new.yaml").read_text() == "whole"

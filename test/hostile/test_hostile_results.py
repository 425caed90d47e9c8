# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Results, states and parameter files that are no files, or claim to be endless."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outcomes import outcome as synthetic

from sysid_ros.engine.friction import load_motor_file
from sysid_ros.errors import SysidError
from sysid_ros.files import open_arrays, read_regular, write_json
from sysid_ros.results import (
    RESIDUALS,
    RESULT,
    STATE_FILE,
    VIDEO,
    document_from,
    read_results,
    read_state,
    read_values,
)
from sysid_ros.video import read_video

Read = Callable[[Path], Any]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


READERS: list[tuple[str, Read]] = [
    (RESULT, lambda path: read_results(path.parent)),
    (STATE_FILE, lambda path: read_state(path.parent)),
    ("parameters.yaml", read_values),
    ("values.json", read_values),
    ("m4.json", load_motor_file),
]


@pytest.mark.parametrize("make", [pipe, device])
@pytest.mark.parametrize(("name", "read"), READERS)
def test_what_is_no_file_is_refused_without_waiting(
    tmp_path: Path, name: str, read: Read, make: Callable[[Path], None]
) -> None:
    make(tmp_path / name)
    with pytest.raises(SysidError):
        read(tmp_path / name)


@pytest.mark.parametrize("make", [pipe, device])
def test_signals_that_are_no_file_are_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    write_json(tmp_path / RESULT, document_from(synthetic()))
    make(tmp_path / RESIDUALS)
    with pytest.raises(SysidError, match="not a complete result folder"):
        read_results(tmp_path)


@pytest.mark.parametrize("make", [pipe, device])
def test_an_animation_that_is_no_file_is_left_out(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / VIDEO)
    assert read_video(tmp_path).content is None


def test_a_file_beyond_its_bound_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(bytes(100))
    assert read_regular(file, largest=100) == bytes(100)
    with pytest.raises(OSError, match="more than 0 MiB"):
        read_regular(file, largest=99)


def test_arrays_that_claim_to_be_endless_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bomb.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 20))
    assert file.stat().st_size < 1 << 14
    with pytest.raises(ValueError, match="unpack to 1048576 bytes"), open_arrays(file, 1 << 16):
        pass

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths that MuJoCo cannot be told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sysid_ros.errors import ModelError, OutputError
from sysid_ros.files import check_utf8
from sysid_ros.results import open_work_folder
from sysid_ros.robots import load_model


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    """A folder as an archive of another system may leave it."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/gr\xfcn"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    return folder


def test_any_name_in_utf8_is_taken(tmp_path: Path) -> None:
    check_utf8(tmp_path / "Größe $x 'mit' \n Räumen")


def test_a_model_below_a_folder_in_another_encoding_says_so(latin: Path) -> None:
    model = latin / "m.xml"
    model.write_text("<mujoco/>")
    with pytest.raises(ModelError, match="is not in UTF-8, as MuJoCo wants it; rename it"):
        load_model(model)


def test_results_in_such_a_folder_are_refused_before_the_fit(latin: Path) -> None:
    with pytest.raises(OutputError, match="is not in UTF-8, as MuJoCo wants it; rename it"):
        open_work_folder(latin / "results", "title")
    assert not list(latin.iterdir())


def test_another_locale_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "grün"
    folder.mkdir()
    code = "import pathlib; from sysid_ros.files import check_utf8; check_utf8(pathlib.Path('.'))"
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ | environment, capture_output=True
    )
    assert b"the locale is not; set PYTHONUTF8=1" in done.stderr

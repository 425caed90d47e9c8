# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where compiled code is kept, and that processes take turns at compiling it."""

from __future__ import annotations

import fcntl
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from patience import PATIENCE

from sysid_ros.engine.compiled import kept_code
from sysid_ros.engine.compiled.kept_code import keeping, private_folder, turn
from sysid_ros.engine.derivatives.compilation import COMPILING, hashed_files, start_compiling
from sysid_ros.engine.derivatives.directions import StepSlopes
from sysid_ros.engine.derivatives.rollout import Rollouts
from sysid_ros.engine.mechanics.floor_contacts import Feet
from sysid_ros.engine.mechanics.model_tables import Tables


def twice(x: float) -> float:
    return 2.0 * x


class Moved(NamedTuple):
    """A class that goes elsewhere."""

    x: float


class Stayed(NamedTuple):
    """A class that does not."""

    x: float


def first_of(pair: Any) -> Any:
    return pair[0]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """numba finds neither the source's folder nor the user's cache; the temporary folder."""
    locators = "numba.core.caching.CacheImpl._locator_classes"
    from numba.core.caching import UserProvidedCacheLocator

    monkeypatch.setattr(locators, [UserProvidedCacheLocator])
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(kept_code.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path


def test_a_folder_for_temporary_files_serves_where_nothing_else_may_be_written(
    nowhere: Path,
) -> None:
    function = keeping(twice)
    assert function(2.0) == 4.0
    folder = private_folder(nowhere)
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.rglob("*.nbc"))
    assert numba.config.CACHE_DIR == ""
    again = keeping(twice)
    assert again(2.0) == 4.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_loading_reads_no_code_that_callers_would_link_in(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keeping(twice)(2.0) == 4.0
    parsed = []
    binding = numba.core.codegen.ll
    parse = binding.parse_bitcode

    def parse_bitcode(bitcode: bytes) -> Any:
        parsed.append(parse(bitcode))
        return parsed[-1]

    monkeypatch.setattr(binding, "parse_bitcode", parse_bitcode)
    assert keeping(twice)(3.0) == 6.0
    (module,) = parsed
    functions = [each for each in module.functions if not each.is_declaration]
    assert functions
    for function in functions:
        assert [len(list(block.instructions)) for block in function.blocks] == [1]


def test_code_kept_for_a_class_that_is_elsewhere_now_is_compiled_again(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade: numba looks up all classes before it sees that the source is another."""
    assert keeping(first_of)(Moved(2.0)) == 2.0
    monkeypatch.delattr(sys.modules[__name__], "Moved")
    assert keeping(first_of)(Stayed(3.0)) == 3.0
    again = keeping(first_of)
    assert again(Stayed(4.0)) == 4.0
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("keeps", [True, False])
def test_what_is_not_kept_yet_is_compiled_apart(nowhere: Path, keeps: bool) -> None:
    """In another process, whose memory ends with it; what that did not keep in this one."""
    asked = []

    def apart() -> None:
        asked.append(keeps)
        if keeps:
            keeping(twice)(1.0)

    function = keeping(twice, apart)
    assert function(2.0) == 4.0
    assert asked == [keeps]
    assert sum(function.stats.cache_hits.values()) == keeps
    assert keeping(twice, apart)(3.0) == 6.0
    assert asked == [keeps]


def test_code_is_not_kept_where_others_could_put_theirs(nowhere: Path) -> None:
    (nowhere / f"sysid_ros_numba_{os.getuid()}").mkdir()
    (nowhere / f"sysid_ros_numba_{os.getuid()}").chmod(0o777)
    assert private_folder(nowhere) is None
    function = keeping(twice)
    with turn(function):  # nobody to wait for
        assert function(2.0) == 4.0


def test_a_link_is_no_private_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / f"sysid_ros_numba_{os.getuid()}").symlink_to(tmp_path / "mine")
    assert private_folder(tmp_path) is None


WAITING = """
from sysid_ros.engine.derivatives.compilation import compilation_told, entry_points
with compilation_told(lambda stage: print(stage, flush=True), "has"):
    entry_points()
"""


def test_a_process_waits_for_one_that_compiles() -> None:
    with start_compiling() as ahead:
        assert ahead.wait(PATIENCE) == 0
    from sysid_ros.engine.derivatives.compilation import entry_points

    folder = os.open(entry_points().differentiate_rollouts.stats.cache_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as a process that compiles
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().startswith(COMPILING)
        assert other.poll() is None, "it did not wait"
        os.close(folder)
        assert other.stdout.readline() == "has\n"


def test_kept_code_is_of_the_named_tuples_that_it_takes() -> None:
    """Fields of equal types that change places would be read at their old ones."""
    taken = [Tables, Feet, StepSlopes, Rollouts]
    assert {Path(inspect.getfile(each)) for each in taken} <= {*hashed_files()}

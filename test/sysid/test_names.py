# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names that the library offers: loaded on first use, and the same for type checkers."""

from __future__ import annotations

import ast
import importlib
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

from sysid_ros import sysid


def declared() -> dict[str, str]:
    """Names that type checkers see, with the modules they come from."""
    text = Path(sysid.__file__).read_text(encoding="utf-8")
    (block,) = [node for node in ast.parse(text).body if isinstance(node, ast.If)]
    taken = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname: node.module for node in taken for alias in node.names}


def test_type_checkers_see_what_runs() -> None:
    assert sorted(declared()) == sorted(sysid.__all__) == dir(sysid)
    for name, module in declared().items():
        assert getattr(sysid, name) is getattr(importlib.import_module(module), name)


def test_no_module_hides_a_name() -> None:
    # Once imported, a module of the package is found under its name instead.
    modules = {module.name for module in pkgutil.iter_modules(sysid.__path__)}
    assert not modules & set(sysid.__all__)


@pytest.mark.parametrize(
    ("program", "loaded", "spared"),
    [
        ("from sysid_ros import sysid", "sysid_ros.sysid", "numpy"),
        ("from sysid_ros.sysid import TimeSeries", "mujoco", "sysid_ros.engine.problem"),
        ("from sysid_ros import sysid; sysid.optimize", "sysid_ros.engine.problem", "jinja2"),
    ],
)
def test_names_load_what_they_need(program: str, loaded: str, spared: str) -> None:
    told = [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"]
    modules = subprocess.run(told, capture_output=True, text=True, check=True).stdout.split()
    assert loaded in modules
    assert spared not in modules


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"'ParamterDict'.*nearest: 'ParameterDict'"):
        _ = sysid.ParamterDict
    with pytest.raises(ImportError, match="ParamterDict"):
        from sysid_ros.sysid import ParamterDict  # noqa: F401
    assert not hasattr(sysid, "ParamterDict")


def test_help_and_pickles_know_the_names() -> None:
    assert "class ParameterDict" in pydoc.plain(pydoc.render_doc(sysid))
    settings = sysid.FitSettings(window_length=0.5)
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301
    assert pickle.loads(pickle.dumps(sysid.optimize)) is sysid.optimize  # noqa: S301

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The whole notebook of mujoco.sysid, with its import line changed and nothing else."""

from __future__ import annotations

import ast
import importlib
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "references"
NOTEBOOK = "mujoco_sysid_notebook.txt"


def source() -> str:
    """The notebook's code: of every cell the lines that are Python, without Colab's set-up."""
    folder = Path(os.environ.get("SYSID_ROS_REFERENCES", DEFAULT))
    if not (folder / NOTEBOOK).is_file():
        pytest.skip(f"no notebook at {folder}; set SYSID_ROS_REFERENCES")
    cells = (folder / NOTEBOOK).read_text(encoding="utf-8").split("In [None]:\n")[1:]
    code = [_python(cell) for cell in cells]
    return "\n".join(cell for cell in code if "google.colab" not in cell)


def _python(cell: str) -> str:
    lines = cell.split("\n")
    for count in range(len(lines), 0, -1):
        text = "\n".join(lines[:count])
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        return text
    return ""


@pytest.mark.slow
def test_the_notebook_reaches_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    code = source()
    assert code.count("from mujoco import sysid") == 1
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("absl")
    matplotlib.use("Agg")
    shown: list[object] = []
    # What only shows things in a browser.
    mediapy = types.ModuleType("mediapy")
    mediapy.show_video = lambda frames, **_: shown.append(frames)  # type: ignore[attr-defined]
    mediapy.show_videos = lambda all_, **_: shown.extend(all_)  # type: ignore[attr-defined]
    display = types.ModuleType("IPython.display")
    display.IFrame = lambda src, **_: shown.append(src)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mediapy", mediapy)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    if not _can_draw():
        code = code.replace("sysid.render_rollout(", "(lambda *a, **k: [])(")
    names: dict[str, object] = {"__name__": "notebook"}
    importlib.import_module("matplotlib.pyplot")  # looks for the real IPython
    package = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", package)
    package.get_ipython = lambda: None  # type: ignore[attr-defined]
    package.version_info = (9, 0)  # type: ignore[attr-defined]

    exec(code.replace("from mujoco import sysid", "from sysid_ros import sysid"), names)  # noqa: S102

    # The names end with those of the last section, the cart.
    for name, expected in (("mass", 2.0), ("gear", 3.0)):
        value = names["opt_2seq"][name].value[0]  # type: ignore[index]
        assert value == pytest.approx(expected, abs=1e-4)
    one = names["opt_1seq"]
    assert one["gear"].value[0] / one["mass"].value[0] == pytest.approx(1.5, abs=1e-6)  # type: ignore[index]
    valley, bowl = names["cost_1seq"], names["cost_2seq"]
    assert np.argmin(bowl) != 0  # type: ignore[call-overload]
    assert np.sort(np.ravel(valley))[8] < np.sort(np.ravel(bowl))[8]  # type: ignore[call-overload]
    reports = [each for each in shown if isinstance(each, str)]
    assert len(reports) == 2
    assert all(report.startswith("data:text/html;base64,") for report in reports)


def _can_draw() -> bool:
    import mujoco

    try:
        mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8).close()
    except Exception:  # its type depends on the graphics library
        return False
    return True

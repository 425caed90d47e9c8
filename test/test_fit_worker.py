# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a fit refuses, in the process that runs it; see test_supervised_fit.py for that process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.fit_worker import Callbacks, FitRequest, fit


def nothing(*_: object) -> bool:
    """Stand for every callback."""
    return False


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({}, ErrorCode.INVALID_EXPERIMENT, "neither experiment_file nor experiment_yaml"),
        ({"experiment_file": "/nowhere.yaml"}, ErrorCode.INVALID_EXPERIMENT, "/nowhere.yaml"),
        ({"experiment_yaml": "modle: a.xml"}, ErrorCode.INVALID_EXPERIMENT, "'modle'"),
        (
            {"experiment_file": "DEMO", "bags": ("a",), "overrides": ("model=b.xml",)},
            ErrorCode.INVALID_MODEL,
            "b.xml",
        ),
        (
            {"experiment_file": "DEMO", "overrides": ("modifiers=os:system",)},
            ErrorCode.INVALID_EXPERIMENT,
            "allow_hooks",
        ),
    ],
)
def test_bad_requests_end_with_their_codes_and_a_sentence(
    tmp_path: Path, given: dict[str, Any], code: ErrorCode, words: str
) -> None:
    demo = Path(__file__).parents[1] / "examples" / "demo" / "experiment.yaml"
    if given.get("experiment_file") == "DEMO":
        given = {**given, "experiment_file": str(demo)}
    with pytest.raises(SysidError) as error:
        fit(FitRequest(str(tmp_path), **given), Callbacks(nothing, nothing, nothing, nothing))
    assert error.value.code is code
    assert words in str(error.value)
    assert list(tmp_path.iterdir()) == []  # nothing half-written

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stretches in words, and ways to and fro."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.diagnosis.evidence import Stretch, to_and_fro


@pytest.mark.parametrize(
    ("is_last", "several", "words"),
    [
        (False, False, "from 1.2 to 3.5 s"),
        (True, False, "from 1.2 s on"),
        (False, True, "from 1.2 to 3.5 s of recording 3"),
    ],
)
def test_a_stretch_in_words(is_last: bool, several: bool, words: str) -> None:
    assert Stretch(2, 1.24, 3.5, is_last).words(several=several) == words


def test_what_goes_one_way_does_not_go_to_and_fro() -> None:
    assert to_and_fro(np.array([0.0, 1.0, 3.0])) == 0.0
    assert to_and_fro(np.array([0.0, -2.0, 0.5, 0.0])) == 2.0
    assert to_and_fro(np.array([0.0, 3.0, 2.5, 4.0])) == 0.5

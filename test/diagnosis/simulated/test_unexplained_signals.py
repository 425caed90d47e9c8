# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Who may be to blame for what a simulation leaves."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from sysid_ros.diagnosis.simulated.unexplained_signals import Blame

SIGNALS = [f"q{i}" for i in range(6)]


def entries() -> Any:
    """Each signal's input has its number; ``pose`` is no entry of the file."""

    def driving(labels: Sequence[str]) -> list[str]:
        return [label.replace("q", "u") for label in labels]

    return SimpleNamespace(topics=dict.fromkeys(SIGNALS, "/states"), driving=driving)


def test_the_worst_signals_come_first_and_partners_only_where_many_are_wrong() -> None:
    left = {name: 0.5 + 0.05 * i for i, name in enumerate(SIGNALS)}
    blame = Blame.of(left | {"pose": 2.0}, [], entries())
    assert blame.bad == blame.worst == ["pose", *reversed(SIGNALS)]
    assert blame.gross == blame.measured == blame.entries == ["q5", "q4", "q3", "q2"]
    assert blame.inputs == ["u5", "u4", "u3", "u2"]
    assert blame.partners == ["u1", "u0"]


def test_where_little_is_left_no_input_is_to_blame() -> None:
    blame = Blame.of({"q0": 0.3, "q1": 0.2, "q2": 0.0}, ["q1"], entries())
    assert blame.bad == ["q0"]  # an equation of its own tests the other
    assert not (blame.worst or blame.gross or blame.inputs or blame.partners)
    assert blame.entries == ["q0"]

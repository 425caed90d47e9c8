# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Thrusts of rotors that are told shares go by the law that leaves less of the flights."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sysid_ros.proposal.thrust_laws as thrust_laws
from sysid_ros.errors import DataError
from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.mapped_inputs import Inputs
from sysid_ros.proposal.recordings import Division
from sysid_ros.proposal.signals import Channel, Line, Mapping, RecordedSignals
from sysid_ros.proposal.signals.drives import drives_of
from sysid_ros.proposal.signals.rotor_speeds import as_thrusts
from sysid_ros.proposal.thrust_laws import with_thrust_law

TIMES = np.arange(0.0, 10.0, 0.01)
NAMES = ("left", "right")
OUTPUT = Path("experiment.yaml")


def drafted(field: str) -> tuple[Draft, RecordedSignals]:
    """A hull under two rotors that are told shares, or what a field's name says."""
    site, motor = '<site name="{0}"/>', '<motor name="{0}" site="{0}" gear="0 0 1 0 0 0"/>'
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="hull"><freejoint name="base"/><geom size=".1" mass="2"/>'
        f"{''.join(map(site.format, NAMES))}</body></worldbody>"
        f"<actuator>{''.join(map(motor.format, NAMES))}</actuator></mujoco>"
    )
    shares = 0.6 + 0.1 * np.sin(TIMES)
    told = [
        Line("actuator", name, Channel("/motors", "", f"{field}[{k}]", "", "", k, True, (TIMES,),
                                       (shares,)))
        for k, name in enumerate(NAMES)
    ]  # fmt: skip
    model = spec.copy().compile()
    lines = tuple(as_thrusts(model, drives_of(model), told))
    mapping = Mapping(lines, (), (), ())
    signals = tuple(SignalEntry(dict(one.values), one.doubt) for one in lines)
    draft = Draft("hull.xml", Division(("bag",), (), None), (), signals, (), (), (), None, "linear")
    return draft, RecordedSignals(spec, mapping, [], [], [], [])


@pytest.mark.parametrize(
    ("squares", "straight", "power", "said"),
    [
        (1.0, 4.0, 2, "thrusts go by squares: straight ones leave 4 times as much"),
        (3.0, 1.0, 1, "thrusts go straight: squares leave 3 times as much"),
        (1.01, 1.0, 2, "these flights do not tell squares from straight thrusts (1.01 times"),
    ],
)
def test_the_law_that_leaves_less_is_written(
    squares: float, straight: float, power: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(draft: Draft, recorded: RecordedSignals, output: Path) -> float:
        by_squares = "^2" in draft.signals[0].values["field"]
        assert ("^2" in recorded.mapping.lines[1].channel.field) == by_squares
        return squares if by_squares else straight

    monkeypatch.setattr(thrust_laws, "_left", left)
    draft, recorded = with_thrust_law(*drafted("control"), OUTPUT)
    fields = [one.channel.field for one in recorded.mapping.lines]
    assert [entry.values["field"] for entry in draft.signals] == fields
    assert [field.endswith("^2") for field in fields] == [power == 2] * 2
    assert said in draft.signals[0].doubt and not draft.signals[1].doubt
    assert Inputs.of(recorded.mapping, {}).scaled == {*NAMES}


def test_what_nothing_tells_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> float:
        raise DataError("it cannot be simulated")

    monkeypatch.setattr(thrust_laws, "_left", fails)
    given = drafted("control")
    assert with_thrust_law(*given, OUTPUT) == given
    thrusts = drafted("thrust")
    monkeypatch.setattr(thrust_laws, "_left", None)
    assert with_thrust_law(*thrusts, OUTPUT) == thrusts

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gains of all servos take the place of a mass where that explains more, and of no true mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import mujoco
import numpy as np
import pytest

import sysid_ros.proposal.freed_gains as freed_gains
from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import System
from sysid_ros.proposal.freed_gains import (
    with_gains_beside_damping,
    with_gains_for_masses,
    with_time_constants_for_delays,
)

# Of three servos' gains and a mass, as shares of the model's: what each signal shows of them. A
# heavier body sags as all weaker servos do, but not by as much of each.
SHOWN = np.array(
    [[1.0, 0.0, 0.0, -0.2], [0.0, 1.0, 0.0, -0.8], [0.0, 0.0, 1.0, -1.0], [0.1, 0.2, 0.3, 0.4]]
)
NOISE = 0.01
# Three joints, the hand moved by all of them or by the first two, of which the third is a finger.
JOINT = '<body name="{0}"><joint name="{0}"/><geom size=".1" mass="1"/>'
SERVOS = "".join(f'<position name="{name}" joint="{one}" kp="9"/>' for name, one in zip(
    "abc", ("one", "two", "three"), strict=True))  # fmt: skip


def robot(*, finger: bool = False) -> mujoco.MjModel:
    hand = '<body name="hand"><geom size=".1" mass="1"/>'
    parts = [JOINT.format("one"), JOINT.format("two"), JOINT.format("three")]
    parts.insert(2 if finger else 3, hand)
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{''.join(parts)}{'</body>' * 4}</worldbody>"
        f"<actuator>{SERVOS}</actuator></mujoco>"
    )


@dataclass(frozen=True)
class Linear:
    """A problem whose signals are linear in the errors of gains and mass."""

    truth: FloatArray  # (4,)
    shown: FloatArray = field(default_factory=SHOWN.copy)
    model: mujoco.MjModel = field(default_factory=robot)

    @property
    def groups(self) -> list[SimpleNamespace]:
        """One group of one batch."""
        return [SimpleNamespace(batches=[SimpleNamespace(model=self.model)])]

    def initial_point(self) -> Point:
        """The model's own values."""
        return Point(np.zeros(4), ())

    def cost(self, point: Point) -> float:
        """Half the squares that are left."""
        left = self.shown @ (self.truth - point.theta)
        return 0.5 * float(left @ left) + NOISE**2


def nearer(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> Point:
    """The best of all that is not on demand."""
    moved = [i for i, one in enumerate(offered) if not one.on_demand]
    theta = point.theta.copy()
    shown = cast(Any, problem).shown
    left = shown @ (cast(Any, problem).truth - theta)
    theta[moved] += np.linalg.lstsq(shown[:, moved], left, rcond=None)[0]
    return Point(theta, point.starts)


def offered(*, guessed: bool = True) -> list[Candidate]:
    """Gains on demand, and a mass that a finding names."""
    usual: dict[str, Any] = {"low": 0.1, "high": 10.0, "typical": 0.3}
    gains = [
        Candidate(element="actuator", name=name, attribute="kp", on_demand=True, **usual)
        for name in ("a", "b", "c")
    ]
    mass = Candidate(element="body", name="hand", attribute="mass", guessed=guessed, **usual)
    return [*gains, mass]


@pytest.mark.parametrize(
    ("truth", "gains"),
    [
        ([0.25, 0.25, 0.25, 0.0], True),
        ([0.0, 0.0, 0.0, -0.2], False),
        ([0.0, 0.3, 0.0, -0.4], False),  # both: each is asked for by itself
    ],
)
def test_gains_of_all_servos_take_the_place_of_a_mass(truth: list[float], gains: bool) -> None:
    problem = cast(WindowedProblem, Linear(np.array(truth)))
    found, point = with_gains_for_masses(problem, problem.initial_point(), offered(), nearer)
    assert [one.on_demand for one in found] == (
        [False] * 3 + [True] if gains else [True] * 3 + [False]
    )
    assert [one.guessed for one in found] == (
        [True] * 3 + [False] if gains else [False] * 3 + [True]
    )
    assert point.theta == pytest.approx(truth if gains else [0.0] * 4, abs=1e-6)


@pytest.mark.parametrize("finger", [True, False])
def test_a_gain_of_what_does_not_carry_a_mass_counts_for_no_gains_in_its_place(
    finger: bool,
) -> None:
    """A finger's, on a hand that is too heavy, explains what neither the mass nor the arm's do."""
    shown = np.array([[1.0, 0.0, 0.0, -0.2], [0.0, 1.0, 0.0, -0.8], [0.0, 0.0, 1.0, 0.0]])
    linear = Linear(np.array([0.0, 0.0, 0.3, -0.2]), shown, robot(finger=finger))
    problem = cast(WindowedProblem, linear)
    found, _ = with_gains_for_masses(problem, problem.initial_point(), offered(), nearer)
    assert [one.on_demand for one in found] == (
        [True] * 3 + [False] if finger else [False] * 3 + [True]
    )


def test_where_no_finding_names_a_mass_gains_prove_themselves_one_by_one() -> None:
    problem = cast(WindowedProblem, Linear(np.array([0.25, 0.25, 0.25, 0.0])))
    given = offered(guessed=False)
    assert with_gains_for_masses(problem, problem.initial_point(), given, nearer)[0] is given


@pytest.mark.parametrize(("promised", "times"), [(0.5, 5), (1e-3, 1)])
def test_a_gain_beside_damping_is_tried_only_if_it_promises_something(
    monkeypatch: pytest.MonkeyPatch, promised: float, times: int
) -> None:
    """A step to where derivatives are once more what takes longest."""
    steps: list[Sequence[Candidate]] = []

    def stay(_: object, point: Point, offered: Sequence[Candidate]) -> Point:
        steps.append(offered)
        return point

    monkeypatch.setattr(freed_gains, "_driven_by", lambda *_: {"j0"})
    # The damping of j0 is zero; without it the gain explains so much of what is left.
    linear = Linearization(0.0, (), np.zeros((2, 2)), {})
    own = System(np.eye(2), np.array([0.0, -np.sqrt(promised)]), 1.0)
    monkeypatch.setattr(System, "of", lambda _: own)
    group = SimpleNamespace(batches=[SimpleNamespace(model=None)])
    problem = cast(
        "WindowedProblem",
        SimpleNamespace(
            groups=[group], lower=np.zeros(2), cost=lambda _: 1.0, linearize=lambda _: linear
        ),
    )
    usual: dict[str, Any] = {"low": 0.0, "high": 10.0, "typical": 0.1}
    damping = Candidate(element="joint", name="j0", attribute="damping", **usual)
    gain = replace(damping, element="actuator", name="m0", attribute="kp", on_demand=True)
    point = Point(np.zeros(2), ())
    found = with_gains_beside_damping(problem, point, [damping, gain], stay, steps=2)
    assert found == ([damping, gain], point)
    assert len(steps) == times - 1


@dataclass(frozen=True)
class LowPass:
    """A servo whose signals show its delay and its time constant alike, and little beside."""

    delay: float  # the best one, before bounds
    constant: float  # off the model's
    lower: FloatArray  # (2,)

    def cost(self, point: Point) -> float:
        """Half the squares that are left: a late command is not quite a slow low pass."""
        off = np.array([self.delay, self.constant]) - point.theta
        return 0.5 * float((off[0] + off[1]) ** 2 + (0.05 * off[1]) ** 2) + NOISE**2


def first_of(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> Point:
    """The best of the first that is not on demand, within bounds: both together go nowhere."""
    own, theta = cast(Any, problem), point.theta.copy()
    (moved, *more) = [i for i, one in enumerate(offered) if not one.on_demand]
    if not more:
        best = own.delay + own.constant - theta[1 - moved]
        theta[moved] = max(best, own.lower[moved])
    return Point(theta, point.starts)


@pytest.mark.parametrize(
    ("delay", "constant", "freed"), [(0.0, -0.09, True), (-0.004, 0.0, False), (0.03, 0.0, False)]
)
def test_a_low_pass_that_is_too_slow_is_no_command_before_it_was_given(
    delay: float, constant: float, freed: bool
) -> None:
    usual: dict[str, Any] = {"low": -0.01, "high": 0.1, "typical": 0.01}
    late = Candidate(element="signal", name="servo", attribute="delay", **usual)
    slow = replace(late, element="actuator", attribute="time_constant", on_demand=True)
    problem = cast(WindowedProblem, LowPass(delay, constant, np.array([-0.01, -0.09])))
    found, point = with_time_constants_for_delays(
        problem, Point(np.zeros(2), ()), [late, slow], first_of
    )
    assert [one.on_demand for one in found] == [False, not freed]
    assert point.theta == pytest.approx([0.0, constant if freed else 0.0])

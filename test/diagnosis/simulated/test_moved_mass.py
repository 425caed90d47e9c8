# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A body that weighs differently and elsewhere is named where no mass alone explains as much.

Windows are linear here, so that what is true of them is known: effects of columns are random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.fits import WindowScores
from sysid_ros.diagnosis.simulated.moved_mass import (
    MovedMass,
    Suspect,
    moved_mass,
    suspected_masses,
)
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.parameters import Parameter
from sysid_ros.engine.windows import WindowGroup

WINDOWS, ROWS, NOISE = 12, 40, 1e-3
COLUMNS = ("damping", "mass of a", "a x", "a y", "a z", "mass of b", "b x", "b y", "b z")
VALUES = np.array([1.0, 2.0, 0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.1])


@dataclass
class Windows:
    """Windows in which each column acts linearly, whose residual is zero at the truth."""

    truth: FloatArray
    tried: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        random = np.random.default_rng(3)
        effects = random.normal(size=(WINDOWS, ROWS, len(COLUMNS)))
        effects[:, :, 1] += 3.0 * effects[:, :, 2]  # more mass acts much as one farther out
        self.effects = effects
        self.noise = NOISE * random.normal(size=(WINDOWS, ROWS))

    def at(self, *moved: Parameter, **_: object) -> WindowScores:
        """Linearized where the columns are, what is usual fitted."""
        values = VALUES.copy()
        for one in moved:
            values[COLUMNS.index(one.name)] = one.value[0]
        self.tried.append(values)
        scale = np.where(values == 0.0, 1.0, np.abs(values))
        residual = self.effects @ (values - self.truth) + self.noise
        rows = np.concatenate([self.effects * scale, residual[..., None]], axis=2)
        grams = np.einsum("wri,wrj->wij", rows, rows)
        damping = rows[..., 0].reshape(-1)
        rest = residual.reshape(-1)
        rest = rest - damping * (damping @ rest) / (damping @ damping)
        left = {"q": 0.1 * float(np.sqrt(np.mean(rest**2)))}
        ended = Point(values, ())
        return WindowScores(
            COLUMNS, frozenset(), values, scale, ("q",), left, grams, grams.sum(axis=0)[None],
            ended, {}, True, True, cast("WindowGroup", None),
        )  # fmt: skip


def suspect(body: str) -> Suspect:
    first = COLUMNS.index(f"mass of {body}")
    keys = ("mass", "com_x", "com_y", "com_z")
    bounds = ((0.1, 20.0), (-0.5, 0.5), (-0.5, 0.5), (-0.4, 0.6))
    return Suspect(
        {
            key: Parameter(COLUMNS[first + k], VALUES[first + k], *bounds[k])
            for k, key in enumerate(keys)
        },
        0.1,
    )


def found(told: float = 0.0, **changes: float) -> tuple[MovedMass | None, Windows]:
    """What is found where columns are off; beside a mass of ``a`` that is told, if there is one."""
    truth = VALUES.copy()
    for name, change in changes.items():
        truth[COLUMNS.index(name.replace("_", " "))] += change
    windows = Windows(truth)
    bodies = {body: suspect(body) for body in "ab"}
    masses = ["mass of a", "mass of b"]
    mass = suspect("a").columns["mass"]
    mass.update_from_vector(np.array([told]))
    left = windows.at(mass).left if told else {}
    return moved_mass(windows.at(), bodies, masses, ["damping"], windows.at, left), windows


def test_mass_and_place_of_the_body_with_their_intervals() -> None:
    one, _ = found(damping=0.2, **{"mass_of_a": 0.3, "a_x": -0.08, "a_z": 0.02})
    assert one is not None and one.body == "a" and not one.others
    factor, reach = one.factor
    assert abs(factor - 1.15) <= reach < 0.01
    assert {key: value for key, (value, _) in one.centre.items()} == pytest.approx(
        {"com_x": -0.08, "com_y": 0.0, "com_z": 0.02}, abs=1e-3
    )
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="a"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    finding = one.finding(spec.compile(), ("elbow",), (), ("zero",))
    assert finding.repair == "- {body: a, mass: null, com_x: null, com_y: null, com_z: null}"
    assert finding.evidence["com_x_low"] < -0.08 < finding.evidence["com_x_high"]
    assert "'a' weighs differently and elsewhere" in finding.sentence
    assert "gains of the servos" in finding.sentence
    assert "as if it carried 0.3 kg at x -0.613 m, " in finding.sentence  # -0.08 m of 2.3 kg


@pytest.mark.parametrize("changes", [{}, {"damping": 0.3}, {"mass_of_a": 0.6}])
def test_nothing_where_nothing_or_a_mass_alone_explains_as_much(changes: dict[str, float]) -> None:
    """Three columns more always leave less, of noise a little."""
    assert found(**changes)[0] is None


def test_beside_a_mass_that_is_told_only_what_leaves_decisively_less() -> None:
    """However much a mass alone explains: what counts is what it leaves once it is refined."""
    one, _ = found(told=2.69, **{"mass_of_a": 0.6, "a_x": 0.03})
    assert one is not None and one.body == "a"
    factor, reach = one.factor
    assert abs(factor - 1.3) <= reach < 0.01
    assert one.carried == pytest.approx(
        {"mass": 0.6, "com_x": 0.13, "com_y": 0.0, "com_z": 0.1}, abs=5e-3
    )  # (2.6 kg x 0.03 m) / 0.6 kg
    assert found(told=2.6, mass_of_a=0.6)[0] is None
    assert found(told=2.6, **{"mass_of_a": 0.6, "a_x": NOISE})[0] is None  # twice the power
    near = 0.005  # m: a twentieth of its radius of gyration
    assert found(told=2.69, **{"mass_of_a": 0.6, "a_x": near})[0] is None


@pytest.mark.parametrize(("apart", "told"), [(1e-2, True), (1e-3, False)])
def test_nothing_where_its_centre_moved_nobody_knows_where_to(apart: float, told: bool) -> None:
    """Coordinates act so much alike that each is known by less than half a radius of gyration."""
    windows = Windows(VALUES + np.array([0.0, 0.6, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    effects = windows.effects
    effects[:, :, 1] -= 3.0 * effects[:, :, 2]
    effects[:, :, 3:5] = effects[:, :, 2:3] + apart * effects[:, :, 3:5]
    bodies, masses = {body: suspect(body) for body in "ab"}, ["mass of a", "mass of b"]
    one = moved_mass(windows.at(), bodies, masses, ["damping"], windows.at)
    assert (one is not None) == told


def test_a_lighter_body_carries_nothing() -> None:
    one, _ = found(told=1.31, **{"mass_of_a": -0.6, "a_x": -0.03})
    assert one is not None and one.factor[0] < 1.0 and not one.carried


def test_the_centre_alone_of_a_body_whose_mass_is_free() -> None:
    """Another body's mass explains some of it, and its centre more than that."""
    truth = VALUES + np.array([0.0, 0.0, -0.08, 0.0, 0.02, 0.0, 0.0, 0.0, 0.0])
    windows, whole = Windows(truth), suspect("a")
    free = Suspect({key: one for key, one in whole.columns.items() if key != "mass"}, 0.1)
    bodies, beside = {"a": free, "b": suspect("b")}, ["damping", "mass of a"]
    one = moved_mass(windows.at(), bodies, ["mass of b"], beside, windows.at)
    assert one is not None and one.body == "a" and one.factor is None and not one.carried
    assert one.centre["com_x"][0] == pytest.approx(-0.08, abs=1e-3)
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="a"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    finding = one.finding(spec.compile(), ("elbow",), (), ())
    assert finding.repair == "- {body: a, com_x: null, com_y: null, com_z: null}"
    assert "'a' has its centre elsewhere than in the model" in finding.sentence
    assert "mass" not in finding.evidence


def test_nothing_where_it_is_off_by_less_than_a_tenth() -> None:
    one, windows = found(**{"mass_of_a": 0.1, "a_x": -0.009})
    assert one is None and len(windows.tried) > 2  # found, and refused where it is known best


def test_nothing_is_linearized_again_without_a_mass_that_is_suspected() -> None:
    windows = Windows(VALUES)
    scores = windows.at().scores(["mass of a", "mass of b"], ["damping"])
    assert suspected_masses(scores) == []
    assert moved_mass(windows.at(), {}, [], ["damping"], windows.at) is None
    assert len(windows.tried) == 2


def test_masses_that_seem_off_by_little_are_suspected_the_best_first() -> None:
    truth = VALUES + np.array([0.0, 0.3, -0.45, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
    scores = Windows(truth).at().scores(["mass of b", "mass of a"], ["damping"])
    assert suspected_masses(scores)[0] == "mass of a"

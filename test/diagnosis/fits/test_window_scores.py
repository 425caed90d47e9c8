# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Windows are linearized where fits ended; others go on there, but for what made up for a mass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.fits import WindowScores, fitted_windows, mass_of, window_scores
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import WindowGroup


class _Bounded:
    """A problem's bounds and start: a delay's and a friction's."""

    upper = np.array([0.3, 5.0])

    def initial_point(self) -> Point:
        return Point(np.array([0.01, 0.5]), ())


@pytest.mark.parametrize(("ended", "begins"), [(True, 0.01), (False, 0.3)])
def test_a_delay_that_ran_to_its_end_beside_a_wrong_mass_begins_anew(
    ended: bool, begins: float
) -> None:
    scores = WindowScores(
        (), frozenset(), np.zeros(0), np.zeros(0), (), {}, *np.zeros((2, 0, 1, 1)),
        Point(np.array([0.3, 0.0]), ()), {}, False, ended, cast("WindowGroup", None),
    )  # fmt: skip
    resumed = scores.resumed(cast("WindowedProblem", _Bounded()))
    assert resumed.theta == pytest.approx([begins, 0.0])


LOADED = """<mujoco><option timestep="0.002"/><worldbody>
  <body><joint name="swing" axis="0 1 0" damping="0.05" armature="0.05"/>
  <geom size="0.05" pos="0 0 -0.3" mass="0.5"/>
  <body name="load" pos="0 0 -.3"><joint name="hook" axis="0 1 0" damping="{}"/>
  <geom size="0.03" pos="0 0 -.2" mass="0.2"/></body></body></worldbody>
  <actuator><motor name="motor" joint="swing"/></actuator>
  <sensor><jointpos name="angle" joint="swing"/></sensor></mujoco>"""


def swung() -> ModelSequences:
    """Twelve seconds of a joint whose load swings, which nothing measures and the model damps."""
    model = mujoco.MjModel.from_xml_string(LOADED.format(0.002))
    times = 0.002 * np.arange(6000)
    control = (0.8 * np.sin(6.0 * times) + 0.3 * np.sin(8.5 * times))[:, None]
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], control[None])
    return ModelSequences(
        "swing", mujoco.MjSpec.from_string(LOADED.format(0.05)), "recording", start,
        TimeSeries(times, control, {"motor": (SignalType.MjCtrl, np.array([0]))}),
        TimeSeries(times + 0.002, seen[0], {"angle": (SignalType.MjSensor, np.array([0]))}),
    )  # fmt: skip


def test_where_columns_are_many_windows_are_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[float] = []

    def windows_of(sequences: ModelSequences, params: ParameterDict, length: float) -> WindowGroup:
        lengths.append(length)
        return fitted_windows.windows_of(sequences, params, length)

    monkeypatch.setattr(window_scores, "windows_of", windows_of)
    sequences = swung()
    mass = mass_of(sequences, "load")
    for steps, length in ((400_000, 1.0), (1, 0.5)):
        monkeypatch.setattr(window_scores, "_STEPS", steps)
        suspected = ParameterDict({mass.name: mass})
        with RolloutPool(1) as pool:
            scores = WindowScores.of(sequences, ParameterDict(), suspected, None, pool)
        assert scores is not None and len(scores.group.windows) >= 8
        assert lengths[-1] == length


def test_windows_are_linearized_where_their_fit_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts are found beside where the model, as the fit had it, brings what is not measured."""
    seen: list[np.ndarray] = []

    def fitted(*args: Any, **kwargs: Any) -> tuple[WindowedProblem, Point, bool]:
        begun = len(seen)
        problem, point, settled = fitted_windows.fitted(*args, **kwargs)
        del seen[begun:]  # of steps within the fit
        seen.append(np.concatenate(problem.residuals(point)))
        return problem, point, settled

    def window_rows(problem: WindowedProblem, point: Point) -> Iterator[np.ndarray]:
        seen.append(np.concatenate(problem.residuals(point)))
        return rows(problem, point)

    rows = WindowedProblem.window_rows
    monkeypatch.setattr(window_scores, "fitted", fitted)
    monkeypatch.setattr(WindowedProblem, "window_rows", window_rows)
    modifier, sequences = AttributeModifier("joint", "hook", "damping"), swung()
    damping = Parameter("damping", 0.05, 0.0, 1.0, modifier=modifier)
    found = ParameterDict({"damping": damping})
    mass = mass_of(sequences, "load")
    suspected = ParameterDict({mass.name: mass})
    with RolloutPool(1) as pool:
        scores = WindowScores.of(sequences, found, suspected, None, pool)
        assert scores is not None
        assert scores.value("damping") < 0.02
        np.testing.assert_allclose(seen[1], seen[0], atol=1e-12)
        on = WindowScores.of(sequences, found, suspected, None, pool, patient=True, begun=scores)
    assert on is not None
    assert on.places == scores.places
    assert on.squares <= 1.01 * scores.squares
    np.testing.assert_allclose(seen[3], seen[2], atol=1e-12)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lengths of paths and their slopes against MuJoCo's, and against differences of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.compilation import entry_points
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ChangingTables,
    all_covered,
    model_directions,
)
from sysid_ros.engine.derivatives.model_changes import model_derivative
from sysid_ros.engine.derivatives.rollout import Rollouts, new_buffers
from sysid_ros.engine.derivatives.sensors import readings
from sysid_ros.engine.mechanics import no_touches
from sysid_ros.engine.mechanics.lines import with_own_course
from sysid_ros.engine.mechanics.model_tables import tables_of, unsupported

SIDES = ("", "0.3 0.1 0.2", "-0.1 0.4 -0.3")
NEW_RULES = mujoco.mj_version() >= 4_000_000
# A geom on a moving stand; one site behind a bracket and a ball joint of it, the other flies.
MACHINE = """<mujoco><worldbody>
<body><joint type="hinge" axis="1 2 3" pos="0 .1 0"/><joint type="slide" axis="0 1 0"/>
<geom name="round" type="KIND" size="0.15 0.3" pos="0.03 -0.02 0.05" euler="20 30 40"/>
<site name="side" pos="SIDE"/><site name="slide" pos="-.1 0 .1" euler="10 50 20"/>
<body name="bracket" pos=".05 .02 .01" euler="0 10 0"><body pos="0.05 0 0" euler="5 6 7">
<joint type="ball" pos="0.01 0.02 0"/>
<geom size="0.01" mass="1"/><site name="b" pos="-0.4 0.05 0.1"/></body>
<site name="on_bracket" pos="0 .1 0"/></body></body>
<body><freejoint/><geom size="0.01" mass="1"/><site name="a" pos="0.4 0.02 0"/></body>
<site name="fixed" pos=".4 .5 .6"/></worldbody>
<tendon><spatial name="around"><site site="a"/><geom geom="round" SIDED/><site site="b"/></spatial>
<spatial name="far"><site site="fixed"/><site site="a"/><site site="on_bracket"/>
<site site="side"/><pulley divisor="2"/><site site="b"/><site site="fixed"/>
<pulley divisor="3"/><site site="a"/><site site="b"/></spatial></tendon>
<actuator><motor cranksite="b" slidersite="slide" cranklength="1"/>
<motor cranksite="a" slidersite="slide" cranklength=".1"/></actuator></mujoco>"""


def model_of(kind: str, side: str) -> mujoco.MjModel:
    """The machine, with a tendon that goes around a geom of a kind."""
    sided = 'sidesite="side"' if side else ""
    text = MACHINE.replace("KIND", kind).replace("SIDED", sided).replace("SIDE", side or "0 0 0")
    return mujoco.MjModel.from_xml_string(text)


class Laid(NamedTuple):
    """The lines of a model at a position."""

    lengths: FloatArray  # (n,)
    slopes: FloatArray  # (n, nv)
    bends: FloatArray  # (n, nv, nv)


def laying(model: mujoco.MjModel) -> Callable[[FloatArray], Laid]:
    """Lays the lines of a model, as a pass over one step does."""
    lines, none = with_own_course(tables_of(model).lines), np.zeros(0, dtype=np.int64)
    tables = tables_of(model)._replace(lines=lines)
    changes = model_derivative(ChangingTables.of(model), [], [])
    start, states = np.zeros((1, 2 * model.nv, 1)), np.zeros((2, model.nq + model.nv))
    given = (
        tables, model_directions(tables, changes), readings(model, none),
        BatchDirections(start, none, np.zeros((1, 0, model.nu))),
        Rollouts(
            np.array([1]), states, np.zeros((1, model.nu)), no_touches(1), all_covered(1)
        ),
        new_buffers(tables, 1, 0), np.zeros((1, 0, 1)), np.zeros((1, 2)),
    )  # fmt: skip

    def laid(position: FloatArray) -> Laid:
        states[:, : model.nq] = position
        entry_points().differentiate_rollouts(*given)
        slopes = np.zeros((lines.equality.size, model.nv))
        bends = np.zeros((lines.equality.size, model.nv, model.nv))
        for k, (first, last) in enumerate(zip(lines.first[:-1], lines.first[1:], strict=True)):
            own = lines.dof[first:last]
            slopes[k, own] = lines.coefficient[first:last]
            bends[k][np.ix_(own, own)] = lines.course.bend[first:last, : last - first]
        return Laid(lines.course.extent.copy(), slopes, bends)

    return laid


def in_mujoco(model: mujoco.MjModel, position: FloatArray) -> tuple[FloatArray, FloatArray, bool]:
    """Lengths of the same lines, their slopes, and whether the first tendon goes around."""
    data = mujoco.MjData(model)
    data.qpos[:] = position
    mujoco.mj_forward(model, data)
    slopes = np.zeros((model.ntendon + model.nu, model.nv))
    for k in range(model.nv):  # by velocities, which no version keeps in another form
        data.qvel[:] = np.eye(model.nv)[k]
        mujoco.mj_fwdVelocity(model, data)
        slopes[:, k] = np.concatenate([data.ten_velocity, data.actuator_velocity])
    lengths = np.concatenate([data.ten_length, data.actuator_length])
    return lengths, slopes, int(data.ten_wrapnum[0]) == 4


def moved(model: mujoco.MjModel, position: FloatArray, step: FloatArray) -> FloatArray:
    after = position.copy()
    mujoco.mj_integratePos(model, after, step, 1.0)
    return after


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from(["sphere", "cylinder"]),
    st.sampled_from(SIDES if NEW_RULES else SIDES[:1]),
)  # fmt: skip
def test_lengths_and_slopes_are_mujocos(seed: int, kind: str, side: str) -> None:
    model = model_of(kind, side)
    step = 0.5 * np.random.default_rng(seed).normal(size=model.nv)
    position = moved(model, model.qpos0, step)
    laid = laying(model)(position)
    lengths, slopes, _ = in_mujoco(model, position)
    np.testing.assert_allclose(laid.lengths, lengths, rtol=1e-10)
    np.testing.assert_allclose(laid.slopes, slopes, atol=1e-9)


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@pytest.mark.parametrize("side", SIDES if NEW_RULES else SIDES[:1])
def test_slopes_change_as_told(kind: str, side: str) -> None:
    model, around = model_of(kind, side), 0
    laid = laying(model)
    for seed in range(12):
        step = 0.4 * np.random.default_rng(seed).normal(size=model.nv)
        position = moved(model, model.qpos0, step)
        around += in_mujoco(model, position)[2]
        bends, differences = laid(position).bends, []
        for axis in np.eye(model.nv):
            ahead, behind = (moved(model, position, s * axis) for s in (1e-6, -1e-6))
            differences.append((laid(ahead).slopes - laid(behind).slopes) / 2e-6)
        error = np.abs(bends - np.stack(differences, axis=-1)).max(axis=(1, 2))
        assert np.all(error < 1e-5 * (1.0 + np.abs(bends).max(axis=(1, 2))))
    assert 0 < around < 12 or kind == "cylinder"


@pytest.mark.skipif(not NEW_RULES, reason="no way around a geom by its side is known")
@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('<site name="side" pos="SIDE"/>', '<site name="side" pos=".03 -.02 .06"/>', "inside"),
        ('<spatial name="far">', '<spatial name="far" armature=".1">', "armature"),
        ('<site name="fixed" pos=".4 .5 .6"/>', '<site name="fixed"/><site name="side"/>', "side"),
    ],
)
def test_paths_that_are_not_known_are_told(
    before: str, after: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MACHINE.replace(before, after)
    if after.endswith('<site name="side"/>'):
        text = text.replace('<site name="side" pos="SIDE"/>', "").replace(
            '<site site="side"/><pulley', "<pulley"
        )
    text = text.replace("KIND", "sphere").replace("SIDED", 'sidesite="side"')
    model = mujoco.MjModel.from_xml_string(text.replace("SIDE", "1 1 1"))
    assert reason in (unsupported(model) or "")

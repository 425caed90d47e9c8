# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leaving geoms out changes nothing, and stops where something touches."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import sysid_problems

from sysid_ros import sysid
from sysid_ros.engine.elements.slim_model import (
    SlimModel,
    discard_visuals,
    undrawn,
    without_visuals,
)


def falling(height: float) -> mujoco.MjSpec:
    """A ball on a vertical slide above a floor."""
    return mujoco.MjSpec.from_string(
        f"""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body name="ball" pos="0 0 {height}"><joint name="slide" type="slide" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/><geom size="0.1"/></body>
        </worldbody><actuator><motor name="push" joint="slide"/></actuator>
        <sensor><jointpos name="position" joint="slide"/></sensor></mujoco>"""
    )


def armature_of(spec: mujoco.MjSpec) -> tuple[sysid.ParameterDict, sysid.ModelSequences]:
    """A recording of half a second without force, and the joint's armature as a parameter."""
    recording = sysid_problems.record(spec, lambda t: np.zeros((len(t), 1)), 0.5)
    params = sysid.ParameterDict()
    params.add(
        sysid.Parameter(
            "armature", 0.1, 0.0, 1.0,
            modifier=lambda s, p: setattr(s.joint("slide"), "armature", p.value[0]),
        )
    )  # fmt: skip
    return params, recording.sequences()


@pytest.mark.parametrize("height", [5.0, 0.5])
def test_residuals_are_those_of_the_full_model(height: float) -> None:
    """From 5 m the ball is still in the air after half a second; from 0.5 m it has landed."""
    params, sequences = armature_of(falling(height))
    slim, full = (
        sysid.build_residual_fn(models_sequences=[sequences], build_model=build)
        for build in (
            sysid.apply_param_modifiers,
            lambda params, spec: sysid.apply_param_modifiers(params, spec),
        )
    )
    for value in (0.05, 0.3):
        x = np.array([value])
        np.testing.assert_array_equal(slim(x, params)[0][0], full(x, params)[0][0])


def test_geoms_that_make_inertia_are_kept() -> None:
    spec = falling(1.0)
    spec.body("ball").explicitinertial = False
    assert len(SlimModel(spec).spec.geoms) == 1
    assert len(spec.geoms) == 2


def test_what_refers_to_geoms_keeps_the_full_model() -> None:
    spec = falling(1.0)
    spec.geoms[1].name = "ball_geom"
    spec.add_sensor(
        name="distance",
        type=mujoco.mjtSensor.mjSENS_FRAMEPOS,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname="ball_geom",
    )
    assert SlimModel(spec).spec is spec


def arm_without_contacts() -> mujoco.MjSpec:
    """A pendulum beside a wall, with contacts switched off and friction in its joint."""
    return mujoco.MjSpec.from_string(
        """<mujoco><option><flag contact="disable"/></option><worldbody>
        <geom type="plane" size="1 1 1"/><body name="arm"><joint name="hinge" axis="0 1 0"
        frictionloss="0.1"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body>
        </worldbody><sensor><jointpos joint="hinge"/></sensor></mujoco>"""
    )


def motion(spec: mujoco.MjSpec) -> np.ndarray:
    """Angles of the arm's fall."""
    model = spec.copy().compile()
    data = mujoco.MjData(model)
    data.qpos[0] = 1.0
    angles = []
    for _ in range(300):
        mujoco.mj_step(model, data)
        angles.append(data.qpos[0])
    return np.array(angles)


@pytest.mark.parametrize("limited", [True, False])
def test_without_contacts_no_geom_but_of_wheels_is_kept_and_motion_is_the_same(
    limited: bool,
) -> None:
    """What is round and turns without end may be a wheel, whose radius tells how it rolls."""
    spec = arm_without_contacts()
    if limited:
        spec.joint("hinge").range = [-3.0, 3.0]
    slim = without_visuals(spec, keep_wheels=True)
    kept = [geom.type for geom in slim.geoms]
    assert kept == ([] if limited else [mujoco.mjtGeom.mjGEOM_CAPSULE])
    assert len(without_visuals(spec).geoms) == 0
    np.testing.assert_array_equal(motion(slim), motion(spec))


@pytest.mark.parametrize("change", ["contacts", "air", "distance"])
def test_geoms_that_act_on_motion_or_sensors_are_simulated(change: str) -> None:
    spec = arm_without_contacts()
    if change == "contacts":
        spec.option.disableflags = 0
    elif change == "air":
        spec.option.density = 1.2
    else:
        spec.worldbody.add_site(name="eye", pos=(0.0, 0.0, 1.0))
        spec.add_sensor(
            name="distance",
            type=mujoco.mjtSensor.mjSENS_RANGEFINDER,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname="eye",
            intprm=[1, 0, 0],
        )
    assert len(without_visuals(spec).geoms) == 2


def test_bodies_of_which_all_geoms_are_only_seen_keep_the_inertia_that_these_give() -> None:
    """MuJoCo refuses to discard them under ``inertiafromgeom="true"``, which voids an inertial."""
    text = """<mujoco><compiler inertiafromgeom="true"/><default><geom contype="0" conaffinity="0"/>
        </default><worldbody><body name="seen"><joint name="j" axis="0 1 0"/>{}
        <geom type="capsule" size=".02" fromto="0 0 0 .1 0 0"/></body>
        <body name="bare" pos="1 0 0"><joint/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
        </body></worldbody></mujoco>"""
    for inertial in ("", '<inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/>'):
        spec = mujoco.MjSpec.from_string(text.format(inertial))
        model, slim = spec.copy().compile(), without_visuals(spec).compile()
        discarded = spec.copy()
        discard_visuals(discarded)
        assert discarded.compile().ngeom == 0
        for other in (slim, discarded.compile()):
            for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat"):
                np.testing.assert_allclose(getattr(other, name), getattr(model, name), atol=1e-15)


def test_textures_that_mujoco_computes_are_not_where_nothing_is_drawn() -> None:
    painted = mujoco.MjSpec.from_string(
        """<mujoco><asset>
        <texture type="skybox" builtin="gradient" width="64" height="384"/>
        <texture name="squares" type="2d" builtin="checker" width="64" height="64"/>
        <material name="floor" texture="squares"/></asset>
        <worldbody><geom type="plane" size="1 1 1" material="floor"/>
        <body><joint/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    )
    full, model = painted.copy().compile(), undrawn(painted).compile()
    assert int(np.prod([full.tex_width, full.tex_height], axis=0).sum()) == 64 * 384 + 64 * 64
    assert int(np.prod([model.tex_width, model.tex_height], axis=0).sum()) == 6 + 1
    assert model.ngeom == full.ngeom
    np.testing.assert_array_equal(model.body_inertia, full.body_inertia)
    assert painted.textures[0].width == 64

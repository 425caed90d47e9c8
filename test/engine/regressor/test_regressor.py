# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The regressor at a model's own values is what mj_inverse computes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.registry import CPUDispatcher

from sysid_ros.engine.inverse_dynamics import Motion, Regressor, mujoco_torque
from sysid_ros.engine.regressor import regressor_kernel
from sysid_ros.errors import ModelError

EXACT = 1e-10
JOINTS = {
    "ball": ["ball"],
    "hinge": ["hinge"],
    "slide": ["slide"],
    "slides and hinges": ["slide", "hinge", "hinge"],
}


def random_mechanism(seed: int) -> mujoco.MjModel:
    """A tree of up to seven bodies with joints of all kinds, on a fixed or floating base."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.option.gravity = rng.normal(size=3) * 5.0
    bodies, scalar = [spec.worldbody], []
    for number in range(int(rng.integers(1, 8))):
        parent = bodies[int(rng.integers(len(bodies)))]
        body = parent.add_body(name=f"b{number}", pos=rng.normal(size=3), quat=rng.normal(size=4))
        body.explicitinertial = True
        body.mass, body.ipos = rng.uniform(0.1, 5.0), rng.normal(size=3) * 0.2
        body.iquat = rng.normal(size=4)
        body.inertia = rng.uniform(0.02, 0.03, 3)
        body.gravcomp = float(rng.choice([0.0, 0.0, 0.4]))
        kinds = rng.choice(["free", "ball", "hinge", "slide", "slides and hinges", "none"])
        if kinds == "free" and parent is spec.worldbody:
            body.add_freejoint(name=f"free{number}")
        for kind in JOINTS.get(str(kinds), []):
            name = f"j{number}_{len(scalar)}_{kind}"
            joint = body.add_joint(
                name=name, type=getattr(mujoco.mjtJoint, f"mjJNT_{kind.upper()}")
            )
            joint.pos, joint.axis = rng.normal(size=3), rng.normal(size=3)
            joint.armature, joint.frictionloss = rng.uniform(0.0, 1.0, 2)
            joint.damping = [rng.uniform(), 0.0, 0.0] if np.ndim(joint.damping) else rng.uniform()
            if kind != "ball":
                stiff = rng.uniform()
                joint.stiffness = [stiff, 0.0, 0.0] if np.ndim(joint.stiffness) else stiff
                joint.ref, joint.springref = rng.normal(size=2)
                scalar.append(name)
        bodies.append(body)
    if len(scalar) > 1:
        tendon = spec.add_tendon(name="t")
        for name in scalar[:3]:
            tendon.wrap_joint(name, float(rng.normal()))
        tendon.armature, tendon.frictionloss = rng.uniform(0.0, 1.0, 2)
        tendon.damping = [0.3, 0.0, 0.0] if np.ndim(tendon.damping) else 0.3
    return spec.compile()


def random_states(model: mujoco.MjModel, count: int, seed: int) -> Motion:
    rng = np.random.default_rng(seed)
    qpos = rng.normal(size=(count, model.nq)) * 2.0
    for row in qpos:
        mujoco.mj_normalizeQuat(model, row)
    return Motion(qpos, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv)))


@given(seed=st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_it_gives_the_torque_of_mj_inverse(seed):
    model = random_mechanism(seed)
    motion = random_states(model, 5, seed)
    regressor = Regressor(model)
    torque = mujoco_torque(model, motion)
    found = regressor.rows(motion) @ regressor.columns.nominal
    scale = 1.0 + np.abs(torque).max(initial=0.0)
    assert np.abs(found - torque).max(initial=0.0) < EXACT * scale


def test_no_column_is_filled_outside_its_support():
    model = random_mechanism(11)
    regressor = Regressor(model)
    rows = regressor.rows(random_states(model, 20, 0))
    for dof, columns in enumerate(regressor.support):
        outside = np.delete(rows[:, dof], columns, axis=1)
        assert not np.any(outside)


def test_fluid_and_spatial_tendons_are_known_torque():
    xml = """
    <mujoco><option density="1000" viscosity="0.1"/><worldbody><site name="s" pos="0.3 0 1"/>
    <body><joint name="j" axis="0 1 0" stiffness="2"/><geom size="0.05 0.2" type="capsule"/>
    <site name="e" pos="0 0 0.2"/></body></worldbody>
    <tendon><spatial stiffness="40" damping="2"><site site="s"/><site site="e"/></spatial></tendon>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    regressor, motion = Regressor(model), random_states(model, 10, 0)
    known = regressor.known_torque(motion)
    assert np.abs(known).max() > 1.0
    found = regressor.rows(motion) @ regressor.columns.nominal + known
    assert np.allclose(found, mujoco_torque(model, motion), atol=EXACT)


def test_a_coupled_joint_hands_its_torque_to_the_one_that_drives_it():
    xml = """
    <mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
    <body pos="0.5 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></body>
    </worldbody><equality><joint joint1="b" joint2="a" polycoef="0.1 2 0.5 0 0"/></equality>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    found, measured = Regressor(model), random_states(model, 10, 3)
    motion = found.coupled(measured)
    torque = mujoco_torque(model, motion)
    rows = found.rows(measured) @ found.columns.nominal
    slope = 2.0 + 2.0 * 0.5 * motion.qpos[:, 0]
    assert np.allclose(rows[:, 0], torque[:, 0] + slope * torque[:, 1], atol=EXACT)
    assert not np.any(rows[:, 1])
    assert not found.support[1].size


def test_friction_of_velocity_alone_changes_sign_smoothly():
    xml = """<mujoco><worldbody><body><joint frictionloss="2"/><geom size="0.1"/></body>
    </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    regressor = Regressor(model, friction_velocity=0.1)
    column = regressor.columns.names.index("joint_0.frictionloss")
    speed = np.array([[-0.1], [0.0], [0.2]])
    rows = regressor.rows(Motion(np.zeros((3, 1)), speed, np.full((3, 1), 9.0)))
    assert np.allclose(rows[:, 0, column], np.tanh([-1.0, 0.0, 2.0]))


def test_parts_of_the_kernel_do_not_count_references():
    found = {n: f for n, f in vars(regressor_kernel).items() if isinstance(f, CPUDispatcher)}
    assert found
    assert not any(f.targetoptions.get("_nrt", True) for f in found.values())


def test_flexible_bodies_are_refused():
    xml = """<mujoco><worldbody><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1"
    dim="2" mass="1"/></worldbody></mujoco>"""
    with pytest.raises(ModelError, match="flex"):
        Regressor(mujoco.MjModel.from_xml_string(xml))

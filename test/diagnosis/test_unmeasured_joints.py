# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A gripper whose fingers are not measured does not keep torque from being tested."""

from __future__ import annotations

import mujoco
import numpy as np
from torque_arm import JOINTS, moved, torque_sequences, true_spec

from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.simulated.simulated_entries import Simulated, covered_positions
from sysid_ros.diagnosis.torque import Dynamics, torque_explanations
from sysid_ros.engine.signals import SignalType, TimeSeries


def with_fingers(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    for name, side in (("left", 1.0), ("right", -1.0)):
        finger = spec.body("fore").add_body(name=name, pos=[0.2, 0.02 * side, 0.0])
        finger.explicitinertial, finger.mass, finger.inertia = True, 0.02, np.full(3, 1e-5)
        finger.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, side, 0.0])
    mirrored = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1="left", name2="right")
    mirrored.data[1] = 1.0
    return spec


def test_a_torque_of_the_wrong_sign_is_found_beside_fingers_that_are_not_measured() -> None:
    times, motion, torque = moved(true_spec().compile(), duration=8.0)
    torque[:, 1] *= -1.0
    group = torque_sequences(with_fingers(true_spec()), times, motion.qpos, torque)
    seen = recorded([group])
    assert [seen.joint_name(joint) for joint in sorted(seen.positions)] == list(JOINTS)
    test = Dynamics.of(seen)
    assert test is not None
    (found,) = torque_explanations(seen, test)
    assert found.change.scale == {"b_effort": -1.0}


def test_fingers_that_are_tied_have_no_equations_of_their_own_but_the_others_have() -> None:
    times, motion, torque = moved(true_spec().compile(), duration=1.0)
    tied, loose = with_fingers(true_spec()), with_fingers(true_spec())
    loose.delete(loose.equalities[0])
    fingers = np.zeros((len(times), 2))
    qpos, torque = np.hstack([motion.qpos, fingers]), np.hstack([torque, fingers])
    arms = [recorded([torque_sequences(spec, times, qpos, torque)]) for spec in (tied, loose)]
    own = {f"{joint}_pos" for joint in JOINTS}
    assert covered_positions(arms[0]) == own
    assert covered_positions(arms[1]) == own | {"left_pos", "right_pos"}


def test_joints_that_rest_though_nothing_holds_them_are_not_compared() -> None:
    times, motion, torque = moved(true_spec().compile(), duration=1.0)
    tied, loose = with_fingers(true_spec()), with_fingers(true_spec())
    loose.delete(loose.equalities[0])
    creeping = np.outer(times, [1e-4, 0.1])  # m: one hardly moves, one does
    qpos = np.hstack([motion.qpos, creeping])
    for spec, left_out in ((tied, set()), (loose, {"left_pos"})):
        group = torque_sequences(spec, times, qpos, np.hstack([torque, creeping]))
        free = group.spec.copy()
        for finger in ("left", "right"):
            free.delete(free.actuator(f"{finger}_effort"))
        known = {
            f"{name}_effort": (SignalType.MjCtrl, np.array([i])) for i, name in enumerate(JOINTS)
        }
        seen = recorded([group.replaced(spec=free, control=[TimeSeries(times, torque, known)])])
        powers = dict.fromkeys(seen.positions.values(), np.ones(1))
        assert {*powers} - {*Simulated(seen, {}).compared(powers)} == left_out

"""The experiment's model as an MjSpec that has a sensor for every measured signal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np

from sysid_ros.errors import ModelError, unknown_name
from sysid_ros.experiment.schema import SignalConfig, SignalKind
from sysid_ros.state_sensors import add_state_sensors, state_joints
from sysid_ros.sysid.model_modifier import remove_visuals
from sysid_ros.sysid.wrench import with_wrenches


def load_spec(path: Path) -> mujoco.MjSpec:
    """Load an MJCF or URDF file and make sure that it compiles.

    Raises:
      ModelError: The file does not load or compile; the message has MuJoCo's reason.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        spec.copy().compile()
    except (ValueError, OSError) as error:
        raise ModelError(f"model {path} does not compile: {_one_line(error)}") from error
    return spec


def spec_from_description(xml: str, source: str) -> mujoco.MjSpec:
    """Compile a robot description that came as text.

    Args:
      xml: MJCF or URDF.
      source: Where it came from, for messages.

    Raises:
      ModelError: It does not compile.
    """
    try:
        spec = mujoco.MjSpec.from_string(xml)
        spec.copy().compile()
    except ValueError as error:
        raise ModelError(f"the model from {source} does not compile: {_one_line(error)}") from error
    return spec


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def with_state_sensors(spec: mujoco.MjSpec, signals: Sequence[SignalConfig]) -> mujoco.MjSpec:
    """A copy of the spec with a sensor for every measured ``qpos`` and ``qvel``.

    Measured wrenches, and efforts on joints without an actuator, get the inputs that apply them.

    Raises:
      ModelError: A signal names a joint, sensor, actuator or site that the model lacks.
    """
    sites = dict.fromkeys(signal.wrench for signal in signals if signal.wrench is not None)
    try:
        spec = with_wrenches(spec, sites)
    except ModelError as error:
        raise ModelError(f"signals: {error}") from error
    for signal in signals:
        if signal.effort is not None:
            _add_motor(spec, signal)
    _check_names(spec, signals)
    for signal in signals:
        if signal.kind in (SignalKind.QPOS, SignalKind.QVEL):
            add_state_sensors(spec, signal)
    return spec


def _add_motor(spec: mujoco.MjSpec, signal: SignalConfig) -> None:
    """A motor of gain one on the joint that a signal is the effort of."""
    joints = [joint.name for joint in spec.joints]
    if signal.effort not in joints:
        raise ModelError(f"signals: {unknown_name('joint', signal.effort or '', joints)}")
    if signal.name in [actuator.name for actuator in spec.actuators]:
        raise ModelError(f"signals: the model has an actuator {signal.name!r}; map that instead")
    spec.add_actuator(
        name=signal.name,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        target=signal.effort,
        gear=[1.0, *[0.0] * 5],
        dyntype=mujoco.mjtDyn.mjDYN_NONE,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        gainprm=[1.0, *[0.0] * 9],
        biastype=mujoco.mjtBias.mjBIAS_NONE,
        ctrllimited=mujoco.mjtLimited.mjLIMITED_FALSE,
        forcelimited=mujoco.mjtLimited.mjLIMITED_FALSE,
    )


def without_visuals(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """A copy that moves exactly alike and compiles a hundred times faster where there are meshes.

    Returns:
      The copy, or the spec itself where dropping visual geoms would change a body's inertia.
    """
    slim: mujoco.MjSpec = remove_visuals(spec)
    try:
        before, after = spec.copy().compile(), slim.copy().compile()
    except ValueError:
        return spec
    same = before.nbody == after.nbody and all(
        np.array_equal(getattr(before, field), getattr(after, field))
        for field in ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_M0")
    )
    return slim if same else spec


def _check_names(spec: mujoco.MjSpec, signals: Sequence[SignalConfig]) -> None:
    valid = {
        SignalKind.ACTUATOR: ("actuator", [a.name for a in spec.actuators]),
        SignalKind.SENSOR: ("sensor", [s.name for s in spec.sensors]),
        SignalKind.QPOS: ("joint", list(state_joints(spec))),
        SignalKind.QVEL: ("joint", list(state_joints(spec))),
    }
    for signal in signals:
        what, names = valid[signal.kind]
        if signal.name not in names:
            raise ModelError(f"signals: {unknown_name(what, signal.name, names)}")


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

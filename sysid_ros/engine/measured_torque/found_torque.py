# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The findings of a regression: base parameters, bodies, joints, and what would tell more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import SLIDE, body_of, surface_points
from sysid_ros.engine.estimation import (
    BaseParameter,
    BodyFinding,
    JointFinding,
    TorqueFindings,
    thinned,
)
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    FreeParameters,
    InverseDynamicsFit,
    Settings,
    TorquePrediction,
    body_scales,
)
from sysid_ros.engine.measured_torque.advice import advice
from sysid_ros.engine.measured_torque.closest_friction import closest_friction, friction_notes
from sysid_ros.engine.measured_torque.contradictions import contradictions
from sysid_ros.engine.measured_torque.coupled_joints import couplings
from sysid_ros.engine.measured_torque.rows import Declared, TorqueProblem, gains_at
from sysid_ros.engine.regressor import DELAY
from sysid_ros.engine.signals import force_unit
from sysid_ros.errors import listed

_SHOWN = 400  # samples of torque that are drawn
_BINS = 24  # of velocity, even, so that zero lies between two of them
_FEWEST = 5  # rows in a bin
_PLANES = ((0, 1), (0, 2))  # of a body, seen along z and along y
_TURN = np.linspace(0.0, 2.0 * np.pi, 33)


def torque_findings(
    problem: TorqueProblem,
    evidence: Evidence,
    fit: InverseDynamicsFit,
    values: FloatArray,
    still: Collection[int],
    settings: Settings,
) -> TorqueFindings:
    """Collect what a fit found besides its parameters."""
    base, plain = _base(fit), closest_friction(problem.declared, evidence, fit)
    counts = sum(int(one.counts.sum()) for one in evidence.grams.values())
    return TorqueFindings(
        base=base,
        bodies=_drawn_bodies(problem.declared, fit, values),
        joints=tuple(_joint(problem, fit, dof) for dof in problem.sources.known),
        row_cutoff=float(fit.filters.rows),
        rows=counts,
        masked=problem.masked,
        blocks=fit.uncertainty.blocks,
        inflation=fit.uncertainty.inflation,
        notes=(
            *problem.notes,
            *_stillness(problem, still),
            *couplings(problem, fit.predictions),
            *friction_notes(plain),
            *_creep_note(problem.creep),
            *_held_note(problem, fit),
        ),
        advice=advice(problem.declared.model, fit),
        doubts=contradictions(
            problem, evidence, fit.free, fit.x, gains_at(problem.declared, values), settings
        ).clauses,
        sharp_friction=problem.friction_of is None,
        creep=dict(problem.creep),
        plain_friction=plain,
    )


def _creep_note(creep: Mapping[str, float]) -> tuple[str, ...]:
    if not creep:
        return ()
    speeds = ", ".join(f"{joint} ({speed:g})" for joint, speed in creep.items())
    return (
        "Dry friction is whole only from some speed on (rad/s, of slides m/s): "
        f"{speeds}. model.xml has it so; below, its joints give way like a damper.",
    )


def _held_note(problem: TorqueProblem, fit: InverseDynamicsFit) -> tuple[str, ...]:
    """The note that torque is sampled somewhere within each set point that drives hold."""
    if fit.held is None:
        return ()
    model, apart = problem.declared.model, 1e3 * fit.held.interval
    gains = [
        f"{name} {fit.held.stiffness[dof]:.3g}"
        for dof, name in problem.sources.known.items()
        if fit.held.stiffness[dof] > 0.0
    ]
    unit = "N m/rad" if all(model.jnt_type[model.dof_jntid] != SLIDE) else "N m/rad or N/m"
    return (
        f"Drives hold their set points ({unit}: {listed(gains)}) while torque falls; it is sampled "
        f"every {apart:.2g} ms, and stamps do not tell how soon behind each set point. That is in "
        f"the intervals: gains times {0.5 * apart:.2g} ms look like damping. Sample torque faster.",
    )


def _drawn_bodies(
    declared: Declared, fit: InverseDynamicsFit, values: FloatArray
) -> tuple[BodyFinding, ...]:
    """The bodies whose inertia was estimated, with the outlines of their geometry."""
    theta = {robot: declared.theta(values, robot) for robot in declared.robots}
    found = body_findings(declared, fit.free, fit.on_edge, theta)
    return tuple(
        replace(one, outlines=tuple(np.round(x, 4) for x in _outlines(declared.model, body)))
        for one, (_, body) in zip(found, fit.free.bodies(), strict=True)
    )


def _outlines(model: mujoco.MjModel, body: int) -> tuple[FloatArray, ...]:
    """Silhouettes of the convex hull of a body's geoms in its frame, along z and along y.

    Returns:
      Points (2, 33) m in the plane xy and in the plane xz; nothing of a body without geometry.
    """
    points = surface_points(model, body)
    if not len(points):
        return ()
    around = np.stack([np.cos(_TURN), np.sin(_TURN)])
    planes = [points[:, list(plane)] for plane in _PLANES]
    return tuple(plane[np.argmax(plane @ around, axis=0)].T for plane in planes)


def _stillness(problem: TorqueProblem, still: Collection[int]) -> tuple[str, ...]:
    model = problem.declared.model
    unmeasured = problem.sources.unmeasured
    names = [model.joint(j).name for j in still if model.joint(j).name not in unmeasured]
    if not names:
        return ()
    return (
        f"{', '.join(names)} did not move by more than noise; armature and friction there keep the "
        "model's values.",
    )


def _base(fit: InverseDynamicsFit) -> tuple[BaseParameter, ...]:
    own = fit.base
    columns = zip(
        own.kept, own.names, own.values, own.uncertainty.standard_errors, own.relative_errors,
        own.essential, own.combination @ fit.x, strict=True,
    )  # fmt: skip
    return tuple(
        BaseParameter(name, float(value), float(error), float(relative), bool(kept), float(same))
        for column, name, value, error, relative, kept, same in columns
        if not _is_delay(fit.free, int(column))
    )


def _is_delay(free: FreeParameters, column: int) -> bool:
    """True for a parameter of the measurement rather than of the robot."""
    used = np.flatnonzero(free.matrix[free.conditions[0]][:, column])
    return bool(used.size) and all(free.columns.kinds[c] == DELAY for c in used)


def body_findings(
    declared: Declared,
    free: FreeParameters,
    on_edge: Collection[str],
    theta: Mapping[str, FloatArray],
) -> tuple[BodyFinding, ...]:
    """The bodies whose inertia is estimated.

    Args:
      declared: The parameters.
      free: The same, as they were estimated.
      on_edge: Bodies that the margin of consistency or their geometry holds.
      theta: All parameters of the regressor, (p,), by robot.
    """
    columns = free.columns
    pairs = free.bodies()
    scales = body_scales(declared.model, {body for _, body in pairs}) if pairs else {}
    found = []
    for robot, body in pairs:
        ten = theta[robot][columns.of_body(body)]
        own = body_of(ten)
        name = declared.model.body(body).name
        eigenvalues: FloatArray = np.linalg.eigvalsh(scales[body].relative(ten)).astype(np.float64)
        found.append(
            BodyFinding(
                f"{name}@{robot}" if robot and len(declared.robots) > 1 else name, own.mass,
                own.ipos, own.inertia, own.iquat, eigenvalues, name in on_edge,
            )
        )  # fmt: skip
    return tuple(found)


def _joint(problem: TorqueProblem, fit: InverseDynamicsFit, dof: int) -> JointFinding:
    model = problem.declared.model
    joint = int(model.dof_jntid[dof])
    several = int(model.jnt_type[joint]) < SLIDE
    place = dof - int(model.jnt_dofadr[joint])
    coordinate = int(model.jnt_qposadr[joint]) + min(place, 3 if several else 0)
    choice = fit.filters.choices.get(coordinate)
    name = model.joint(joint).name + (f"[{place}]" if several else "")
    parts = [_parts(one, dof) for one in fit.predictions]
    whole = np.concatenate([one[:, np.isfinite(one[1])] for one in parts], axis=1)
    velocity, friction, law = _curve(whole)
    longest = max(fit.predictions, key=lambda one: len(one.times))
    drawn = _parts(longest, dof)
    return JointFinding(
        joint=name,
        unit=force_unit(model, dof),
        motion_cutoff=float(fit.filters.motion[coordinate]),
        motion_end=float(choice.motion_end) if choice is not None else float("nan"),
        residual=_rms(whole[1] - whole[2:].sum(axis=0)),
        shares=np.array([_rms(whole[i]) for i in (1, 2, 3, 4, 5)]),
        recording=problem.recordings[longest.recording].name,
        times=thinned(longest.times, _SHOWN),
        torque=tuple(
            thinned(row, _SHOWN)
            for row in (drawn[1], drawn[2:].sum(axis=0), drawn[2], drawn[3], drawn[4])
        ),
        velocity=velocity,
        friction=friction,
        law=law,
    )


def _parts(prediction: TorquePrediction, dof: int) -> FloatArray:
    """Velocity, measured torque, gravity, inertia, friction and the rest, (6, n)."""
    rows = ("velocity", "measured", "gravity", "inertia", "friction", "other")
    return np.stack([getattr(prediction, name)[:, dof] for name in rows])


def _curve(parts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Friction against velocity: middle of bins, measured and fitted means, (m,) each."""
    speed = np.abs(parts[0])
    top = float(np.quantile(speed, 0.995)) if speed.size else 0.0
    if top <= 0.0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    edges = np.linspace(-top, top, _BINS + 1)
    number = np.digitize(parts[0], edges) - 1
    left = parts[1] - parts[2] - parts[3] - parts[5]
    rows = [np.flatnonzero(number == b) for b in range(_BINS)]
    used = [b for b in range(_BINS) if len(rows[b]) >= _FEWEST]
    middle = np.array([parts[0][rows[b]].mean() for b in used])
    measured = np.array([left[rows[b]].mean() for b in used])
    return middle, measured, np.array([parts[4][rows[b]].mean() for b in used])


def _rms(values: FloatArray | Sequence[float]) -> float:
    array = np.asarray(values)
    return float(np.sqrt(np.mean(array**2))) if array.size else float("nan")

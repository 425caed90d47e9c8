# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gyroscopes that turn with another body than the one on which the model has them.

What a gyroscope reads is its body's angular velocity in axes of its own, wherever it sits there, so
that the measured positions tell the body, however the sensor is turned on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.body_sensors.kinematic_sensors import Agreement, smooth_motion
from sysid_ros.diagnosis.evidence import (
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    joined,
)
from sysid_ros.recording.mapping import SignalKind

_RELATED = 0.9  # correlation from which a gyroscope shows its own body's turns
_MUCH_BETTER = 0.1  # of what is uncorrelated with its own body, at most, may be with another
_AS_GOOD = 3.0  # times what is uncorrelated with the best body: that of bodies as good
_SIZES = (1.0 / 1.1, 1.1)  # what it reads of the other body's turns: drivers know their units
_TURNS = 0.1  # rad/s; a body that turns less may not turn at all
_STILL = 0.1  # of its own body's turns, at most, that one on a body at rest reads
_UNLIKE = 0.5  # correlation, at most, with its own body's turns


@dataclass(frozen=True)
class _Turns:
    """Turns of one body beside what a gyroscope measured."""

    product: FloatArray  # (3, 3) of measured and body axes
    measured: float  # power
    power: float  # of the body's

    @property
    def best(self) -> float:
        """The correlation with the sensor turned as explains most."""
        left, sizes, right = np.linalg.svd(self.product)
        sizes[2] *= np.linalg.det(left @ right)
        return self._share(float(sizes.sum()))

    @property
    def mirrored(self) -> float:
        """The same, with axes that the driver may have reversed."""
        return self._share(float(np.linalg.svd(self.product, compute_uv=False).sum()))

    @property
    def size(self) -> float:
        """The size of what is measured per turn, as far as both are alike."""
        return self.best * math.sqrt(self.measured / max(self.power, 1e-300))

    def _share(self, product: float) -> float:
        return product / max(math.sqrt(self.measured * self.power), 1e-300)


def misplaced_findings(
    recorded: Recorded, compared: Sequence[Agreement], lines: ExperimentLines
) -> list[Finding]:
    """Find the gyroscopes that turn with another body than the model's.

    Args:
      recorded: What was recorded, mistakes in positions repaired.
      compared: What is known of its sensors; of those that agree nothing is asked.
      lines: The experiment's entries.

    Returns:
      A finding of each, which concerns all that is recorded of its site.
    """
    model, found = recorded.model, []
    for seen in compared:
        sensor = int(model.sensor(seen.label).id)
        is_gyroscope = int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_GYRO)
        agrees = max(abs(seen.correlation), abs(seen.lagged)) >= _RELATED
        if is_gyroscope and not agrees and _is_sensor(seen.label, lines):
            labels = [one for one in _of_site(recorded, sensor) if _is_sensor(one, lines)]
            found += _placed(recorded, sensor, labels, lines)
    return found


def _is_sensor(label: str, lines: ExperimentLines) -> bool:
    """Return whether a signal is a sensor's, not half a twist."""
    return lines.config(lines.owner(label)).kind is SignalKind.SENSOR


def _placed(
    recorded: Recorded, sensor: int, labels: Sequence[str], lines: ExperimentLines
) -> list[Finding]:
    """One gyroscope's finding, if it is not where the model has it."""
    model = recorded.model
    turns, samples = _turns(recorded, sensor)
    body = int(model.site_bodyid[int(model.sensor_objid[sensor])])
    own = turns[int(model.body_weldid[body])]
    best = max(one.best for one in turns.values())
    much_better = 1.0 - best**2 < _MUCH_BETTER * (1.0 - own.mirrored**2)
    others = [str(model.body(b).name) for b, one in turns.items() if _is_as_good(one, best)]
    if own.mirrored < _RELATED and much_better and others:
        how = (
            f"turns as {' or '.join(map(repr, others))} does, not as {str(model.body(body).name)!r}"
            ", on which the model has it (correlation with the turns that the positions show, "
            f"however it is mounted there: {best:.3g}, of the model's body {own.mirrored:.2g})"
        )
    elif _is_at_rest(own, best, samples):
        how = (
            f"does not turn, as {str(model.body(body).name)!r} does, on which the model has it: it "
            "is on a body that stands still, or dead"
        )
    else:
        return []
    rest = f", with {' and '.join(map(repr, labels[1:]))}" if labels[1:] else ""
    return [
        Finding(
            FindingKind.SWAP,
            tuple(labels),
            {"correlation": own.mirrored, "correlation_turned": best},
            f"{labels[0]!r} {how}. Move its site in the model{rest}.",
            *joined([lines.removed(lines.owner(label)) for label in labels]),
        )
    ]


def _is_at_rest(own: _Turns, best: float, samples: int) -> bool:
    """Return whether a gyroscope reads nothing although its body turns."""
    turning = math.sqrt(own.power / max(samples, 1)) > _TURNS
    return turning and own.measured < _STILL**2 * own.power and max(own.mirrored, best) < _UNLIKE


def _is_as_good(one: _Turns, best: float) -> bool:
    """Return whether a gyroscope may be on a body as well as on that which explains it best."""
    low, high = _SIZES
    return 1.0 - one.best**2 <= _AS_GOOD * (1.0 - best**2) and low < one.size < high


def _turns(recorded: Recorded, sensor: int) -> tuple[dict[int, _Turns], int]:
    """Every body that moves by itself with its turns, means subtracted; how many samples."""
    model, label = recorded.model, str(recorded.model.sensor(sensor).name)
    bodies = sorted({int(body) for body in model.body_weldid})
    products: FloatArray = np.zeros((len(bodies), 3, 3))
    powers, measured, samples = np.zeros(len(bodies)), 0.0, 0
    for number, vectors in enumerate(recorded.vectors):
        motion = None
        if label in vectors:
            motion = smooth_motion(recorded, number, range(model.njnt), [vectors[label]])
        if motion is None:
            continue
        turning = np.array([_angular(data, bodies) for data in motion.states(model)])
        turning = turning[motion.inside] - turning[motion.inside].mean(axis=0)
        read = motion.others[0][motion.inside]
        read = read - read.mean(axis=0)
        products += np.einsum("ni,nbj->bij", read, turning)
        powers += np.sum(turning**2, axis=(0, 2))
        measured, samples = measured + float(np.sum(read**2)), samples + len(read)
    found = zip(bodies, products, powers, strict=True)
    return {body: _Turns(own, measured, float(power)) for body, own, power in found}, samples


def _angular(data: mujoco.MjData, bodies: Sequence[int]) -> FloatArray:
    """Angular velocities of bodies in their own axes, (bodies, 3)."""
    axes = data.xmat[bodies].reshape(-1, 3, 3)
    turning: FloatArray = np.einsum("bji,bj->bi", axes, data.cvel[bodies, :3])
    return turning


def _of_site(recorded: Recorded, sensor: int) -> list[str]:
    """The sensor, and what else is recorded of its site."""
    model = recorded.model
    same = (model.sensor_objtype == model.sensor_objtype[sensor]) & (
        model.sensor_objid == model.sensor_objid[sensor]
    )
    others = [str(model.sensor(one).name) for one in np.flatnonzero(same) if one != sensor]
    told = [one for one in others if any(one in signals for signals in recorded.vectors)]
    return [str(model.sensor(sensor).name), *told]

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Unknown delays of measured torque, about which the equations of a fit are linearised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.delay_uncertainty import doubted
from sysid_ros.engine.inverse_dynamics.estimate import first_doubts, first_estimate
from sysid_ros.engine.inverse_dynamics.evidence import Evidence, gather
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import Recording, Regressor

_ROUNDS = 12  # of linearisation
_SETTLED = 1e-7  # s
_CENTRES = 4  # about which delays are looked for


def with_settled_delays(
    regressor: Regressor,
    recordings: Sequence[Recording],
    free: FreeParameters,
    settings: Settings,
    evidence: Evidence,
) -> Evidence:
    """The same evidence, linearised about the delays that explain it best.

    Args:
      regressor: The robot's, with its unknown delays; without any the evidence stays as it is.
      recordings: Motion and torque.
      free: The estimated parameters, with those delays among them.
      settings: Of the fit.
      evidence: The recordings' sums.
    """
    if not np.any(regressor.delay_columns >= 0):
        return evidence
    settled = _settled(regressor, recordings, free, settings, evidence)
    doubts = first_doubts(regressor.model, free, settled.grams, settings)
    if max(doubts.values(), default=1.0) > 1.0:
        settled = _settled(regressor, recordings, doubted(free, doubts), settings, evidence)
    return replace(settled, doubts=doubts)


def settled_estimate(
    model: mujoco.MjModel, free: FreeParameters, evidence: Evidence, settings: Settings
) -> FloatArray:
    """Parameters (k,) by least squares, with the doubts that there are about delays.

    Args:
      model: The robot's model, the prior's centre.
      free: The estimated parameters.
      evidence: From :func:`with_settled_delays`.
      settings: Of the fit.
    """
    return first_estimate(model, doubted(free, evidence.doubts), evidence.grams, settings)


def _settled(
    regressor: Regressor,
    recordings: Sequence[Recording],
    free: FreeParameters,
    settings: Settings,
    evidence: Evidence,
) -> Evidence:
    """The same, about the delays that priors and residuals lead to."""
    x = free.nominal
    for _ in range(_CENTRES):
        shifted = {c: one.together() for c, one in evidence.shifted.items()}
        own = next(iter(shifted.values()))
        room = float(np.abs(own.nodes).max())
        for _ in range(_ROUNDS):
            before = {c: one.delays_of(free.theta(x, c)) for c, one in shifted.items()}
            near = {c: np.clip(d, own.around - room, own.around + room) for c, d in before.items()}
            grams = {c: one.at(near[c]) for c, one in shifted.items()}
            x = first_estimate(regressor.model, free, grams, settings)
            x = np.clip(x, free.lower, free.upper)
            after = {c: one.delays_of(free.theta(x, c)) for c, one in shifted.items()}
            if all(np.abs(after[c] - before[c]).max() < _SETTLED for c in after):
                break
        if all(np.all(np.abs(d - own.around) <= room) for d in after.values()):
            break
        around = np.mean(
            [np.clip(d, own.around - room, own.around + room) for d in after.values()], axis=0
        )
        evidence = gather(regressor, recordings, settings, around)
    theta = {c: free.theta(x, c) for c in after}
    return evidence.with_delays(recordings, near, theta)

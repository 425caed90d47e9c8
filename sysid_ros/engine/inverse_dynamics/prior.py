# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Priors that keep directions which the data leave open near the model.

For bodies the *entropic* distance of pseudo-inertias (Lee, Wensing & Park, Geometric robot dynamic
identification: a convex programming approach, IEEE T-RO 36, 2020),

    D(J, J_0) = tr(J_0^-1 J) - log det(J_0^-1 J) - 4,

which does not depend on frames or units and grows without bound towards bodies that cannot exist,
or its second order, the *Gaussian* |L^-1 (J - J_0) L^-T|^2 / 2 with J_0 = L L^T. Both are in units
of a negative log-likelihood; with a spread s they enter as D / s^2. For what joints and tendons
have, a Gaussian about the model's value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import inertial_parameters
from sysid_ros.engine.inverse_dynamics.consistency import BodyScale, body_scale
from sysid_ros.engine.inverse_dynamics.evidence import acting_squares
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import inverse_root, solve_symmetric
from sysid_ros.engine.inverse_dynamics.payload import PAYLOAD
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import Grams

_DEAF = 1e-9  # of the torque: what less than this comes from has no effect on the data
# Widths of the prior on armature and damping, in terms of the largest inertia of any joint; and the
# least of that, in kg m^2, or by the acceleration (rad/s^2) that all torque would give it.
_ARMATURE, _DAMPING, _LEAST_INERTIA, _FAST = 5.0, 100.0, 0.1, 10.0


class PriorKind(Enum):
    """The distance of bodies from the model's."""

    ENTROPIC = "entropic"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True)
class BodyTerm:
    """One body's place in the estimated parameters."""

    condition: str  # in which it has them
    body: int  # its id
    matrix: FloatArray  # ten parameters = matrix x + fixed, (10, k)
    fixed: FloatArray  # (10,)
    scale: BodyScale  # the model's own body
    unknown: bool = False  # whether the model says nothing of it, as of a payload

    def parameters(self, x: FloatArray) -> FloatArray:
        """Ten parameters, (10,)."""
        return self.matrix @ x + self.fixed

    def relative(self, x: FloatArray) -> FloatArray:
        """L^-1 J L^-T, (4, 4)."""
        return self.scale.relative(self.parameters(x))


@dataclass(frozen=True)
class Prior:
    """The negative log-density of the estimated parameters, up to a constant."""

    bodies: tuple[BodyTerm, ...]  # bodies with free parameters
    kind: PriorKind  # their distance
    spread: float  # of bodies, relative: 1 says that the model may be wrong by its own size
    mean: FloatArray  # of a Gaussian on each parameter besides, (k,)
    precision: FloatArray  # of the same, (k,); zero for parameters of bodies

    def value(self, x: FloatArray) -> float:
        """At x; infinite for bodies that cannot exist, if entropic."""
        return 0.5 * float(self.precision @ (x - self.mean) ** 2) + (
            self.distance(x) / self.spread**2
        )

    def distance(self, x: FloatArray, bodies: Sequence[BodyTerm] | None = None) -> float:
        """Of bodies from the model's at x; infinite for some that cannot exist, if entropic.

        Args:
          x: Parameters, (k,).
          bodies: All by default.
        """
        total = 0.0
        for term in self.bodies if bodies is None else bodies:
            relative = term.relative(x)
            if self.kind is PriorKind.GAUSSIAN:
                total += 0.5 * float(np.sum((relative - np.eye(4)) ** 2))
                continue
            sign, logarithm = np.linalg.slogdet(relative)
            if sign <= 0.0 or np.linalg.eigvalsh(relative)[0] <= 0.0:
                return np.inf
            total += float(np.trace(relative)) - float(logarithm) - 4.0
        return total

    def needed_spread(self, x: FloatArray, hessian: FloatArray) -> float:
        """The spread that an estimate shows where the model is more wrong than the prior says.

        That with the largest evidence, to first order (MacKay, Bayesian interpolation, 1992): twice
        the distance of the bodies is as large as the number of their parameters that data tell.

        Args:
          x: The estimate, (k,).
          hessian: Of the data there, (k, k).

        Returns:
          No less than the present one.
        """
        modelled = [term for term in self.bodies if not term.unknown]
        if not modelled:
            return self.spread
        own = np.any([np.any(term.matrix, axis=0) for term in modelled], axis=0)
        _, curvature = self.derivatives(x)
        scale = inverse_root(np.diag(hessian + curvature))
        whole = solve_symmetric((hessian + curvature) * np.outer(scale, scale), np.diag(scale))
        open_ = float(np.sum(np.diag(scale[:, None] * whole @ curvature)[own]))
        told = max(float(own.sum()) - open_, 1.0)
        return max(self.spread, float(np.sqrt(2.0 * self.distance(x, modelled) / told)))

    def derivatives(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (k,) and Hessian (k, k) at x."""
        gradient: FloatArray = self.precision * (x - self.mean)
        hessian: FloatArray = np.diag(self.precision)
        for term in self.bodies:
            one = np.einsum("ik,ijl->kjl", term.matrix, term.scale.scaled)
            used = np.flatnonzero(np.any(term.matrix, axis=0))
            one = one[used]
            relative = term.relative(x)
            inverse: npt.NDArray[Any]
            if self.kind is PriorKind.GAUSSIAN:
                inverse, slope = np.eye(4), relative - np.eye(4)
            else:
                inverse = np.linalg.inv(relative)
                slope = np.eye(4) - inverse
            left = np.einsum("jl,klm->kjm", inverse, one)
            gradient[used] += np.einsum("jl,klj->k", slope, one) / self.spread**2
            hessian[np.ix_(used, used)] += np.einsum("kjm,nmj->kn", left, left) / self.spread**2
        return gradient, hessian


def prior_of_model(
    model: mujoco.MjModel,
    free: FreeParameters,
    grams: Mapping[str, Grams],
    settings: Settings,
    gain_spread: FloatArray,
) -> Prior:
    """The prior about a robot's parameters and gains, around its model.

    Args:
      model: The robot's.
      free: The estimated parameters.
      grams: Sums by condition, which say how large torques are.
      settings: Kind and spread of the prior about bodies.
      gain_spread: Prior standard deviation of gains.
    """
    own, extra = inertial_parameters(model), len(gain_spread)
    terms = []
    for condition, body in free.bodies():
        rows, scale = free.columns.of_body(body), body_scale(own[body])
        matrix = np.hstack([free.matrix[condition][rows], np.zeros((len(rows), extra))])
        fixed, unknown = free.fixed[condition][rows], model.body(body).name == PAYLOAD
        terms.append(BodyTerm(condition, body, matrix, fixed, scale, unknown))
    inertial = np.any([np.any(term.matrix, axis=0) for term in terms], axis=0) if terms else False
    loudness = np.maximum(_loudness(free, grams), _sober(model, free, grams))
    precision = np.where(inertial, 0.0, np.append(loudness, np.zeros(extra)))
    precision[len(free.names) :] = 1.0 / gain_spread**2
    mean = np.append(free.nominal, np.ones(extra))
    given = np.flatnonzero(free.precision > 0.0)
    precision[given], mean[given] = free.precision[given], free.mean[given]
    return Prior(tuple(terms), PriorKind(settings.prior), settings.spread, mean, precision)


def _loudness(free: FreeParameters, grams: Mapping[str, Grams]) -> FloatArray:
    """Precision (k,) of a parameter that alone might explain all torque where it acts.

    An offset may also be all that the model lacks: a counterweight, a gas spring or a driver that
    compensates gravity leaves little torque of much. A parameter without any effect on the data is
    held at the model's value by a sharp one.
    """
    effect, torque = np.zeros(len(free.names)), np.zeros(len(free.names))
    acting = acting_squares(grams, free)
    for condition, one in grams.items():
        missing = one.squares(free.theta(free.nominal, condition)).sum(axis=0)
        constant = np.array([kind == "offset" for kind in free.columns.kinds])
        offsets = np.any(free.matrix[condition][constant] != 0.0, axis=0)
        present = acting[condition].sum(axis=0)
        for support, sums, lacking, own_torque in zip(
            one.support, one.sums, missing, present, strict=True
        ):
            total = sums.sum(axis=0)
            matrix = free.matrix[condition][support]
            own = np.sum(matrix * (total[:-1, :-1] @ matrix), axis=0)
            effect += own
            most = np.where(offsets, max(lacking, own_torque), own_torque)
            torque += np.where(own > 0.0, most, 0.0)
    size = np.maximum(np.abs(free.nominal), 1e-3)
    deaf = effect * size**2 <= _DEAF**2 * np.maximum(torque, 1e-300)
    return np.where(deaf, 1e12 / size**2, effect / np.maximum(torque, 1e-300))


def _sober(model: mujoco.MjModel, free: FreeParameters, grams: Mapping[str, Grams]) -> FloatArray:
    """Precision (k,) that keeps armature and damping of joints that hardly move in proportion.

    A motor's armature is no more than a few times the largest inertia that the robot has, and its
    damping stops that inertia in no less than some milliseconds.
    """
    rows = sum(one.counts.sum() for one in grams.values())
    squares = sum(float(one.torque_squares().sum()) for one in grams.values())
    torque = float(np.sqrt(squares / max(int(rows), 1)))
    own = np.max(model.dof_M0, initial=0.0)
    inertia = max(float(own), _LEAST_INERTIA, torque / _FAST)
    widest = {"armature": _ARMATURE, "damping": _DAMPING}
    found: FloatArray = np.zeros(len(free.names))
    for matrix in free.matrix.values():
        for kind, factor in widest.items():
            rows_of = [k.removeprefix("tendon_") == kind for k in free.columns.kinds]
            used = np.any(matrix[rows_of] != 0.0, axis=0)
            found[used] = 1.0 / (factor * inertia) ** 2
    return found

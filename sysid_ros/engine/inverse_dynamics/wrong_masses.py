# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses of the model, and factors of torque, that measured torque contradicts.

What is not estimated is believed. Where a mass is wrong, armature, friction and offsets bend to
make up for it, and what they cannot lies along the torque that this body takes: a score test of
each body's mass and of each joint's torque, whatever friction, armature and offsets there are
besides. Its errors are those of the delete-a-block jackknife (:mod:`.statistics`), and a mass
counts only if it predicts the torque of the blocks that it was not found with: torque that comes
and goes, like a push or a load held for a while, does not speak for one mass in all blocks. Factors
of all joints are told together where they predict these blocks better than a few mistakes do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import inverse_root
from sysid_ros.engine.inverse_dynamics.statistics import residual_weights
from sysid_ros.engine.regressor import Grams
from sysid_ros.engine.uncertainty import student_quantile
from sysid_ros.errors import listed

OFF = 0.1  # by which a mass is another, interval included: models are rarely better
_ALARMS = 0.01  # of right models that one body is suspected of, were there no such margin
_PREDICTED = 0.05  # share of the power that is left, in blocks that it was not found with
_ALIKE = 1.1  # ratio of what is left, up to which another explanation is as good
_SEEN = 0.1  # share of a joint's own power, from which on it is named
_FEWEST = 6  # blocks
# Share of the power that factors of all joints leave in blocks that they were not found with,
# below which they are told: right models have 0.95 and more, factors off by 5 to 15 % at most 0.87.
_FACTORS = 0.9
_PLAINER = (
    1.04  # times more than that, which a few mistakes may leave: 1.02 of masses, 1.06 of factors
)
_APART = 0.02  # by which such a factor is not one, interval included
_MOST = 3  # mistakes that are looked for, one beside the other
_OWN = ("armature", "damping", "frictionloss", "offset")
_RIDGE = 1e-9  # of a column's own size, for what data leave open
_OPEN = 1e-6  # share of a column that nothing else explains, below which nothing is known of it
_FRAME = 1e-6  # kg, below which a body has no mass to be wrong


@dataclass(frozen=True)
class Suspects:
    """Directions in a regressor's parameters that a model may be wrong along."""

    bodies: tuple[int, ...]  # whose mass, centre of mass kept, is in question
    directions: FloatArray  # their parameters in the model, (p, bodies)
    own: IndexArray  # columns of what a joint may have besides, (n,): friction, armature, offset

    @classmethod
    def of(cls, free: FreeParameters, *, estimated: bool = False) -> Suspects:
        """Those of a robot whose other parameters are estimated; all bodies if ``estimated``."""
        columns = free.columns
        known = ~np.any([np.any(m != 0.0, axis=1) for m in free.matrix.values()], axis=0)
        known |= estimated
        bodies = tuple(
            body
            for body in columns.bodies
            if known[columns.of_body(body)].all()
            and columns.nominal[columns.place[body, "m"]] > _FRAME
        )
        directions: FloatArray = np.zeros((len(columns), len(bodies)))
        for i, body in enumerate(bodies):
            ten = columns.of_body(body)
            directions[ten, i] = columns.nominal[ten]
        own = [i for i, kind in enumerate(columns.kinds) if kind in _OWN]
        return cls(bodies, directions, np.array(own, dtype=np.intp))


@dataclass(frozen=True)
class WrongMass:
    """One number of the model that torque contradicts."""

    body: str  # whose mass it is; empty for a factor of the torque of a joint
    joint: str  # whose torque it is; empty for a mass
    factor: float  # of the model's value
    interval: tuple[float, float]  # of 95 %
    joints: tuple[str, ...]  # at which it shows
    rivals: tuple[str, ...]  # others that explain as much, with their factors, in words

    @property
    def is_off(self) -> bool:
        """True if its interval excludes the model's value."""
        low, high = self.interval
        return high < 1.0 - _APART or low > 1.0 + _APART

    @property
    def clause(self) -> str:
        """The words for it, without a full stop."""
        low, high = self.interval
        seen = f" at {listed(self.joints)}" if self.joints and self.body else ""
        others = "".join(f", or {one}" for one in self.rivals)
        held = ", what it holds included" if self.body and self.factor > 1.0 else ""
        return (
            f"torque{seen} asks for {_named(self.body, self.joint)} {self.factor:.3g} times the "
            f"model's (95 % interval {low:.3g} to {high:.3g}){held}{others}"
        )


def clauses_of(found: Sequence[WrongMass]) -> tuple[str, ...]:
    """Return the words for what was found, without full stops; those of several factors are one."""
    if not are_factors(found):
        return tuple(one.clause for one in found)
    told = [
        "{!r} {:.3g} ({:.3g} to {:.3g})".format(one.joint, one.factor, *one.interval)
        for one in found
    ]
    return (
        "the masses that are taken for known ask for another torque than was measured, which is "
        f"so many times theirs: {listed(told, 3)}. What is estimated makes up for that, and its "
        "intervals do not know of it; free the gains of these torques, with a prior, or the masses",
    )


def are_factors(found: Sequence[WrongMass]) -> bool:
    """Return whether what was found are factors of several joints' torque alone."""
    return len(found) > 1 and not any(one.body for one in found)


def wrong_masses(
    model: mujoco.MjModel,
    grams: Mapping[str, Grams],
    free: FreeParameters,
    suspects: Suspects,
    x: FloatArray,
) -> tuple[WrongMass, ...]:
    """Find what of a model, that is not estimated, torque contradicts.

    Args:
      model: The robot.
      grams: Sums by condition, of degrees of freedom whose torque has no unknown gain.
      free: The estimated parameters.
      suspects: What may be wrong, in the columns of the sums.
      x: An estimate of them, (k,).

    Returns:
      The plainest first; none where nothing is known well enough.
    """
    blocks = max((len(one.counts) for one in grams.values()), default=0)
    if not suspects.bodies or blocks < _FEWEST:
        return ()
    sums = Moments.of(grams, free, suspects, x, blocks)
    found: list[int] = []
    judged = _Judged.of(sums, found)
    before = judged.before
    while (best := judged.best()) is not None:
        found.append(best)
        if len(found) == _MOST:
            break
        judged = _Judged.of(sums, found)
    names, factors = _names(model, suspects, sums.dofs), range(len(suspects.bodies), sums.suspected)
    few, all_ = _left(sums, found) if found else before, _left(sums, factors)
    if all_ < min(_FACTORS * before, few / _PLAINER):
        told = [_described(model, sums, names, one, factors) for one in factors]
        found_factors = tuple(one for one in told if one.is_off)
        if found_factors:
            return found_factors
    return tuple(_described(model, sums, names, one, found) for one in found)


@dataclass(frozen=True)
class Moments:
    """Weighted sums of products of what is estimated, what is suspected, and what is left."""

    sums: FloatArray  # by block, (blocks, n + c + 1, n + c + 1)
    joints: FloatArray  # by degree of freedom, of all blocks, (nv, n + c + 1, n + c + 1)
    known: int  # the number n of columns of what is estimated
    dofs: IndexArray  # degrees of freedom whose torque may have a factor, the last of the suspects

    @property
    def suspected(self) -> int:
        """The number c of suspects."""
        return int(self.sums.shape[1] - self.known - 1)

    @classmethod
    def of(
        cls,
        grams: Mapping[str, Grams],
        free: FreeParameters,
        suspects: Suspects,
        x: FloatArray,
        blocks: int,
    ) -> Moments:
        """Sum over conditions, each with friction, armature and offsets of its own."""
        first = next(iter(grams.values()))
        nv, own, k = int(first.dofs.max()) + 1, len(suspects.own), len(free.names)
        bodies, places = len(suspects.bodies), list(grams)
        known = k + own * len(places)
        size = known + bodies + nv + 1
        sums, joints = np.zeros((blocks, size, size)), np.zeros((nv, size, size))
        for place, (condition, one) in enumerate(grams.items()):
            theta = free.theta(x, condition)
            columns: FloatArray = np.zeros((one.width + 1, size))
            columns[:-1, :k] = free.matrix[condition]
            columns[suspects.own, k + own * place + np.arange(own)] = 1.0
            columns[:-1, known : known + bodies] = suspects.directions
            columns[:, -1] = np.append(-theta, 1.0)
            weights = residual_weights(one.squares(theta), one.counts, one.torque_squares())
            for dof in range(nv):
                columns[:-1, known + bodies : -1] = 0.0
                columns[:-1, known + bodies + dof] = suspects.directions.sum(axis=1)
                for kind in np.flatnonzero((one.dofs == dof) & (weights > 0.0)):
                    part = columns[np.append(one.support[kind], -1)]
                    used = np.flatnonzero(part.any(axis=0))
                    part = part[:, used]
                    more = weights[kind] * (part.T @ one.sums[kind] @ part)
                    sums[: len(more), used[:, None], used] += more
                    joints[dof][np.ix_(used, used)] += more.sum(axis=0)
        return cls(sums, joints, known, np.arange(nv))


def _left(moments: Moments, found: Sequence[int]) -> float:
    """Power that mistakes together leave in blocks that they were not found with."""
    inner = np.append(np.arange(moments.known), [moments.known + one for one in found])
    outer = np.array([moments.known + moments.suspected])
    return float(sum(away.sum() for _, away in _apart(moments, inner.astype(np.intp), outer)))


def _apart(
    moments: Moments, inner: IndexArray, outer: IndexArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield for each block what is left of outer columns in all others, and in it, (c, c) each.

    Block by block: together they would take ten times the memory of their sums.
    """
    total = moments.sums.sum(axis=0)
    for part in moments.sums:
        if np.trace(part) > 0.0:
            rest, cleared = _beside(total - part, inner, outer)
            yield rest, cleared.T @ part @ cleared


@dataclass(frozen=True)
class _Judged:
    """Every suspect by itself, beside what is estimated."""

    steps: FloatArray  # relative changes of the suspects, (c,)
    errors: FloatArray  # their standard errors, (c,)
    left: FloatArray  # power that each leaves in blocks that it was not found with, (c,)
    before: float  # power that is left there without any
    open: BoolArray  # suspects that nothing is known of, (c,)
    blocks: int  # their number

    @classmethod
    def of(cls, moments: Moments, found: Sequence[int]) -> _Judged:
        """Judge suspects beside others that were found."""
        total = moments.sums.sum(axis=0)
        suspected = moments.known + np.arange(moments.suspected)
        inner = np.append(np.arange(moments.known), suspected[list(found)]).astype(np.intp)
        outer = np.append(suspected, len(total) - 1)
        whole, _ = _beside(total, inner, outer)
        own = np.diag(whole)[:-1]
        barred = own <= _OPEN * np.maximum(np.diag(total)[suspected], 1e-300)
        barred[list(found)] = True
        apart, shape = [*_apart(moments, inner, outer)], (-1, len(outer), len(outer))
        rest, away = (np.array([pair[i] for pair in apart]).reshape(shape) for i in (0, 1))
        steps = _steps(rest, barred)
        squares = np.einsum("bcc->bc", away)
        left = squares[:, -1:] - 2.0 * steps * away[:, :-1, -1] + steps**2 * squares[:, :-1]
        count = len(away)
        spread = np.sum((steps - steps.mean(axis=0)) ** 2, axis=0) * (count - 1) / max(count, 1)
        return cls(
            _steps(whole[None], barred)[0], np.sqrt(spread), left.sum(axis=0),
            float(squares[:, -1].sum()), barred, count,
        )  # fmt: skip

    def best(self) -> int | None:
        """The suspect that predicts most of what is left, if it is surely another.

        Where it is not, what is surer and explains less may stand in for it.
        """
        if self.blocks < _FEWEST or not self._surely.any():
            return None
        likely = int(np.argmin(np.where(self.open | (self.steps <= -1.0), np.inf, self.left)))
        return likely if self._surely[likely] else None

    def rivals(self, best: int) -> IndexArray:
        """Others that explain as much as the best."""
        alike = self._surely & (self.left <= _ALIKE * self.left[best])
        alike[best] = False
        return np.flatnonzero(alike)

    @property
    def _surely(self) -> BoolArray:
        """Suspects that are off by more than :data:`OFF`, and predict what is left, (c,)."""
        reach = (
            student_quantile(self.blocks - 1, 1.0 - 0.5 * _ALARMS / len(self.steps)) * self.errors
        )
        off = (np.abs(self.steps) - reach > OFF) & (self.steps > -1.0) & ~self.open
        return np.asarray(off & (self.left < (1.0 - _PREDICTED) * self.before))


def _steps(sums: FloatArray, barred: BoolArray) -> FloatArray:
    """Of each suspect by itself the step that explains most, (n, c); zero for those barred."""
    sizes = np.where(barred, np.inf, np.einsum("bcc->bc", sums)[:, :-1])
    return np.asarray(sums[:, :-1, -1] / np.maximum(sizes, 1e-300))


def _beside(
    sums: FloatArray, inner: IndexArray, outer: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Sums (c, c) of what the inner columns do not explain of the outer ones.

    Returns:
      These, and the combinations (all, c) of all columns that they are sums of.
    """
    scale = inverse_root(np.diag(sums)[inner])
    normal = sums[np.ix_(inner, inner)] * np.outer(scale, scale)
    normal += (_RIDGE + (scale == 0.0)[:, None]) * np.eye(len(inner))
    mixed = scale[:, None] * sums[np.ix_(inner, outer)]
    combined: FloatArray = np.zeros((len(sums), len(outer)))
    combined[inner] = -scale[:, None] * np.linalg.solve(normal, mixed)
    combined[outer, np.arange(len(outer))] += 1.0
    return combined.T @ sums @ combined, combined


def _described(
    model: mujoco.MjModel,
    moments: Moments,
    names: Sequence[tuple[str, str]],
    one: int,
    found: Sequence[int],
) -> WrongMass:
    """One mistake beside the others that were found."""
    others = [other for other in found if other != one]
    judged = _Judged.of(moments, others)
    step, reach = judged.steps[one], student_quantile(judged.blocks - 1, 0.975) * judged.errors[one]
    total = moments.sums.sum(axis=0)
    inner = np.append(np.arange(moments.known), [moments.known + other for other in others])
    outer = np.array([moments.known + one, len(total) - 1])
    _, combined = _beside(total, inner.astype(np.intp), outer)
    before = np.einsum("i,jik,k->j", combined[:, 1], moments.joints, combined[:, 1])
    ends = combined[:, 1] - step * combined[:, 0]
    after = np.einsum("i,jik,k->j", ends, moments.joints, ends)
    shows = np.flatnonzero(after < (1.0 - _SEEN) * before)
    seen = tuple(_joint_name(model, dof) for dof in shows.tolist())
    rivals = tuple(
        f"{_named(*names[other])} {1.0 + judged.steps[other]:.3g} times"
        for other in judged.rivals(one)
    )
    body, joint = names[one]
    factor = 1.0 + float(step)
    return WrongMass(body, joint, factor, (factor - reach, factor + reach), seen, rivals)


def _names(model: mujoco.MjModel, suspects: Suspects, dofs: IndexArray) -> list[tuple[str, str]]:
    """Of each suspect the body, or the joint."""
    bodies = [(str(model.body(body).name) or f"body_{body}", "") for body in suspects.bodies]
    return bodies + [("", _joint_name(model, int(dof))) for dof in dofs]


def _joint_name(model: mujoco.MjModel, dof: int) -> str:
    joint = int(model.dof_jntid[dof])
    return str(model.joint(joint).name) or f"joint_{joint}"


def _named(body: str, joint: str) -> str:
    return f"a mass of {body!r}" if body else f"a torque of {joint!r}"

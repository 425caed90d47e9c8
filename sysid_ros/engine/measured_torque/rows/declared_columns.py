# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of a fit as those in which inverse dynamics is linear, and back.

Armature, damping, dry friction, springs, offsets are columns of the regressor. The ten coordinates
of a body's inertia are a curved function of ten columns, which are estimated in their place: there
every body that can exist is within reach. Whatever else changes a model (mass alone, a centre of
mass, a Python hook) is linearised where the estimate stands, and again where it then stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import INERTIAL, pseudo_inertia, theta_from_pseudo
from sysid_ros.engine.friction import SHAPE, frictions_by_joint, has_friction
from sysid_ros.engine.inverse_dynamics import (
    Columns,
    FreeParameters,
    absent_columns,
    columns_of,
    robot_of,
)
from sysid_ros.engine.measured_torque.rows.declared_part import Part, held_if_still, joined_parts
from sysid_ros.engine.measured_torque.rows.inertia_columns import ten_of_theta, theta_slope
from sysid_ros.engine.measured_torque.rows.parameter_kinds import (
    LINEAR,
    NEED_MOTION,
    is_place,
    is_shape,
    key_of,
)
from sysid_ros.engine.measured_torque.rows.torque_gains import (
    TorqueGain,
    free_gains,
    gain_before,
    is_gain,
    known_gain,
)
from sysid_ros.engine.measured_torque.rows.torque_signals import TorqueSignal
from sysid_ros.engine.parameters import (
    Parameter,
    ParameterDict,
    StartModifier,
    corrects,
    written_by,
)
from sysid_ros.engine.regressor import DEFAULT_KINDS, DELAY, LAW_KINDS, FrictionLaws
from sysid_ros.engine.simulation import CandidateBuilder
from sysid_ros.errors import ParameterError

_OF_TORQUE = ("gain", "bias", "delay")
_REACH = 0.5  # of a curved parameter in one round: this share of its size, or of one
_STEP = 1e-5  # of differences, likewise
_FARTHER = 1.5  # factor by which a friction law's shape changes in one round


class TorqueDelay(NamedTuple):
    """An unknown delay of torque."""

    name: str
    dofs: list[int]  # degrees of freedom whose torque has it
    sign: float  # a sensor shows what was, a delayed input acts later than it is stamped


@dataclass(frozen=True)
class Declared:
    """A fit's parameters, seen from the regressor."""

    params: ParameterDict  # at their initial values
    spec: mujoco.MjSpec  # the model, with no bodies fused
    signals: tuple[TorqueSignal, ...]  # that tell torque
    robots: tuple[str, ...]  # conditions, those with a payload first; "" where all are alike
    # values of the free parameters, (n,), about which friction laws are linearised; the initial
    # ones if left out
    point: FloatArray | None = None
    # those that are no columns, since nothing of theirs is estimated
    known_bodies: frozenset[int] = frozenset()
    _known: dict[tuple[bytes, str], FloatArray] = field(default_factory=dict, repr=False)

    @cached_property
    def model(self) -> mujoco.MjModel:
        """Compiled at the initial values, of the first robot."""
        return self.compiled(self.params.as_vector(), self.robots[0])

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of parameters of joints and tendons, besides the inertia of bodies."""
        asked = [LINEAR.get(key_of(p), ()) for p in self.params.free()]
        given = frictions_by_joint(self.model).values()
        laws = [k for k in LAW_KINDS if k not in SHAPE and any(getattr(p, k) for p in given)]
        return tuple(dict.fromkeys((*DEFAULT_KINDS, *(k for kinds in asked for k in kinds), *laws)))

    @cached_property
    def has_laws(self) -> bool:
        """True if a joint's friction is more than viscous and dry."""
        return has_friction(self.model)

    @cached_property
    def laws(self) -> FrictionLaws | None:
        """The friction laws about whose values the regressor is linearised."""
        if not self.has_laws:
            return None
        at = self.params.as_vector() if self.point is None else self.point
        model = self.compiled(at, self.robots[0])
        laws = {int(model.jnt_dofadr[j]): law for j, law in frictions_by_joint(model).items()}
        return FrictionLaws(laws, self.theta(at, self.robots[0]))

    def about(self, values: FloatArray) -> Declared:
        """The same, with friction laws linearised about other values of the free parameters."""
        return replace(self, point=values, _known={})

    @cached_property
    def columns(self) -> Columns:
        """The regressor's parameters, in the order of its columns."""
        return self._columns_of(self.model)

    @cached_property
    def delays(self) -> dict[tuple[str, ...], TorqueDelay]:
        """Unknown delays by the torque signals that share one.

        Raises:
          ParameterError: A delay is of sensors and inputs at once, or a joint has several.
        """
        found: dict[tuple[str, ...], TorqueDelay] = {}
        taken: set[int] = set()
        for p in self.params.free():
            names = corrects(p, "delay")
            if not names or names in found:  # of another robot
                continue
            signals = [self._signal(p, name) for name in names]
            dofs = np.flatnonzero(np.any([s.moment != 0.0 for s in signals], axis=0)).tolist()
            if len({s.control for s in signals}) > 1 or taken & set(dofs):
                raise ParameterError(
                    f"parameter {p.name!r}: inverse dynamics takes one delay for all torque of a "
                    "joint, of sensors or of inputs; share one, or freeze it"
                )
            taken |= set(dofs)
            label = p.name.removeprefix(f"{p.robot}/")
            found[names] = TorqueDelay(label, dofs, -1.0 if signals[0].control else 1.0)
        return found

    def _columns_of(self, model: mujoco.MjModel) -> Columns:
        delays = tuple(one.name for one in self.delays.values())
        return columns_of(model, self.kinds, delays, self.known_bodies)

    @cached_property
    def curved(self) -> tuple[str, ...]:
        """Parameters that have to be linearised."""
        free = self.params.free()
        return tuple(p.name for p in free if self._columns(p) is None and not is_gain(p))

    @cached_property
    def gains(self) -> dict[str, TorqueGain]:
        """Free factors of torque signals, by parameter."""
        return free_gains(self.params, self._signal)

    def theta(self, values: FloatArray, robot: str) -> FloatArray:
        """All parameters of the regressor, (p,), at values of the free ones."""
        key = (values.tobytes(), robot)
        if key not in self._known:
            model = self.compiled(values, robot)
            theta = self._columns_of(model).nominal + self._preloads(model)
            theta += self._shape_steps(values)
            at = self.params.at(values)
            for p in at.for_robot(robot_of(robot) or None).values():
                gain = gain_before(p, self.gains)
                behind = 1.0 if gain is None else float(at[gain.name].value.item())
                for column, factor in self._offsets(p):
                    theta[column] += factor * float(p.value.item()) / behind
            theta[absent_columns(self.columns, robot)] = 0.0
            if len(self._known) > 64:
                self._known.clear()
            self._known[key] = theta
        return np.array(self._known[key])

    def _preloads(self, model: mujoco.MjModel) -> FloatArray:
        """Constant torques (p,) of springs that rest elsewhere than the regressor has them rest."""
        found = np.zeros(len(self.columns))
        moved = self.model.qpos_spring - model.qpos_spring
        for owner, kind in self.columns.place:
            if kind == "stiffness":
                offset = self.columns.place[int(model.jnt_dofadr[owner]), "offset"]
                stiffness = float(np.ravel(model.jnt_stiffness[owner])[0])
                found[offset] = stiffness * moved[model.jnt_qposadr[owner]]
        return found

    def _shape_steps(self, values: FloatArray) -> FloatArray:
        """Steps (p,) of the shapes of friction laws from where they are linearised."""
        steps = np.zeros(len(self.columns))
        if self.point is not None:
            for p, own in self.params.places():
                if is_shape(p):
                    for column, _ in (self._columns(p) or [[]])[0]:
                        steps[column] = float((values[own] - self.point[own]).item())
        return steps

    def free(self, values: FloatArray, still: Collection[int] = ()) -> FreeParameters:
        """The parameters to estimate, linearised at values of the declared ones.

        Args:
          values: Of the declared parameters.
          still: Joints that do not move, whose armature and friction keep the model's values.
        """
        places = [(p, own) for p, own in self.params.places() if not is_gain(p)]
        parts = [self._part(p, values[own], values) for p, own in places]
        if still:
            parts = [held_if_still(part, self.columns, still) for part in parts]
        return joined_parts(parts, self.columns, {r: self.theta(values, r) for r in self.robots})

    def values(self, x: FloatArray, gains: Mapping[str, float]) -> tuple[FloatArray, FloatArray]:
        """Values of the declared parameters (n,), and their derivative by (x, gains), (n, k)."""
        count = self.params.size
        found, slope = np.zeros(count), np.zeros((count, len(x) + len(self.gains)))
        of_gain = {name: len(x) + k for k, name in enumerate(self.gains)}
        first = 0
        for p, own in self.params.places():
            if p.name in self.gains:
                s, of_input = gains[p.name], self.gains[p.name].of_input
                found[own] = 1.0 / s if of_input else s
                slope[own, of_gain[p.name]] = -1.0 / s**2 if of_input else 1.0
                continue
            part = slice(first, first + p.size)
            first += p.size
            if self._is_whole(p):
                found[own] = theta_from_pseudo(pseudo_inertia(x[part]))
                slope[own, part] = theta_slope(x[part])
            elif (gain := gain_before(p, self.gains)) is not None:
                # x is the torque that looks like the bias
                found[own] = gains[gain.name] * x[part]
                slope[own, part] = gains[gain.name]
                slope[own, of_gain[gain.name]] = x[part]
            else:
                found[own], slope[own, part] = x[part], np.eye(p.size)
        return found, slope

    def is_held(self, p: Parameter, still: Collection[int]) -> bool:
        """True for a parameter of joints that do not move, which keeps its value."""
        kinds = LINEAR.get(key_of(p), ())
        if key_of(p)[0] != "joint" or not kinds or not set(kinds) <= set(NEED_MOTION):
            return False
        return all(self.model.joint(name).id in still for name in written_by(p).names)

    @cached_property
    def whole_bodies(self) -> dict[str, str]:
        """Parameters whose ten columns are estimated, with their body."""
        return {p.name: written_by(p).names[0] for p in self.params.free() if self._is_whole(p)}

    def compiled(self, values: FloatArray, robot: str) -> mujoco.MjModel:
        """The model without the springs that stand for offsets."""
        params = self.params.for_robot(robot_of(robot) or None).at(values)
        for p in params.values():
            if key_of(p) == ("joint", "torque_offset") and not p.frozen:
                p.value = np.zeros(1)
        return CandidateBuilder(self.spec, params).build(params.as_vector()).model

    def _part(self, p: Parameter, x: FloatArray, values: FloatArray) -> Part:
        """One parameter at x, where all of them are at ``values``."""
        suffix = f"@{p.robot}" if p.robot else ""
        robots = [r for r in self.robots if p.robot in (None, robot_of(r))]
        mean, std = p.prior if p.prior is not None else (p.as_nominal_vector(), np.inf)
        precision = np.broadcast_to(1.0 / np.asarray(std) ** 2, p.size).astype(np.float64)
        lower, upper = p.get_bounds()
        nominal, names = p.as_nominal_vector(), tuple(p.scalar_names())
        if self._is_whole(p):
            bodies = [self.model.body(name).id for name in written_by(p).names]
            names = tuple(f"{written_by(p).names[0]}.{k}{suffix}" for k in INERTIAL)
            eye = np.zeros((len(self.columns), 10))
            for body in bodies:
                if (body, "m") in self.columns.place:
                    eye[self.columns.of_body(body)] = np.eye(10)
            x, nominal = ten_of_theta(x), ten_of_theta(nominal)
            low = np.array([0.0, *[-np.inf] * 9])
            return Part(
                names, x, nominal, low, np.full(10, np.inf), dict.fromkeys(robots, eye), x,
                np.zeros(10),
            )  # fmt: skip
        columns = self._columns(p)
        if is_shape(p):
            precision = precision if p.prior is not None else 1.0 / nominal**2
            lower, upper = np.maximum(lower, x / _FARTHER), np.minimum(upper, x * _FARTHER)
        if columns is None:
            blocks = {r: self._slopes(p, values, r) for r in robots}
            step = _REACH * np.maximum(np.abs(x), 1.0)
            lower, upper = np.maximum(lower, x - step), np.minimum(upper, x + step)
        else:
            block = np.zeros((len(self.columns), p.size))
            for component, own in enumerate(columns):
                for column, factor in own:
                    block[column, component] += factor
            blocks = dict.fromkeys(robots, block)
            if len(columns) == 1 and len(columns[0]) == 1:
                names = (self.columns.names[columns[0][0][0]] + suffix,)
        given = np.broadcast_to(np.asarray(mean, dtype=np.float64), p.size)
        gain = gain_before(p, self.gains)
        if gain is not None:
            behind = float(self.params.at(values)[gain.name].value.item())
            x, nominal, lower, upper, given = (
                one / behind for one in (x, nominal, lower, upper, given)
            )
            precision = precision * behind**2
        return Part(names, x, nominal, lower, upper, blocks, given, precision)

    def _columns(self, p: Parameter) -> list[list[tuple[int, float]]] | None:
        """Columns and factors of each component; ``None`` for what is curved."""
        if isinstance(p.modifier, StartModifier):
            raise ParameterError(
                f"parameter {p.name!r} is the start of a recording; inverse dynamics has none"
            )
        if is_place(p) and not p.frozen:
            raise ParameterError(
                f"parameter {p.name!r}: inverse dynamics takes lengths and mounts as the model has "
                "them; freeze it, or fit with method: forward"
            )
        target = written_by(p)
        if target.element == "signal":
            if is_gain(p):
                self._signal(p)
                return None
            return [self._offsets(p)]
        if self._is_whole(p):
            return [[]]
        if key_of(p) not in LINEAR or self._is_preload(p):
            return None
        if key_of(p) == ("joint", "torque_offset"):
            return [self._offsets(p)]
        find = self.model.joint if target.element == "joint" else self.model.tendon
        owners, place = [find(name).id for name in target.names], self.columns.place
        return [[(place[o, k], 1.0) for o in owners if (o, k) in place] for k in LINEAR[key_of(p)]]

    def _is_preload(self, p: Parameter) -> bool:
        """True for the stiffness of a spring whose rest is free: its preload is a product."""
        free = {n for o in self.params.free() if key_of(o) == ("joint", "springref")
                for n in written_by(o).names}  # fmt: skip
        return key_of(p) == ("joint", "stiffness") and not free.isdisjoint(written_by(p).names)

    def _offsets(self, p: Parameter) -> list[tuple[int, float]]:
        """Columns of constant torque or of a delay that a parameter adds to, with factors."""
        if p.frozen:
            return []  # in the model, or taken from the measurement
        if key_of(p) == ("joint", "torque_offset"):
            dofs = [int(self.model.joint(n).dofadr[0]) for n in written_by(p).names]
            return [(self.columns.place[dof, "offset"], 1.0) for dof in dofs]
        if delayed := corrects(p, "delay"):
            number = list(self.delays).index(delayed)
            return [(self.columns.place[number, DELAY], self.delays[delayed].sign)]
        found = []
        for name in corrects(p, "bias"):
            signal = self._signal(p, name)
            for dof in np.flatnonzero(signal.moment).tolist():
                factor = signal.moment[dof] / known_gain(self.params, name, p.robot)
                factor = -signal.moment[dof] if signal.control else factor
                found.append((self.columns.place[dof, "offset"], float(factor)))
        return found

    def _slopes(self, p: Parameter, values: FloatArray, robot: str) -> FloatArray:
        """Differences of all columns by each component, (p, size)."""
        first = next(own.start for one, own in self.params.places() if one.name == p.name)
        lower, upper = p.get_bounds()
        found = np.zeros((len(self.columns), p.size))
        for i in range(p.size):
            ends = []
            step = _STEP * max(1.0, abs(float(values[first + i])))
            for sign in (-1.0, 1.0):
                moved = values.copy()
                moved[first + i] = np.clip(moved[first + i] + sign * step, lower[i], upper[i])
                ends.append((moved[first + i], self.theta(moved, robot)))
            (low, before), (high, after) = ends
            if high > low:
                found[:, i] = (after - before) / (high - low)
        return found

    def _is_whole(self, p: Parameter) -> bool:
        """True for a body's whole inertia that nothing but its consistency limits."""
        held = np.any(np.isfinite(p.get_bounds())) or p.prior is not None
        return key_of(p) == ("body", "inertia") and not held

    def _signal(self, p: Parameter, name: str | None = None) -> TorqueSignal:
        target = written_by(p)
        wanted = name or target.names[0]
        for signal in self.signals:
            if signal.name == wanted and target.attribute in _OF_TORQUE:
                return signal
        told = ", ".join(signal.name for signal in self.signals)
        raise ParameterError(
            f"parameter {p.name!r}: inverse dynamics cannot fit the {target.attribute} of "
            f"{wanted!r}, only gain, bias and delay of what tells torque ({told}); freeze it"
        )

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A body that weighs differently and elsewhere, as with a tool, a payload or another battery on it.

Its mass alone explains little of what it does where its centre of mass has moved, or some of it, as
another body's mass may. Mass and centre of one body are four columns of the same windows, tried
together; a mass alone is told unless they leave decisively less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Finding, FindingKind, freed_mass
from sysid_ros.diagnosis.fits import Linearized, Scores, WindowScores, centre_of, clearly_off
from sysid_ros.diagnosis.simulated.mass_finding import with_interval
from sysid_ros.engine.parameters import Parameter
from sysid_ros.engine.signals import ModelSequences, unit_in
from sysid_ros.errors import listed

_TRIED = 2  # bodies: those whose masses explain most
_EXPLAINED = 0.25  # of what is left, that a body leaves at most
_DECISIVE = 3.0  # times what it leaves, that the best mass alone leaves: three columns more
_AS_GOOD = 1.2  # ratio of powers up to which another body explains as much
_UNEXPLAINED = 0.2  # of signals' variation, from which on something else is wrong
_OFF = 0.1  # by which a mass is another, interval included, or a centre, in radii of gyration
_LESS = 0.95  # of what is left of a signal that shows it
_KNOWN = 5.0  # times what is off, that an interval's half may be
_OPEN = 1e-6  # share of an effect that nothing else has, below which nothing is known of it
_ROUNDS = 2  # of linearizations, as centres are not linear
_THERE = 0.5  # share of the power that is left, above which one more would not change much


@dataclass(frozen=True)
class MovedMass:
    """A body whose mass and centre of mass are not the model's."""

    body: str  # its name
    # how many times the model's mass, and half the width of the 95 % interval of that; of a body
    # whose mass is free already ``None``
    factor: tuple[float, float] | None
    # displacements of the centre that show and half the widths of theirs, by attribute, m
    centre: Mapping[str, tuple[float, float]]
    felt: tuple[str, ...]  # signals that show it
    # what the model's body would carry then: its mass, kg, and where that is in the body's frame,
    # m, as far as it shows; empty where it is lighter
    carried: Mapping[str, float]
    # other bodies that explain as much, with how many times the model's their masses are
    others: tuple[tuple[str, float], ...] = ()

    def finding(
        self, model: mujoco.MjModel, joints: tuple[str, ...], factors: Sized, gains: Sized
    ) -> Finding:
        """The finding, with the line that frees mass and centre.

        Args:
          model: The robot.
          joints: Those that show it.
          factors: Those of forces, which would explain it too.
          gains: Of servos, which would.
        """
        figures: dict[str, float] = {}
        unit, moved = unit_in(model.opt.gravity, "m"), []
        in_mm = 1.0 if unit == "mm" else 1e3
        for name, (value, half) in self.centre.items():
            figures |= with_interval(name, value, half)
            moved.append(f"{name[-1]} by {in_mm * value:.3g} +- {in_mm * half:.2g} mm")
        weight, way = "has its centre elsewhere", "Its centre"
        if self.factor is not None:
            mass, reach = self.factor
            low, high = mass - reach, mass + reach
            figures |= with_interval("mass", mass, reach)
            weight = "weighs differently and elsewhere"
            way = (
                f"{mass:.4g} times the model's mass (95 % interval {low:.4g} to {high:.4g}) with "
                "its centre"
            )
        others = [repr(name) for name, _ in self.others]
        also = f", or {listed(others, 4)} likewise," if others else ""
        rival = ", and so would other factors of the forces that move it" if factors else ""
        rival = ", and so would other gains of the servos" if gains and not rival else rival
        return Finding(
            FindingKind.GRAVITY,
            joints,
            figures,
            f"The body {self.body!r} {weight} than in the model, whatever friction, armature and "
            f"delays there are. {way} moved along {listed(moved, 3)}{self._load(unit)}{also} would "
            f"explain what no mass alone does{rival}.",
            freed_mass(model, self.body, ["mass"] * (self.factor is not None) + [*self.centre]),
            body=self.body,
            rivals=self.others,
        )

    def _load(self, unit: str) -> str:
        """The load that it would carry, in words, with the unit of lengths."""
        if not self.carried:
            return ""
        told = {key[-1]: round(at, 3) + 0.0 for key, at in self.carried.items() if key != "mass"}
        places = [f"{axis} {at:g} {unit}" for axis, at in told.items()]
        return f", as if it carried {self.carried['mass']:.3g} kg at {listed(places, 3)},"


@dataclass(frozen=True)
class Suspect:
    """A body's columns: its mass, where a fit does not find that, and its centre's coordinates."""

    columns: Mapping[str, Parameter]  # by attribute, the mass first
    size: float  # the body's radius of gyration, m

    @classmethod
    def of(cls, sequences: ModelSequences, body: str, mass: Parameter | None = None) -> Suspect:
        """The columns of a body; without its mass where a fit finds that."""
        model = sequences.gt_model
        inertia = 0.5 * float(model.body(body).inertia.sum()) / float(model.body(body).mass[0])
        columns = {} if mass is None else {"mass": mass}
        return cls({**columns, **centre_of(sequences, body)}, float(np.sqrt(inertia)))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [one.name for one in self.columns.values()]


def suspected_masses(scores: Scores) -> list[str]:
    """Columns of masses that are worth a linearization in their centres as well."""
    return [scores.names[k] for k in clearly_off(scores)[:_TRIED]]


def suspected_bodies(
    scores: Scores,
    masses: Mapping[str, Parameter],
    weighed: Sequence[str],
    sequences: ModelSequences,
) -> dict[str, Suspect]:
    """Bodies of such masses by name and, once there is one, those whose masses are free.

    Args:
      scores: Of the masses.
      masses: Those that a fit does not find, by body.
      weighed: Bodies whose masses it finds.
      sequences: With the model.
    """
    off = suspected_masses(scores)
    bodies = [body for body in masses if masses[body].name in off]
    found = {body: Suspect.of(sequences, body, masses[body]) for body in bodies}
    return found | {body: Suspect.of(sequences, body) for body in weighed if found}


def moved_mass(
    windows: WindowScores,
    bodies: Mapping[str, Suspect],
    masses: Sequence[str],
    beside: Sequence[str],
    linearized: Linearized,
    told: Mapping[str, float] | None = None,
) -> MovedMass | None:
    """The body whose mass and centre explain decisively more than any mass; ``None`` without one.

    Args:
      windows: Linearized at the model's values.
      bodies: Those that are suspected, by name.
      masses: Names of all columns of masses.
      beside: Names of what may do whatever explains most.
      linearized: Linearizes them again, ``begun`` from others.
      told: What a fit with the mass that is told leaves of each signal, as windows have it; nothing
        without one.
    """
    if not bodies:
        return None
    columns = [one for body in bodies.values() for one in body.columns.values()]
    first = linearized(*columns, patient=True, begun=windows)
    if first is None:
        return None
    scores = first.scores(masses, beside)
    alone = 1.0 - float(scores.gained(lowest=-1.0)[1].max()) / scores.left
    tried = {name: first.together(body.names, beside) for name, body in bodies.items()}
    best = min(tried, key=lambda name: tried[name][1])
    left = tried[best][1]
    if told:  # what noise leaves is no mass's; once it is refined, that is known
        promising = _AS_GOOD * left <= alone
    else:
        promising = left <= _EXPLAINED and _DECISIVE * left <= alone
    if not promising:
        return None
    others = tuple(
        (name, 1.0 + float(steps[0] / bodies[name].columns["mass"].nominal[0]))
        for name, (steps, own) in tried.items()
        if name != best and own <= _AS_GOOD * left and "mass" in bodies[name].columns
    )
    found = _refined(first, best, bodies[best], beside, linearized, told)
    return None if found is None else replace(found, others=others)


def _moved(columns: Mapping[str, Parameter], steps: FloatArray) -> None:
    """Move a body's columns by steps, as its mass and first moments are linear and not centres."""
    mass = columns.get("mass")
    before = 1.0 if mass is None else mass.value[0]
    for one, step in zip(columns.values(), steps, strict=True):
        share = 1.0 if mass is None or one is mass else before / mass.value[0]
        one.update_from_vector(np.clip(one.value + share * step, *one.get_bounds()))


def _refined(
    first: WindowScores,
    name: str,
    body: Suspect,
    beside: Sequence[str],
    linearized: Linearized,
    told: Mapping[str, float] | None,
) -> MovedMass | None:
    """The same from linearizations where it is said to be; ``None`` if that explains no more.

    Beside a mass that is told, its centre is off too: else it is that mass once more.
    """
    columns, there = {key: one.copy() for key, one in body.columns.items()}, first
    for _ in range(_ROUNDS):
        steps, left = there.together(body.names, beside)
        if there is not first and left > _THERE:
            break
        _moved(columns, steps)
        nearer = linearized(*columns.values(), patient=True, begun=there)
        if nearer is None:
            return None
        there = nearer
    before = told or first.left
    felt = tuple(key for key, own in there.left.items() if own < _LESS * before[key])
    if not felt or there.unexplained(felt) > _UNEXPLAINED:
        return None
    if np.mean([(before[key] / there.left[key]) ** 2 for key in felt]) < _DECISIVE:
        return None
    found, off = {}, False
    for key, one in columns.items():
        rest = [other for other in body.names if other != one.name]
        scores = there.scores([one.name], [*beside, *rest])
        step, unit = float(scores.gained()[0][0]), float(scores.sizes[0])
        size = float(one.nominal[0]) if key == "mass" else body.size
        change = (float(one.value[0]) - float(one.nominal[0]) + unit * step) / size
        reach = unit * scores.reach(0, step) / size
        if reach <= _KNOWN * _OFF and scores.open[0] > _OPEN:
            found[key] = (change * size, reach * size) if key != "mass" else (1.0 + change, reach)
            off |= abs(change) - reach > _OFF and (key != "mass" or not told)
    if not off or ("mass" in columns and "mass" not in found) or not found.keys() - {"mass"}:
        return None  # as where that its centre moved shows, and not where to
    carried = _carried(body, found)
    return MovedMass(name, found.pop("mass", None), found, felt, carried)


def _carried(body: Suspect, found: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """The load that makes the model's body what is found; empty where that is lighter."""
    factor, reach = found.get("mass", (1.0, 0.0))
    if factor - reach <= 1.0:
        return {}
    nominal = {key: float(body.columns[key].nominal[0]) for key in found}
    places = {
        key: nominal[key] + factor / (factor - 1.0) * found[key][0]
        for key in found
        if key != "mass"
    }
    return {"mass": (factor - 1.0) * nominal["mass"], **places}

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses and centres of mass of bodies that may be proposed, and those that findings ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import Finding, FindingKind, masses_off
from sysid_ros.engine.elements import FREE, joints_above, n_actuators, tree_of
from sysid_ros.experiment import Experiment
from sysid_ros.proposal.candidate import Candidate, rounded

_GUESS = 0.3  # relative error of masses and centres of mass in a drawing
_MASS = (0.05, 10.0)  # bounds over the model's value
_LIKE_MASSES = {
    FindingKind.SCALE, FindingKind.OFFSET, FindingKind.RANGE, FindingKind.INTEGRAL,
}  # fmt: skip
_CHAIN = 4  # joints one behind the other that make an arm
_MOST_COMPENSATED = 2.0  # of a body's weight
_BORNE = 0.25  # of a body's mass, below which something bears its weight, as another zero does
_LARGEST_ZERO = 0.2  # rad or m
_OFF_THRUST = 0.2  # of a radius of gyration: farther off hardly anything flies
_SIZE = 2.0  # times the model's, either way
_FARTHER = 2.0  # times what is found, that a bound leaves open


def compensation_candidate(body: str, share: float) -> Candidate:
    """The share of a body's weight that is compensated, as by a controller that has it wrong."""
    return Candidate(
        element="body",
        name=body,
        attribute="gravcomp",
        low=0.0,
        high=rounded(max(_MOST_COMPENSATED, 2.0 * share)),
        typical=_GUESS * share,
        on_demand=True,
        doubt=(
            f"the recordings contradict the model's gravcomp of {body}, or its mass: what shows "
            "is the mass times what is not compensated"
        ),
    )


def masses_that_gravity_names(spec: mujoco.MjSpec, findings: Sequence[Finding]) -> list[Candidate]:
    """The bodies whose masses are not the model's, as gravity on their joints shows before any fit.

    Of several that explain as much nobody knows which it is: all are free, each with a prior, so
    that their intervals say so. Of a body without a name the finding says what to do first. Where
    its load sits elsewhere too, the coordinates of its centre are free as well. Where hardly any
    weight is left, the zero of a command is free in that body's place, which keeps its inertia,
    beside bodies that may as well be heavier.
    """
    model, found = spec.copy().compile(), []
    named = {str(model.body(body).name) for body in range(1, model.nbody)} - {""}
    for finding in findings:
        if finding.kind is not FindingKind.GRAVITY or finding.body not in named:
            continue
        masses = [(finding.body, finding.evidence["mass"]), *finding.rivals]
        also = f"explains as much as the mass of {finding.body!r} does"
        if finding.zero and finding.evidence["mass"] < _BORNE:
            found.append(_zero(finding))
            masses = [one for one in masses if one[1] >= _BORNE]
        for body, factor in masses:
            if body not in named:
                continue
            mass = float(model.body(body).mass[0])
            spread = rounded(max(_GUESS, abs(factor - 1.0)) * mass)
            doubt = finding.sentence if body == finding.body else also
            std = spread if finding.rivals else None
            own = mass_candidate(body, mass)
            high = max(own.high, rounded(_FARTHER * factor * mass))  # of a hand with a heavy tool
            found.append(replace(own, high=high, std=std, guessed=True, doubt=doubt))
            size = _radius_of_gyration(model, int(model.body(body).id))
            found += [
                centre_candidate(
                    body, f"com_{axis}", float(model.body(body).ipos[k]),
                    max(size, abs(finding.evidence[f"com_{axis}"]) / _GUESS),
                )
                for k, axis in enumerate("xyz")
                if f"com_{axis}" in finding.evidence
            ]  # fmt: skip
    return found


def _zero(finding: Finding) -> Candidate:
    """The zero of a command that acts as what bears a weight, a counterbalance or a spring."""
    return Candidate(
        element="signal",
        name=finding.zero,
        attribute="bias",
        low=-_LARGEST_ZERO,
        high=_LARGEST_ZERO,
        typical=_LARGEST_ZERO,
        guessed=True,
        doubt=f"{finding.sentence} No body is so light: does something bear it?",
    )


def masses_beside_gains(
    spec: mujoco.MjSpec,
    experiment: Experiment,
    dataset: Dataset,
    findings: Sequence[Finding],
    begun: Mapping[str, float],
) -> list[Candidate]:
    """The same of servos whose gains nobody knows, beside which alone gravity tells of masses.

    Args:
      spec: The model.
      experiment: With all parameters that the recordings determine.
      dataset: Its recordings.
      findings: What is left of mistakes; some look like masses.
      begun: Values of parameters where a fit of the recordings went.
    """
    if _LIKE_MASSES & {one.kind for one in findings}:
        return []
    return masses_that_gravity_names(spec, masses_off(experiment, dataset, begun))


def makes_up_for(one: Candidate, kinds: Collection[FindingKind]) -> bool:
    """Tell whether a parameter would take up what findings of some kinds say of drives or masses.

    One gain of all servos is the other side of all masses. Where torques are known, masses are free
    without being asked for: they are the answer, in whose place others would be bent.
    """
    masses = FindingKind.MASSES in kinds and one.name != "*"
    return one.on_demand and (masses or FindingKind.INTEGRAL in kinds)


def mass_candidate(name: str, mass: float, doubt: str = "") -> Candidate:
    """The mass of a body, proposed on demand and without a prior where there is a doubt.

    Args:
      name: The body's.
      mass: The model's, kg.
      doubt: What a person should check.
    """
    return Candidate(
        element="body",
        name=name,
        attribute="mass",
        low=rounded(_MASS[0] * mass),
        high=rounded(_MASS[1] * mass),
        typical=_GUESS * mass,
        std=None if doubt else rounded(_GUESS * mass),
        on_demand=bool(doubt),
        doubt=doubt,
    )


def centre_candidate(name: str, attribute: str, centre: float, size: float) -> Candidate:
    """A coordinate of a body's centre of mass, with a prior.

    Args:
      name: The body's.
      attribute: The coordinate.
      centre: The model's, m.
      size: That errors are a share of, m.
    """
    return Candidate(
        element="body",
        name=name,
        attribute=attribute,
        low=rounded(centre - 3.0 * size),
        high=rounded(centre + 3.0 * size),
        typical=_GUESS * size,
        std=rounded(_GUESS * size),
    )


def payload(model: mujoco.MjModel, joints: Sequence[str]) -> Iterator[Candidate]:
    """The mass at the end of an arm, where a hand, a tool or a payload is."""
    for body in range(model.nbody - 1, 0, -1):
        is_last = body not in set(model.body_parentid[body + 1 :].tolist())
        if is_last and len(_joints_above(model, body, joints)) >= _CHAIN:
            name, mass = str(model.body(body).name), float(model.body_mass[body])
            if name and mass > 0.0:
                yield mass_candidate(name, mass, "the payload counts as mass of the last body")
                return


def loads(model: mujoco.MjModel) -> Iterator[Candidate]:
    """The mass of the heaviest body of each robot that floats or stands, which carries the load."""
    heaviest = {root: int(np.argmax(np.where(model.body_rootid == root, model.body_mass, 0.0)))
                for root in dict.fromkeys(model.body_rootid.tolist())}  # fmt: skip
    for body in heaviest.values():
        name, mass = str(model.body(body).name), float(model.body_mass[body])
        if name and mass > 0.0 and _floats(model, body):
            yield mass_candidate(
                name, mass, "what the robot carries counts as mass of its heaviest body"
            )


def masses(model: mujoco.MjModel, joints: Sequence[str], free: bool) -> Iterator[Candidate]:
    """Mass and the main coordinate of the centre of mass of every moving body, tip first.

    Of what thrusts carry those across them, where recordings contradict the model's.
    """
    for body in _moved(model, joints, free):
        name, centre = str(model.body(body).name), model.body_ipos[body]
        yield mass_candidate(name, float(model.body_mass[body]))
        if _floats(model, body) and np.any(thrust := _thrust(model, body)):
            yield from _off_thrust(model, body, thrust)
            yield _gyration(model, body)
            continue
        axis = int(np.argmax(np.abs(centre)))
        if abs(centre[axis]) > 1e-3:
            yield centre_candidate(
                name, f"com_{'xyz'[axis]}", float(centre[axis]), abs(float(centre[axis]))
            )


def _off_thrust(model: mujoco.MjModel, body: int, thrust: FloatArray) -> Iterator[Candidate]:
    """Coordinates of a body's centre across a thrust (3,), which turns the body about it."""
    name = str(model.body(body).name)
    size = _radius_of_gyration(model, body)
    doubt = f"the recordings contradict where the model has the centre of mass of {name}"
    for axis in sorted(np.argsort(np.abs(thrust))[:2].tolist()):
        place = float(model.body_ipos[body, axis])
        own = centre_candidate(name, f"com_{'xyz'[axis]}", place, _OFF_THRUST * size)
        yield replace(own, std=None, on_demand=True, doubt=doubt)


def _gyration(model: mujoco.MjModel, body: int) -> Candidate:
    """The extent of a body, whose inertia thrusts turn as they bear its mass."""
    name = str(model.body(body).name)
    size = _radius_of_gyration(model, body)
    return Candidate(
        element="body",
        name=name,
        attribute="gyration",
        low=rounded(size / _SIZE),
        high=rounded(_SIZE * size),
        typical=0.5 * _GUESS * size,  # of its square
        on_demand=True,
        doubt=(
            f"thrusts turn {name} otherwise than its inertia and mass in the model say: one of "
            "them is off, and flights do not tell which; weigh it"
        ),
    )


def _radius_of_gyration(model: mujoco.MjModel, body: int) -> float:
    """The root mean square distance of a body's mass from its centre, m."""
    return float(np.sqrt(0.5 * model.body_inertia[body].sum() / model.body_mass[body]))


def borne_by(
    model: mujoco.MjModel, thrusts: Collection[str], offered: Sequence[Candidate]
) -> list[Candidate]:
    """Those of some candidates that are masses of what some actuators carry."""
    own = [k for k in range(n_actuators(model)) if model.actuator(k).name in thrusts]
    trees = {tree_of(model, actuator) for actuator in own}
    return [
        one
        for one in offered
        if (one.element, one.attribute) == ("body", "mass")
        and int(model.body_rootid[model.body(one.name).id]) in trees
    ]


def _thrust(model: mujoco.MjModel, body: int) -> FloatArray:
    """The sum of what the actuators at sites of a body's tree may exert, in its frame, (3,)."""
    data, whole = mujoco.MjData(model), np.zeros(3)
    mujoco.mj_kinematics(model, data)
    for actuator in range(n_actuators(model)):
        site = int(model.actuator_trnid[actuator, 0])
        at_site = int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_SITE)
        if at_site and tree_of(model, actuator) == int(model.body_rootid[body]):
            whole += data.site_xmat[site].reshape(3, 3) @ model.actuator_gear[actuator, :3]
    return np.asarray(data.xmat[body].reshape(3, 3).T @ whole)


def compensations(
    model: mujoco.MjModel, joints: Sequence[str], *, with_masses: bool
) -> Iterator[Candidate]:
    """The compensated share of the weight of every moving body that has one, tip first.

    A controller compensates by masses of its own, which are wrong where the robot's are others:
    the body's mass comes with it where ``with_masses`` says so.
    """
    for body in _moved(model, joints, free=False):
        if share := float(model.body_gravcomp[body]):
            name = str(model.body(body).name)
            yield compensation_candidate(name, share)
            if with_masses:
                doubt = f"the recordings contradict the model's mass of {name}"
                yield mass_candidate(name, float(model.body_mass[body]), doubt)


def _moved(model: mujoco.MjModel, joints: Sequence[str], free: bool) -> Iterator[int]:
    """Bodies with a mass that measured joints move, tip first.

    Of bodies that are fixed to each other only the heaviest, as they move as one; and weigh alike,
    where gravity is compensated for all or none. None of what floats where no pose says how:
    simulations would start it at rest, and masses make up for that.
    """
    for body in range(model.nbody - 1, 0, -1):
        moved = free if _floats(model, body) else _joints_above(model, body, joints)
        stands = int(model.body_weldid[body]) == 0
        fixed = model.body_weldid == model.body_weldid[body]  # to it, and itself
        fixed &= model.body_gravcomp == model.body_gravcomp[body]
        heaviest = int(np.argmax(np.where(fixed, model.body_mass, -1.0)))
        named = model.body(body).name and model.body_mass[body] > 0.0
        if named and moved and not stands and body == heaviest:
            yield body


def _joints_above(model: mujoco.MjModel, body: int, joints: Sequence[str]) -> list[str]:
    """The measured joints between a body and the world."""
    names = (str(model.joint(joint).name) for joint in joints_above(model, body))
    return [name for name in names if name in joints]


def _floats(model: mujoco.MjModel, body: int) -> bool:
    """Tell whether a body hangs on a free joint."""
    joint = int(model.body_jntadr[int(model.body_rootid[body])])
    return joint >= 0 and int(model.jnt_type[joint]) == FREE

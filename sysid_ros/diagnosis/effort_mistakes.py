# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Efforts that are no torque, and masses of the model, that measured torque contradicts.

No robot explains such an effort beside those of the other joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco

from sysid_ros.dataset import Dataset, torque_settings
from sysid_ros.diagnosis.evidence import (
    Change,
    ExperimentLines,
    Finding,
    FindingKind,
    freed_mass,
    of_load,
    recorded,
    silent_joints,
)
from sysid_ros.errors import SysidError, as_sentence
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters

if TYPE_CHECKING:
    from sysid_ros.engine.inverse_dynamics import WrongMass
    from sysid_ros.engine.measured_torque import (
        Contradictions,
        OddTorque,
        SmoothedTorque,
        TorqueProblem,
    )
    from sysid_ros.engine.signals import ModelSequences

_DISCRETE = {
    FindingKind.SIGN, FindingKind.SWAP, FindingKind.DEGREES, FindingKind.MOUNTING,
    FindingKind.STANDSTILL, FindingKind.SLIP, FindingKind.ECHO,
}  # fmt: skip
MISREAD = (  # what torques are not summed without
    FindingKind.SIGN, FindingKind.SWAP, FindingKind.DEGREES, FindingKind.MILLIMETRES,
    FindingKind.UNIT, FindingKind.MOUNTING,
)  # fmt: skip
_CLEARLY = 0.35  # of the error that repairs leave; an odd effort is the better answer below it
_LITTLE = 0.01  # of the torques' power, that is left where a repair is all that is wrong


def settled(findings: Iterable[Finding]) -> bool:
    """Return whether mistakes that were found leave no room for an effort in no unit."""
    return any(
        one.kind in _DISCRETE
        or (one.kind is FindingKind.SCALE and len(one.signals) > 1)  # the unit of all efforts
        or one.evidence.get("unexplained_after", 1.0) ** 2 < _LITTLE
        for one in findings
    )


def _are_all(findings: Sequence[Finding]) -> bool:
    """Return whether repairs leave little of what torques showed, or are of something else."""
    left = [one.evidence["unexplained_after"] for one in _by_torque(findings)]
    return not left or min(left) ** 2 < _LITTLE


def _left_by(findings: Sequence[Finding]) -> float:
    """The least share of what was unexplained that a repair leaves."""
    shares = [(one.evidence["unexplained_after"], one.evidence["unexplained_before"])
              for one in _by_torque(findings)]  # fmt: skip
    return min(after / before for after, before in shares)


def _by_torque(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if "unexplained_before" in one.evidence]


def beside_odd_effort(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Leave out what was found by torque, that of an odd effort included."""
    return tuple(one for one in findings if "unexplained_before" not in one.evidence)


def with_contradictions(
    experiment: Experiment,
    dataset: Dataset,
    findings: Sequence[Finding],
    *,
    masses: bool = False,
    problem: TorqueProblem | None = None,
) -> tuple[Finding, ...]:
    """Findings headed by the effort without which those of all other joints are explained better.

    Args:
      experiment: Nothing is added where it is not fitted to torque.
      dataset: Its recordings.
      findings: Mistakes that were found already.
      masses: Whether masses of the model that torque contradicts are added where there is none.
      problem: The experiment's parameters and the recordings, where they were read already.
    """
    repaired = settled(findings)
    if experiment.fit.method != "inverse_dynamics" or (repaired and _are_all(findings)):
        return tuple(findings)
    found = _contradictions(experiment, dataset.whole[:1], problem)
    if found is None:
        return tuple(findings)
    odd = found.odd
    if found.smoothed is not None:
        return (*findings, _of_low_pass(found.smoothed))
    if odd is not None and not (repaired and odd.left > _CLEARLY * _left_by(findings)):
        return (_of_odd_effort(odd, experiment), *beside_odd_effort(findings))
    if not masses:
        return tuple(findings)
    if found.load is not None:
        return (*findings, of_load(found.load))
    return (*findings, *_of_masses(found.masses, experiment, dataset))


def _contradictions(
    experiment: Experiment, groups: Sequence[ModelSequences], problem: TorqueProblem | None
) -> Contradictions | None:
    """Contradictions with measured torque; ``None`` where they cannot be looked for."""
    # loads numba, which takes long
    from sysid_ros.engine.measured_torque import found_contradictions, torque_problem

    try:
        if problem is None:
            problem = torque_problem(groups, build_parameters(experiment, groups[0].spec))
        silent = silent_joints(recorded(groups))
        return found_contradictions(problem.without(silent), torque_settings(experiment))
    except SysidError:
        return None


def _of_odd_effort(odd: OddTorque, experiment: Experiment) -> Finding:
    return Finding(
        FindingKind.ODD_EFFORT,
        (odd.signal,),
        {"left": odd.left},
        f"{as_sentence(odd.clause)}. Efforts that are in no unit of force, such "
        "as a share of a motor's voltage or a number that saturates, are believed like others.",
        *ExperimentLines(experiment).removed(odd.signal),
    )


def _of_low_pass(smoothed: SmoothedTorque) -> Finding:
    return Finding(
        FindingKind.SMOOTHED,
        smoothed.signals,
        {"time_constant": smoothed.constant},
        f"{as_sentence(smoothed.clause)}. A delay alone, whatever its size, leaves twice "
        "as much of what the motion takes, or more.",
    )


def _of_masses(
    found: Sequence[WrongMass], experiment: Experiment, dataset: Dataset
) -> list[Finding]:
    """Masses that torque contradicts, and the factor of a joint's torque, as its signal's scale.

    Factors of several joints look like other masses.
    """
    # loads numba, which takes long
    from sysid_ros.engine.inverse_dynamics import are_factors

    if are_factors(found):
        return [_of_mass(one, dataset.whole[0].gt_model) for one in found]
    seen = recorded(dataset.whole[:1])
    labels = {seen.joint_name(seen.joint_of(a)): label for a, label in seen.efforts.items()}
    lines, told = ExperimentLines(experiment), []
    for one in found:
        label = "" if one.body else labels.get(one.joint, "")
        finding = _of_mass(one, dataset.whole[0].gt_model)
        if label:
            change = Change(FindingKind.SCALE, scale={label: 1.0 / one.factor})
            repair, overrides = lines.with_change(change)
            finding = replace(
                finding, kind=change.kind, signals=(label,), repair=repair, overrides=overrides
            )
        told.append(finding)
    return told


def are_masses(finding: Finding) -> bool:
    """Return whether a finding is of a mass or of a torque's factor that torque asks for."""
    asked = "mass" in finding.evidence or "torque" in finding.evidence
    return asked and finding.kind in (FindingKind.GRAVITY, FindingKind.SCALE)


def _of_mass(wrong: WrongMass, model: mujoco.MjModel) -> Finding:
    low, high = wrong.interval
    remedy = "or let a fit find it" if wrong.body else "or its unit, or let a fit find its gain"
    return Finding(
        FindingKind.GRAVITY,
        wrong.joints,
        {"mass" if wrong.body else "torque": wrong.factor, "low": low, "high": high},
        f"{as_sentence(wrong.clause)}. What friction, armature and offsets may be was allowed "
        f"for; correct it, {remedy}.",
        freed_mass(model, wrong.body) if wrong.body else "",
        body=wrong.body,
    )

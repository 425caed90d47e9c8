# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses and centres of mass of bodies that may be proposed, and those that findings ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import Finding, FindingKind, masses_off
from sysid_ros.experiment import Experiment
from sysid_ros.proposal.candidate import Candidate, rounded

_GUESS = 0.3  # relative error of masses and centres of mass in a drawing
_MASS = (0.05, 10.0)  # bounds over the model's value
_LIKE_MASSES = {FindingKind.SCALE, FindingKind.OFFSET, FindingKind.RANGE}
_MOST_COMPENSATED = 2.0  # of a body's weight
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
        doubt=f"the recordings contradict the model's gravcomp of {body}",
    )


def masses_that_gravity_names(spec: mujoco.MjSpec, findings: Sequence[Finding]) -> list[Candidate]:
    """The bodies whose masses are not the model's, as gravity on their joints shows before any fit.

    Of several that explain as much nobody knows which it is: all are free, each with a prior, so
    that their intervals say so. Of a body without a name the finding says what to do first. Where
    its load sits elsewhere too, the coordinates of its centre are free as well.
    """
    model, found = spec.copy().compile(), []
    named = {str(model.body(body).name) for body in range(1, model.nbody)} - {""}
    for finding in findings:
        if finding.kind is not FindingKind.GRAVITY or finding.body not in named:
            continue
        also = f"explains as much as the mass of {finding.body!r} does"
        for body, factor in [(finding.body, finding.evidence["mass"]), *finding.rivals]:
            if body not in named:
                continue
            mass = float(model.body(body).mass[0])
            spread = rounded(max(_GUESS, abs(factor - 1.0)) * mass)
            doubt = finding.sentence if body == finding.body else also
            std = spread if finding.rivals else None
            own = mass_candidate(body, mass)
            high = max(own.high, rounded(_FARTHER * factor * mass))  # of a hand with a heavy tool
            found.append(replace(own, high=high, std=std, guessed=True, doubt=doubt))
            size = float(np.sqrt(0.5 * model.body(body).inertia.sum() / mass))
            found += [
                replace(
                    centre_candidate(
                        body, f"com_{axis}", float(model.body(body).ipos[k]),
                        max(size, abs(finding.evidence[f"com_{axis}"]) / _GUESS),
                    ),
                    guessed=True,
                )
                for k, axis in enumerate("xyz")
                if f"com_{axis}" in finding.evidence
            ]  # fmt: skip
    return found


def masses_beside_gains(
    spec: mujoco.MjSpec, experiment: Experiment, dataset: Dataset, findings: Sequence[Finding]
) -> list[Candidate]:
    """The same of servos whose gains nobody knows, beside which alone gravity tells of masses.

    Args:
      spec: The model.
      experiment: With all parameters that the recordings determine.
      dataset: Its recordings.
      findings: What is left of mistakes; some look like masses.
    """
    if _LIKE_MASSES & {one.kind for one in findings}:
        return []
    return masses_that_gravity_names(spec, masses_off(experiment, dataset))


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

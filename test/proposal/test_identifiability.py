# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the recordings say of a parameter is said of that one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import robot_kinds
import scipy
from robot_to_try import PLAN, true_joint

import sysid_ros.proposal.identifiability as identifiability
from sysid_ros.dataset import load_dataset
from sysid_ros.engine.derivatives import sensitivities
from sysid_ros.engine.derivatives.parameter_effects import ParameterEffects
from sysid_ros.engine.least_squares import Linearization
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.experiment import parse_experiment
from sysid_ros.proposal import propose
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import System, forward
from sysid_ros.proposal.identifiability import Determined, determined
from sysid_ros.rehearsal import (
    JointStates,
    Motion,
    Reading,
    RecordingPlan,
    TrueParameter,
    generate,
)
from sysid_ros.robots import build_parameters

# Two pendulums, of which the second is not measured.
ARM = """<mujoco><worldbody>{0}{1}</worldbody><actuator>
  <position name="m0" joint="j0" kp="20"/></actuator></mujoco>"""
LINK = """<body pos="{0} 0 0"><joint name="j{0}" axis="0 1 0" damping=".3" armature=".05"
  frictionloss=".1" range="-3 3"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.3" mass=".5"
  contype="0" conaffinity="0"/></body>"""

TEXT = """
model: robot.xml
sequences: [bag]
signals:
  - {qpos: j0, topic: /joint_states, field: "position[j0]"}
  - {actuator: m0, topic: /position_controller/commands, field: "data[0]"}
windows: {length: 1.0}
parameters:
  - {joint: j0, damping: {min: 0.0, max: 10.0}, armature: {min: 0.0, max: 10.0}}
  - {joint: j1, damping: {min: 0.0, max: 10.0}, armature: {min: 0.0, max: 10.0}}
"""


def candidate(joint: str, attribute: str) -> Candidate:
    return Candidate(
        element="joint", name=joint, attribute=attribute, low=0.0, high=10.0, typical=0.1
    )


def tried(
    folder: Path,
    reach: float,
    *,
    foot: bool = False,
    known: bool = True,
    noslip: int = 0,
    noise: float = 1e-5,
) -> Determined:
    """Answers about damping and then armature of both joints, of which the first moves by that.

    A foot at the first joint touches a floor, with friction that derivatives know or not. It is
    solved anew in ``noslip`` iterations.
    """
    spec = mujoco.MjSpec.from_string(ARM.format(LINK.format(0), LINK.format(1)))
    spec.option.noslip_iterations = noslip
    if foot:
        body = spec.joint("j0").parent
        body.add_geom(name="foot", size=[0.02] * 3, pos=[0.0, 0.0, -0.3], mass=0.01)
        spec.worldbody.add_geom(
            name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1.0] * 3, pos=[0.0, 0.0, -0.315]
        )
    if not known:
        spec.add_pair(geomname1="foot", geomname2="floor", condim=3, solreffriction=[0.03, 1.0])
    (folder / "robot.xml").write_text(spec.to_xml())
    plan = RecordingPlan(duration=4.0, sensors=(JointStates(position=Reading(noise=noise)),),
                         motion=Motion(reach=reach))  # fmt: skip
    generate(spec, plan, folder / "bag")
    experiment = parse_experiment(TEXT, path=folder / "experiment.yaml")
    offered = [candidate(joint, what) for what in ("damping", "armature") for joint in ("j0", "j1")]
    return determined(experiment, load_dataset(experiment, None), offered, 1.0, touching=foot)


def test_answers_are_those_of_the_parameters_however_a_file_groups_them(tmp_path: Path) -> None:
    assert tried(tmp_path, 0.6).answers == [True, False, True, False]


def test_a_joint_that_hardly_moves_has_no_parameters(tmp_path: Path) -> None:
    found = tried(tmp_path, 0.012)
    assert found.answers == [False, False, False, False]
    assert found.notes == ("moved too little to tell their parameters: 'j0'",)


def test_noise_alone_hides_nothing_that_others_explain(tmp_path: Path) -> None:
    """Lateral accelerations of a drone, at ten times their level, hid that its inertia was off."""
    tried(tmp_path, 0.0, noise=1e-3)
    experiment = parse_experiment(TEXT, path=tmp_path / "experiment.yaml")
    dataset = load_dataset(experiment, None)
    params = build_parameters(experiment, dataset.training[0].spec)
    with RolloutPool(None) as rollouts:
        problem = identifiability._problem(experiment, dataset, params, rollouts, (1.0, 10**6, 2))
    assert problem.noise["j0_qpos"] == pytest.approx(1e-3, rel=0.1)


def test_what_a_few_steps_leave_compares_models(tmp_path: Path) -> None:
    tried(tmp_path, 0.6)
    experiment = parse_experiment(TEXT, path=tmp_path / "experiment.yaml")
    offered = [candidate(joint, what) for what in ("damping", "armature") for joint in ("j0", "j1")]
    dataset = load_dataset(experiment, None)
    own = identifiability.left_by(experiment, dataset, offered, 1.0)
    for sequences in dataset.training:
        control = sequences.control[0]
        sequences.control[0] = replace(control, data=control.data * np.abs(control.data))
    assert 10.0 * own < identifiability.left_by(experiment, dataset, offered, 1.0)


@pytest.mark.parametrize("known", [True, False])
def test_only_contacts_without_exact_derivatives_make_a_fit_dear(
    tmp_path: Path, known: bool
) -> None:
    assert tried(tmp_path, 0.3, foot=True, known=known).rolled == (not known)


def test_steps_without_derivatives_are_counted_before_any_is_differenced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that is differenced takes simulations for every column."""
    differenced: list[int] = []
    right, stays = sensitivities.differentiate_again, identifiability._stays_exact

    def counted(*arguments: Any) -> int:
        differenced.append(right(*arguments))
        return differenced[-1]

    def looked(problem: WindowedProblem) -> bool:
        answer = stays(problem)
        assert not (answer or differenced)
        return answer

    monkeypatch.setattr(sensitivities, "differentiate_again", counted)
    monkeypatch.setattr(identifiability, "_stays_exact", looked)
    assert tried(tmp_path, 0.3, foot=True, known=False).rolled


def test_no_more_windows_are_differenced_once_one_has_to_be_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differenced, answers = [0], []
    right, stays = sensitivities.differentiate_again, identifiability._stays_exact

    def as_if_rough(*arguments: Any) -> int:
        right(*arguments)
        differenced[0] += 1
        return int(np.sum(arguments[4].steps))

    def looked(problem: WindowedProblem) -> bool:
        answers.append(stays(problem))
        assert len(problem.windows) > 2
        assert differenced == [1]
        assert all(one is not None and one.gave_up for one in problem.exact)
        return answers[0]

    monkeypatch.setattr(identifiability, "_DOUBTED", 2.0)
    monkeypatch.setattr(sensitivities, "differentiate_again", as_if_rough)
    monkeypatch.setattr(identifiability, "_stays_exact", looked)
    assert tried(tmp_path, 0.3, foot=True, known=False).rolled
    assert answers == [False]


def test_what_parameters_change_is_found_out_once_where_contacts_are_tried_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, right = [], ParameterEffects._told_apart

    def counted(effects: ParameterEffects, *arguments: Any) -> Any:
        found.append(effects)
        return right(effects, *arguments)

    monkeypatch.setattr(ParameterEffects, "_told_apart", counted)
    assert not tried(tmp_path, 0.3, foot=True).rolled
    assert len(found) == 1


def test_fewer_steps_tell_where_friction_is_solved_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, right = [], WindowedProblem.linearize

    def counted(problem: WindowedProblem, *arguments: Any) -> Linearization:
        every = [batch.steps.sum() for group in problem.groups for batch in group.batches]
        steps.append(int(sum(every)))
        return right(problem, *arguments)

    monkeypatch.setattr(WindowedProblem, "linearize", counted)
    monkeypatch.setattr(identifiability, "_MOST_DIFFERENCED", 1)
    (tmp_path / "plain").mkdir()
    (tmp_path / "anew").mkdir()
    plain = tried(tmp_path / "plain", 0.6)
    whole = steps[-1]
    anew = tried(tmp_path / "anew", 0.6, noslip=5)
    assert anew == plain
    assert steps[-1] < 0.5 * whole


def test_a_share_is_what_the_squares_fall_by_beside_others() -> None:
    random = np.random.default_rng(0)
    columns, left = random.standard_normal((40, 3)), random.standard_normal(40)
    system = System(columns.T @ columns, columns.T @ left, float(left @ left))
    offered = [replace(candidate("j0", "damping"), typical=1e6)] * 3

    def squares(chosen: list[int]) -> float:
        found = np.linalg.lstsq(columns[:, chosen], left, rcond=None)[0]
        return float(np.sum((left - columns[:, chosen] @ found) ** 2))

    expected = 1.0 - squares([0, 2, 1]) / squares([0, 2])
    assert system.share_explained(1, [0, 2], offered) == pytest.approx(expected)


@pytest.mark.parametrize(("squares", "kept"), [(40.0, True), (1.0, False)])
def test_what_a_greater_mistake_hides_is_seen_beside_it(squares: float, kept: bool) -> None:
    """A zero that is off explains little as long as a load that comes later is wrong."""
    unit = 1e4
    explained = np.array([0.0, squares, 1000.0])
    system = System(np.diag([unit] * 3), -np.sqrt(unit * explained), 1050.0)
    usual = replace(candidate("j0", "damping"), typical=1.0)
    offered = [usual, *(replace(usual, attribute=a, on_demand=True) for a in ("bias", "mass"))]
    assert forward(system, offered).kept == [True, kept, True]


@pytest.mark.parametrize(
    ("wrong", "own", "kept"),
    [
        (0, 1.0, [True, True, False]),
        (1, 1.0, [True, False, True]),
        (1, 1e-9, [True, True, False]),  # nothing determines what would explain more
    ],
)
def test_of_what_displaces_a_joint_that_is_kept_which_explains_most(
    wrong: int, own: float, kept: list[bool]
) -> None:
    """A spring that rests elsewhere and the zero of an encoder act much alike."""
    unit, left, alike = 1e4, 990.0, 0.98
    sizes = np.sqrt(unit * np.array([1.0, own]))
    effects = np.array([[1.0, alike], [alike, 1.0]])  # products of what they do, at size one
    system = System(
        scipy.linalg.block_diag([[unit]], np.outer(sizes, sizes) * effects),
        -np.array([0.0, *(np.sqrt(left) * sizes * effects[wrong])]),
        1000.0,
    )
    usual = replace(candidate("j0", "damping"), typical=1.0)
    rest = replace(usual, attribute="springref", on_demand=True, displaces="j0")
    zero = replace(rest, element="signal", name="j0_qpos", attribute="bias")
    assert forward(system, [usual, rest, zero]).kept == kept


def test_a_gain_takes_what_damping_would_have_to_be_negative_for(tmp_path: Path) -> None:
    """The servo lags less than its own damping has it at the model's gain."""
    spec, truth = mujoco.MjSpec.from_string(robot_kinds.SCARA), []
    for joint in spec.joints:
        truth += true_joint(joint.name, damping=0.9 * joint.damping[0])
    truth.append(TrueParameter("actuator", "elbow_servo", "kp", 1125.0))
    made = generate(spec, replace(PLAN, truth=tuple(truth), duration=6.0), tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    proposal = propose(tmp_path / "robot.xml", [made.bag], tmp_path / "experiment.yaml")
    freed = [one for one in proposal.draft.parameters if one.on_demand]
    assert [(one.name, one.attribute) for one in freed] == [("elbow_servo", "kp")]

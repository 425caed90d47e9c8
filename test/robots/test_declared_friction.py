# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction models in an experiment file."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sysid_ros.comparison.structures import structure
from sysid_ros.engine.friction import joint_frictions
from sysid_ros.engine.friction.models import MODELS
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import parse_experiment
from sysid_ros.experiment.experiment_schema import Experiment
from sysid_ros.robots.declared_friction import with_friction_model
from sysid_ros.robots.declared_parameters import build_parameters

MODEL = """
<mujoco>
  <worldbody>
    <body name="link1">
      <joint name="hip" armature="0.1" damping="0.2"/>
      <inertial pos="0 0 -0.3" mass="0.6" diaginertia="0.005 0.006 0.007"/>
      <body name="link2">
        <joint name="knee[1]"/>
        <inertial pos="0 0 -0.2" mass="0.4" diaginertia="0.005 0.006 0.007"/>
      </body>
    </body>
  </worldbody>
  <sensor><jointpos name="hip_pos" joint="hip"/></sensor>
</mujoco>
"""
HEAD = """\
model: m.xml
signals:
  - {sensor: hip_pos, topic: t, field: f}
parameters:
"""


def experiment(*entries: str) -> Experiment:
    text = HEAD + "".join(f"  - {entry}\n" for entry in entries)
    return parse_experiment(text, path=Path("e.yaml"))


def built(of: Experiment) -> ParameterDict:
    return build_parameters(of, mujoco.MjSpec.from_string(MODEL))


def test_a_friction_model_stands_for_its_parameters() -> None:
    for model, members in MODELS.items():
        parameters = built(experiment(f"{{joint: hip, friction: {model}}}"))
        assert parameters.keys() == [f"hip_{name}" for name in members]
    parameters = built(experiment('{joint: "*", friction: m2}'))
    assert "knee[1]_alpha" in parameters
    viscous, base = parameters["hip_friction_viscous"], parameters["hip_friction_base"]
    assert (viscous.value.item(), viscous.unit) == (0.2, "N m s/rad")  # the model's damping
    assert (base.value.item(), base.unit) == (0.1, "N m")  # it has none
    shared = built(experiment('{joint: "*", friction: {form: m3, shared: true}}'))
    assert shared.keys() == [f"all_{name}" for name in MODELS["m3"]]


def test_applied_it_is_the_model_s_friction() -> None:
    parameters = built(experiment('{joint: "*", friction: m4}'))
    parameters["hip_load_friction_base"].value = 0.3
    spec = mujoco.MjSpec.from_string(MODEL)
    for parameter in parameters.values():
        parameter.apply_modifier(spec)
    model = spec.compile()
    found = joint_frictions(model)
    assert list(found) == ["hip", "knee[1]"]
    assert found["hip"].load_friction_base == 0.3
    assert found["knee[1]"].alpha == 1.35
    assert model.dof_damping[0] == 0.2
    assert model.dof_frictionloss[0] == 0.1


def test_entries_of_single_parameters_are_kept() -> None:
    parameters = built(
        experiment(
            '{joint: "*", friction: m2}',
            "{joint: hip, alpha: {initial: 1.0, frozen: true}}",
            '{joint: "knee*", friction_base: {min: 0.05, max: 2}}',
        )
    )
    assert parameters["hip_alpha"].frozen
    assert not parameters["knee[1]_alpha"].frozen
    assert parameters["knee[1]_friction_base"].max_value.item() == 2.0
    assert len(parameters.keys()) == 2 * len(MODELS["m2"])


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["{joint: hip, friction: m7}"], "unknown friction model 'm7'; nearest: 'm"),
        (["{joint: hip, friction: }"], "names no friction model; valid: m1, m2"),
        (["{joint: hip, friction: {form: m2, max: 3}}"], "give starts and bounds to them"),
        (["{joint: hip, friction: m1, alpha: }"], "its friction model is m1, which has"),
        (["{joint: hip, friction: m1, damping: }"], "its friction_viscous is one already"),
        (["{joint: hip, friction: m1}", "{joint: hip, friction: m2}"], "is one already"),
        (["{joint: ankle, friction: m1}"], "unknown joint 'ankle'"),
    ],
)
def test_mistakes_are_named(entries: list[str], said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        built(experiment(*entries))
    assert said in str(caught.value)


def test_switching_models_keeps_what_both_have() -> None:
    m4 = experiment("{joint: hip, friction: m4, friction_base: {max: 2}, alpha: {max: 2}}")
    m3 = built(with_friction_model(m4, "m3"))
    assert set(m3.keys()) == {f"hip_{name}" for name in MODELS["m3"]}
    assert m3["hip_friction_base"].max_value.item() == 2.0
    assert built(structure(m4, "m6"))["hip_alpha"].max_value.item() == 2.0


def test_plain_friction_becomes_a_model() -> None:
    plain = experiment('{joint: "*", frictionloss: {max: 2}}', "{joint: hip, damping: {max: 3}}")
    m5 = built(with_friction_model(plain, "m5"))
    assert len(m5.keys()) == 2 * len(MODELS["m5"])
    assert m5["hip_friction_base"].max_value.item() == 2.0
    assert m5["hip_friction_viscous"].max_value.item() == 3.0
    assert m5["knee[1]_friction_viscous"].max_value.item() == 10.0
    with pytest.raises(ExperimentError, match="needs a joint whose friction is identified"):
        with_friction_model(experiment("{joint: hip, armature: }"), "m1")

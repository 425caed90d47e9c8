# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From the entries of an experiment to parameters of a model."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import body_inertia
from sysid_ros.engine.parameters.modifiers import SignalModifier
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots.declared_parameters import build_parameters

MODEL = """
<mujoco>
  <worldbody>
    <body name="link1">
      <joint name="left_hip" armature="0.1" damping="0.2"/>
      <inertial pos="0 0 -0.3" mass="0.6" diaginertia="0.005 0.006 0.007"/>
      <body name="link2">
        <joint name="left_knee" armature="0.3"/>
        <inertial pos="0 0 -0.2" mass="0.4" diaginertia="0.005 0.006 0.007"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="left_hip" joint="left_hip" kp="20" kv="1"/>
    <motor name="knee" joint="left_knee"/>
  </actuator>
  <sensor><jointpos name="hip_pos" joint="left_hip"/></sensor>
</mujoco>
"""
HEAD = """\
model: m.xml
signals:
  - {sensor: hip_pos, topic: t, field: f}
  - {actuator: knee, topic: /arm/commands, field: f}
  - {qpos: left_knee, topic: /arm/commands, field: f}
parameters:
"""


@pytest.fixture(scope="module")
def spec() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(MODEL)


def built(spec: mujoco.MjSpec, *entries: str) -> ParameterDict:
    """The parameters of an experiment with these entries, from line 7 on."""
    text = HEAD + "".join(f"  - {entry}\n" for entry in entries)
    return build_parameters(parse_experiment(text, path=Path("e.yaml")), spec)


def error_of(spec: mujoco.MjSpec, *entries: str) -> str:
    with pytest.raises(ExperimentError) as caught:
        built(spec, *entries)
    return str(caught.value)


def written(spec: mujoco.MjSpec, parameters: ParameterDict) -> mujoco.MjModel:
    """The model with all parameters applied."""
    copy = spec.copy()
    for parameter in parameters.values():
        parameter.apply_modifier(copy)
    return copy.compile()


def test_one_parameter_per_match_starts_at_the_models_value(spec: mujoco.MjSpec) -> None:
    parameters = built(spec, '{joint: "left_*", armature: {max: 5}}')
    assert parameters.keys() == ["left_hip_armature", "left_knee_armature"]
    np.testing.assert_allclose(parameters.as_vector(), [0.1, 0.3])
    knee = parameters["left_knee_armature"]
    assert (knee.min_value.item(), knee.max_value.item(), knee.unit) == (0.0, 5.0, "kg m^2")
    knee.value = 0.7
    model = written(spec, parameters)
    np.testing.assert_allclose(model.dof_armature, [0.1, 0.7])


def test_usual_bounds_are_of_what_a_joint_carries_and_of_its_motor() -> None:
    """A shoulder of 0.36 kg m^2 and 8 N m was excluded by bounds that suit a small arm."""
    heavy = mujoco.MjSpec.from_string(
        MODEL.replace('mass="0.4"', 'mass="20"').replace(
            '<motor name="knee"', '<motor name="knee" ctrlrange="-300 300"'
        )
    )
    light = mujoco.MjSpec.from_string(MODEL.replace(' armature="0.3"', ""))
    entry = "{joint: left_knee, armature: {}, damping: {}, frictionloss: {}}"
    for one, least in ((heavy, (30.0, 600.0, 300.0)), (light, (0.1, 10.0, 5.0))):
        most = [parameter.max_value.item() for parameter in built(one, entry).values()]
        np.testing.assert_allclose(most, least)
    assert built(heavy, "{joint: left_knee, armature: {max: 2.0}}").bounds.upper == [2.0]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ('"left_*"', "left_armature"),
        ('"*"', "all_armature"),
        ('"*[ep]"', "all_ep_armature"),
        ('"left_[hk]*"', "left_hk_armature"),
    ],
)
def test_a_shared_value_is_written_to_all_matches(
    spec: mujoco.MjSpec, pattern: str, name: str
) -> None:
    parameters = built(spec, f"{{joint: {pattern}, armature: shared}}")
    assert parameters.keys() == [name]
    assert parameters[name].value.item() == pytest.approx(0.2)  # the mean of 0.1 and 0.3
    np.testing.assert_allclose(written(spec, parameters).dof_armature, [0.2, 0.2])


def test_values_shared_by_last_letters_have_names_of_their_own(spec: mujoco.MjSpec) -> None:
    """Three controllers of motors that are numbered on: names that repeat were refused."""
    entries = [f'{{joint: "{p}", damping: shared}}' for p in ("*[ip]", "*[ae]", "*[uo]")]
    joints = ["tip", "sea", "auto"]
    crowd = spec.copy()
    for name in joints:
        body = crowd.worldbody.add_body(mass=1.0, inertia=[1.0, 1.0, 1.0])
        body.add_joint(name=name)
    names = ["all_ip_damping", "all_ae_damping", "all_uo_damping"]
    assert built(crowd, *entries).keys() == names


def test_a_pattern_of_joints_passes_over_what_floats(spec: mujoco.MjSpec) -> None:
    floating = spec.copy()
    hull = floating.worldbody.add_body(name="hull", mass=1.0, inertia=[1.0, 1.0, 1.0])
    hull.add_freejoint(name="root")
    held = built(floating, '{joint: "*", armature: , friction: m1}').keys()
    assert held == built(spec, '{joint: "*", armature: , friction: m1}').keys()
    assert built(floating, "{joint: root, damping: }").keys() == ["root_damping"]
    assert built(floating, '{joint: "ro*", damping: }').keys() == ["root_damping"]


def test_settings_of_an_entry_arrive(spec: mujoco.MjSpec) -> None:
    parameters = built(
        spec,
        "{joint: left_hip, armature: {initial: 0.2, min: 0.1, max: 0.3, prior: {std: 0.05}}}",
        "{joint: left_knee, armature: {prior: {mean: 0.25, std: 0.1}}}",
        "{body: link1, inertia: pseudo}",
        "{body: link2, mass_ipos: {min: [0.1, -1, -1, -1], max: [2, 1, 1, 1]}}",
        "{actuator: left_hip, kp: {initial: 0, frozen: true}}",
        "{signal: hip_pos, delay: }",
    )
    hip, knee, inertia, mass_ipos, gain, delay = parameters.values()
    assert (hip.value.item(), hip.min_value.item(), hip.max_value.item()) == (0.2, 0.1, 0.3)
    assert hip.prior is not None and [x.item() for x in hip.prior] == [0.2, 0.05]
    assert knee.prior is not None and [x.item() for x in knee.prior] == [0.25, 0.1]
    assert inertia.size == 10
    np.testing.assert_allclose(mass_ipos.value, [0.4, 0, 0, -0.2])
    np.testing.assert_allclose(mass_ipos.max_value, [2, 1, 1, 1])
    assert gain.frozen and gain.value.item() == 0.0
    assert (delay.name, delay.value.item(), delay.unit) == ("hip_pos_delay", 0.0, "s")
    model = written(spec, parameters)
    assert model.actuator("left_hip").biasprm[1] == 0.0
    np.testing.assert_allclose(model.body_mass[1:], [0.6, 0.4])


def test_a_joints_state_is_called_like_its_sensor(spec: mujoco.MjSpec) -> None:
    parameters = built(spec, '{signal: "*", delay: {max: 0.02}}')
    assert parameters.keys() == ["hip_pos_delay", "knee_delay", "left_knee_qpos_delay"]


def test_a_bias_has_the_unit_of_what_it_is_added_to(spec: mujoco.MjSpec) -> None:
    spec.add_sensor(
        name="knee_force",
        type=mujoco.mjtSensor.mjSENS_ACTUATORFRC,
        objtype=mujoco.mjtObj.mjOBJ_ACTUATOR,
        objname="knee",
    )
    for label, unit in {"hip_pos": "rad", "knee_force": "N m", "knee": ""}.items():
        bias = lookup("signal", "bias")
        assert bias.unit_for(spec, label) == unit
        assert lookup("signal", "gain").unit_for(spec, label) == ""


def test_a_topic_stands_for_its_signals(spec: mujoco.MjSpec) -> None:
    parameters = built(spec, "{signal: /arm/commands, delay: {max: 0.02, shared: true}}")
    assert parameters.keys() == ["arm_commands_delay"]
    modifier = parameters["arm_commands_delay"].modifier
    assert isinstance(modifier, SignalModifier)
    assert modifier.names == ("knee", "left_knee_qpos")
    with pytest.raises(ExperimentError, match="unknown signal '/arm'"):
        built(spec, "{signal: /arm, delay: {max: 0.02}}")


def test_equal_names_of_different_elements_are_told_apart(spec: mujoco.MjSpec) -> None:
    parameters = built(spec, "{joint: left_hip, damping: }", "{actuator: left_hip, damping: }")
    assert parameters.keys() == ["left_hip_damping", "left_hip_actuator_damping"]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("{joint: left_hop, armature: }", "unknown joint 'left_hop'; nearest: 'left_hip'"),
        ("{signal: hip_os, delay: }", "unknown signal 'hip_os'; nearest: 'hip_pos'"),
        ("{joint: left_hip, armature: {max: 0.05}}",
         "armature of joint 'left_hip' starts at 0.1 (the model's value), outside its bounds "
         "[0, 0.05]"),
        ("{actuator: left_hip, kp: {initial: 3, min: 5}}", "initial (3) lies outside its bounds"),
        ("{actuator: left_hip, kp: {min: 500}}",
         "kp of actuator 'left_hip' starts at 20 (the model's value), outside its bounds "
         "[500, 200]"),
        ("{body: link2, mass_ipos: {min: [1, 2]}}",
         "min of body mass_ipos has 2 components, it takes 4 (mass, x, y, z)"),
        ("{body: link2, mass_ipos: {max: [1, 0, 0, -0.3]}}",
         "starts at -0.2 (the model's value) of z, outside its bounds"),
        ("{body: link2, mass: {min: -1}}",
         "mass of body 'link2' may be as low as -1; no mass is below 0"),
        ("{body: link2, mass_ipos: {min: [-1, -1, -1, -1]}}", "no mass is below 0"),
        ("{joint: left_hip, armature: {min: -0.1}}", "no armature is below 0"),
        ("{actuator: knee, kp: }", "Actuator knee is not a position actuator"),
        ("{actuator: knee, force_limit: {max: 3}}",
         "actuator 'knee' has no force limit in the model"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_model_names_its_line(
    spec: mujoco.MjSpec, entry: str, sentence: str
) -> None:
    message = error_of(spec, entry)
    assert message.startswith("e.yaml:7: ")
    assert sentence in message


def test_nothing_can_be_identified_twice(spec: mujoco.MjSpec) -> None:
    message = error_of(spec, '{joint: "*", armature: }', "{joint: left_hip, armature: }")
    assert message == (
        "e.yaml:8: armature of joint 'left_hip' cannot be a parameter: its armature is one "
        "already (e.yaml:7)"
    )


@pytest.mark.parametrize(
    ("first", "second", "allowed"),
    [
        ("mass: ", "com_z: ", True),
        ("com_x: ", "com_z: ", True),
        ("mass: ", "inertia: pseudo", False),
        ("com_z: ", "inertia: pseudo", False),
        ("mass_ipos: ", "com_z: ", False),
        ("inertia: mass", "mass: ", False),
    ],
)
def test_attributes_of_a_body_that_overlap_exclude_each_other(
    spec: mujoco.MjSpec, first: str, second: str, allowed: bool
) -> None:
    entries = [f"{{body: link1, {attribute}}}" for attribute in (first, second)]
    if allowed:
        assert len(built(spec, *entries)) == 2
    else:
        assert "of body 'link1' cannot be a parameter: its " in error_of(spec, *entries)


HOOK = """\
import time
from sysid_ros.engine.parameters.parameter import Parameter

def add(parameters, spec):
    def write(spec, parameter):
        spec.body("link2").pos[2] = parameter.value[0]
    parameters.add(Parameter("offset", -0.3, -1, 0, modifier=write))
    spec.body("link2").pos[0] = 5.0  # it has a copy only

def fail(parameters, spec):
    raise KeyError("payload")

def add_broken(parameters, spec):
    def write(spec, parameter):
        spec.body("link9").pos[2] = 0
    parameters.add(Parameter("broken", 0, -1, 1, modifier=write))

def exit(parameters, spec):
    raise SystemExit(3)

class Loud(BaseException):
    pass

def shout(parameters, spec):
    raise Loud("hear me")

def give_back(parameters, spec):
    return {"offset": 1.0}

def leave_a_number(parameters, spec):
    parameters["offset"] = 1.0

def leave_nothing_finite(parameters, spec):
    parameters.add(Parameter("offset", 0, -1, 1))
    parameters["offset"].value = float("nan")

def leave_no_function(parameters, spec):
    parameters.add(Parameter("offset", 0, -1, 1, modifier=5))

def hang(parameters, spec):
    while True:
        pass

def add_one_that_hangs(parameters, spec):
    parameters.add(Parameter("slow", 0, -1, 1, modifier=lambda spec, parameter: time.sleep(1e6)))

def talk(parameters, spec):
    print("talking")
    return parameters
"""


@pytest.mark.parametrize(
    ("hook", "sentence"),
    [
        ("hooks:absent", "the module has no function 'absent'"),
        ("hooks:fail", "'hooks:fail' failed: KeyError: 'payload'"),
        ("nowhere:add", "importing it failed: ModuleNotFoundError"),
        ("hooks:exit", "'hooks:exit' failed: SystemExit: 3"),
        ("hooks:shout", "failed: Loud: hear me"),
        ("hooks:give_back", "returned a dict, which would be lost"),
        ("hooks:leave_a_number", "left 'offset' among the parameters, which is no Parameter"),
        ("hooks:leave_nothing_finite", "the value of 'offset' is [nan], not a finite number"),
        ("hooks:leave_no_function", "the modifier of 'offset' is a int, which cannot be called"),
    ],
)
def test_a_hook_that_does_not_work_is_named(
    spec: mujoco.MjSpec, tmp_path: Path, hook: str, sentence: str
) -> None:
    (tmp_path / "hooks.py").write_text(HOOK)
    experiment = parse_experiment(f"model: m.xml\nmodifiers: {hook}", path=tmp_path / "e.yaml")
    with pytest.raises(ExperimentError) as caught:
        build_parameters(experiment, spec)
    assert sentence in str(caught.value)


def test_what_a_hook_prints_spoils_no_result(
    spec: mujoco.MjSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hooks.py").write_text(HOOK)
    build_parameters(
        parse_experiment("model: m.xml\nmodifiers: hooks:talk", path=tmp_path / "e.yaml"), spec
    )
    assert capsys.readouterr() == ("", "talking\n")


def test_a_modifier_of_a_hook_that_fails_is_named(spec: mujoco.MjSpec, tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOK)
    text = "model: m.xml\nmodifiers: hooks:add_broken"
    parameters = build_parameters(parse_experiment(text, path=tmp_path / "e.yaml"), spec)
    with pytest.raises(ExperimentError, match="modifier of 'broken' failed: AttributeError"):
        written(spec, parameters)


def test_a_hook_that_never_returns_ends_with_the_time_limit(
    spec: mujoco.MjSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hooks.py").write_text(HOOK)
    monkeypatch.setattr("sysid_ros.robots.hook._LEAST", 0.5)
    text = "model: m.xml\nfit: {{time_limit: 0.5}}\nmodifiers: hooks:{}"
    with pytest.raises(ExperimentError, match="'hooks:hang' failed: it had not returned after"):
        build_parameters(parse_experiment(text.format("hang"), path=tmp_path / "e.yaml"), spec)
    slow = parse_experiment(text.format("add_one_that_hangs"), path=tmp_path / "e.yaml")
    with pytest.raises(ExperimentError, match="modifier of 'slow' failed: it had not returned"):
        written(spec, build_parameters(slow, spec))


@pytest.mark.parametrize(
    ("dynamics", "integrator", "expected"),
    [
        ("filter", "implicitfast", (0.002, 0.002)),
        ("filter", "RK4", (0.001, 0.0005)),
        ("filterexact", "Euler", (0.001, 0.0005)),
    ],
)
def test_a_filter_that_would_ring_is_not_searched(
    dynamics: str, integrator: str, expected: tuple[float, float]
) -> None:
    model = MODEL.replace(
        "<mujoco>", f'<mujoco><option timestep="0.002" integrator="{integrator}"/>'
    ).replace(
        '<motor name="knee" joint="left_knee"/>',
        f'<general name="knee" joint="left_knee" dyntype="{dynamics}" dynprm="0.001"/>',
    )
    found = built(
        mujoco.MjSpec.from_string(model), "{actuator: knee, time_constant: {min: 0.0005, max: 0.1}}"
    )["knee_time_constant"]
    assert (found.nominal.item(), found.min_value.item()) == expected


def test_a_hook_beside_the_experiment_adds_parameters(spec: mujoco.MjSpec, tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOK)
    experiment = parse_experiment("model: m.xml\nmodifiers: hooks:add", path=tmp_path / "e.yaml")
    parameters = build_parameters(experiment, spec)
    assert parameters.keys() == ["offset"]
    np.testing.assert_allclose(written(spec, parameters).body("link2").pos, [0, 0, -0.3])


def many(count: int) -> mujoco.MjSpec:
    """A model of bodies whose inertia the compiler infers."""
    body = '<body name="b{0}"><joint name="j{0}"/><geom size=".1"/></body>'
    bodies = "".join(body.format(i) for i in range(count))
    return mujoco.MjSpec.from_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")


def test_more_parameters_than_a_fit_takes_are_refused_before_they_are_built() -> None:
    said = error_of(many(2001), '{joint: "*", armature: }')
    assert "has 2001 parameters, a fit takes 2000 at most" in said
    assert "shared: true" in said


def test_many_inferred_inertias_are_read_from_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling the model for each of them takes minutes."""
    spec, made = many(30), []
    compiled = body_inertia.compiled
    monkeypatch.setattr(body_inertia, "compiled", lambda one: made.append(1) or compiled(one))
    parameters = built(spec, '{body: "b*", mass: }')
    sphere = 1000.0 * 4.0 / 3.0 * np.pi * 0.1**3
    np.testing.assert_allclose(parameters.as_vector(), np.full(30, sphere))
    assert len(made) == 1


@pytest.mark.parametrize("bounds", ["{min: 0.1, max: 0.1}", "{min: 0.1, max: 0.1000000000000001}"])
def test_bounds_without_room_get_a_sentence(spec: mujoco.MjSpec, bounds: str) -> None:
    said = error_of(spec, f"{{joint: left_hip, armature: {bounds}}}")
    assert "'left_hip_armature' has the bounds [0.1, 0.1], between which there is no room" in said
    assert "frozen: true" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{max: 1.0e+308}", "has a bound of 1e+308; a finite one is 1e+30 at most"),
        ("{initial: 1.0e+308, frozen: true}", "starts at 1e+308; a finite one is 1e+30 at most"),
        ("{prior: {mean: 1.0e+308, std: 1.0}}", "has a prior with a mean of 1e+308; a finite one"),
        ("{prior: {std: 1.0e+308}}", "has a prior with a std of 1e+308; a finite one is 1e+30"),
        ("{prior: {std: 1.0e-300}}", "has a prior with a std of 1e-300, which leaves no room"),
    ],
)
def test_numbers_beyond_all_quantities_get_a_sentence(
    spec: mujoco.MjSpec, given: str, said: str
) -> None:
    """Their squares, or those of their inverses, are infinite."""
    assert f"'left_hip_armature' {said}" in error_of(
        spec, f"{{joint: left_hip, armature: {given}}}"
    )


def test_a_frozen_value_needs_no_room(spec: mujoco.MjSpec) -> None:
    entry = "{joint: left_hip, armature: {min: 0.1, max: 0.1, frozen: true}}"
    assert built(spec, entry).as_vector().size == 0


def test_biases_along_axes_are_of_sensors_that_have_axes() -> None:
    arm = MODEL.replace("<sensor>", '<sensor><gyro name="rate" site="imu"/>')
    arm = arm.replace('<joint name="left_knee"', '<site name="imu"/><joint name="left_knee"')
    head = HEAD.replace("parameters:", "  - {sensor: rate, topic: /imu, field: f}\nparameters:")
    spec = mujoco.MjSpec.from_string(arm)
    entry = "  - {signal: rate, bias_x: {}, bias_z: {max: 0.2}}"
    params = build_parameters(parse_experiment(head + entry), spec)
    assert [(one.name, one.unit) for one in params.values()] == [
        ("rate_bias_x", "rad/s"),
        ("rate_bias_z", "rad/s"),
    ]
    with pytest.raises(ExperimentError, match=r"bias_y of signal 'hip_pos': it has no axes"):
        build_parameters(parse_experiment(head + "  - {signal: hip_pos, bias_y: {}}"), spec)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading an experiment file: what is accepted, and what each mistake is answered with."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.errors import ErrorCode, ExperimentError
from sysid_ros.experiment import (
    check_fittable,
    load_experiment,
    parse_experiment,
    with_bags,
    with_overrides,
)
from sysid_ros.experiment.fit_schema import WindowConfig
from sysid_ros.recording.mapping.mapping_settings import Interpolation, SignalKind
from sysid_ros.recording.messages.stored_message import Clock

COMPLETE = """\
model: arm.xml
sequences:
  - bags/a
  - {bag: bags/b, model: p.xml, conditions: {kp: 8, floor: soft}, robot: two, start: 1, end: 2.5}
validation: {bags: [bags/c]}
clock: receive
signals:
  - {actuator: motor, topic: /command, field: "data[0]", clock: publish, interpolation: linear}
  - {sensor: angle, topic: /js, field: "position[elbow]", scale: -1, offset: 0.5, noise: 1e-3}
  - {qvel: elbow, topic: /joint_states, field: "velocity[elbow]"}
windows: {length: 0.5}
scoring: {overlap: 0.25}
initial_state: {estimate: false, velocity_filter: 20}
parameters:
  - joint: "*"
    armature: {initial: 0.002, min: 0, max: 0.05, prior: {mean: 0.002, std: 0.001}}
    damping:
  - {body: link, inertia: pseudo}
  - {actuator: motor, gain: frozen}
  - {signal: "*", delay: {max: 0.02, shared: true}}
fit: {optimizer: scipy, max_iterations: 7, threads: 2, time_limit: 60}
output: out
"""


def errors_of(text: str, *overrides: str) -> str:
    """The message that an invalid experiment is answered with."""
    with pytest.raises(ExperimentError) as caught:
        parse_experiment(text, path=Path("arm.yaml"), overrides=overrides)
    assert caught.value.code is ErrorCode.INVALID_EXPERIMENT
    return str(caught.value)


def test_every_part_of_a_complete_file_is_read() -> None:
    experiment = parse_experiment(COMPLETE)
    first, second = experiment.sequences
    assert (first.bag, first.name, first.model, dict(first.conditions)) == ("bags/a", "a", None, {})
    assert (second.model, second.robot, second.start, second.end) == ("p.xml", "two", 1, 2.5)
    assert second.conditions == {"kp": 8.0, "floor": "soft"}
    assert [bag.bag for bag in experiment.validation.bags] == ["bags/c"]
    assert experiment.clock is Clock.RECEIVE
    motor, angle, velocity = experiment.signals
    assert (motor.kind, motor.name, motor.clock) == (SignalKind.ACTUATOR, "motor", Clock.PUBLISH)
    assert motor.interpolation is Interpolation.LINEAR
    assert (angle.scale, angle.offset, angle.noise) == (-1.0, 0.5, 0.001)
    assert (velocity.kind, velocity.label, angle.label) == (SignalKind.QVEL, "elbow_qvel", "angle")
    assert experiment.initial_state.estimate is False
    assert (experiment.fit.optimizer, experiment.fit.max_iterations) == ("scipy", 7)
    assert experiment.output == "out"


def test_parameters_are_read_per_attribute_with_their_lines() -> None:
    armature, damping, inertia, gain, delay = parse_experiment(COMPLETE).parameters
    assert (armature.element, armature.pattern, armature.attribute) == ("joint", "*", "armature")
    assert (armature.initial, armature.min, armature.max) == (0.002, 0.0, 0.05)
    assert armature.prior is not None and armature.prior.std == 0.001
    assert (damping.attribute, damping.initial) == ("damping", None)
    assert str(damping.place) == "experiment:17"
    assert (inertia.form, str(inertia.place)) == ("pseudo", "experiment:18")
    assert gain.frozen and delay.shared and delay.max == 0.02


def test_scoring_takes_from_windows_what_it_leaves_out() -> None:
    assert parse_experiment(COMPLETE).scoring == WindowConfig(length=0.5, overlap=0.25)
    assert parse_experiment("model: a.xml").scoring is None


def test_text_may_look_like_a_number_with_an_exponent() -> None:
    experiment = parse_experiment(
        "model: 1e3\nsequences: [{bag: 2e4, conditions: {kp: 1e1, unit: '1e1', floor: e1}}]"
    )
    assert (experiment.model, experiment.sequences[0].bag) == ("1e3", "2e4")
    assert experiment.sequences[0].conditions == {"kp": 10.0, "unit": "1e1", "floor": "e1"}


@pytest.mark.parametrize("word", ["whole", "null"])
def test_a_window_may_be_the_whole_recording(word: str) -> None:
    assert parse_experiment(f"model: a.xml\nwindows: {{length: {word}}}").windows.length is None


def test_a_file_is_read_with_its_path_and_survives_pickling(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + COMPLETE.encode())
    experiment = load_experiment(file)
    assert experiment.path == file
    assert experiment.text == COMPLETE
    copied = pickle.loads(pickle.dumps(experiment))  # noqa: S301  # as a child process gets it
    assert copied == experiment


BAD = [
    ("model: a.xml\nwindow: {}", "arm.yaml:2: unknown key 'window' in the experiment; nearest: "
     "'windows'"),
    ("model: a.xml\nfit: {max_iterations: 2.5}",
     "arm.yaml:2: fit.max_iterations must be a whole number, given 2.5"),
    ("model: a.xml\nfit: {threads: true}", "fit.threads must be a whole number, given true"),
    ("model: a.xml\nfit: {bias_check: 1}", "fit.bias_check must be true or false, given 1"),
    ("model: a.xml\nfit: {max_gap: yes}", "fit.max_gap must be a number, given yes"),
    ("model: a.xml\nfit: {max_gap: .nan}", "fit.max_gap must be finite, given .nan"),
    ("model: a.xml\nfit: {max_gap: -.inf}", "fit.max_gap must be finite, given -.inf"),
    ("model: a.xml\nfit: {max_gap: 1e999}", "fit.max_gap must be finite, given '1e999'"),
    ("model: a.xml\nfit: {max_gap: 0}", "fit.max_gap must be above 0, given 0"),
    ("model: a.xml\nfit: {threads: 1000000}", "fit.threads must be at most 1024, given 1000000"),
    ("model: a.xml\nfit: {max_iterations: 0}", "fit.max_iterations must be at least 1, given 0"),
    ("model: a.xml\nfit: {optimizer: scipi}",
     "unknown fit.optimizer 'scipi'; nearest: 'scipy'"),
    ("model: a.xml\nfit: [1]", "fit must be a mapping of keys, given a list"),
    ("model: a.xml\nclock: headr", "unknown clock 'headr'; nearest: 'header'"),
    ("model: 5", "model must be text, given 5; put it in quotes"),
    ("model: ''", "model must not be empty"),
    ("model: a.xml\nwindows: {length: -1}", "windows.length must be above 0, given -1"),
    ("model: a.xml\nwindows: {length: hole}",
     "windows.length must be a number or whole, given 'hole'"),
    ("model: a.xml\nwindows: {overlap: 1.0}", "windows.overlap must be at most 0.95, given 1.0"),
    ("model: a.xml\nwindows: {overlap: 0.5}", "arm.yaml:2: windows.overlap must be 0"),
    ("model: a.xml\nscoring: {overlap: -0.1}", "scoring.overlap must be at least 0, given -0.1"),
    ("model: a.xml\nsequences: bags/a", "sequences must be a list, given 'bags/a'"),
    ("model: a.xml\nsequences: [{bag: a, start: 3, end: 2}]",
     "sequences[0]: start (3 s) must come before end (2 s)"),
    ("model: a.xml\nsequences: [{start: 3}]", "sequences[0] lacks the key 'bag'"),
    ("model: a.xml\nsequences: [a, ./a]", "bag './a' is trained on twice"),
    ("model: a.xml\nsequences: [a]\nvalidation: {bags: [a]}",
     "arm.yaml:3: bag 'a' is both trained on and held out"),
    ("model: a.xml\nvalidation: {fraction: 0.2, bags: [a]}",
     "validation takes one of bags, fraction, condition, folds; given bags, fraction"),
    ("model: a.xml\nvalidation: {fraction: 1}", "validation.fraction must be below 1, given 1"),
    ("model: a.xml\nsequences: [{bag: a, conditions: {kp: 8}}]\nvalidation: {condition: {kq: 8}}",
     "unknown condition 'kq' in validation.condition; nearest: 'kp'"),
    ("model: a.xml\nsequences: [{bag: a, conditions: {kp: 8}}]\nvalidation: {condition: {kp: 8}}",
     "validation.condition splits nothing: every sequence has {kp: 8.0}"),
    ("model: a.xml\nsequences: [{bag: a, conditions: {kp: true}}]",
     "sequences[0].conditions.kp must be a number or text, given true"),
    ("sequences: [a]", "lacks the key 'model' (or 'model_topic')"),
    ("model: a.xml\nmodel_topic: /robot_description", "give model or model_topic, not both"),
    ("model: a.xml\nscoring: {overlap: 0.999999}", "scoring.overlap must be at most 0.95, given"),
    ("model: a.xml\ninitial_state: {velocity_filter: 1e-300}",
     "initial_state.velocity_filter must be at least 0.01, given"),
    ("model: a.xml\nfit: {search: {trials: 1000000000}}",
     "fit.search.trials must be at most 1e+06, given 1000000000"),
    ("model: a.xml\nfit: {search: {study: trials.txt}}",
     "fit.search.study must be a file that ends in .db or .log, or a URL of Optuna's, given "
     "'trials.txt'"),
    ("model: a.xml\nfit: {search: {study_name: mine}}",
     "arm.yaml:2: fit.search.study_name is 'mine', but fit.search.study, in which it would be, is "
     "not given"),
    ("model: a.xml\nfit: {inverse_dynamics: {spread: 1e-300}}",
     "fit.inverse_dynamics.spread must be at least 0.001, given"),
    ("model: a.xml\nfit: {inverse_dynamics: {total_mass: 1e9}}",
     "fit.inverse_dynamics.total_mass must be at most 1e+06, given '1e9'"),
    ("model: a.xml\npayload: {body: hand, mass: 1.0e+9}",
     "payload.mass must be at most 10000, given"),
    ("model: a.xml\ncouplings: {joint: a, other: a}",
     "couplings: a motor that turns with 'a' alone is no coupling; 'other' must be another joint"),
    ("model: a.xml\ncouplings: {joint: a, other: b, ratio: 0}",
     "couplings: ratio must be between 0.001 and 1000 in size, given 0"),
    ("model: a.xml\nmodifiers: hooks", "modifiers must look like my_module:function, given"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), BAD, ids=[sentence[:50] for _, sentence in BAD])
def test_each_mistake_gets_its_sentence(text: str, sentence: str) -> None:
    assert sentence in errors_of(text)


def test_a_bag_without_a_payload_that_there_is_not_is_one_mistake() -> None:
    said = errors_of("model: a.xml\nsequences: [{bag: a, loaded: false}]")
    assert "bag 'a' has 'loaded: false', which needs the key 'payload'" in said
    assert "none tells the payload" not in said


BAD_SIGNALS = [
    ("{actuator: m, sensor: s, topic: t, field: f}",
     "signals[0] needs exactly one of the keys actuator, sensor, qpos, qvel, wrench, effort, "
     "servo, velocity_servo; its keys are: actuator, sensor, topic, field"),
    ("{topic: t, field: f}", "signals[0] needs exactly one of the keys actuator"),
    ("{sensor: s, field: f}", "signals[0] lacks the key 'topic'"),
    ("{sensor: s, topic: t, field: f, noise: 0}", "signals[0].noise must be above 0, given 0"),
    ("{sensor: s, topic: t, field: f, noise: 1e-300}", "signals[0].noise must be at least 1e-12"),
    ("{sensor: s, topic: t, field: f, noise: 1e300}", "signals[0].noise must be at most 1e+12"),
    ("{sensor: s, topic: t, field: f, scale: 1e200}", "signals[0].scale must be at most 1e+12"),
    ("{sensor: s, topic: t, field: f, offset: -1e13}", "signals[0].offset must be at least -1e+12"),
    ("{sensor: s, topic: t, field: f, scale: 0}", "signals[0].scale must be other than 0"),
    ("{sensor: s, topic: t, field: f, feild: f}",
     "unknown key 'feild' in signals[0]; nearest: 'field'"),
    ("{sensor: s, topic: t, field: f, interpolation: spline}",
     "unknown signals[0].interpolation 'spline'; nearest: 'linear'; valid: 'cubic', 'hold', "
     "'linear'"),
    ("{sensor: s, topic: t, field: 'position[elbow'}",
     "signals[0].field: 'position[elbow' is not a field path: expected '.' after 'position'"),
    ("text", "signals[0] must be a mapping of keys, given 'text'"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "sentence"), BAD_SIGNALS, ids=[s[:50] for _, s in BAD_SIGNALS])
def test_each_mistake_in_a_signal_gets_its_sentence(item: str, sentence: str) -> None:
    assert f"arm.yaml:3: {sentence}" in errors_of(f"model: a.xml\nsignals:\n  - {item}\n")


def test_a_signal_may_be_mapped_once() -> None:
    line = "  - {sensor: s, topic: t, field: f}\n"
    message = errors_of("model: a.xml\nsignals:\n" + 2 * line)
    assert message == "arm.yaml:4: signals[1]: sensor 's' is mapped already, in line 3"


BAD_PARAMETERS = [
    ("{joint: j, armatur: {}}", "unknown key 'armatur' in parameters[0]; nearest: 'armature'"),
    ("{joint: j}", "parameters[0] names no attribute of the joint; valid: alpha, armature"),
    ("{joint: j, body: b, mass: }", "parameters[0] needs exactly one of the keys joint, body"),
    ("{armature: {}}", "parameters[0] needs exactly one of the keys joint, body"),
    ("{joint: j, armature: 0.1}",
     "parameters[0].armature must be a mapping such as {initial: 0.1, min: 0, max: 1}, given 0.1"),
    ("{joint: j, armature: {min: 2, max: 1}}",
     "parameters[0].armature: min (2) is above max (1)"),
    ("{joint: j, armature: {initial: 3, max: 1}}",
     "parameters[0].armature: initial (3) lies outside its bounds [-inf, 1]"),
    ("{joint: j, damping_poly: {min: [0, 0], max: [1, -1]}}",
     "parameters[0].damping_poly: min (0) is above max (-1)"),
    ("{joint: j, damping_poly: {initial: [0, 0], max: [1, 1, 1]}}",
     "parameters[0].damping_poly: initial, min and max differ in length"),
    ("{joint: j, armature: {max: [1, .nan]}}",
     "parameters[0].armature.max[1] must be finite, given .nan"),
    ("{joint: j, armature: {prior: {mean: 1}}}",
     "parameters[0].armature.prior lacks the key 'std'"),
    ("{joint: j, armature: {prior: {mean: 1, std: 0}}}",
     "parameters[0].armature.prior.std must be above 0, given 0"),
    ("{joint: j, armature: pseudo}",
     "joint armature has no forms, given 'pseudo'; valid are {} and bounds such as "
     "{min: 0, max: 1}"),
    ("{body: b, inertia: psuedo}", "unknown form of inertia 'psuedo'; nearest: 'pseudo'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "sentence"), BAD_PARAMETERS, ids=[s[:50] for _, s in BAD_PARAMETERS]
)
def test_each_mistake_in_a_parameter_gets_its_sentence(item: str, sentence: str) -> None:
    message = errors_of(f"model: a.xml\nparameters:\n  - {item}\n")
    assert message.startswith("arm.yaml:3: ")
    assert sentence in message


def test_several_mistakes_are_shown_at_once_but_not_too_many() -> None:
    lines = errors_of("model: a.xml\n" + "".join(f"key_{i}: 1\n" for i in range(8))).splitlines()
    assert len(lines) == 6
    assert "arm.yaml:4:" in lines[2]
    assert lines[-1] == "and 3 more"


def test_a_file_without_recordings_can_be_read_but_not_fitted() -> None:
    signals = "model: a.xml\nsignals:\n  - {sensor: s, topic: t, field: f}\n"
    parameters = "parameters:\n  - {joint: j, armature: }\n"
    with pytest.raises(ExperimentError, match="no sequences to fit; list bags under 'sequences'"):
        check_fittable(parse_experiment(signals + parameters))
    with_bag = with_bags(parse_experiment(signals + parameters), ["a"])
    check_fittable(with_bag)
    with pytest.raises(ExperimentError, match="no parameters to fit"):
        check_fittable(with_overrides(with_bag, ["parameters=[]"]))
    with pytest.raises(ExperimentError, match="nothing measured is mapped"):
        check_fittable(with_overrides(with_bag, ["signals=[]"]))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"# only a comment\n", b"- a\n- b\n"])
def test_files_that_are_no_experiment_are_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "e.yaml"
    file.write_bytes(content)
    with pytest.raises(ExperimentError, match=r"e\.yaml.*(UTF-8|empty|a mapping of keys)"):
        load_experiment(file)


def test_neighbours_that_nobody_may_list_are_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(ExperimentError, match=r"No such file or directory$"):
        load_experiment(tmp_path / "absent.yaml")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"cannot read the experiment file .*No such file"):
        load_experiment(tmp_path / "absent.yaml")
    (tmp_path / "experiment.yaml").write_text("")
    with pytest.raises(ExperimentError, match=r"such file.*; nearest there: 'experiment\.yaml'"):
        load_experiment(tmp_path / "experimnt.yaml")
    with pytest.raises(ExperimentError, match="cannot read the experiment file"):
        load_experiment(tmp_path)
    with pytest.raises(ExperimentError, match="cannot read the experiment file"):
        load_experiment("a\0b")


NAMES = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8).filter(str.strip)
FIELDS = st.from_regex(r"[a-z_]+(\[[a-z0-9]{1,4}\])?(\.[xyz])?", fullmatch=True)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(1e-9, 1e9)


def optional(**keys: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Keys that may be left out."""
    return keys


BOUNDS = st.lists(NUMBERS, min_size=3, max_size=3).map(sorted)
ATTRIBUTES = BOUNDS.map(lambda b: {"min": b[0], "initial": b[1], "max": b[2]})
DOCUMENTS = st.fixed_dictionaries(
    {
        "model": NAMES,
        "signals": st.lists(
            st.fixed_dictionaries(
                {"sensor": NAMES, "topic": NAMES, "field": FIELDS},
                optional=optional(
                    noise=POSITIVE, scale=POSITIVE, offset=POSITIVE, interpolation=st.just("hold")
                ),
            ),
            max_size=4,
            unique_by=lambda signal: signal["sensor"],
        ),
        "parameters": st.lists(
            st.fixed_dictionaries({"joint": NAMES, "armature": ATTRIBUTES}), max_size=3
        ),
    },
    optional=optional(
        clock=st.sampled_from(["header", "publish", "receive"]),
        windows=st.fixed_dictionaries({"length": st.floats(1e-3, 1e9) | st.none()}),
        validation=st.fixed_dictionaries({"fraction": st.floats(0.01, 0.99)}),
        fit=st.fixed_dictionaries(
            {}, optional=optional(max_iterations=st.integers(1, 10**6), max_gap=POSITIVE)
        ),
    ),
)


@settings(deadline=None)  # the machine may be busy
@given(DOCUMENTS)
def test_any_valid_document_comes_back_as_written(document: dict[str, Any]) -> None:
    experiment = parse_experiment(yaml.safe_dump(document, allow_unicode=True))
    assert experiment.model == document["model"]
    for signal, written in zip(experiment.signals, document["signals"], strict=True):
        assert signal.name == written["sensor"]
        for name, value in written.items():
            assert name == "sensor" or getattr(signal, name) == value
    for parameter, written in zip(experiment.parameters, document["parameters"], strict=True):
        assert parameter.pattern == written["joint"]
        for name, value in written["armature"].items():
            assert getattr(parameter, name) == value
    for section in ("windows", "validation", "fit"):
        for name, value in document.get(section, {}).items():
            assert getattr(getattr(experiment, section), name) == value


def mappings_in(document: Any) -> list[dict[str, Any]]:
    """Every mapping of a document."""
    if isinstance(document, list):
        return [found for item in document for found in mappings_in(item)]
    if isinstance(document, dict):
        return [document, *(found for item in document.values() for found in mappings_in(item))]
    return []


@settings(deadline=None)  # the machine may be busy
@given(DOCUMENTS, st.data())
def test_any_wrong_key_is_an_experiment_error(
    document: dict[str, Any], data: st.DataObject
) -> None:
    document = copy.deepcopy(document)
    mapping = data.draw(st.sampled_from(mappings_in(document)))
    wrong = data.draw(NAMES).strip() + "_x"
    mapping[wrong] = data.draw(NUMBERS | st.none() | st.booleans() | st.just([{}]))
    with pytest.raises(ExperimentError, match=r"unknown key|is not text"):
        parse_experiment(yaml.safe_dump(document, allow_unicode=True))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(deadline=None)  # the machine may be busy
@given(DOCUMENTS, JUNK, st.data())
def test_a_value_of_any_kind_is_read_or_refused(
    document: dict[str, Any], junk: Any, data: st.DataObject
) -> None:
    document = copy.deepcopy(document)
    mapping = data.draw(st.sampled_from(mappings_in(document)))
    if mapping:
        mapping[data.draw(st.sampled_from(sorted(mapping)))] = junk
    try:
        parse_experiment(yaml.safe_dump(document, allow_unicode=True))
    except ExperimentError as error:
        assert str(error).startswith("experiment")


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_experiment(text)
    except ExperimentError as error:
        assert str(error)

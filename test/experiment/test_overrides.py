# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings on top of an experiment file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import parse_experiment, with_bags, with_overrides
from sysid_ros.experiment.experiment_schema import Experiment

TEXT = """\
model: arm.xml
sequences: [bags/a]
parameters:
  - {joint: "*", armature: {min: 0.0, max: 0.05}}
"""


@pytest.fixture
def experiment() -> Experiment:
    return parse_experiment(TEXT, path=Path("arm.yaml"))


def test_values_are_yaml_and_reach_any_depth(experiment: Experiment) -> None:
    changed = with_overrides(
        experiment,
        [
            "fit.max_iterations=20",
            "windows.length = 0.5",
            "parameters[0].armature.max=1e-1",
            "scoring={length: whole}",
            "output=a=b",
        ],
    )
    assert changed.fit.max_iterations == 20
    assert changed.windows.length == 0.5
    assert changed.parameters[0].max == 0.1
    assert changed.scoring is not None and changed.scoring.length is None
    assert changed.output == "a=b"
    assert experiment.fit.max_iterations == 100


def test_overrides_add_up_and_are_kept(experiment: Experiment) -> None:
    once = with_overrides(experiment, ["fit.max_iterations=20"])
    twice = with_overrides(with_bags(once, ["b"]), ["fit.threads=1"])
    assert (twice.fit.max_iterations, twice.fit.threads) == (20, 1)
    assert [sequence.bag for sequence in twice.sequences] == ["bags/a", "b"]
    assert len(twice.overrides) == 3
    assert twice == parse_experiment(TEXT, path=Path("arm.yaml"), overrides=twice.overrides)


def test_what_is_wrong_is_said_once(experiment: Experiment) -> None:
    with pytest.raises(ExperimentError) as refused:
        with_overrides(experiment, ["validation=null"])
    assert str(refused.value).splitlines() == [
        "override 'validation=null': validation must be a mapping of keys, given nothing"
    ]


def test_bags_are_added_or_take_the_place_of_the_others(experiment: Experiment) -> None:
    added = with_bags(experiment, ["b", Path("c")])
    assert [sequence.bag for sequence in added.sequences] == ["bags/a", "b", "c"]
    replaced = with_bags(experiment, ["b"], replace=True)
    assert [sequence.bag for sequence in replaced.sequences] == ["b"]
    assert with_bags(experiment, []) is experiment
    with pytest.raises(ExperimentError, match="bag 'bags/a' is trained on twice"):
        with_bags(experiment, ["bags/a"])


def test_bags_are_added_where_there_were_none() -> None:
    assert with_bags(parse_experiment("model: a.xml"), ["b"]).sequences[0].bag == "b"


def test_what_is_no_experiment_is_said_of_the_file() -> None:
    with pytest.raises(ExperimentError, match="an experiment must be"):
        parse_experiment("- 1", overrides=["fit.threads=2"])


@settings(deadline=None)  # the machine may be busy
@given(st.text(min_size=1, max_size=20).filter(str.strip))
def test_a_bag_may_have_any_name(name: str) -> None:
    name = name.replace("\0", "")
    added = with_bags(parse_experiment("model: a.xml"), [f"x{name}"])
    assert added.sequences[0].bag == f"x{name}"


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("fit.max_iterations", "must look like fit.max_iterations=20"),
        ("=3", "must look like fit.max_iterations=20"),
        ("fit..x=3", "must look like fit.max_iterations=20"),
        ("fit[x]=3", "must look like fit.max_iterations=20"),
        ("parameters[3].armature.max=1", "there is no [3] among 1 items"),
        ("model.name=1", "'name' is sought in 'arm.xml', not a mapping"),
        ("model+=1", "+= appends to a list, but there is 'arm.xml'"),
        ("fit.max_iteration=3", "unknown key 'max_iteration' in fit; nearest: 'max_iterations'"),
        ("fit.max_iterations=many", "fit.max_iterations must be a whole number, given 'many'"),
        ("fit.max_iterations=", "fit.max_iterations must be a whole number, given nothing"),
        ("fit={a: 1, a: 2}", "the key 'a' is there already"),
        ("fit.loss=[", "not valid YAML"),
    ],
)
def test_a_wrong_override_is_named(experiment: Experiment, override: str, sentence: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        with_overrides(experiment, [override])
    assert str(caught.value).startswith(f"override {override!r}")
    assert sentence in str(caught.value)


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=30))
def test_any_override_is_applied_or_refused(override: str) -> None:
    try:
        with_overrides(parse_experiment(TEXT), [override])
    except ExperimentError as error:
        assert str(error)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters and dictionaries of them."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from sysid_ros import sysid
from sysid_ros.engine.parameters.modifiers import BodyInertiaModifier, LostCallback
from sysid_ros.errors import OutputError, SysidError


@st.composite
def parameters(draw, name="p"):
    shape = draw(npst.array_shapes(max_dims=2, max_side=3))
    low = draw(npst.arrays(np.float64, shape, elements=st.floats(-1e3, 1e3)))
    width = draw(npst.arrays(np.float64, shape, elements=st.floats(0.0, 1e3)))
    at = draw(npst.arrays(np.float64, shape, elements=st.floats(0.0, 1.0)))
    nominal = np.clip(low + at * width, low, low + width)
    return sysid.Parameter(name, nominal, low, low + width, frozen=draw(st.booleans()))


@given(parameters())
def test_samples_and_moved_values_stay_within_the_bounds(parameter):
    low, high = parameter.get_bounds()
    parameter.update_from_vector(parameter.sample(np.random.default_rng(0)))
    assert np.all((low <= parameter.as_vector()) & (parameter.as_vector() <= high))
    parameter.move_off_bound()
    assert np.all((low <= parameter.as_vector()) & (parameter.as_vector() <= high))
    assert parameter.value.shape == parameter.shape == parameter.nominal.shape
    parameter.reset()
    np.testing.assert_array_equal(parameter.value, parameter.nominal)


@given(st.lists(st.integers(), max_size=4, unique=True), st.data())
def test_dictionary_comes_back_from_yaml(tmp_path_factory, numbers, data):
    params = sysid.ParameterDict()
    for number in numbers:
        params.add(data.draw(parameters(name=f"p{number}")))
    path = tmp_path_factory.mktemp("yaml") / "params.yaml"
    params.save_to_disk(path)
    loaded = sysid.ParameterDict.load_from_disk(path)
    assert loaded.keys() == params.keys()
    for name in params:
        a, b = loaded[name], params[name]
        assert a.frozen == b.frozen
        for field in ("value", "nominal", "min_value", "max_value"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


def test_everything_about_a_parameter_is_saved(tmp_path):
    params = sysid.ParameterDict()
    inertia = sysid.Parameter("link", 2.0, 1.0, 3.0, modifier=BodyInertiaModifier("link1"))
    inertia.inertia_type, inertia.scale_rot_inertia = sysid.InertiaType.Mass, True
    params.add(inertia)
    params.add(
        sysid.Parameter(
            "armature",
            0.1,
            0.0,
            np.inf,
            modifier=sysid.AttributeModifier("joint", ("a", "b"), "armature"),
            unit="kg m^2",
            prior=(0.1, 0.02),
        )
    )
    params.add(sysid.Parameter("lag", 0, 0, 1, modifier=sysid.SignalModifier("a_pos", "delay")))
    params.save_to_disk(tmp_path / "p.yaml")
    loaded = sysid.ParameterDict.load_from_disk(tmp_path / "p.yaml")
    assert loaded["armature"].modifier == params["armature"].modifier
    assert loaded["lag"].modifier == params["lag"].modifier
    assert loaded["link"].modifier == params["link"].modifier
    assert loaded["link"].inertia_type is sysid.InertiaType.Mass
    assert loaded["link"].scale_rot_inertia
    assert loaded["armature"].unit == "kg m^2"
    assert np.isinf(loaded["armature"].max_value[0])
    np.testing.assert_array_equal(loaded["armature"].prior, [[0.1], [0.02]])


def test_a_callback_must_be_given_again(tmp_path):
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("mass", 2, 1, 3, modifier=lambda spec, param: None))
    params.save_to_disk(tmp_path / "p.yaml")
    loaded = sysid.ParameterDict.load_from_disk(tmp_path / "p.yaml")
    assert isinstance(loaded["mass"].modifier, LostCallback)
    with pytest.raises(ValueError, match=r"modifier of parameter 'mass' was the Python function"):
        loaded["mass"].apply_modifier(None)
    seen = []
    again = sysid.ParameterDict.load_from_disk(
        tmp_path / "p.yaml", modifiers={"mass": lambda spec, param: seen.append(param.name)}
    )
    again["mass"].apply_modifier(None)
    assert seen == ["mass"]
    with pytest.raises(ValueError, match="unknown parameter 'maas'; nearest: 'mass'"):
        sysid.ParameterDict.load_from_disk(tmp_path / "p.yaml", modifiers={"maas": print})


@pytest.mark.parametrize(
    "text",
    [
        "- a list",
        "p: {name: p}",
        "p: 3",
        "p: {name: p, value: 5, nominal: 1, min_value: 0, max_value: 2, frozen: false, "
        "modifier: {type: attribute, element: joint, name: j, attribute: armatur}}",
        "p: {name: p, value: 1, nominal: 1, min_value: 0, max_value: 2, frozen: false, "
        "modifier: {type: python}}",
        "p: !!python/object/apply:os.system ['true']",
        "p: [",
    ],
)
def test_files_that_are_no_parameters_are_refused(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(SysidError):
        sysid.ParameterDict.load_from_disk(tmp_path / "p.yaml")


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(SysidError, match=r"absent\.yaml"):
        sysid.ParameterDict.load_from_disk(tmp_path / "absent.yaml")
    with pytest.raises(OutputError, match="nowhere"):
        sysid.ParameterDict().save_to_disk(tmp_path / "nowhere" / "p.yaml")
    assert list(tmp_path.iterdir()) == []


def test_saving_leaves_no_half_written_file(tmp_path, monkeypatch):
    params = sysid.ParameterDict({"a": sysid.Parameter("a", 1, 0, 2)})
    path = tmp_path / "p.yaml"
    params.save_to_disk(path)
    before = path.read_text()
    monkeypatch.setattr(yaml, "safe_dump", lambda *args, **kwargs: "\ud800")  # not encodable
    with pytest.raises(UnicodeEncodeError):
        params.save_to_disk(path)
    assert [p.name for p in tmp_path.iterdir()] == ["p.yaml"]
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m", 1.0, 2.0, 0.0), "'m': its minimum 2 exceeds its maximum 0"),
        (("m", [1.0, 9.0], 0.0, 5.0), r"'m\[1\]': the nominal value 9 lies outside its bounds"),
        (("m", np.nan, 0.0, 5.0), "must be numbers"),
        (("m", 1.0, np.nan, 5.0), "must be numbers"),
        (("m", [1.0, 2.0], [0.0, 0.0, 0.0], 5.0), r"min_value has shape \(3,\)"),
    ],
)
def test_contradictions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sysid.Parameter(*arguments)


@pytest.mark.parametrize("prior", [(1.0, 0.0), (np.nan, 1.0), (1.0, -1.0)])
def test_priors_need_a_spread(prior):
    with pytest.raises(ValueError, match="a prior needs"):
        sysid.Parameter("m", 1.0, 0.0, 2.0, prior=prior)


def test_values_keep_their_shape_and_type():
    parameter = sysid.Parameter("m", [[1, 2], [3, 4]], 0, 9)
    assert parameter.scalar_names() == ["m[0,0]", "m[0,1]", "m[1,0]", "m[1,1]"]
    parameter.value = [5, 6, 7, 8]
    assert parameter.value.shape == (2, 2)
    assert parameter.value.dtype == np.float64
    with pytest.raises(ValueError, match=r"length 3 does not match parameter size 4 of 'm'"):
        parameter.update_from_vector(np.zeros(3))


def test_vectors_leave_frozen_parameters_out():
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("a", [1.0, 2.0], 0.0, 9.0))
    params.add(sysid.Parameter("b", 3.0, 0.0, 9.0, frozen=True))
    params.add(sysid.Parameter("c", 4.0, 0.0, 9.0))
    assert params.size == 3
    assert params.scalar_names() == ["a[0]", "a[1]", "c"]
    np.testing.assert_array_equal(params.as_vector(), [1, 2, 4])
    np.testing.assert_array_equal(params.as_vector(include_frozen=True), [1, 2, 3, 4])
    params.update_from_vector([5, 6, 7])
    np.testing.assert_array_equal(params.as_vector(include_frozen=True), [5, 6, 3, 7])
    with pytest.raises(ValueError, match=r"2 elements was given for 3 free parameters: a\[0\]"):
        params.update_from_vector([1, 2])


def test_copies_are_independent_and_share_the_modifier():
    def modifier(spec, param):
        return None

    params = sysid.ParameterDict({"a": sysid.Parameter("a", 1.0, 0.0, 9.0, modifier=modifier)})
    other = params.copy()
    other["a"].value[:] = 5.0
    assert params["a"].value[0] == 1.0
    assert other["a"].modifier is modifier


def test_names_are_unique_and_unknown_ones_get_a_hint():
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("mass", 1.0, 0.0, 9.0))
    with pytest.raises(ValueError, match="'mass' already exists"):
        params.add(sysid.Parameter("mass", 1.0, 0.0, 9.0))
    with pytest.raises(ValueError, match="already exists"):
        params.update(params.copy())
    with pytest.raises(KeyError, match="nearest: 'mass'"):
        params["maas"]


def test_sampling_needs_finite_bounds():
    with pytest.raises(ValueError, match="infinite bounds"):
        sysid.Parameter("m", 1.0, 0.0, np.inf).sample()


def test_table_compares_initial_true_and_identified_values():
    params = sysid.ParameterDict()
    params.add(sysid.Parameter("mass", 2.0, 0.0, 4.0))
    params.add(sysid.Parameter("gear", [1.0, 0.001], 0.0, 4.0, frozen=False))
    table = params.compare_parameters([1.0, 1.0, 1.0], [2.0, 4.0, 0.0015], [2.0, 1.0, 0.001])
    rows = {line.split()[0]: line for line in table.splitlines() if line}
    assert "0.0000" in rows["mass"]
    assert "100.0%" in rows["mass"]
    assert "at upper bound" in rows["gear[0]"]
    assert "1.5000e-03" in rows["gear[1]"]
    assert "50.0%" in rows["gear[1]"]
    assert "RMSE: 1.732" in table
    assert "\x1b" not in table
    with pytest.raises(ValueError, match="Predicted parameter vector length 1"):
        params.compare_parameters([1.0] * 3, [1.0])

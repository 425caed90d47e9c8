# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files of a fit load again, and none of them runs code."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest
from sysid_problems import record_cart

from sysid_ros import sysid
from sysid_ros.errors import OutputError


def cart_fit():
    groups = [
        recording.sequences(name, data=recording.noisy(1e-3))
        for name, recording in (("cart", record_cart()), ("cart_payload", record_cart(1.0)))
    ]
    params = sysid.ParameterDict()
    for element, name, attribute, start in (
        ("body", "cart", "mass", 3.0),
        ("actuator", "motor", "gear", 4.0),
    ):
        modifier = sysid.AttributeModifier(element, name, attribute)
        params.add(sysid.Parameter(attribute, start, 0.5, 8.0, modifier=modifier, unit="kg"))
    fn = sysid.build_residual_fn(models_sequences=groups)
    found, result = sysid.optimize(params, fn, verbose=False)
    return groups, params, found, result, fn


def test_everything_is_written_and_loads_again(tmp_path):
    groups, params, found, result, fn = cart_fit()
    sysid.save_results(tmp_path / "new" / "folder", groups, params, found, result, fn)
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == [
        "arrays.npz", "cart.xml", "cart_payload.xml", "params_x_0.yaml", "params_x_hat.yaml",
        "result.json",
    ]  # fmt: skip
    model = mujoco.MjModel.from_xml_path(str(folder / "cart.xml"))
    assert model.body("cart").mass[0] == pytest.approx(found["mass"].value[0], rel=1e-12)
    assert model.actuator("motor").gear[0] == pytest.approx(found["gear"].value[0], rel=1e-12)
    np.testing.assert_array_equal(model.key("start").qpos, groups[0].initial_state[0][1:2])
    payload = mujoco.MjModel.from_xml_path(str(folder / "cart_payload.xml"))
    assert payload.body("payload").mass[0] == 1.0
    loaded = sysid.ParameterDict.load_from_disk(folder / "params_x_hat.yaml")
    np.testing.assert_array_equal(loaded.as_vector(), found.as_vector())
    document = json.loads((folder / "result.json").read_text())
    assert document["status"] == "CONVERGED"
    mass = document["parameters"]["mass"]
    assert mass["interval"][0] < mass["value"] < mass["interval"][1]
    assert mass["interval"][0] < 2.0 < mass["interval"][1]
    assert mass["initial"] == 3.0
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["x"], found.as_vector())
        assert arrays["covariance"].shape == (2, 2)
        assert arrays["jac"].shape == (len(arrays["fun"]), 2)


def test_the_users_model_is_not_the_identified_one(tmp_path):
    groups, params, found, result, fn = cart_fit()
    sysid.save_results(tmp_path, groups, params, found, result, fn)
    assert groups[0].spec.compile().body("cart").mass[0] == 2.0


def test_undetermined_intervals_are_null(tmp_path):
    groups, params, _, _, _ = cart_fit()
    fn = sysid.build_residual_fn(models_sequences=groups[:1])
    found, result = sysid.optimize(params, fn, verbose=False)
    sysid.save_results(tmp_path, groups[:1], params, found, result, fn)
    document = json.loads((tmp_path / "result.json").read_text())
    assert all(entry["interval"] is None for entry in document["parameters"].values())


def test_no_interval_is_claimed_at_a_bound(tmp_path):
    groups, params, _, _, fn = cart_fit()
    params["mass"].min_value = np.array([2.5])  # the cart has 2
    found, result = sysid.optimize(params, fn, verbose=False)
    sysid.save_results(tmp_path, groups, params, found, result, fn)
    mass = json.loads((tmp_path / "result.json").read_text())["parameters"]["mass"]
    assert mass["interval"] is None
    assert mass["flags"] == ["at lower bound"]


def test_unwritable_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write to .*file"):
        sysid.save_results(tmp_path / "file" / "x", [], None, None, {}, None)

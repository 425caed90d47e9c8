# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report of a library result, called as the notebook of mujoco.sysid calls it."""

from __future__ import annotations

import numpy as np
import pytest
from sysid_problems import record_cart, record_spring_mass

from sysid_ros import sysid
from sysid_ros.errors import OutputError


def mass_parameter(body: str, start: float) -> sysid.ParameterDict:
    params = sysid.ParameterDict()
    modifier = sysid.AttributeModifier("body", body, "mass")
    params.add(sysid.Parameter("mass", start, 0.3, 5.0, modifier=modifier, unit="kg"))
    return params


def fitted(recording, params):
    sequences = recording.sequences(data=recording.noisy(1e-3))
    residual_fn = sysid.build_residual_fn(models_sequences=[sequences])
    found, result = sysid.optimize(params, residual_fn, verbose=False)
    return sequences, found, residual_fn, result


def test_report_of_a_library_fit(tmp_path):
    params = mass_parameter("ball", 2.0)
    sequences, found, residual_fn, result = fitted(record_spring_mass(1.0), params)

    report = sysid.default_report(
        models_sequences=[sequences],
        initial_params=params,
        opt_params=found,
        residual_fn=residual_fn,
        opt_result=result,
        title="Mass on a spring",
        save_path=tmp_path / "made",
        generate_videos=False,
    )

    html = report.build()
    assert report.video is None and "data:image/webp" not in html
    assert "Mass on a spring" in html
    assert (tmp_path / "made" / "report.html").read_text() == html
    mass = report.outcome.fit["mass"]
    low, high = mass.interval()
    assert low < 1.0 < high
    _, half_widths = sysid.calculate_intervals([result.fun], result.jac)
    assert high - mass.value == pytest.approx(half_widths[0], rel=1e-6)
    position = report.outcome.sequences[0].signals[0]
    assert position.name == "position"
    assert position.unit == "m"
    assert np.std(position.fitted - position.measured) == pytest.approx(1e-3, rel=0.1)
    assert np.std(position.initial - position.measured) > 1e-2
    assert report.outcome.fit.trace[-1].cost == pytest.approx(result.cost)


def test_the_report_has_a_video(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "egl")
    params = mass_parameter("ball", 2.0)
    sequences, found, residual_fn, result = fitted(record_spring_mass(1.0), params)
    report = sysid.default_report([sequences], params, found, residual_fn, result)
    assert report.video is not None
    if report.video.content is None:
        pytest.skip(f"nothing to draw with here: {report.video.reason}")
    assert "data:image/webp;base64," in report.build()


def test_what_the_data_leaves_open_is_named():
    params = mass_parameter("cart", 3.5)
    modifier = sysid.AttributeModifier("actuator", "motor", "gear")
    params.add(sysid.Parameter("gear", 5.25, 0.5, 8.0, modifier=modifier))
    sequences, found, residual_fn, result = fitted(record_cart(), params)
    report = sysid.default_report([sequences], params, found, residual_fn, result)
    (sentence,) = report.outcome.fit.unidentifiable
    assert "mass" in sentence
    assert "gear" in sentence
    assert report.outcome.fit["mass"].interval() is None


def test_a_file_in_the_way_is_named(tmp_path):
    params = mass_parameter("ball", 2.0)
    sequences, found, residual_fn, result = fitted(record_spring_mass(0.2), params)
    (tmp_path / "taken").write_text("")
    with pytest.raises(OutputError, match="taken"):
        sysid.default_report(
            [sequences], params, found, residual_fn, result, save_path=tmp_path / "taken"
        )

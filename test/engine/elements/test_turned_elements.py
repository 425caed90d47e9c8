# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Turns of bodies and sites compile as rotation vectors behind whatever the model says."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.elements.turned_elements import orientation, set_turn, turn

FORMS = (
    "", 'euler="10 20 30"', 'quat="0 1 1 0"', 'quat="-.1 1 1 0"', 'quat="3 1 0 2"',
    'axisangle="1 2 3 30"', 'zaxis="0 1 0"', 'zaxis="0 0 -1"', 'xyaxes="0 1 0 1 0 0"',
)  # fmt: skip
vectors = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


def spec_with(form: str, radians: bool = False) -> mujoco.MjSpec:
    """A body and a site of one orientation, in a frame of another."""
    unit = "radian" if radians else "degree"
    return mujoco.MjSpec.from_string(
        f"""<mujoco><compiler angle="{unit}" eulerseq="zyx"/><worldbody><frame euler="0 .4 0">
        <body name="arm" pos="1 2 3" {form}><geom size="1"/><site name="mark" {form}/></body>
        </frame></worldbody></mujoco>"""
    )


def written(spec: mujoco.MjSpec) -> str:
    spec.compile()  # before MuJoCo 3.4 nothing else can be written
    return spec.to_xml()


def compiled_quaternions(spec: mujoco.MjSpec) -> list[np.ndarray]:
    model = spec.copy().compile()
    return [model.body("arm").quat.copy(), model.site("mark").quat.copy()]


def elements(spec: mujoco.MjSpec) -> list[object]:
    return [spec.body("arm"), spec.site("mark")]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(FORMS), st.booleans(), vectors, vectors)
def test_the_last_turn_counts_whatever_was_before(form, radians, before, vector) -> None:
    spec = spec_with(form, radians)
    expected = compiled_quaternions(spec)
    for element in elements(spec):
        set_turn(spec, element, before)
    spec = spec.copy()
    for element, quaternion in zip(elements(spec), expected, strict=True):
        np.testing.assert_allclose(turn(element), before, atol=1e-12)
        set_turn(spec, element, vector)
        np.testing.assert_allclose(turn(element), vector, atol=1e-12)
        mujoco.mju_quatIntegrate(quaternion, vector, 1.0)
    read_again = mujoco.MjSpec.from_string(written(spec))
    for one, digits in ((spec, 1e-12), (read_again, 1e-5)):
        for found, quaternion in zip(compiled_quaternions(one), expected, strict=True):
            assert abs(found @ quaternion) == pytest.approx(1.0, abs=digits)


@pytest.mark.parametrize("form", FORMS)
def test_no_turn_leaves_the_element_as_it_is(form: str) -> None:
    spec = spec_with(form)
    text = written(spec)
    for element in elements(spec):
        np.testing.assert_array_equal(turn(element), np.zeros(3))
        set_turn(spec, element, np.zeros(3))
        assert element.alt.type == elements(spec_with(form))[0].alt.type
    assert written(spec) == text


@pytest.mark.parametrize("form", FORMS)
def test_orientation_is_that_of_the_compiled_site(form: str) -> None:
    spec = spec_with(form)
    found = orientation(spec, spec.site("mark"))
    assert abs(found @ compiled_quaternions(spec)[1]) == pytest.approx(1.0, abs=1e-14)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses and centres that findings ask for are free, as wide as what is found."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import Finding, FindingKind
from sysid_ros.proposal.masses import (
    borne_by,
    centre_candidate,
    makes_up_for,
    mass_candidate,
    masses,
    masses_that_gravity_names,
)

LINK = """<body name="{0}" pos="0 0 .1"><joint name="j{0}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .1" size=".03" mass="{1}"/>"""
ARM = (
    f"<mujoco><worldbody>{LINK.format('b0', 2.0)}{LINK.format('b1', 1.2)}</body></body>"
    "</worldbody></mujoco>"
)


def test_of_masses_that_explain_as_much_each_has_a_prior_as_wide_as_what_it_takes() -> None:
    """Freed alone, the one that is named is wrong and certain wherever it is another."""
    spec = mujoco.MjSpec.from_string(ARM)
    finding = Finding(FindingKind.GRAVITY, (), {"mass": 2.5}, "Too light.", "", (), "b1")
    (alone,) = masses_that_gravity_names(spec, [finding])
    assert (alone.name, alone.std, alone.doubt) == ("b1", None, "Too light.")
    told = masses_that_gravity_names(spec, [replace(finding, rivals=(("b0", 1.2),))])
    assert [(one.name, one.std) for one in told] == [("b1", 1.8), ("b0", 0.6)]
    assert all(one.guessed and not one.on_demand and one.doubt for one in [alone, *told])


def test_a_body_without_a_name_can_be_no_parameter() -> None:
    """Findings call it by its number; what to do first is in their repair."""
    spec = mujoco.MjSpec.from_string(ARM.replace('<body name="b1"', "<body"))
    finding = Finding(FindingKind.GRAVITY, (), {"mass": 2.5}, "Too light.", "", (), "body_2")
    assert masses_that_gravity_names(spec, [finding]) == []
    rival = replace(finding, body="b0", rivals=(("body_2", 1.2),))
    assert [one.name for one in masses_that_gravity_names(spec, [rival])] == ["b0"]


def test_a_body_that_weighs_differently_and_elsewhere_has_its_centre_free_with_a_prior() -> None:
    """A prior no narrower than what was found, else it would pull the centre back."""
    spec = mujoco.MjSpec.from_string(ARM)
    moved = {"mass": 1.1, "com_x": 0.2, "com_x_low": 0.19, "com_x_high": 0.21, "com_z": 0.001}
    finding = Finding(FindingKind.GRAVITY, (), moved, "Moved.", "", (), "b1")
    mass, x, z = masses_that_gravity_names(spec, [finding])
    assert [one.attribute for one in (mass, x, z)] == ["mass", "com_x", "com_z"]
    assert x.std == pytest.approx(0.2)
    assert z.std is not None and z.std < 0.03  # of a link of 10 cm
    assert x.low < 0.0 < 0.2 < x.high and not x.guessed
    centre = spec.copy().compile().body("b1").ipos[2]
    assert 0.5 * (z.low + z.high) == pytest.approx(centre, rel=0.01)


def test_what_bears_a_weight_is_a_zero_and_not_a_body_without_weight() -> None:
    """Freed, the mass of a counterbalanced slide took its inertia along, under "Improved"."""
    spec = mujoco.MjSpec.from_string(ARM)
    finding = Finding(FindingKind.GRAVITY, (), {"mass": 0.1}, "Light.", "", (), "b1", zero="servo")
    (zero,) = masses_that_gravity_names(spec, [finding])
    assert (zero.element, zero.name, zero.attribute) == ("signal", "servo", "bias")
    (mass,) = masses_that_gravity_names(spec, [replace(finding, evidence={"mass": 0.5})])
    assert (mass.name, mass.attribute) == ("b1", "mass")
    (mass,) = masses_that_gravity_names(spec, [replace(finding, zero="")])
    assert mass.attribute == "mass"
    rivals = (("b0", 1.4), ("b2", -0.1))  # heavier than the model, which may as well be
    both = masses_that_gravity_names(spec, [replace(finding, rivals=rivals)])
    assert [(one.name, one.attribute) for one in both] == [("servo", "bias"), ("b0", "mass")]
    assert both[1].std is not None


def test_a_hand_that_holds_a_heavy_tool_may_weigh_what_it_seems_to() -> None:
    spec = mujoco.MjSpec.from_string(ARM)
    kilograms = spec.copy().compile().body("b1").mass[0]
    for factor, most in ((2.5, 10.0), (12.0, 24.0)):
        finding = Finding(FindingKind.GRAVITY, (), {"mass": factor}, "Heavy.", "", (), "b1")
        (mass,) = masses_that_gravity_names(spec, [finding])
        assert mass.high == pytest.approx(most * kilograms, rel=0.01)


@pytest.mark.parametrize(
    ("turned", "across"), [("0 0 0", ["com_x", "com_y"]), ("0 90 0", ["com_y", "com_z"])]
)
def test_what_thrusts_carry_has_its_centre_free_across_them(turned: str, across: list[str]) -> None:
    """Held at the model's, one that is 6 mm off in calm flight made 11 kg of 1.27."""
    thrusts = (
        f'<site name="s{k}" pos="{x} 0 0" euler="{turned}"/>' for k, x in enumerate((-0.2, 0.2))
    )
    actuators = "".join(f'<motor site="s{k}" gear="0 0 1 0 0 .1"/>' for k in range(2))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><body name="hull"><freejoint/>
      <geom type="box" size=".2 .2 .05" mass="1"/>{"".join(thrusts)}</body></worldbody>
      <actuator>{actuators}</actuator></mujoco>""")
    mass, *others = masses(model, (), free=True)
    assert [one.attribute for one in (mass, *others)] == ["mass", *across, "gyration"]
    assert all(one.on_demand and one.doubt for one in others)
    size = np.sqrt(0.5 * model.body("hull").inertia.sum())
    assert (others[-1].low, others[-1].high) == pytest.approx((0.5 * size, 2.0 * size), rel=0.01)


def test_masses_that_thrusts_bear_are_those_of_what_they_lift() -> None:
    hull = '<body name="{0}"><freejoint/><geom size=".1" mass="1"/><site name="{0}"/>{1}</body>'
    arm = '<body name="arm"><joint/><geom size=".1" mass="1"/></body>'
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{hull.format('one', arm)}{hull.format('other', '')}</worldbody>"
        '<actuator><motor name="thrust" site="one"/></actuator></mujoco>'
    )
    named = [mass_candidate(body, 1.0) for body in ("one", "arm", "other")]
    named.append(centre_candidate("one", "com_z", 0.0, 0.1))
    assert borne_by(model, ["thrust"], named) == named[:2]
    assert borne_by(model, [], named) == []


def test_beside_masses_that_are_all_off_nothing_takes_their_place_but_one_gain_of_all() -> None:
    """A tool's mass and a single gain were free, a quarter and 1.6 times the truth.

    Those of a robot whose torques are known stay free: centres of mass took their place.
    """
    tool, link = mass_candidate("b1", 1.2, "the payload counts"), mass_candidate("b1", 1.2)
    gain = replace(tool, element="actuator", name="s1", attribute="kp")
    every = replace(gain, name="*")
    for kind, taken in (
        (FindingKind.MASSES, [True, True, False, False]),
        (FindingKind.INTEGRAL, [True, True, True, False]),
        (FindingKind.GRAVITY, [False, False, False, False]),
    ):
        assert [makes_up_for(one, {kind}) for one in (tool, gain, every, link)] == taken

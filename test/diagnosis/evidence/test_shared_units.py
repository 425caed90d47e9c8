# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One command of a topic is in the unit of the others, unless its joint says otherwise."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    Explanation,
    FindingKind,
    Recorded,
    Samples,
    with_topics_degrees,
)

TIMES = np.linspace(0.0, 4.0, 401)
MOTION = np.sin(3.0 * TIMES)
NAMES = ("a", "b", "c")


def recorded(last: float) -> Recorded:
    """Three hinges that do what they are told; of the last the command is so many times that."""
    bodies = "".join(f'<body><joint name="{n}"/><geom size=".1" mass="1"/></body>' for n in NAMES)
    servos = "".join(f'<position name="{n}_servo" joint="{n}" kp="9"/>' for n in NAMES)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{servos}</actuator></mujoco>"
    )
    signals = {name: Samples(TIMES, 0.2 * MOTION) for name in NAMES}
    signals |= {f"{name}_servo": Samples(TIMES, 0.25 * MOTION) for name in NAMES}
    signals["c_servo"] = Samples(TIMES, 0.25 * last * MOTION)
    asked = {place: f"{name}_servo" for place, name in enumerate(NAMES)}
    return Recorded(model, (signals,), ({},), dict(enumerate(NAMES)), {}, {}, asked)


@pytest.mark.parametrize(
    ("told", "last", "topics", "added"),
    [
        (("a_servo", "b_servo"), 1.0 / DEGREE, "/cmd /cmd /cmd", ["c_servo"]),
        (("a_servo", "b_servo"), 1.0, "/cmd /cmd /cmd", []),  # it spans what its joint does
        (("a_servo",), 1.0 / DEGREE, "/cmd /cmd /cmd", []),  # not most of them
        (("a_servo", "b_servo"), 1.0 / DEGREE, "/cmd /cmd /own", []),
    ],
)
def test_the_rest_of_a_topic_is_in_degrees_where_most_are(
    told: tuple[str, ...], last: float, topics: str, added: list[str]
) -> None:
    change = Change(FindingKind.DEGREES, scale=dict.fromkeys(told, DEGREE))
    known = dict(zip((f"{name}_servo" for name in NAMES), topics.split(), strict=True))
    found = with_topics_degrees(recorded(last), [Explanation(change, 0.0, 0.9, 0.1)], known)
    assert [label for one in found for label in one.change.signals] == added
    assert all({*one.change.scale.values()} == {DEGREE} for one in found)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller that is not active is named with the state that it has."""

from types import SimpleNamespace

import pytest

from sysid_ros.nodes.excite.controller_watch import controller_problem

CONTROLLERS = [
    SimpleNamespace(name="arm", state="active"),
    SimpleNamespace(name="hand", state="inactive"),
]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("arm", ""),
        ("hand", "controller 'hand' is inactive, not active"),
        ("leg", "there is no controller 'leg'; there are: arm, hand"),
    ],
)
def test_controller_that_is_not_active_is_named(name: str, problem: str):
    assert controller_problem(name, CONTROLLERS) == problem

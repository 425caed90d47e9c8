# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A measured wrench as a known external input of a model.

A force-torque sensor's reading, such as a ``geometry_msgs/WrenchStamped``, is what the
environment does to the robot at the sensor. Six motors that act on a site along its own axes apply
it in a simulation wherever the site moves, and everything that holds for commands holds for them:
they are interpolated, delayed and scaled like any other input.
"""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from sysid_ros.engine.elements import add_unit_motor
from sysid_ros.errors import ModelError, unknown_name

COMPONENTS = ("force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z")


def wrench_inputs(site: str) -> tuple[str, ...]:
    """Names of the six inputs of a wrench at ``site``: forces [N], then torques [N m]."""
    return tuple(f"{site}_{component}" for component in COMPONENTS)


def with_wrenches(spec: mujoco.MjSpec, sites: Iterable[str]) -> mujoco.MjSpec:
    """A copy of a model that takes a wrench at each of some sites as input.

    Args:
      spec: The model; not changed.
      sites: Names of sites. The wrench acts on the site's body, in the site's frame.

    Returns:
      The copy, with the actuators :func:`wrench_inputs` behind its own.

    Raises:
      ModelError: There is no such site, or an actuator of such a name exists.
    """
    spec = spec.copy()
    for site in sites:
        names = [each.name for each in spec.sites]
        if site not in names:
            raise ModelError(unknown_name("site", site, names))
        taken = {actuator.name for actuator in spec.actuators}
        for axis, name in enumerate(wrench_inputs(site)):
            if name in taken:
                raise ModelError(f"the model has an actuator {name!r}; rename it")
            add_unit_motor(spec, name, mujoco.mjtTrn.mjTRN_SITE, site, np.eye(6)[axis])
    return spec

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names for the actuators of an MJCF that has none for them, since signals need names."""

from __future__ import annotations

import mujoco

from sysid_ros.errors import listed
from sysid_ros.files import untaken

_SHOWN = 3  # names in a warning


def name_actuators(spec: mujoco.MjSpec) -> tuple[str, ...]:
    """Call every actuator without a name as what it acts on; a second one there with a number.

    Args:
      spec: Changed in place.

    Returns:
      What was named, in a sentence; nothing where all have names.
    """
    taken = {actuator.name for actuator in spec.actuators}
    named = []
    for actuator in spec.actuators:
        if not actuator.name:
            actuator.name = untaken(actuator.target, taken)
            taken.add(actuator.name)
            named.append(actuator.name)
    if not named:
        return ()
    some = "1 actuator has" if len(named) == 1 else f"{len(named)} actuators have"
    return (
        f"{some} no name in the model and the name of what they act on here: "
        f"{listed(named, _SHOWN)}.",
    )

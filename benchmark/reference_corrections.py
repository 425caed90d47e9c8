# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What has to be corrected in ``mujoco.sysid`` so that it runs a problem at all.

Its pseudo-inertia leaves NaN in the orientation of the inertial frame, and the model does not
compile; here the orientation is set right after its own modifier has run.
"""

from __future__ import annotations

from typing import Any


def pseudo_inertia(sysid: Any, spec: Any, model: Any, body: str) -> Any:
    """The ten log-Cholesky inertial parameters of a body, in either library."""
    options: dict[str, Any] = {"inertia_type": sysid.InertiaType.Pseudo}
    if sysid.__name__ == "mujoco.sysid":

        def corrected(target: Any, parameter: Any) -> Any:
            sysid.apply_body_inertia(target, body, parameter)
            target.body(body).iquat = [1.0, 0.0, 0.0, 0.0]
            return target

        options["modifier"] = corrected
    return sysid.body_inertia_param(spec, model, body, **options)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files for others from a result: their own model file, changed only where it was identified."""

from __future__ import annotations

from sysid_ros.exports.applying import WrittenValue, apply_parameters, of_robot, write_applied
from sysid_ros.exports.formats import FORMATS, URDF, Identified, write_exports
from sysid_ros.exports.model_file import ASSETS, MODEL, StartState, write_model

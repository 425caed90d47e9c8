# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sim_robot``: a simulated robot, and the file of the parameters that it hides."""

from sysid_ros.rehearsal import TrueParameter, read_true_parameters

__all__ = ["TrueParameter", "read_true_parameters"]

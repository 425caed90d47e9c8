# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sim_robot``: a simulated robot with hidden parameters."""

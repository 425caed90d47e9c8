# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``identify``: the main job in one go, as a client of the other nodes."""

# With true parameters given: the fit delivered, but not the truth.
EXIT_OFF = 20

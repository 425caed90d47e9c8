# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How a run got on, for people and for the tools that they watch runs with."""

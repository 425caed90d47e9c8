# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How long tests wait for what certainly comes, however much else the machine does."""

PATIENCE = 300.0  # s; costs time only where something hangs

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sufficiency``: whether the bag that is being recorded tells enough."""

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One run of a fit: its tasks, its folder, its state, and the process that it runs in."""

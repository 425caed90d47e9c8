# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What people see in a terminal: progress while it lasts, tables at the end."""

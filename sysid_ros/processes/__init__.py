# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where work runs, how it ends, and what becomes of it then."""

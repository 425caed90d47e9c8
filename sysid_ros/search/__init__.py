# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Looking for a good start all over the bounds, where a fit from one start may be led astray."""

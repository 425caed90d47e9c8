# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``excite``: moves a robot within limits so that its parameters show."""

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From bags of any format to signals of the model; knows nothing of rclpy."""

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a fit is worth: scores, plausibility, trends in what is left, and the verdict."""

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What others take from a result: their own model file, changed only where it was identified."""

from __future__ import annotations

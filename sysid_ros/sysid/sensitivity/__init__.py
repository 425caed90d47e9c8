# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of simulations along one rollout; see docs/engine.md."""

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``fit_server``: the action that identifies a model, and what its clients need to know."""

from sysid_ros.nodes.fit_server.client_side import (
    FITTED,
    READING,
    REPLACE_SEQUENCES,
    failed_result,
)

# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small static charts as inline SVG: sharp in print, styled by the page, no script."""

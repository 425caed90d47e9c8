# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs the node: ``python -m sysid_ros.nodes.sufficiency``."""

import sys

from sysid_ros.nodes.ending import EndRequest


def main() -> int:
    """Run the node; see there. A signal counts while it is still being imported."""
    EndRequest.listen()
    from sysid_ros.nodes.sufficiency import node

    return node.main()


if __name__ == "__main__":
    sys.exit(main())

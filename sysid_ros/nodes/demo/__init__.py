# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The demo: a simulated robot is identified by real ROS 2 processes."""

from sysid_ros.nodes.demo.child_processes import ChildProcesses
from sysid_ros.nodes.demo.run import (
    DemoError,
    demo_folder,
    free_domain,
    main,
    node_arguments,
    run_demo,
)

"""What every node process does around its node: start, spin, and end without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from sysid_ros.errors import SysidError


def run_node(
    make_node: Callable[[], Node],
    args: Sequence[str] | None = None,
    *,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
    finish: Callable[[Node], None] = lambda node: None,
) -> int:
    """Run one node until the process is asked to end by SIGINT, SIGTERM or rclpy.

    Args:
      make_node: Creates the node once rclpy is up.
      args: Command line, including ROS arguments; ``None`` for the process's own.
      make_executor: Creates the executor.
      finish: Called with the node before it is destroyed, for example to close files.

    Returns:
      The exit status: 0, or the code of the error that kept the node from starting.
    """
    rclpy.init(args=list(args) if args is not None else None)
    executor = make_executor()
    try:
        node = make_node()
    except SysidError as error:
        print(f"error: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return int(error.code)
    try:
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass  # both are requests to end
    finally:
        finish(node)
        # The order matters: a thread that still spins at exit aborts the process.
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()
    return 0

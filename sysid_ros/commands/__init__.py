"""The commands of ``sysid_ros``, one module each, in the order in which ``--help`` lists them."""

from sysid_ros.commands import demo, export, fit, info, report

COMMANDS = (fit, info, export, report, demo)

__all__ = ["COMMANDS"]

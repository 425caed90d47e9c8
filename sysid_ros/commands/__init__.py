"""The commands of ``sysid_ros``, one module each, in the order in which ``--help`` lists them."""

from sysid_ros.commands import check, demo, export, fit, info, init, report

COMMANDS = (init, check, fit, info, export, report, demo)

__all__ = ["COMMANDS"]

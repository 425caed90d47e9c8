"""Record what an experiment needs; ``ros2 service call /recorder/start`` begins a bag."""

from launch import LaunchDescription
from sysid_ros.nodes.launching import arguments, flag, node, text


def generate_launch_description() -> LaunchDescription:
    recorder = node(
        "recorder",
        {
            "experiment": text("experiment"),
            "output_dir": text("output_dir"),
            "autostart": flag("autostart"),
            "record_on_activate": flag("record_on_activate"),
        },
    )
    own = arguments(
        autostart=("true", "whether the recorder configures and activates itself"),
        output_dir=("bags", "folder for the bags"),
        record_on_activate=("false", "whether activation begins a bag"),
    )
    return LaunchDescription([*own, recorder])

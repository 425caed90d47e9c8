# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Packaging for colcon (ament_python) and for pip."""

from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent


def share(*folders: str) -> list[tuple[str, list[str]]]:
    """The files of folders, as data files under share/sysid_ros."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                file = path.relative_to(ROOT)
                found.append((f"share/sysid_ros/{file.parent}", [str(file)]))
    return found


setup(
    name="sysid_ros",
    version="0.1.0",
    description="Records a robot and identifies the MuJoCo model parameters of its motion.",
    author="sysid_ros maintainers",
    maintainer="sysid_ros maintainers",
    maintainer_email="maintainers@sysid-ros.example",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=[
        "sysid_ros",
        "sysid_ros.commands",
        "sysid_ros.comparison",
        "sysid_ros.dataset",
        "sysid_ros.diagnosis",
        "sysid_ros.diagnosis.body_sensors",
        "sysid_ros.diagnosis.evidence",
        "sysid_ros.diagnosis.fits",
        "sysid_ros.diagnosis.simulated",
        "sysid_ros.diagnosis.torque",
        "sysid_ros.engine",
        "sysid_ros.engine.attributes",
        "sysid_ros.engine.compiled",
        "sysid_ros.engine.derivatives",
        "sysid_ros.engine.elements",
        "sysid_ros.engine.estimation",
        "sysid_ros.engine.friction",
        "sysid_ros.engine.inverse_dynamics",
        "sysid_ros.engine.measured_torque",
        "sysid_ros.engine.measured_torque.rows",
        "sysid_ros.engine.least_squares",
        "sysid_ros.engine.mechanics",
        "sysid_ros.engine.moving_horizon",
        "sysid_ros.engine.parameters",
        "sysid_ros.engine.problem",
        "sysid_ros.engine.regressor",
        "sysid_ros.engine.residuals",
        "sysid_ros.engine.signals",
        "sysid_ros.engine.simulation",
        "sysid_ros.engine.uncertainty",
        "sysid_ros.engine.windows",
        "sysid_ros.estimate_page",
        "sysid_ros.excitation",
        "sysid_ros.excitation.design",
        "sysid_ros.experiment",
        "sysid_ros.exports",
        "sysid_ros.files",
        "sysid_ros.fit_page",
        "sysid_ros.judgement",
        "sysid_ros.live_estimation",
        "sysid_ros.nodes",
        "sysid_ros.nodes.demo",
        "sysid_ros.nodes.estimator",
        "sysid_ros.nodes.excite",
        "sysid_ros.nodes.fit_server",
        "sysid_ros.nodes.identify",
        "sysid_ros.nodes.recorder",
        "sysid_ros.nodes.replay",
        "sysid_ros.nodes.sim_robot",
        "sysid_ros.nodes.sufficiency",
        "sysid_ros.pipeline",
        "sysid_ros.pictures",
        "sysid_ros.playback",
        "sysid_ros.processes",
        "sysid_ros.proposal",
        "sysid_ros.proposal.signals",
        "sysid_ros.recording",
        "sysid_ros.recording.bags",
        "sysid_ros.recording.mapping",
        "sysid_ros.recording.messages",
        "sysid_ros.rehearsal",
        "sysid_ros.report",
        "sysid_ros.report.svg",
        "sysid_ros.results",
        "sysid_ros.robots",
        "sysid_ros.run_logs",
        "sysid_ros.search",
        "sysid_ros.sysid",
        "sysid_ros.terminal",
        "sysid_ros.trend",
        "sysid_ros.video",
    ],
    package_data={
        "sysid_ros": ["py.typed"],
        "sysid_ros.estimate_page": ["page.*"],
        "sysid_ros.fit_page": ["page.*", "shared.js"],
        "sysid_ros.report": ["templates/*"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/sysid_ros"]),
        ("share/sysid_ros", ["package.xml"]),
        *share("launch", "config", "examples"),
    ],
    zip_safe=False,
    install_requires=[
        "clarabel>=0.9",
        "Jinja2>=3.0",
        "lz4>=3.1",
        "mcap>=1.1",
        "mujoco>=3.3.7",
        "llvmlite>=0.41",
        "numba>=0.58,<0.69",  # engine/compiled/one_module.py
        "numpy>=1.26",
        "Pillow>=9.0",
        "PyYAML>=5.4",
        "rich>=12.4",
        "rosbags>=0.10",
        "scipy>=1.11",
        "threadpoolctl>=3.1",
        "zstandard>=0.15",
    ],
    extras_require={
        "dask": ["distributed"],
        "mlflow": ["mlflow"],
        "search": ["cmaes", "optuna"],
        "tensorboard": ["tensorboardX"],
        "test": [
            "axe-playwright-python",
            "hypothesis",
            "mujoco[sysid]",
            "playwright",
            "pytest",
            "pytest-rerunfailures",
            "pytest-xdist",
        ],
        "wandb": ["wandb"],
    },
    entry_points={
        "console_scripts": [
            "sysid_ros = sysid_ros.__main__:main",
            "excite = sysid_ros.nodes.excite.__main__:main",
            "fit_server = sysid_ros.nodes.fit_server.__main__:main",
            "identify = sysid_ros.nodes.identify.__main__:main",
            "estimator = sysid_ros.nodes.estimator.__main__:main",
            "recorder = sysid_ros.nodes.recorder.__main__:main",
            "replay = sysid_ros.nodes.replay.__main__:main",
            "sim_robot = sysid_ros.nodes.sim_robot.__main__:main",
            "sufficiency = sysid_ros.nodes.sufficiency.__main__:main",
        ],
    },
)

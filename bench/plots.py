"""Plots beside the tables of `bench/results/`, where matplotlib is installed (`pip install matplotlib`)."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from bench.tables import FOLDER


def plot_growth(name: str, unit: str, series: Mapping[str, Mapping[int, float]]) -> None:
    """Plot each figure of `series`, in `unit` by number of entries, on logarithmic axes into the file `name`."""
    if not find_spec("matplotlib"):
        print(f"{name} is not drawn: matplotlib is not installed")
        return
    figure = import_module("matplotlib.figure").Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots()
    for label, points in series.items():
        drawn = {count: value for count, value in sorted(points.items()) if value > 0}
        axes.plot([*drawn], [*drawn.values()], marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="entries", ylabel=unit)
    axes.grid(which="both", alpha=0.2)
    figure.legend(loc="outside right upper", fontsize="small")
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / name)

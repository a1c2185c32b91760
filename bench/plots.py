"""Plots as SVG: the same figures result in the same file, and texts remain texts."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Sheet

from .measure import Figure
from .report import Bars, Lines, Plot, number

STYLE = {
    "svg.hashsalt": "segue",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "figure.facecolor": "white",
}
COLOURS = {
    "segue": "#c2410c",
    "litellm": "#1d4ed8",
    "pydantic-ai": "#0f766e",
    "any-llm": "#7c3aed",
    "LangChain": "#374151",
    "anthropic": "#0ea5e9",
    "openai": "#65a30d",
}
OTHER = "#9ca3af"
DASHES = ("-", "--", ":")
WIDTH = 9.0
ACROSS = 3


def write(plot: Plot, folder: Path) -> None:
    """Draw a plot to the file of its name."""
    with mpl.rc_context(STYLE):
        sheet = bars(plot) if isinstance(plot, Bars) else lines(plot)
        sheet.suptitle(plot.title, fontsize=11, fontweight="bold", x=0.01, ha="left")
        sheet.savefig(folder / plot.file, format="svg", metadata={"Date": None, "Creator": None})


def colour(name: str) -> str:
    """The colour of a name, the same in all plots, by its first word; grey if it is not a peer."""
    return COLOURS.get(name.split()[0].rstrip(","), OTHER)


def spread(figures: list[Figure]) -> list[list[float]]:
    """The distances from the median to both quartiles."""
    return [
        [max(0.0, figure.median - figure.low) for figure in figures],
        [max(0.0, figure.high - figure.median) for figure in figures],
    ]


def bars(plot: Bars) -> Sheet:
    across = min(ACROSS, len(plot.panels))
    down = -(-len(plot.panels) // across)
    bars_down = max(map(len, plot.panels.values()))
    sheet = Sheet(figsize=(WIDTH, 0.7 + down * (0.55 + 0.24 * bars_down)), layout="constrained")
    axes = iter(sheet.subplots(down, across, squeeze=False).flat)
    for (title, panel), axis in zip(plot.panels.items(), axes, strict=False):
        names, figures = list(panel), list(panel.values())
        axis.barh(
            names,
            [figure.median for figure in figures],
            color=[colour(name) for name in names],
            xerr=spread(figures),
            error_kw={"linewidth": 0.8, "ecolor": "black"},
            height=0.7,
        )
        for name, figure in panel.items():
            label, place = f"  {number(figure.median)} {plot.unit}", (figure.high, name)
            axis.annotate(label, place, va="center", fontsize=8, annotation_clip=False)
        least, most = min(figure.low for figure in figures), max(figure.high for figure in figures)
        if plot.logarithmic:
            axis.set_xscale("log")
            axis.set_xlim(least / 2, most * (most / least) ** 0.4)
        else:
            axis.set_xlim(min(0.0, least), most * 1.35)
        axis.invert_yaxis()
        axis.set_title(title, loc="left")
        axis.xaxis.set_visible(False)
        axis.spines["bottom"].set_visible(False)
        axis.tick_params(axis="y", length=0)
    for axis in axes:  # unused panels
        axis.set_visible(False)
    return sheet


def lines(plot: Lines) -> Sheet:
    across = min(ACROSS, len(plot.panels))
    down = -(-len(plot.panels) // across)
    sheet = Sheet(figsize=(WIDTH, 0.9 + 2.7 * down), layout="constrained")
    axes = iter(sheet.subplots(down, across, squeeze=False, sharey=True).flat)
    drawn: dict[str, Any] = {}
    for (title, panel), axis in zip(plot.panels.items(), axes, strict=False):
        dashes = {shade: iter(DASHES) for shade in map(colour, panel)}
        for name, points in panel.items():
            figures = list(points.values())
            drawn[name] = axis.errorbar(
                list(points),
                [figure.median for figure in figures],
                yerr=spread(figures),
                color=colour(name),
                linestyle=next(dashes[colour(name)]),
                marker=".",
                linewidth=2.2 if name.startswith("segue") else 1.2,
                elinewidth=0.8,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(title, loc="left")
        axis.set_xlabel(plot.x)
        axis.grid(axis="y", which="major", linewidth=0.4, color="#d1d5db")
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    for axis in axes:  # unused panels
        axis.set_visible(False)
    sheet.supylabel(plot.y, fontsize=9)
    sheet.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return sheet

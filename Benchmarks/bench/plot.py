"""Draws pictures of one run, and of systems beside each other."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLOURS = {"tutti": "#1b6ca8", "snapcast": "#d1603d"}


def run(path, figures, grid, offsets):
    """Draws each room's distance from the median of all rooms, and the times at which it sounds."""
    play, (begin, end) = figures["play"], figures["steady_s"]
    figure, (above, below) = plt.subplots(2, 1, figsize=(11, 6), sharex=True, height_ratios=(3, 1), layout="tight")
    middle = (offsets.max(axis=0) + offsets.min(axis=0)) / 2
    inside = (grid >= begin) & (grid <= end)
    for room, (name, offset) in enumerate(zip(figures["rooms"], offsets)):
        above.plot(grid - play, (offset - middle) * 1e6, linewidth=0.8, label=name)
        below.plot(grid - play, np.where(np.isfinite(offset), room, np.nan), linewidth=6, solid_capstyle="butt")
    spread = np.ptp(offsets[:, inside], axis=0)
    if np.isfinite(spread).any():
        most = max(2.0, np.nanpercentile(spread, 99.5) * 1e6)
        above.set_ylim(-most, most)
    above.set(ylabel="from the middle of all rooms, µs", title=f"{figures['system']} {figures['version']}, {figures['scenario']['name']}")
    above.legend(loc="upper right")
    below.set_yticks(range(len(offsets)), figures["rooms"])
    below.set(ylabel="sounds", xlabel="s after play")
    for axis in (above, below):
        axis.axvspan(begin - play, end - play, color="green", alpha=0.05)
        axis.grid(alpha=0.3)
        for event in figures["faults"] + figures["commands"]:
            axis.axvline(event.get("from", event.get("t")) - play, color="red", linewidth=0.7, linestyle=":")
    figure.savefig(path, dpi=80)
    plt.close(figure)


def compare(path, results):
    """Draws for each scenario the share of time, over all runs, in which rooms were within each distance."""
    scenarios = [s for s in ("wired", "wifi") if any(runs[0]["scenario"]["name"] == s for runs in results)]
    figure, axes = plt.subplots(1, len(scenarios), figsize=(8.5, 3.2), sharey=True, squeeze=False, layout="tight")
    for axis, scenario in zip(axes[0], scenarios):
        for runs in results:
            if (r := runs[0])["scenario"]["name"] == scenario:
                all_of_it = [s for r in runs for s in r["spread_us"]]
                spread = np.sort([s for s in all_of_it if s is not None])
                share = np.arange(1, len(spread) + 1) / max(1, len(all_of_it)) * 100
                axis.plot(spread, share, color=COLOURS.get(r["system"]), label=f"{r['system'].title()} {r['version']}")
        axis.set(xscale="log", xlim=(0.5, 20000), xlabel="distance between first and last room, µs")
        axis.set_xticks([1, 10, 100, 1000, 10000], ["1", "10", "100", "1000", "10 000"])
        axis.set_title({"wired": "Wired", "wifi": "Wi-Fi"}[scenario], fontsize=10)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("% of the time")
    axes[0][0].legend(loc="center", fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)

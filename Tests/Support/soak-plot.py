#!/usr/bin/python3
"""soak-plot.py RECORD PICTURE: draws what `make soak` has recorded: memory, descriptors, threads and sync errors over time."""
import collections
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PANELS = {"memory": "memory, MiB", "descriptors": "descriptors", "threads": "threads", "sync": "sync error, µs"}

begin = None
series = collections.defaultdict(lambda: ([], []))
for line in open(sys.argv[1], encoding="utf-8"):
    seconds, name, measured, figure = line.rstrip("\n").split("\t")
    times, figures = series[measured, name]
    begin = float(seconds) if begin is None else begin
    times.append((float(seconds) - begin) / 60)
    figures.append(float(figure) / (1024 if measured == "memory" else 1))

picture, axes = plt.subplots(len(PANELS), 1, figsize=(11, 9), sharex=True, layout="tight")
for axis, (panel, label) in zip(axes, PANELS.items()):
    for (measured, name), (times, figures) in sorted(series.items()):
        if measured == panel:
            style = {"linestyle": "", "marker": ".", "markersize": 2} if panel == "sync" else {"linewidth": 0.8}
            axis.plot(times, figures, label=name, **style)
    axis.set_ylabel(label)
    axis.grid(alpha=0.3)
    axis.legend(loc="upper right", fontsize=8)
    if panel == "sync":
        axis.set_yscale("symlog", linthresh=10)
    else:
        axis.set_ylim(bottom=0)
axes[-1].set_xlabel("minutes")
picture.savefig(sys.argv[2], dpi=80)

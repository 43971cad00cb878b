#!/usr/bin/python3
"""Measures how closely rooms play together, by the real programs, on this machine. See README.md.

    bench.py run SCENARIO...    runs, analyses, and ends with the table; --runs 5: five times, for figures to publish
    bench.py check              measures the bench itself
    bench.py report [--write]   the table of all results; or into the documents
    bench.py scenarios          lists them
"""
import argparse
import importlib.util
import os
import shutil
import signal
import sys
from concurrent.futures import ProcessPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
RESULTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build", "bench", "results")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "check", "report", "scenarios"))
    parser.add_argument("scenario", nargs="*", help="see: bench.py scenarios; all: each of them")
    parser.add_argument("--system", default="tutti", help="what to measure: a file of systems/, or several with commas")
    parser.add_argument("--peer", action="append", default=[], help="another system, in the same run: snapcast")
    parser.add_argument("--programs", help="folder of the system's programs")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the system, see its file")
    parser.add_argument("--runs", type=int, default=1, help="of each scenario and system (default: 1, for a quick look)")
    parser.add_argument("--seconds", type=int, help="of music, instead of the scenario's")
    parser.add_argument("--rooms", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--results", default=RESULTS, help="folder (default: .build/bench/results)")
    parser.add_argument("--keep", action="store_true", help="keep the recordings")
    parser.add_argument("--write", action="store_true", help="report: fill docs/measurements.md and README.md")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("--runs must be 1 or more")
    return args


def needs():
    """Needs root. Enters a mount namespace of its own, so that all mounts end with the bench."""
    if os.geteuid():
        sys.exit("bench: it makes network namespaces, so it needs root: sudo make bench")
    if "TUTTI_BENCH" not in os.environ:
        os.environ["TUTTI_BENCH"] = "1"
        words = ["unshare", "-m", "--propagation", "private", sys.executable, os.path.join(HERE, "bench.py")]
        os.execvp("unshare", words + sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGINT):  # shells make programs in the background ignore SIGINT
        signal.signal(number, signal.default_int_handler)


def run(args):
    import house
    import report
    import run as runs
    import scenario
    names = args.scenario or ["wired"]
    if names == ["all"]:
        names = scenario.names()
    options = dict(o.split("=", 1) for o in args.option) | ({"programs": args.programs} if args.programs else {})
    changes = {"seconds": args.seconds, "rooms": args.rooms, "seed": args.seed}
    for name in names:
        scenario.load(name, **changes)  # finds mistakes at once, not after hours
    house.build()
    os.makedirs(args.results, exist_ok=True)
    systems, folders, figures = [*args.system.split(","), *args.peer], [], []
    todo = [(number, name, system) for number in range(1, args.runs + 1) for name in names for system in systems]
    for _, name, system in todo:
        shutil.rmtree(runs.place(system, name, args.results), ignore_errors=True)
    for number, name, system in todo:  # in turn, so that a busy phase of the machine does not hit one scenario only
        try:  # a failed run does not end the others
            folders.append(runs.perform(system, name, args.results, options, number, **changes))
        except SystemExit as reason:
            print(reason, flush=True)
    print("analysing", flush=True)
    with ProcessPoolExecutor(2) as pool:  # after the last run, so that it disturbs no run
        for job in [pool.submit(runs.judge, folder, args.keep) for folder in folders]:
            try:
                figures.append(job.result())
            except SystemExit as reason:
                print(reason, flush=True)
    if figures:
        print(*map(report.short, figures), "", report.report(report.grouped(figures)), "", f"pictures and figures: {args.results}", sep="\n")
    sys.exit(len(figures) < len(todo))


def main():
    missing = [m for m in ("numpy", "matplotlib") if not importlib.util.find_spec(m)]
    if missing:
        sys.exit("bench: apt-get install " + " ".join("python3-" + m for m in missing))
    args = arguments()
    if args.what == "scenarios":
        import scenario
        print("\n".join(scenario.names()))
    elif args.what == "report":
        import report
        results = report.load(args.results)
        print(report.report(results))
        if args.write:
            report.write_documents(results)
    else:
        needs()
        if args.what == "run":
            run(args)
        else:
            import check
            sys.exit(check.main())


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench: stopped; all hosts and their programs are gone")

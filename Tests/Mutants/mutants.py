#!/usr/bin/env python3
"""Breaks places that matter, one by one, and runs the tests that should notice. `make mutants` runs it.

    mutants.py                      the places of places.txt, and the operators of the files it names
    mutants.py --places             only the places
    mutants.py --only 'alarm|Clock' those whose title, or whose file, the pattern finds; builds no others
    mutants.py --again              those that survived the last run

All mutants are in one build, in .build/mutants: each is a branch that TUTTI_MUTANT=NUMBER chooses as a program starts. Exit status: 1 if
the tests let a place pass that is not marked as equivalent, 2 if the list does not fit the sources, or the sources cannot be built.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import operators
import places
import schemata
import trial

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / ".build/mutants"
TREE = WORK / "tree"
DROPPED = WORK / "dropped.json"
SURVIVORS = WORK / "survivors.json"
ERROR = re.compile(r"^(/[^:\n]+\.swift):(\d+):\d+: error: (.*)$", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", action="store_true", help="no operators")
    parser.add_argument("--only", metavar="PATTERN", help="only these")
    parser.add_argument("--run", metavar="PATTERN", help="run only these of those that are built")
    parser.add_argument("--again", action="store_true", help="run only those that survived the last run")
    parser.add_argument("--build", action="store_true", help="run nothing")
    parser.add_argument("--built", action="store_true", help="build nothing: the same was built before")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    return parser.parse_args()


def fail(text):
    print(f"mutants: {text}", file=sys.stderr)
    sys.exit(2)


def generated(rules):
    """Returns the mutants of the operators, and the rule of each file."""
    found, ruled = [], {}
    for rule in rules:
        for file in ROOT.glob(rule.pattern):
            ruled.setdefault(str(file.relative_to(ROOT)), rule)
    for index, path in enumerate(sorted(ruled)):
        for count, change in enumerate(operators.changes((ROOT / path).read_text())):
            found.append(schemata.Mutant(1000 * (index + 1) + count, path, change))
    return found, ruled


def key(mutant):
    """Tells a mutant from others of its file for as long as its line stays."""
    text = (ROOT / mutant.path).read_text()
    begin = text.rfind("\n", 0, mutant.change.start) + 1
    line = text[begin:text.find("\n", mutant.change.start)].strip()
    return f"{mutant.path}: {line} @{mutant.change.start - begin} {mutant.change.kind}"


# Leaves of the package only what the tests need.
TRIM = """
var needed: Set<String> = [%s]
var known = 0
while known < needed.count {
  known = needed.count
  for target in package.targets where needed.contains(target.name) {
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): needed.insert(name)
      default: break
      }
    }
  }
}
package.targets.removeAll { !needed.contains($0.name) }
package.products = []
"""


def write(mutants, tests):
    """Writes the tree with its mutants. What does not change keeps its date, so that it is not built again."""
    files = {}
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for name in names.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            files[name] = (ROOT / name).read_bytes()
    touched = sorted({mutant.path for mutant in mutants})
    for path in touched:
        text = schemata.written(files[path].decode(), [mutant for mutant in mutants if mutant.path == path])
        files[path] = without_promises(text).encode()
    for module in {module_of(path) for path in touched}:
        files[f"{module}/MutantNumber.swift"] = schemata.SWITCH.encode()
    for path in files:
        if path.startswith("Sources/") and path.endswith(".swift"):
            files[path] = without_promises(files[path].decode()).encode()
    if (ROOT / "Package.resolved").is_file():
        files["Package.resolved"] = (ROOT / "Package.resolved").read_bytes()
    package = files["Package.swift"].decode()
    package = package.replace(".treatAllWarnings(as: .error)", '.unsafeFlags(["-suppress-warnings"])')
    files["Package.swift"] = (package + TRIM % ", ".join(f'"{name}"' for name in sorted(tests))).encode()
    for path in [path for path in TREE.rglob("*") if path.is_file() and ".build" not in path.relative_to(TREE).parts]:
        if str(path.relative_to(TREE)) not in files:
            path.unlink()
    for name, data in files.items():
        path = TREE / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)


def without_promises(text):
    """Takes away what the compiler would hold the render path to: the choice of a mutant takes a lock once."""
    return text.replace("@_noLocks @_noAllocation", "                        ")


def module_of(path):
    parts = path.split("/")
    return "/".join(parts[:3] if parts[1] in ("Adapters", "Executables") else parts[:2])


def build(mutants, tests, is_built):
    """Builds the tests with all mutants that the compiler accepts; returns these, and the binary."""
    known = set(json.loads(DROPPED.read_text())) if DROPPED.is_file() else set()
    mutants = [mutant for mutant in mutants if key(mutant) not in known]
    # As `make test` builds them: the simulation runs hours of virtual time for each mutant.
    command = ["swift", "build", "--build-tests", "-c", "release", "-Xswiftc", "-enable-testing", "--package-path", str(TREE),
               "-debug-info-format", "none", "-Xswiftc", "-continue-building-after-errors"]
    while not is_built:
        write(mutants, tests)
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            break
        refused = {}
        for path, line, message in ERROR.findall(result.stdout + result.stderr):
            found = [mutant for mutant in mutants if str(TREE / mutant.path) == path and mutant.lines[0] <= int(line) <= mutant.lines[1]]
            for mutant in found:
                refused[mutant.number] = message
            if not found:
                fail(f"{path}:{line}: {message}")
        if not refused:
            fail("the build fails:\n" + (result.stdout + result.stderr)[-3000:])
        for mutant in mutants:
            if mutant.number in refused and isinstance(mutant, places.Place):
                fail(f"{mutant.title}: the compiler refuses it: {refused[mutant.number]}")
        known |= {key(mutant) for mutant in mutants if mutant.number in refused}
        mutants = [mutant for mutant in mutants if mutant.number not in refused]
        DROPPED.write_text(json.dumps(sorted(known), indent=0))
        print(f"The compiler refuses {len(refused)} mutants; building without them.", flush=True)
    return mutants, str(TREE / ".build/release/tuttiPackageTests.xctest")


def name(mutant):
    where = f"{mutant.path}:{mutant.line}"
    return f"{where}  {mutant.title}" if isinstance(mutant, places.Place) else f"{where}  operator {mutant.change.kind}"


def table(tried, survivors):
    """Prints how many mutants of each file were noticed."""
    lost = {mutant.number for mutant in survivors}
    rows = {}
    for mutant in tried:
        row = rows.setdefault(mutant.path, [0, 0])
        row[mutant.number in lost] += 1
    width = max(len(path) for path in rows)
    print(f"\n{'':{width}}  noticed  survived")
    for path, (noticed, survived) in sorted(rows.items()):
        print(f"{path:{width}}  {noticed:7}  {survived:8}")
    print(f"{'all':{width}}  {sum(row[0] for row in rows.values()):7}  {sum(row[1] for row in rows.values()):8}")


def main():
    args = arguments()
    listed, rules = places.read(places.LIST.read_text())
    errors = [error for error in (place.find(ROOT) for place in listed) if error]
    if errors:
        fail("\nmutants: ".join(errors))
    made, ruled = generated(rules)
    WORK.mkdir(parents=True, exist_ok=True)
    mutants = listed if args.places else listed + made
    for mutant in mutants:
        mutant.line = (ROOT / mutant.path).read_text().count("\n", 0, mutant.change.start) + 1
    tests = {mutant.number: mutant.tests if isinstance(mutant, places.Place) else ruled[mutant.path].tests for mutant in mutants}
    if args.only:
        mutants = [mutant for mutant in mutants if re.search(args.only, name(mutant))]
    needed = {word for mutant in mutants for pattern in tests[mutant.number] for word in re.findall(r"\b\w+Tests\b(?=[.|]|$)", pattern)}
    mutants, binary = build(mutants, {word for word in needed if (ROOT / "Tests" / word).is_dir()}, args.built)
    if args.build:
        return
    if args.run:
        mutants = [mutant for mutant in mutants if re.search(args.run, name(mutant))]
    if args.again:
        last = set(json.loads(SURVIVORS.read_text()))
        mutants = [mutant for mutant in mutants if key(mutant) in last]
    trials = trial.Trials(binary)
    for pattern in dict.fromkeys(pattern for mutant in mutants for pattern in tests[mutant.number]):
        error = trials.measure(pattern)
        if error:
            fail(error)
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(max(args.jobs, 1)) as pool:
        futures = {pool.submit(trials.attempt, mutant, tests[mutant.number]): mutant for mutant in mutants}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            mutant = futures[future]
            if done % 50 == 0:
                print(f"          {done} of {len(mutants)}, {len(survivors)} survived", flush=True)
            if isinstance(mutant, places.Place):
                print(f"{'survives' if not future.result() else 'noticed '}  {name(mutant)}: {future.result() or ''}"[:220], flush=True)
            elif not future.result():
                print(f"survives  {name(mutant)}", flush=True)
            if not future.result():
                survivors.append(mutant)
    SURVIVORS.write_text(json.dumps(sorted(key(mutant) for mutant in survivors), indent=0))
    bad = [mutant for mutant in survivors if isinstance(mutant, places.Place) and not mutant.equivalent]
    for kind in ([mutant for mutant in mutants if isinstance(mutant, places.Place)],
                 [mutant for mutant in mutants if not isinstance(mutant, places.Place)]):
        if kind:
            table(kind, survivors)
    for mutant in bad:
        print(f"survives: {name(mutant)}\n    {mutant.why}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

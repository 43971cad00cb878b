"""Reads places.txt: which places are broken how, and which tests should notice."""
import pathlib
import sys
import zlib

from operators import Change
from schemata import Mutant

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "places.txt"


class Place(Mutant):
    """A place of the list. `equivalent` is the reason why no test can notice, where there is one."""

    def __init__(self, title):
        super().__init__(100_000 + zlib.crc32(title.encode()) % 900_000, "", None)
        self.title, self.why, self.equivalent = title, "", ""
        self.old, self.new, self.tests = [], [], []

    def find(self, root):
        """Finds its text in the tree; returns an error, or None."""
        old = "\n".join(self.old)
        if not (self.path and old and self.tests and self.why):
            return f"{self.title}: needs lines that begin with in, why, - and tests"
        file = root / self.path
        count = file.read_text().count(old) if file.is_file() else 0
        if count != 1:
            return f"{self.title}: its text stands {count} times in {self.path}, not once"
        start = file.read_text().index(old)
        self.change = Change(start, start + len(old), "\n".join(self.new), "place")
        return None


class Rule:
    """Files whose operators are changed one by one, and the tests that should notice, the quickest first."""

    def __init__(self, pattern, tests):
        self.pattern, self.tests = pattern, tests


def read(text):
    """Returns the places and the rules of the list."""
    places, rules = [], []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "##":
            places.append(Place(rest))
        elif word == "operators":
            pattern, *tests = rest.split()
            rules.append(Rule(pattern, tests))
        elif not line or word == "#":
            continue
        elif not places:
            sys.exit(f"mutants: no place is begun: {line}")
        elif word == "in":
            places[-1].path = rest
        elif word == "why":
            places[-1].why = rest
        elif word == "tests":
            places[-1].tests = rest.split()
        elif word == "equivalent":
            places[-1].equivalent = rest
        elif word in ("-", "+"):
            (places[-1].old if word == "-" else places[-1].new).append(rest)
        else:
            sys.exit(f"mutants: places.txt has a line that means nothing: {line}")
    return places, rules

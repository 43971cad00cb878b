"""Writes a file that carries all its mutants at once: each body that has some becomes a choice between copies of itself."""
import swift

SWITCH = """import Glibc

/// The number of the mutant that this process is; 0 for none.
let mutantNumber: Int = getenv("TUTTI_MUTANT").map { Int(String(cString: $0)) ?? 0 } ?? 0
"""


class Mutant:
    """A change to a file, numbered. `lines` are those that it has in the file that carries it."""

    def __init__(self, number, path, change):
        self.number, self.path, self.change = number, path, change
        self.line = 0
        self.lines = None


def written(text, mutants):
    """Returns the text of the file with its mutants, and notes which lines they have there."""
    mask = swift.masked(text)
    found = swift.bodies(mask)
    groups = {}
    for mutant in mutants:
        change = mutant.change
        body = swift.body_around(found, change.start, change.end)
        # Outside bodies, an expression is chosen.
        groups.setdefault(body or (change.start, change.end, "expression"), []).append(mutant)
    outer = [body for body in groups if not any(
        other is not body and other[0] <= body[0] and body[1] <= other[1] for other in groups)]
    for body in list(groups):
        if body not in outer:
            whole = next(other for other in outer if other[0] <= body[0] and body[1] <= other[1])
            groups[whole] += groups.pop(body)
    out, place = [], 0
    for body in sorted(groups, key=lambda body: body[0]):
        out.append(text[place:body[0]])
        write = expression if len(body) == 3 else choice
        write(out, text, body, groups[body])
        place = body[1]
    out.append(text[place:])
    result = "".join(out)
    numbers = swift.Lines(result)
    lengths, total = [], 0
    for piece in out:
        lengths.append(total)
        total += len(piece)
    for mutant in mutants:
        first, last = mutant.lines
        mutant.lines = (numbers.number(lengths[first]), numbers.number(lengths[last]))
    return result


def choice(out, text, body, mutants):
    out.append("\n")
    for mutant in mutants:
        change = mutant.change
        begin = len(out)
        out.append(f"if mutantNumber == {mutant.number} {{\n")
        out.append(text[body[0]:change.start] + change.text + text[change.end:body[1]])
        out.append("\n")
        out.append("} else ")
        mutant.lines = (begin, begin + 2)
    out.append("{\n" + text[body[0]:body[1]] + "\n}\n")


def expression(out, text, body, mutants):
    for mutant in mutants:
        begin = len(out)
        out.append(f"(mutantNumber == {mutant.number} ? ")
        out.append(mutant.change.text)
        out.append(" : ")
        mutant.lines = (begin, begin + 2)
    out.append(text[body[0]:body[1]] + ")" * len(mutants))

"""Makes mutants by rule: other comparisons, signs, connectives and constants, negated conditions, guards left out."""
import re

import swift

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&",
}
OPERATOR = re.compile(r"(?<=[\w)\]}?!\"] )(<=|>=|==|!=|&&|\|\||\+=|-=|<|>|\+|-)(?= \S)", re.M)
LINE_OPERATOR = re.compile(r"^([ \t]+)(<=|>=|==|!=|&&|\|\||<|>|\+|-)(?= \S)", re.M)
CONSTANT = re.compile(r"(?<![\w.$#])(0|1)(?![\w.])")
CONDITION = re.compile(r"(?<![\w.])(if|while|guard)\s")


class Change:
    """A piece of text, from `start` to `end`, that becomes `text`."""

    def __init__(self, start, end, text, kind):
        self.start, self.end, self.text, self.kind = start, end, text, kind


def changes(text):
    """Returns all changes to a file, in the order of their places."""
    mask = swift.masked(text)
    found = []
    for pattern, group in ((OPERATOR, 1), (LINE_OPERATOR, 2)):
        for match in pattern.finditer(mask):
            operator = match.group(group)
            line = mask[mask.rfind("\n", 0, match.start()) + 1:match.end()]
            if operator and not re.search(r"\bfunc\s+\S+$", line):
                found.append(Change(match.start(group), match.end(group), SWAPS[operator], f"{operator} → {SWAPS[operator]}"))
    for match in CONSTANT.finditer(mask):
        other = "1" if match.group(1) == "0" else "0"
        found.append(Change(match.start(), match.end(), other, f"{match.group(1)} → {other}"))
    for match in CONDITION.finditer(mask):
        found += conditions(mask, text, match)
    return sorted(found, key=lambda change: (change.start, change.end))


def conditions(mask, text, match):
    """Returns the changes to a condition that binds nothing: the opposite, and a guard that does not stand there."""
    end = end_of_condition(mask, match.end())
    condition = mask[match.end():end]
    if end < 0 or not condition.strip():
        return []
    found, place = [], match.end()
    for part in parts(condition):
        stripped = part.strip()
        start = place + len(part) - len(part.lstrip())
        place += len(part) + 1
        if not re.match(r"(let|var|case)\b|#", stripped):
            stop = start + len(stripped)
            found.append(Change(start, stop, f"!({text[start:stop]})", "negated"))
    if match.group(1) == "guard" and not re.search(r"\b(let|var|case)\b", condition):
        stop = closing(mask, mask.index("{", end))
        found.append(Change(match.start(), stop, "", "guard removed"))
    return found


def end_of_condition(mask, place):
    """Returns where the condition ends: at its brace, or before `else`. Braces of closures stand in parentheses."""
    depth, start = 0, place
    while place < len(mask):
        character = mask[place]
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth < 0:
            return -1
        if depth == 0 and character == "{":
            words = mask[start:place].split()
            if words and words[-1] == "else":
                return start + mask[start:place].rindex("else")
            ends = re.match(r"\{[^{}\n]*\}\s*(?:,|==|!=|<|>|&&|\|\||else|\{|\.|\?\?)", mask[place:])
            if not ends:
                return place
            if re.match(r"\s*else", mask[closing(mask, place):]) and not words[-1:] == ["}"] and "guard" not in mask[start - 7:start]:
                return place
            place = closing(mask, place)
            continue
        place += 1
    return -1


def closing(mask, brace):
    depth = 0
    for place in range(brace, len(mask)):
        depth += {"{": 1, "}": -1}.get(mask[place], 0)
        if depth == 0:
            return place + 1
    return len(mask)


def parts(condition):
    """Splits a condition at the commas that stand in no parentheses."""
    depth, part, found = 0, "", []
    for character in condition:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append(part)
            part = ""
        else:
            part += character
    return found + [part]

"""Finds its way in a Swift file, as far as mutants need it: strings, comments, and the bodies of functions."""
import bisect
import re

MODIFIERS = (
    r"(?:(?:package|public|private|fileprivate|internal|open)(?:\(set\))?|static|mutating|nonmutating|consuming|borrowing|"
    r"override|final|nonisolated|isolated|convenience|required|prefix|postfix|infix|lazy|weak|unsafe)\s+")
DECLARATION = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*(?:" + MODIFIERS + r")*(func|init|deinit|subscript|var|get|set|didSet|willSet)\b", re.M)
OTHER = re.compile(r"^\s*(?:@\w+\s+)*(?:" + MODIFIERS + r")*(?:struct|enum|class|extension|protocol|actor|case|let|if|for|while|switch|"
                   r"guard|return|do|import|typealias)\b", re.M)
EFFECTS = re.compile(r"\s*(?:async\b\s*)?(?:(?:re)?throws(?:\([^)]*\))?\s*)?(?:->.*|where\b.*)?\s*", re.S)


def masked(text):
    """Returns the text with the contents of strings and comments replaced by spaces, at the same places."""
    out = list(text)
    place = 0

    def blank(start, end):
        for index in range(start, min(end, len(text))):
            if out[index] != "\n":
                out[index] = " "

    while place < len(text):
        if text.startswith("//", place):
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            blank(place, end)
        elif text.startswith("/*", place):
            end = text.find("*/", place) + 2
            blank(place, end)
        elif text.startswith('"""', place):
            end = text.find('"""', place + 3)
            blank(place + 3, end)
            end += 3
        elif text[place] == '"':
            end = end_of_string(text, place)
            blank(place + 1, end - 1)
        elif text[place] == "/" and re.match(r"(?<![\w)\] ])/[^ /*\n][^\n]*/|/\\\S*/", text[place:]) and text[place - 1] in "( ":
            end = text.index("/", place + 1) + 1
            blank(place, end)
        else:
            end = place + 1
        place = end
    return "".join(out)


def end_of_string(text, place):
    """Returns the place after the string that begins at `place`, interpolations with strings of their own included."""
    place += 1
    while text[place] != '"':
        if text.startswith("\\(", place):
            depth, place = 1, place + 2
            while depth:
                if text[place] == '"':
                    place = end_of_string(text, place)
                    continue
                depth += {"(": 1, ")": -1}.get(text[place], 0)
                place += 1
        else:
            place += 2 if text[place] == "\\" else 1
    return place + 1


def bodies(mask):
    """Returns the places after `{` and before `}` of all bodies of functions, initializers and accessors."""
    found, stack, boundary = [], [], 0
    for place, character in enumerate(mask):
        if character == "{":
            stack.append((place, is_body(mask[boundary:place], mask, place)))
            boundary = place + 1
        elif character == "}":
            start, whole = stack.pop()
            if whole:
                found.append((start + 1, place))
            boundary = place + 1
    return found


def is_body(header, mask, brace):
    """True if the brace that follows `header` begins what a function does."""
    matches = list(DECLARATION.finditer(header))
    if not matches:
        return False
    kind, rest = matches[-1].group(1), header[matches[-1].end():]
    if kind in ("get", "set", "didSet", "willSet", "deinit"):
        return re.fullmatch(r"\s*(?:\(\w+\))?\s*(?:throws\S*\s*)?", rest) is not None
    if OTHER.search(rest):
        return False
    if kind == "var":
        inside = mask[brace + 1:brace + 120]
        accessors = re.match(r"\s*(?:@\w+\s+)*(?:mutating\s+|nonmutating\s+)?(?:get|set|didSet|willSet|_modify|_read)\b", inside)
        return "=" not in rest and not accessors
    opening = rest.find("(")
    depth, place = 0, opening
    while opening >= 0 and place < len(rest):
        depth += {"(": 1, ")": -1}.get(rest[place], 0)
        place += 1
        if depth == 0:
            break
    if opening < 0 or depth:
        return False
    if kind == "subscript":
        return not re.match(r"\s*(?:@\w+\s+)*(?:get|set|_modify|_read)\b", mask[brace + 1:brace + 120])
    return EFFECTS.fullmatch(rest[place:]) is not None


def body_around(found, start, end):
    """Returns the smallest body that contains the text from `start` to `end`; None if there is none."""
    around = [body for body in found if body[0] <= start and end <= body[1]]
    return min(around, key=lambda body: body[1] - body[0]) if around else None


class Lines:
    """The number of the line of each place of a text."""

    def __init__(self, text):
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def number(self, place):
        return bisect.bisect_left(self.breaks, place) + 1

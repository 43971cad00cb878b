"""A part of the household with a model of its own: edits of one part change nothing in another, so all parts are edited at the same time."""

import collections
import copy
import dataclasses
import http.client
import json
import random
import typing

ANSWER_S = 30
OPENING_S = 5


class Unanswered(Exception):
    """The daemon was killed before it answered."""


class Wrong(Exception):
    """The household is not as the model says."""


class New:
    """The id of something new, which the answer would have told: any that was never used."""

    def __init__(self, used):
        self.used = frozenset(used)

    def __eq__(self, other):
        return self is other or not isinstance(other, New) and other not in self.used

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return "NEW"


@dataclasses.dataclass
class Edit:
    kind: str
    method: str
    path: str
    body: typing.Any
    # Changes a state of the model, with the answer's body; that is None where only the beginning of the answer came.
    apply: typing.Callable

    def __str__(self):
        return f"{self.kind}: {self.method} {self.path} {'' if self.body is None else json.dumps(self.body)}"


class Part:
    """`state` is the model: plain values, of which a copy is changed by each edit. Subclasses say which edits there are (`draw`), how the
    household's part looks (`read`) and how the model's does (`shown`)."""

    hasForgotten = False
    # Refusals that are no fault, by kind of edit: the status.
    refusals = {}

    def __init__(self, home, seed, tally):
        self.home, self.tally = home, tally
        self.random = random.Random(f"{seed} {type(self).__name__}")
        self.state, self.after, self.done, self.before = None, None, [], []

    @property
    def name(self):
        return type(self).__name__.lower()

    def api(self, method, path, body=None):
        """Returns the status, and the body, if all of it has come. Raises `Unanswered` if nothing has."""
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=ANSWER_S)
        try:
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            try:
                text = answer.read()
            except (OSError, http.client.HTTPException):
                return answer.status, None
            return answer.status, json.loads(text) if text else None
        except TimeoutError as error:
            raise Wrong(f"no answer within {ANSWER_S} s to {method} {path}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered from error
        finally:
            connection.close()

    def get(self, path):
        status, body = self.api("GET", path)
        if status != 200:
            raise Wrong(f"GET {path}: {status} {body}")
        if body is None:
            raise Unanswered
        return body

    def edit(self, forgotten=None):
        """Does one drawn edit. Raises `Unanswered` if the daemon was killed meanwhile; then both states of the model are possible. The
        model knows nothing of an edit of the `forgotten` kind, so that somebody can see the comparison fail."""
        edit = self.draw()
        if edit is None:
            return
        self.done.append(str(edit))
        after = copy.deepcopy(self.state)
        edit.apply(after, None)
        self.after = after
        self.tally[edit.kind]["asked"] += 1
        try:
            status, answer = self.api(edit.method, edit.path, edit.body)
        except Unanswered:
            self.done[-1] += "  (no answer)"
            self.tally[edit.kind]["unanswered"] += 1
            raise
        self.after = None
        if status >= 400:
            if status not in self.refusals.get(edit.kind, ()):
                raise Wrong(f"{edit}: refused with {status}, {answer}")
            self.done[-1] += f"  ({status})"
            self.tally[edit.kind]["refused"] += 1
            return
        self.tally[edit.kind]["done"] += 1
        if edit.kind == forgotten:
            self.hasForgotten = True
            self.done[-1] += "  (the model has forgotten it)"
            return
        after = copy.deepcopy(self.state)
        edit.apply(after, answer)
        self.state = after
        self.settle()

    def settle(self):
        """Reads what the answer has not told, such as the order after a shuffle."""

    def compare(self):
        """Finds the state of the model that the household has."""
        candidates = [self.state] + ([self.after] if self.after is not None else [])
        found = self.read()
        if all(self.shown(candidate) != found for candidate in candidates):
            # An entry that was chosen is current once it is opened, and not before.
            try:
                self.home.wait(lambda _: any(self.shown(candidate) == self.read() for candidate in candidates), seconds=OPENING_S)
            except RuntimeError:
                pass
            found = self.read()
        for candidate in candidates:
            if self.shown(candidate) == found:
                wasCut = self.after is not None and self.shown(self.state) != self.shown(self.after)
                if wasCut:
                    self.tally["cut"]["done" if candidate is self.after else "not done"] += 1
                self.state = self.adopted(candidate, found)
                self.after, self.done, self.before = None, [], self.done
                return
        edits = "\n  ".join(self.done[-12:])
        wanted = " or ".join(difference(self.shown(candidate), found) for candidate in candidates)
        raise Wrong(f"{self.name}: {wanted}\n since the kill before:\n  {edits}")

    def adopted(self, state, found):
        """Returns the state with what only the household knew."""
        return state


def difference(wanted, found, place=""):
    """Says where two values differ."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        parts = [difference(wanted.get(key, "nothing"), found.get(key, "nothing"), f"{place}/{key}")
                 for key in {**wanted, **found} if wanted.get(key, "nothing") != found.get(key, "nothing")]
        return "; ".join(parts)
    return f"{place} is {found}, and not {wanted}"


def tallies():
    return collections.defaultdict(collections.Counter)

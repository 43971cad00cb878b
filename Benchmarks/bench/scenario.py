"""Reads scenarios: short text files, from which everything else follows."""
import os
import random
import tomllib

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")


def _file(name):
    try:
        with open(os.path.join(FOLDER, name + ".toml"), "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise SystemExit(f"bench: there is no scenario '{name}', but: {', '.join(names())}") from None
    except tomllib.TOMLDecodeError as error:
        raise SystemExit(f"bench: scenarios/{name}.toml: {error}") from None


def names():
    return sorted(f[:-5] for f in os.listdir(FOLDER) if f.endswith(".toml") and f not in ("defaults.toml", "networks.toml"))


def load(name, **changes):
    """Reads a scenario, and applies `changes` that are not None."""
    s = _file("defaults")
    own = _file(name)
    if unknown := set(own) - set(s):
        raise SystemExit(f"bench: scenarios/{name}.toml: unknown: {', '.join(sorted(unknown))}")
    s |= own | {key: value for key, value in changes.items() if value is not None}
    rooms, chance, kinds = s["rooms"], random.Random(s["seed"]), _file("networks")

    def drawn(key, count, largest):
        """Values of the list, then random ones from the seed."""
        extra = [round(chance.uniform(-largest, largest), 2) for _ in range(count)]
        return (s[key] + extra[len(s[key]):])[:count]

    def texts(key, count):
        return (s[key] + [""] * count)[:count]

    clocks = zip(drawn("clock_ppm", rooms + 1, 50), drawn("clock_offset_s", rooms + 1, 60), texts("clock_wander", rooms + 1))
    s["clocks"] = [{"ppm": ppm, "offset_s": offset, "wander": wander} for ppm, offset, wander in clocks]
    cards = zip(drawn("card_ppm", rooms, 90), texts("card_wander", rooms))
    s["cards"] = [{"ppm": float(ppm), "wander": wander, **s["card"]} for ppm, wander in cards]
    s["cards"] = [{key: float(value) if key == "latency" else value for key, value in card.items()} for card in s["cards"]]
    links = s["network"] if isinstance(s["network"], list) else [s["network"]] * rooms
    s["networks"] = [kinds[link] for link in [s["sender_network"], *links]]
    s["name"] = name
    return s

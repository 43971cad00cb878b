"""Covers for the mock server, drawn from a seed: plain geometry in SVG."""

import math
import random

PALETTES = [
    ("#1d2b38", "#e4572e", "#f3d9b1", "#76b0a9"), ("#f2e8cf", "#386641", "#bc4749", "#a7c957"),
    ("#22223b", "#c9ada7", "#f2e9e4", "#9a8c98"), ("#0b3954", "#bfd7ea", "#ff6663", "#e0ff4f"),
    ("#2b2d42", "#edf2f4", "#ef233c", "#8d99ae"), ("#fefae0", "#283618", "#dda15e", "#bc6c25"),
    ("#3d2645", "#f0a202", "#f18805", "#d95d39"), ("#102542", "#f87060", "#cdd7d6", "#b3a394"),
    ("#e9edc9", "#5f0f40", "#9a031e", "#fb8b24"), ("#14213d", "#fca311", "#e5e5e5", "#6c8ead"),
    ("#2f3e46", "#cad2c5", "#84a98c", "#e07a5f"), ("#f4f1de", "#3d405b", "#81b29a", "#e07a5f"),
]


def _rings(c, p):
    x, y = c.randint(150, 450), c.randint(150, 450)
    return "".join(f'<circle cx="{x}" cy="{y}" r="{r}" fill="{p[1 + i % 3]}"/>' for i, r in enumerate(range(c.randint(320, 460), 10, -c.randint(36, 60))))


def _hills(c, p):
    out = f'<circle cx="{c.randint(180, 420)}" cy="{c.randint(140, 240)}" r="{c.randint(50, 110)}" fill="{p[1]}"/>'
    for i in range(4):
        base, amp, ph = 290 + i * 80, c.randint(25, 60), c.random() * 6
        pts = " ".join(f"{x},{base + amp * math.sin(x / c.randint(115, 125) + ph):.0f}" for x in range(0, 601, 20))
        out += f'<polygon points="0,600 {pts} 600,600" fill="{p[2 + i % 2]}" opacity="{0.55 + i * 0.15}"/>'
    return out


def _bars(c, p):
    return "".join(f'<rect x="{60 + i * 40}" y="{300 - h}" width="24" height="{2 * h}" rx="12" fill="{p[1 + c.randrange(3)]}"/>'
                   for i in range(12) for h in [c.randint(30, 220)])


def _quilt(c, p):
    out = ""
    for x in range(0, 600, 150):
        for y in range(0, 600, 150):
            out += f'<rect x="{x}" y="{y}" width="150" height="150" fill="{c.choice(p)}"/>'
            sx, sy = c.choice([(0, 0), (150, 0), (0, 150), (150, 150)])
            out += (f'<path d="M{x + sx},{y + sy} m-150,0 a150,150 0 1,0 300,0 a150,150 0 1,0 -300,0" '
                    f'fill="{c.choice(p)}" clip-path="url(#k{x}{y})"/><clipPath id="k{x}{y}"><rect x="{x}" y="{y}" width="150" height="150"/></clipPath>')
    return out


def _strokes(c, p):
    out = ""
    for i in range(18):
        y, w = 30 + i * 32, c.randint(5, 24)
        out += f'<path d="M-20,{y} C150,{y + c.randint(-90, 90)} 400,{y + c.randint(-90, 90)} 620,{y}" stroke="{p[1 + i % 3]}" stroke-width="{w}" fill="none"/>'
    return out


def _moon(c, p):
    x, r = c.randint(240, 360), c.randint(130, 200)
    return (f'<rect width="600" height="{c.randint(330, 430)}" fill="{p[2]}"/><circle cx="{x}" cy="300" r="{r}" fill="{p[1]}"/>'
            f'<circle cx="{x + r // 3}" cy="{300 - r // 4}" r="{r * 0.82:.0f}" fill="{p[2]}"/>')


def _dots(c, p):
    return "".join(f'<circle cx="{45 + x * 51}" cy="{45 + y * 51}" r="{4 + 20 * abs(math.sin(x * a + y * b)):.0f}" fill="{p[1 + (x + y) % 3]}"/>'
                   for a, b in [(c.random(), c.random())] for x in range(11) for y in range(11))


def cover(name):
    chance = random.Random(name)
    palette = chance.choice(PALETTES)
    style = chance.choice([_rings, _hills, _bars, _quilt, _strokes, _moon, _dots])
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600" width="600" height="600">'
            f'<rect width="600" height="600" fill="{palette[0]}"/>{style(chance, palette)}</svg>').encode()

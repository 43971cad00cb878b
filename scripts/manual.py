#!/usr/bin/env python3
"""Makes a program's manual page from its help texts: PROGRAM --experimental-dump-help | manual.py"""

import json
import sys


def plain(text):
    """Escapes text for troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def discussion(text):
    """Formats paragraphs. Indented lines stay as they are."""
    page, is_verbatim = [], False
    for line in text.split("\n"):
        if line.startswith("  ") != is_verbatim and line:
            is_verbatim = not is_verbatim
            page.append(".RS\n.nf" if is_verbatim else ".fi\n.RE")
        if not line and not is_verbatim:
            page.append(".PP")
        elif line:
            page.append(plain(line[2:] if is_verbatim else line))
    if is_verbatim:
        page.append(".fi\n.RE")
    return "\n".join(page)


def spelling(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def label(argument):
    """Formats an argument as it is typed."""
    value = "\\fI%s\\fR" % plain(argument.get("valueName") or "value")
    names = ", ".join("\\fB%s\\fR" % plain(spelling(name)) for name in argument.get("names") or [])
    text = {"positional": value, "flag": names}.get(argument["kind"], names + " " + value)
    return text + (" ..." if argument.get("isRepeating") and argument["kind"] == "positional" else "")


def described(command):
    page = []
    for argument in command.get("arguments") or []:
        if not argument.get("shouldDisplay", True) or argument.get("valueName") in ("help", "version"):
            continue
        text = argument.get("abstract") or ""
        if argument.get("defaultValue") and argument["kind"] != "flag":
            text += " (default: %s)" % argument["defaultValue"]
        page.append(".TP\n%s\n%s" % (label(argument), plain(text.strip())))
    return page


def section(command):
    """Formats the section of one command of a program with several."""
    shown = [a for a in command.get("arguments") or [] if a.get("shouldDisplay", True)]
    words = [label(a) for a in shown if a["kind"] == "positional"]
    page = [".SS %s" % command["commandName"], plain(command.get("abstract") or "")]
    page.append(".PP\n\\fBtutti %s\\fR %s [\\fIoptions\\fR]" % (command["commandName"], " ".join(words)))
    page += described(command)
    if command.get("discussion"):
        page += [".PP", discussion(command["discussion"])]
    return page


def manual(command, other):
    name = command["commandName"]
    commands = [c for c in command.get("subcommands") or [] if c["commandName"] != "help"]
    page = [".TH %s 1 \"\" Tutti \"Tutti\"" % name.upper(), ".SH NAME"]
    page.append("%s \\- %s" % (plain(name), plain((command.get("abstract") or "").rstrip("."))))
    page += [".SH SYNOPSIS", "\\fB%s\\fR %s[\\fIoptions\\fR]" % (plain(name), "\\fIcommand\\fR " if commands else "")]
    page += [".SH DESCRIPTION", discussion(command.get("discussion") or command.get("abstract") or "")]
    options = described(command)
    if options:
        page += [".SH OPTIONS"] + options
    if commands:
        page.append(".SH COMMANDS")
        for each in commands:
            page += section(each)
    page += [".SH SEE ALSO", "\\fB%s\\fR(1)" % plain(other)]
    return "\n".join(page) + "\n"


help = json.load(sys.stdin)["command"]
sys.stdout.write(manual(help, "tutti" if help["commandName"] == "tutti-receiver" else "tutti-receiver"))

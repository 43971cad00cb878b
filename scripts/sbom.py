#!/usr/bin/env python3
"""Prints what the packages are made of, as CycloneDX: swift package show-dependencies --format json | sbom.py DEB..."""

import hashlib
import json
import subprocess
import sys


def library(node):
    """A Swift package that is linked in."""
    return {"type": "library", "name": node["identity"], "version": node["version"], "purl": "pkg:swift/%s@%s" % (
        node["url"].removeprefix("https://").removesuffix(".git"), node["version"])}


def libraries(node, found):
    for child in node["dependencies"]:
        found.setdefault(child["identity"], library(child))
        libraries(child, found)
    return found


def package(path):
    """A package, with the Debian packages that it depends on."""
    fields = subprocess.run(["dpkg-deb", "-f", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    said = dict(line.split(": ", 1) for line in fields.splitlines() if ": " in line and line[0] != " ")
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {
        "type": "application", "name": said["Package"], "version": said["Version"],
        "purl": "pkg:deb/tutti/%s@%s?arch=%s" % (said["Package"], said["Version"], said["Architecture"]),
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "properties": [{"name": "debian:depends", "value": said.get("Depends", "")}],
    }


components = [package(path) for path in sys.argv[1:]] + list(libraries(json.load(sys.stdin), {}).values())
json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}, sys.stdout, indent=2)
print()

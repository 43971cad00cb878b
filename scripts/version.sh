#!/bin/sh
# The version of this tree, for packages: that of the first heading of CHANGELOG.md. In a clone whose commit has no tag
# vVERSION, a suffix counts the commits and names the last; it sorts before the release.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
[ -n "$version" ] || {
  echo "version: CHANGELOG.md has no heading like: ## 0.1.0" >&2
  exit 65
}
if git rev-parse --verify -q HEAD >/dev/null 2>&1 && [ "$(git describe --tags --exact-match 2>/dev/null)" != "v$version" ]; then
  version="$version~git$(git rev-list --count HEAD).$(git rev-parse --short=7 HEAD)"
fi
echo "$version"

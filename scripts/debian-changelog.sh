#!/bin/sh
# debian-changelog.sh SUITE: CHANGELOG.md as debian/changelog, for packages of this suite. Each suite has versions of its own, so
# that an upgrade of the system brings the packages that fit it.
set -eu
cd "$(dirname "$0")/.."
suite=$1
case $suite in
bookworm) mark=+deb12 ;;
trixie) mark=+deb13 ;;
*)
  echo "debian-changelog: $suite is neither bookworm nor trixie" >&2
  exit 64
  ;;
esac
maintainer="Tutti developers <tutti@example.org>"
# The date of the commit, not of the build: the same tree gives the same packages.
date=$(git log -1 --format=%cD 2>/dev/null) || date=$(date -R -r CHANGELOG.md)
awk -v newest="$(scripts/version.sh)" -v suite="$suite" -v mark="$mark" -v who="$maintainer" -v date="$date" '
  # say TEXT FIRST: in lines of 76 characters at most, of which FIRST begins the first.
  function say(text, first,   words, count, line, i) {
    count = split(text, words, " ")
    line = first
    for (i = 1; i <= count; i++) {
      if (length(line) + length(words[i]) > 75) {
        print line
        line = "   "
      }
      line = line " " words[i]
    }
    print line
  }
  function close_entry() { if (open) printf "\n -- %s  %s\n\n", who, date }
  /^## / {
    close_entry()
    printf "tutti (%s%s) %s; urgency=medium\n\n", open ? $2 : newest, mark, suite
    open = 1
    next
  }
  open && /^- / { say(substr($0, 3), "  *"); next }
  open && /^  [^ ]/ { say(substr($0, 3), "   ") }
  END { close_entry() }
' CHANGELOG.md

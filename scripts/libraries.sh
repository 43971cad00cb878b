#!/bin/sh
# libraries.sh PROGRAM...: names the libraries that these programs need to start and that this machine does not have, with the
# Debian packages that hold them; then it fails. Of FFmpeg, which is loaded when something is played, it only tells.
set -eu
PATH=$PATH:/usr/sbin:/sbin

# Debian's name of the package: libasound.so.2 is in libasound2, libsqlite3.so.0 in libsqlite3-0. On Debian 13 some names end
# in t64, which apt finds by itself.
package() {
  sed -e 's/^libcrypto\./libssl./' -e 's/\([0-9]\)\.so\./\1-/' -e 's/\.so\.//' | tr '[:upper:]' '[:lower:]' | sort -u | tr '\n' ' '
}

missing=$(for program; do LC_ALL=C ldd "$program" 2>/dev/null || true; done |
  sed -n 's/^[[:space:]]*\([^ ]*\.so[^ ]*\) => not found/\1/p' | sort -u)
loaded=$(for program; do grep -ao 'lib\(av[a-z]*\|swresample\)\.so\.[0-9]\{1,3\}' "$program" || true; done | sort -u)
for library in $loaded; do
  ldconfig -p | grep -q "^[[:space:]]*$library " || absent="${absent:-}$library
"
done
[ -z "${absent:-}" ] || echo "install: FFmpeg is not here, so only what it need not read is played: apt install $(printf %s "$absent" | package)" >&2
[ -z "$missing" ] || {
  echo "install: the programs would not start here: there is no $(echo $missing)" >&2
  echo "install: install what they need first: apt install $(echo "$missing" | package)" >&2
  exit 69
}

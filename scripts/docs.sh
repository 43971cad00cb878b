#!/bin/bash
# Makes the library's documentation as a web site in .build/docs. Needs only the toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build --target Tutti
modules=.build/debug/Modules
graphs=.build/symbol-graphs
rm -rf "$graphs"
mkdir -p "$graphs"
swift symbolgraph-extract -module-name Tutti -minimum-access-level public -skip-inherited-docs \
  -skip-synthesized-members -target "$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')" \
  -I "$modules" -I Sources/CShims/CAvahi -I Sources/CShims/COpus -I Sources/CShims/CFLAC \
  -Xcc -fmodule-map-file=.build/debug/CFFmpeg.build/module.modulemap \
  -Xcc -fmodule-map-file=.build/debug/CSys.build/module.modulemap -output-dir "$graphs"
docc=$(dirname "$(command -v swift)")/docc
"$docc" convert Sources/Tutti/Tutti.docc --additional-symbol-graph-dir "$graphs" \
  --fallback-display-name Tutti --fallback-bundle-identifier tutti --output-path .build/docs --warnings-as-errors
echo "read it with: python3 -m http.server -d .build/docs, at /documentation/tutti"

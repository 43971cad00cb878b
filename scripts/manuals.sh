#!/bin/sh
# Makes manual pages and shell completions of the built programs, in .build/man and .build/completions, with the names
# under which they are installed.
set -eu
cd "$(dirname "$0")/.."
programs=${1:-.build/release}
mkdir -p .build/man .build/completions/bash .build/completions/zsh .build/completions/fish

for name in tutti tutti-receiver; do
  "$programs/$name" --experimental-dump-help | python3 scripts/manual.py >".build/man/$name.1"
  "$programs/$name" --generate-completion-script bash | sed '1{/^#!/d}' >".build/completions/bash/$name"
  "$programs/$name" --generate-completion-script zsh >".build/completions/zsh/_$name"
  "$programs/$name" --generate-completion-script fish >".build/completions/fish/$name.fish"
done

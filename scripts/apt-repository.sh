#!/bin/sh
# apt-repository.sh FOLDER DEBS: an apt repository as a folder of plain files, which any web server can serve, with all packages
# below DEBS. APT_KEY names the key that signs it; without one, apt must be told to trust it. Needs reprepro.
set -eu
cd "$(dirname "$0")/.."
folder=$1 debs=$2
command -v reprepro >/dev/null || {
  echo "apt-repository: there is no reprepro; install it: apt install reprepro" >&2
  exit 69
}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/conf"
if [ -n "${APT_KEY:-}" ]; then
  sed "s/^Codename: .*/&\nSignWith: $APT_KEY/" packaging/apt/conf/distributions >"$work/conf/distributions"
  gpg --export "$APT_KEY" >"$folder/tutti.gpg"
else
  cp packaging/apt/conf/distributions "$work/conf/"
fi
find "$debs" -name '*.deb' | sort | while read -r deb; do
  case $deb in
  *+deb12*) suite=bookworm ;;
  *+deb13*) suite=trixie ;;
  *) continue ;;
  esac
  # Both architectures bring the same package for all.
  case $deb in *_all.deb) reprepro -b "$work" list "$suite" "$(basename "$deb" | cut -d_ -f1)" | grep -q . && continue ;; esac
  reprepro -b "$work" --outdir "$folder" includedeb "$suite" "$deb"
done

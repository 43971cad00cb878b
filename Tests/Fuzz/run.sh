#!/bin/bash
# Fuzzes everything in the protocol that parses bytes, both session cores, the code that decides who is trusted, TLS channels, feeds, answers of servers, or records:
#   Tests/Fuzz/run.sh decoders|sessions|trust|channels|media|lines|sources|feeds|servers|records SECONDS [libFuzzer options]
# The examples of the specification are the first inputs, and those of Corpus/TARGET.hex if there is one. FUZZ_DIR keeps the build and the inputs found.
set -euo pipefail

target=${1:?usage: run.sh decoders|sessions|trust|channels|media|lines|sources|feeds|servers|records SECONDS [libFuzzer options]}
seconds=${2:?usage: run.sh decoders|sessions|trust|channels|media|lines|sources|feeds|servers|records SECONDS [libFuzzer options]}
shift 2
core=(Clock Audio WireProtocol Pairing)
libraries=()
case $target in
  decoders) modules=(Clock Audio WireProtocol) sources=(FuzzDecoders) ;;
  sessions) modules=("${core[@]}" Sender Receiver) sources=(FuzzSessions Script) ;;
  trust)
    modules=("${core[@]}" Sender Receiver)
    sources=(FuzzTrust Script ../TestSupport/FakeArithmetic) ;;
  # Messages for a fifth of the time, then files of ten or more containers, which PROGRAM decodes.
  media) modules=("${core[@]}" Sender) sources=(FuzzMedia) ;;
  # Of clients of MPD.
  lines) modules=(MPDProtocol) sources=(FuzzLines) ;;
  # Of the programs of inputs.
  sources) modules=("${core[@]}" Sender) sources=(FuzzSources) ;;
  # Of podcasts.
  feeds) modules=("${core[@]}" Sender PlaylistFormats ExpatFeeds) sources=(FuzzFeeds) libraries=(-lexpat) ;;
  # Of libraries.
  servers)
    modules=("${core[@]}" Sender Disturbances House PlaylistFormats ExpatFeeds) sources=(FuzzServers)
    libraries=(-lexpat) ;;
  # Of what happened to a household.
  records) modules=("${core[@]}" Sender Disturbances) sources=(FuzzRecords) ;;
  channels)
    modules=("${core[@]}" OpenSSLSecurity) sources=(FuzzChannels Script)
    libraries=(-lssl -lcrypto) ;;
  *) echo "there are decoders, sessions, trust, channels, media, lines, sources, feeds, servers and records to fuzz, not $target" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${FUZZ_DIR:-$root/.build/fuzz}
mkdir -p "$dir/corpus-$target"

flags=(-O -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name tutti
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -I "$dir" -L "$dir"
  -I "$root/Sources/CShims/COpenSSL" -I "$root/Sources/CShims/CExpat")
for module in "${modules[@]}"; do
  folder=$root/Sources/$module
  [ -d "$folder" ] || folder=$root/Sources/Adapters/$module
  find "$folder" -name '*.swift' -print0 | sort -z | xargs -0 \
    swiftc "${flags[@]}" -wmo -emit-module -emit-library -static -module-name "$module" \
    -emit-module-path "$dir/$module.swiftmodule" -o "$dir/lib$module.a"
done
sources=("${sources[@]/%/.swift}")
for module in "${modules[@]}"; do libraries=("-l$module" "${libraries[@]}"); done
swiftc "${flags[@]}" "${sources[@]/#/$root/Tests/Fuzz/}" "${libraries[@]}" \
  -lswiftSynchronization -o "$dir/fuzz-$target"

# The first inputs are made from the specification's examples, one file each.
examples=$dir/examples
rm -rf "$examples"
mkdir -p "$examples"
awk -v dir="$examples" '
  /^```hex / { name = $2; printf "" > (dir "/" name ".hex"); next }
  /^```/ { if (name) close(dir "/" name ".hex"); name = ""; next }
    name { sub(/#.*/, ""); print > (dir "/" name ".hex") }
' "$root"/docs/protocol/*.md
for file in "$examples"/*.hex; do
  printf "$(tr -d ' \n' < "$file" | sed 's/../\\x&/g')" > "${file%.hex}"
  rm "$file"
done

corpus=$dir/corpus-$target
byte() { printf "\\x$(printf %02x "$1")"; }
# A step of FuzzSessions: the bytes before the length of a message, then the message.
told() { printf "$1"; byte "$(wc -c < "$2")"; cat "$2"; }
for file in "$examples"/*; do
  name=${file##*/}
  short=$([ "$(wc -c < "$file")" -lt 256 ] && echo yes || true)
  case $target in
    decoders)
      # A byte for the size of chunks, then the bytes of the example.
      { byte 255; cat "$file"; } > "$corpus/$name" ;;
    sessions)
      [ "$short" ] || continue
      # For a receiver on either connection; for a sender from a room that has welcomed it.
      { printf '\x00'; told '\x00\x02' "$file"; } > "$corpus/$name.control"
      { printf '\x00'; told '\x01\x02' "$file"; } > "$corpus/$name.media"
      { printf '\x01\x01\x00\x00'; told '\x01\x00\x02' "$examples/control.welcome"
        printf '\x01\x01\x00'; told '\x01\x00\x02' "$file"; } > "$corpus/$name.sender" ;;
    media)
      [ "$short" ] || continue
      for kind in 0 1 2 3; do { byte $kind; cat "$file"; } > "$corpus/$name.$kind"; done ;;
    lines | sources | feeds | records) break ;;
    trust)
      [ "$short" ] || continue
      # A visitor comes to the desk, and sends this.
      { printf '\x02\x00\x01\x00'; told '\x03\x00' "$file"; } > "$corpus/$name.desk" ;;
  esac
done
if [ "$target" = lines ]; then
  printf 'command_list_ok_begin\nfind "((artist == \\"x\\") AND (!(title contains '"'y'"')))" sort -date window 0:9\ncommand_list_end\n' > "$corpus/find"
  printf 'list album group albumartist\nidle player mixer\nnoidle\nmove 1:3 +0\nseekcur -2.5\n' > "$corpus/list"
  printf 'room a\ngroup g1 6600 kitchen 0\n' > "$corpus/book"
fi
if [ "$target" = feeds ]; then
  item='<item><title>A &amp; B</title><guid>g</guid><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate><itunes:duration>1:02:03</itunes:duration><enclosure url="http://a/1.mp3" type="audio/mpeg"/></item>'
  echo "<?xml version='1.0' encoding='UTF-8'?><rss><channel><title>T</title>$item$item</channel></rss>" > "$corpus/rss"
  echo '<feed><title>T</title><entry><id>a</id><updated>2004-02-29T23:59:60Z</updated><link rel="enclosure" href="http://a/b.ogg"/></entry></feed>' > "$corpus/atom"
fi
if [ "$target" = records ]; then
  sed -n '/^    tutti record/,/^$/s/^    //p' "$root/docs/testing.md" > "$corpus/manual"
fi
if [ "$target" = servers ]; then
  song='{"id":"7","isDir":false,"title":"A \u00e9","albumId":"al","path":"a/../b/c.flac","track":1,"duration":62,"created":"2024-02-29T12:00:00Z"}'
  echo '{"subsonic-response":{"status":"ok","searchResult3":{"song":['"$song,$song"']}}}' > "$corpus/songs"
  echo '{"subsonic-response":{"status":"failed","error":{"code":40,"message":"Wrong"}}}' > "$corpus/refusal"
  didl='xmlns="urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:upnp="urn:schemas-upnp-org:metadata-1-0/upnp/"'
  item='<item id="1" refID="2"><dc:title>A</dc:title><upnp:class>object.item.audioItem</upnp:class><res size="9" duration="0:01:02.5" protocolInfo="http-get:*:audio/flac:DLNA.ORG_CI=0">/a.flac</res></item>'
  echo "<DIDL-Lite $didl><container id='3'/>$item</DIDL-Lite>" > "$corpus/page"
  soap='<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><u:BrowseResponse xmlns:u="urn:schemas-upnp-org:service:ContentDirectory:1">'
  echo "$soap<Result>&lt;a/&gt;</Result><TotalMatches>1</TotalMatches></u:BrowseResponse></s:Body></s:Envelope>" > "$corpus/answer"
  echo '<root xmlns="urn:schemas-upnp-org:device-1-0"><device><serviceList><service><serviceType>urn:schemas-upnp-org:service:ContentDirectory:1</serviceType><controlURL>/c</controlURL></service></serviceList></device></root>' > "$corpus/device"
  printf 'HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:MediaServer:1\r\nLOCATION: http://192.168.1.5:8200/rootDesc.xml\r\n\r\n' > "$corpus/search"
  printf 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n' > "$corpus/chunks"
fi
if [ "$target" = sources ]; then
  item='<item><type>%s</type><code>%s</code><length>%d</length>\n<data encoding="base64">\n%s</data></item>\n'
  { byte 60; printf "$item" 73736e63 6d647374 1 MQ==; printf "$item" 636f7265 6d696e6d 4 U29uZw==
    printf "$item" 73736e63 6d64656e 1 MQ==; printf "$item" 73736e63 50494354 8 iVBORw0KGgo=
    printf "$item" 73736e63 70766f6c 3 LTE1; } > "$corpus/shairport"
  { byte 61; printf '{"title":"A \\u00e9","artist":null,"album":"B"}\n{"state":"paused","volume":1.5}\n{"cover":"iVBORw0KGgo="}\n'
  } > "$corpus/json"
  { byte 62; printf 'track_changed\0A "b"\0One\nOther\0C'; } > "$corpus/librespot"
fi
# Inputs that earlier runs have found, one in hex a line.
kept=$root/Tests/Fuzz/Corpus/$target.hex
if [ -f "$kept" ]; then
  number=0
  while read -r line; do
    number=$((number + 1))
    printf "$(sed 's/../\\x&/g' <<< "$line")" > "$corpus/kept-$number"
  done < "$kept"
fi

files=0
if [ "$target" = media ]; then
  files=$((seconds * 4 / 5)) seconds=$((seconds - seconds * 4 / 5))
fi
"$dir/fuzz-$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 \
  -artifact_prefix="$dir/" -print_final_stats=1 "$@" "$dir/corpus-$target"
if [ "$target" = media ]; then
  python3 "$root/Tests/Fuzz/media.py" "${PROGRAM:-$root/.build/debug/tutti}" "$files" "$dir/media"
fi

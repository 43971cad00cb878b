#!/bin/bash
# run.sh SUITE: what becomes of the packages of .build/packages/SUITE in a clean system of that suite: installed, booted by systemd,
# paired, played, upgraded while music plays, cut off in the middle, removed, purged. Needs root, mmdebstrap, systemd-container and sox.
# CUTS says how often the power fails (default 1).
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: run.sh SUITE}
arch=$(dpkg --print-architecture)
packages=.build/packages/$suite
cache=${TUTTI_CACHE:-/var/cache/tutti}
[ "${IN_OWN_MOUNTS:-}" ] || IN_OWN_MOUNTS=yes exec unshare --mount --fork "$0" "$@"

say() { printf '%6.1f s  %s\n' "$(bc <<<"$(date +%s.%N) - $began")" "$*"; }
fail() {
	echo "test-packages: $*" >&2
	tail -n 5 "$work/console" >&2 || true
	[ -z "${leader:-}" ] || inside journalctl -o cat --no-pager -u tutti -u tutti-receiver -n 120 >&2 || true
	exit 1
}
began=$(date +%s.%N)
for tool in mmdebstrap systemd-nspawn sox bc; do
	command -v "$tool" >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap systemd-container sox bc >&2
done
ls "$packages"/tutti_*_"$arch".deb "$packages"/tutti-receiver_*_"$arch".deb "$packages"/tutti-serve_*_all.deb >/dev/null ||
	fail "there are no packages in $packages; make them: make deb SUITE=$suite"

# A copy of the clean system that costs nothing, and goes with this process.
base=$(scripts/root.sh clean "$suite" "$arch")
work=$(mktemp -d -p "$cache" test.XXXXXX)
root=$work/root
mkdir -p "$work/upper" "$work/work" "$root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$root"
box=
cleanup() {
	[ -z "$box" ] || kill -KILL ${leader:-} "$box" 2>/dev/null || true
	wait 2>/dev/null || true
	umount -R "$root" 2>/dev/null || true
	ip netns delete "${wire:-}" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# MARK: installed, as the README says

mkdir -p "$root/deb" "$root/upgrade" "$cache/apt-$suite"
cp "$packages"/*_"$arch".deb "$packages"/*_all.deb "$root/deb/"
mount --bind "$cache/apt-$suite" "$root/var/cache/apt/archives"
cp /etc/resolv.conf "$root/etc/resolv.conf"
echo 'APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/keep"
mount -t proc proc "$root/proc"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
in_root apt-get update -qq
in_root sh -c 'apt-get install -qq -y --no-install-recommends ./deb/*.deb avahi-daemon' >"$work/apt" 2>&1 || {
	tail -n 20 "$work/apt" >&2
	fail "apt does not install the packages"
}
say "installed: $(grep -c '^Setting up' "$work/apt") packages"
in_root dpkg -L tutti tutti-receiver tutti-serve | sort -u >"$work/files"
umount "$root/proc" "$root/var/cache/apt/archives"

in_root useradd --create-home --groups tutti anna
mkdir -p "$root/srv/music"
sox -n -r 48000 -b 24 -c 2 "$root/srv/music/tone.flac" synth 30 sine 997 gain -6
sox -n -r 48000 -b 24 -c 2 "$root/srv/music/long.flac" synth 600 sine 440 gain -20
echo 'OPTIONS=--name Kitchen --start-volume 100 --output wav:/var/lib/tutti-receiver/kitchen.wav' >"$root/etc/default/tutti-receiver"
: >"$root/etc/machine-id"

# The next version: the same programs under a higher number.
for package in "$root"/deb/*.deb; do
	rm -rf "$work/next"
	dpkg-deb -R "$package" "$work/next"
	sed -i 's/^Version: .*/&.1/' "$work/next/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$work/next" "$root/upgrade/" >/dev/null
done

# MARK: booted

# boot: returns when systemd has started all. A cgroup tree of version 2, which newer versions of systemd insist on.
if [ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ]; then
	umount -R /sys/fs/cgroup 2>/dev/null || umount -l /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi
wire=tutti-$$
ip netns add "$wire"
boot() {
	systemd-nspawn -q -D "$root" --hostname=box --register=no --keep-unit --private-network --resolv-conf=off --link-journal=no \
		-b --console=pipe </dev/null >>"$work/console" 2>&1 &
	box=$!
	for _ in $(seq 600); do
		# The first child of systemd-nspawn only starts the one that becomes the system.
		leader=$(pgrep -P "$box" | head -n 1) || true
		state=$(inside systemctl is-system-running 2>/dev/null) || true
		case $state in running | degraded) break ;; esac
		kill -0 "$box" 2>/dev/null || fail "the system ended while it booted"
		sleep 0.2
	done
	[ "$state" = running ] || fail "the system is $state: $(inside systemctl --failed --no-legend)"
	# A network of its own, for Avahi, whose other end is somewhere else: else it would hear itself.
	# The kernel takes the one of a system that was cut off away when it comes to it.
	ip -n "$wire" link delete tutti1 2>/dev/null || true
	ip link add tutti0 netns "$leader" type veth peer name tutti1 netns "$wire"
	ip -n "$wire" link set tutti1 up
	inside ip address add 10.77.0.1/24 dev tutti0
	inside ip link set tutti0 up
}
inside() { nsenter -t "$leader" -m -u -i -n -p -- "$@"; }
anna() { inside runuser -u anna -- "$@"; }
# until_true SECONDS WHAT COMMAND...
until_true() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "$what did not come: $("$@" 2>&1 | head -n 5)"
		sleep 0.2
	done
}
plays() { anna tutti status --json | grep -q '"state":"playing"'; }
rests() { anna tutti status --json | grep -q '^{.*"state":"stopped"'; }
is_listed() { anna tutti receivers --wait 1 --json | grep -q "\"Kitchen\".*\"paired\":$1\|\"paired\":$1.*\"Kitchen\""; }

# journal LINE...: all lines of both services are expected ones, or have one of these patterns.
journal() {
	local expected=(-f Tests/Packages/expected-lines)
	for line; do expected+=(-e "$line"); done
	inside journalctl -o cat --no-pager _SYSTEMD_UNIT=tutti.service + _SYSTEMD_UNIT=tutti-receiver.service >"$work/journal"
	! grep -q -v "${expected[@]}" "$work/journal" || {
		grep -v -n -B 4 "${expected[@]}" "$work/journal" | head -n 40 >&2
		fail "these lines of the journal are not expected"
	}
	say "journal: $(wc -l <"$work/journal") lines, all expected"
}

# private_configuration WHEN: the token that may stand in it is the daemon's and its group's.
private_configuration() {
	local found
	found=$(inside stat -c %U:%G:%a /etc/tutti/tutti.conf)
	[ "$found" = root:tutti:640 ] || fail "tutti.conf is $found $1, not root:tutti:640"
	inside runuser -u nobody -- cat /etc/tutti/tutti.conf >/dev/null 2>&1 && fail "anybody reads tutti.conf $1"
	anna cat /etc/tutti/tutti.conf >/dev/null || fail "a member of the group cannot read tutti.conf $1"
}

boot
say "booted: systemd $(inside systemctl --version | head -n 1)"
for unit in tutti tutti-receiver; do
	inside systemctl is-active -q "$unit" || fail "$unit does not run: $(inside journalctl -u "$unit" -n 5 --no-pager)"
	# A minimal system has no man.
	verdict=$(inside systemd-analyze verify "/lib/systemd/system/$unit.service" 2>&1 | grep -i "$unit" | grep -v "Command 'man" || true)
	[ -z "$verdict" ] || fail "systemd-analyze verify: $verdict"
	exposure=$(inside systemd-analyze security --no-pager "$unit" | sed -n 's/.*exposure level.*: \([0-9.]*\).*/\1/p')
	say "$unit runs; systemd-analyze security: $exposure"
	[ "$(bc <<<"$exposure <= 2")" = 1 ] || fail "$unit is exposed by $exposure"
done

private_configuration "after the installation"

# MARK: paired and played, by a member of the group

until_true 30 "Kitchen in the list of receivers" is_listed false
say "found: Kitchen"
pin=$(inside tutti-receiver pin)
anna tutti pair Kitchen --pin "$pin" | grep -q 'paired with this machine' || fail "anna cannot pair"
until_true 10 "the daemon's pairing" is_listed true
anna tutti play /srv/music/tone.flac --on Kitchen >/dev/null
until_true 30 "music" plays
until_true 60 "its end" rests
sleep 1
inside systemctl stop tutti-receiver
python3 Tests/Packages/compare.py "$root/var/lib/tutti-receiver/kitchen.wav" 997 30 40 | sed 's/^/          played: /' ||
	fail "the recording is not the file"
inside systemctl start tutti-receiver

# MARK: upgraded while it plays

anna tutti play /srv/music/long.flac --on Kitchen >/dev/null
anna tutti add /srv/music/tone.flac >/dev/null
until_true 30 "music" plays
inside sh -c 'dpkg -i /upgrade/*.deb' >"$work/dpkg" 2>&1 || fail "the upgrade fails: $(tail -n 5 "$work/dpkg")"
until_true 60 "music after the upgrade" plays
[ "$(anna tutti queue --json | wc -l)" = 2 ] || fail "the upgrade lost the queue"
[ "$(inside tutti-receiver pin)" = "$pin" ] || fail "the upgrade changed the PIN"
private_configuration "after the upgrade"
say "upgraded while it played: the queue, the pairing and the PIN are kept, and it plays on"
journal

# MARK: the power fails

# The kernel tells one start of a machine from the next, in a file of /proc. For a container systemd-nspawn does, by a mount that a
# service with a /proc of its own does not see, and these three give it one: the daemon would take two power cuts in a row for crashes.
mkdir -p "$root/etc/systemd/system/tutti.service.d"
printf '[Service]\nProtectProc=default\nProtectKernelTunables=no\nProtectControlGroups=no\n' >"$root/etc/systemd/system/tutti.service.d/container.conf"
for cut in $(seq "${CUTS:-1}"); do
	sleep "$((RANDOM % 4)).$((RANDOM % 100))"
	[ $((cut % 2)) = 0 ] || inside sh -c 'dpkg -i /upgrade/*.deb' >/dev/null 2>&1 &
	sleep "$((RANDOM % 3)).$((RANDOM % 100))"
	kill -KILL "$leader" "$box" 2>/dev/null || true
	wait "$box" 2>/dev/null || true
	# The first process of the container ends after all others: else a daemon that dies would meet the next one.
	until [ ! -e "/proc/$leader" ] || grep -q '^State:\sZ' "/proc/$leader/status" 2>/dev/null; do sleep 0.05; done
	boot
	# A package that was cut off while it was unpacked is not configured, but must be installed again; the audit names it.
	inside sh -c 'dpkg --configure -a && [ -z "$(dpkg --audit)" ]' >/dev/null 2>&1 ||
		inside sh -c 'dpkg -i /upgrade/*.deb' >"$work/dpkg" 2>&1 || fail "dpkg does not recover: $(tail -n 5 "$work/dpkg")"
	until_true 60 "music after power cut $cut" plays
done
say "cut off ${CUTS:-1} times, in the middle of music and of upgrades: it boots and plays on"
# A system that starts everything at once may deliver late.
journal '^the room got worse: ' '^nothing to play: '

# MARK: removed and purged

# A source has settings of its own, which no package knows.
inside tutti sources add airplay >/dev/null
[ -e "$root/etc/tutti/airplay-airplay.conf" ] || fail "the source has no settings: $(ls "$root/etc/tutti")"
private_configuration "after a source was added"
inside sh -c 'DEBIAN_FRONTEND=noninteractive dpkg --remove tutti-serve tutti tutti-receiver' >"$work/dpkg" 2>&1 ||
	fail "the removal fails: $(tail -n 5 "$work/dpkg")"
inside systemctl is-active -q tutti && fail "tutti still runs after its removal"
inside systemctl is-active -q tutti-receiver && fail "tutti-receiver still runs after its removal"
[ -e "$root/var/lib/tutti-receiver/receiver-key.pem" ] || fail "the removal has taken the key"
inside sh -c 'DEBIAN_FRONTEND=noninteractive dpkg --purge tutti-serve tutti tutti-receiver' >"$work/dpkg" 2>&1 ||
	fail "the purge fails: $(tail -n 5 "$work/dpkg")"
left=$(while read -r file; do [ -d "$root$file" ] || [ ! -e "$root$file" ] || echo "$file"; done <"$work/files")
left+=$(cd "$root" && ls -d var/lib/tutti* etc/tutti etc/default/tutti* 2>/dev/null || true)
[ -z "$left" ] || fail "the purge has left: $left"
say "removed and purged: nothing is left"

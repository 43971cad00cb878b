#!/bin/bash
# check-size.sh [PROGRAMS]: fails where a program, or a package that `make deb` has made, is larger than it may be, where the
# stripped program does not start, or takes more than 10 ms for it, or where a receiver that waits takes more than 20 MB of memory or
# 0.1 % of a processor. A program that carries ICU, which is 40 MB that nothing here needs, has
# got it by some call of Foundation's. Programs are linked as `make build` links them. A third of the receiver is what Swift Argument
# Parser drags in: one protocol of Foundation's, and behind it calendars, attributed text and regular expressions.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-.build/release}
code=0
complain() { echo "check-size: $*" >&2 && code=1; }

# Milliseconds of processor time of the fastest of 30 starts, which a busy machine changes least.
start() {
	python3 - "$1" <<'END'
import os, subprocess, sys
def once():
    program = subprocess.Popen([sys.argv[1], "--version"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(program.pid, 0)
    if status:
        sys.exit(1)
    return 1000 * (used.ru_utime + used.ru_stime)
print("%.1f" % min(once() for _ in range(30)))
END
}

# Memory in kB of a receiver that waits for a sender, and the permille of a processor that it takes in ten seconds.
idle() {
	python3 - "$1" <<'END'
import glob, subprocess, sys, tempfile, time
with tempfile.TemporaryDirectory() as state:
    program = subprocess.Popen(
        [sys.argv[1], "--name", "idle", "--port", "0", "--no-mdns", "--output", "null", "--state-dir", state],
        stderr=subprocess.PIPE, text=True)
    try:
        if not any(" listening: " in line for line in program.stderr):
            sys.exit(1)
        def used():
            return sum(int(open(task).read().split()[0]) for task in glob.glob(f"/proc/{program.pid}/task/*/schedstat"))
        time.sleep(1)
        before = used()
        time.sleep(10)
        status = open(f"/proc/{program.pid}/status").read()
        print(status.split("VmRSS:")[1].split()[0], "%.2f" % ((used() - before) / 1e7))
    finally:
        program.kill()
END
}

for name in tutti tutti-receiver; do
	case $name in tutti) limit=25000000 package=6500000 ;; *) limit=15000000 package=4000000 ;; esac
	[ -x "$programs/$name" ] || {
		echo "check-size: $programs/$name is not there; build it: make build" >&2
		exit 69
	}
	if nm "$programs/$name" 2>/dev/null | grep -q 'icudt\|uloc_open\|ucol_open'; then
		complain "$name carries ICU; import FoundationEssentials, and see what was added"
	fi
	copy=$(mktemp)
	strip -o "$copy" "$programs/$name"
	chmod +x "$copy"
	size=$(wc -c <"$copy")
	if time=$(start "$copy"); then
		[ "$(bc <<<"$time > 10")" = 0 ] || complain "$name takes $time ms to start, more than 10 ms"
	else
		complain "$name does not start once it is stripped"
	fi
	if [ "$name" = tutti-receiver ]; then
		read -r memory share <<<"$(idle "$copy")"
		if [ -z "$memory" ]; then
			complain "$name does not wait for a sender"
		else
			echo "check-size: $name takes $memory kB and $share permille of a processor while it waits"
			[ "$memory" -le 20480 ] || complain "$name takes more than 20 MB while it waits"
			[ "$(bc <<<"$share > 1")" = 0 ] || complain "$name takes more than 1 permille of a processor while it waits"
		fi
	fi
	rm -f "$copy"
	echo "check-size: $name: $size bytes stripped, starts in ${time:-?} ms of a processor"
	[ "$size" -le "$limit" ] || complain "$name is larger than $((limit / 1000000)) MB"
	for deb in .build/packages/*/"${name}"_*.deb; do
		[ -e "$deb" ] || continue
		size=$(wc -c <"$deb")
		echo "check-size: ${deb##*/}: $size bytes"
		[ "$size" -le "$package" ] || complain "${deb##*/} is larger than $package bytes"
	done
done
exit $code

# Sourced: `emulate` lets this machine's kernel run programs of arm64, by qemu, until the shell ends. As a Raspberry Pi 3 or Zero 2 W
# does: their processor lacks the instructions of newer ones.
export QEMU_CPU=cortex-a53

emulate() {
	local binfmt=/proc/sys/fs/binfmt_misc
	[ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt
	if [ ! -e $binfmt/qemu-aarch64 ]; then
		cat /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register
		emulated=$binfmt/qemu-aarch64
	fi
}

stop_emulating() {
	[ -z "${emulated:-}" ] || echo -1 >"$emulated"
}

"""A household's network for airplay.py: this machine and a phone, each in a network namespace of its own, with a cable between them, and
each with its own D-Bus and Avahi."""

import os
import subprocess
import time

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""
AVAHI = """[server]
host-name={name}
allow-interfaces={interface}
use-ipv6=no
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
"""
HOME, PHONE = "10.99.0.1", "10.99.0.2"


class Machine:
    """One end of the cable. `enter` is the beginning of a command that runs there."""

    def __init__(self, stage, name, interface, enter=()):
        self.stage, self.name, self.interface, self.enter = stage, name, interface, list(enter)
        self.folder = stage.folder / name
        self.folder.mkdir()
        (self.folder / "rt").mkdir(mode=0o700)
        self.environment = stage.environment | {
            "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "rt"), "XDG_STATE_HOME": str(self.folder),
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/bus",
            "PULSE_CLIENTCONFIG": str(self.folder / "pulse.conf")}
        # A server that has failed is not to be started again, with other settings.
        (self.folder / "pulse.conf").write_text("autospawn = no\n")

    def command(self, *words):
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return [*self.enter, "env", "-i", *variables, *[str(word) for word in words]]

    def start(self, name, *words, **options):
        return self.stage.start(name, *self.command(*words), **options)

    def ask(self, *words):
        """Runs a program to its end. Returns its exit code, and what it wrote."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, cwd=self.stage.folder, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def set_up(self, address):
        for line in ("link set lo up", f"addr add {address}/24 dev {self.interface}", f"link set {self.interface} up"):
            subprocess.run([*self.enter, "ip", *line.split()], check=True)
        # The files of daemons that run outside are not to be found.
        subprocess.run([*self.enter, "mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        # WirePlumber ends where it cannot look at who is logged in.
        subprocess.run([*self.enter, "mkdir", "-p", *[f"/run/systemd/{kind}" for kind in ("seats", "sessions", "users", "machines")]], check=True)
        (self.folder / "bus.conf").write_text(BUS.format(folder=self.folder))
        (self.folder / "avahi.conf").write_text(AVAHI.format(name=self.name, interface=self.interface))
        self.start(f"{self.name}-bus", "dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile")
        self.stage.wait(f"{self.name}-bus", lambda: os.path.exists(self.folder / "bus"))
        self.start(f"{self.name}-avahi", "avahi-daemon", "-f", self.folder / "avahi.conf", "--no-drop-root", "--no-chroot", "--no-rlimits")
        self.stage.wait(f"{self.name}-avahi", lambda: self.stage.told(f"{self.name}-avahi", "startup complete"))


def connect(stage):
    """Returns this machine and the phone. Needs a network and mount namespace of its own, which has nothing yet."""
    holder = stage.start("holder", "unshare", "-m", "-n", "sh", "-c", "echo ready; exec sleep infinity")
    stage.wait("holder", lambda: stage.told("holder", "ready"))
    subprocess.run(f"ip link add cable type veth peer name radio netns {holder.pid}".split(), check=True)
    house = Machine(stage, "house", "cable")
    phone = Machine(stage, "phone", "radio", ["nsenter", "-t", holder.pid, "-m", "-n"])
    phone.enter = [str(word) for word in phone.enter]
    house.set_up(HOME)
    phone.set_up(PHONE)
    return house, phone


def until(ready, seconds):
    """Returns what `ready` returns, once that is something; or None, once the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ready()
        if found:
            return found
        time.sleep(0.02)
    return None

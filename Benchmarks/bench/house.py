"""A house on one machine: hosts with a network, a clock and a sound card of their own, and the programs on them.

Each host is a set of namespaces (network, mounts, host name, processes) held by one process. That process ends whenever the
bench ends, in any way. Then the kernel ends all programs of the host and removes its network.
"""
import json
import os
import re
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.path.join(ROOT, ".build", "bench")
TICKS = os.sysconf("SC_CLK_TCK")
HOLD = """ip link set lo up && hostname host{0} && mount -t tmpfs tmpfs /run &&
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1; echo ready; exec cat"""
CONNECT = """ip link set eth0 address 02:00:00:00:00:{0:02x} && ip addr add 10.77.0.{1}/24 dev eth0 && ip link set eth0 up &&
ip route add 224.0.0.0/4 dev eth0"""
CARD = """</usr/share/alsa/alsa.conf>
pcm_type.virtual_card {{ lib "{built}/card.so" }}
pcm.card {{
  type virtual_card dir "{folder}" takes 1 since {zero}.0
  {settings}
  hint {{ show on description "virtual card" }}
}}
"""


def build():
    """Compiles the C parts."""
    os.makedirs(BUILT, exist_ok=True)
    card = os.path.join(ROOT, "Tests", "Support", "virtual-card")
    shared = ["-shared", "-fPIC", "-DPIC"]
    for out, source, more in (("card.so", os.path.join(card, "virtual_card.c"), [*shared, "-lasound"]),
                              ("clock.so", "clock.c", [*shared, "-ldl"]), ("switch", "switch.c", []),
                              ("true_player", "true_player.c", ["-lasound"])):
        subprocess.run(["cc", "-O2", "-std=gnu11", "-I", card, "-o", os.path.join(BUILT, out), os.path.join(HERE, source),
                        *more, "-lm"], check=True)


class Host:
    """Host 0 is the sender; the others are the rooms."""

    def __init__(self, number, clock):
        self.number, self.clock = number, clock
        self.programs = []
        self.address = f"10.77.0.{10 + number}"
        self.holder = subprocess.Popen(["unshare", "-n", "-m", "-u", "-p", "-f", "--mount-proc", "--kill-child",
                                        "--propagation", "private", "sh", "-c", HOLD.format(number)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        if self.holder.stdout.readline() != "ready\n":
            raise SystemExit("bench: a host could not be made; the bench needs root, and a kernel with namespaces")
        with open(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children") as file:
            self.pid = int(file.read().split()[0])
        self.enter = ["nsenter", "-t", str(self.pid), "-n", "-m", "-u", "-p", "--"]

    def call(self, words, timeout=30):
        return subprocess.run(self.enter + words, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def processes(self):
        """Process numbers of the programs, as seen outside of the host."""
        mine, found = os.readlink(f"/proc/{self.pid}/ns/pid"), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(pid) != self.pid and os.readlink(f"/proc/{pid}/ns/pid") == mine:
                    found.append(int(pid))
            except OSError:
                pass  # it has ended
        return found

    def signal(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except OSError:
                pass

    def cost(self):
        """CPU time of each process so far (s), and its largest resident memory (MiB)."""
        cpu, memory = {}, 0
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                cpu[pid] = (int(fields[11]) + int(fields[12])) / TICKS
                with open(f"/proc/{pid}/status") as file:
                    memory += int((re.search(r"VmHWM:\s+(\d+)", file.read()) or [0, 0])[1]) / 1024
            except OSError:
                pass
        return cpu, memory

    def end(self):
        self.holder.stdin.close()
        for program in self.programs:
            program.kill()  # the process is nsenter, which also stops when its program is frozen
            program.wait()
        self.holder.wait()
        self.holder.stdout.close()


class House:
    nice = -15  # of all programs

    def __init__(self, scenario, folder):
        self.scenario, self.folder = scenario, folder
        self.zero_ns = time.monotonic_ns()
        self.hosts, self.switch = [], None
        self.rooms = scenario["rooms"]

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _build(self):
        clocks = self.scenario["clocks"]
        for number in range(self.rooms + 1):
            self.hosts.append(Host(number, clocks[number]))
        words = [os.path.join(BUILT, "switch"), str(self.scenario["seed"]), *(str(h.pid) for h in self.hosts)]
        self.switch = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        if self.switch.stdout.readline() != "ready\n":
            raise SystemExit("bench: the switch did not start; it needs /dev/net/tun")
        for host in self.hosts:
            done = host.call(["sh", "-c", CONNECT.format(host.number, 10 + host.number)])
            if done.returncode:
                raise SystemExit(f"bench: host {host.number} has no network: {done.stderr}")
            for line in self.scenario["networks"][host.number]:
                self.command(f"set {host.number} {line}")
        for number, card in enumerate(self.scenario["cards"], 1):
            os.makedirs(self.card(number))
            settings = "\n  ".join(f"{key} {json.dumps(value)}" for key, value in card.items())
            with open(self.path(f"card{number}.conf"), "w") as file:
                file.write(CARD.format(built=BUILT, folder=self.card(number), zero=self.zero_ns, settings=settings))

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()
        if self.switch:
            self.switch.stdin.close()
            self.switch.wait()
            self.switch.stdout.close()

    def now(self):
        """True time since the house was built, in s."""
        return (time.monotonic_ns() - self.zero_ns) * 1e-9

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def card(self, room):
        return self.path(f"card{room}")

    def command(self, text):
        self.switch.stdin.write(text + "\n")
        self.switch.stdin.flush()
        answer = self.switch.stdout.readline().strip()
        if answer != "ok" and not answer.startswith("{"):
            raise SystemExit(f"bench: the switch did not take '{text}'")
        return answer

    def start(self, number, name, words, true_clock=False):
        """Starts a program on a host, with the host's clock and card ("card" of ALSA). It writes to NAME.log."""
        host, clock = self.hosts[number], self.hosts[number].clock
        home = self.path(f"home{number}")
        os.makedirs(home, exist_ok=True)
        variables = {"HOME": home, "ALSA_CONFIG_PATH": self.path(f"card{number}.conf")}
        if not true_clock:
            variables |= {"LD_PRELOAD": os.path.join(BUILT, "clock.so"), "CLOCK_SINCE": self.zero_ns,
                          "CLOCK_PPM": clock["ppm"], "CLOCK_OFFSET": clock["offset_s"], "CLOCK_WANDER": clock.get("wander", "")}
        words = host.enter + ["nice", "-n", str(self.nice), "env", *(f"{k}={v}" for k, v in variables.items()), *words]
        with open(self.path(name + ".log"), "ab") as log:
            program = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        program.name = name
        host.programs.append(program)
        return program

    def expect_health(self):
        """Ends the run if a program has failed."""
        for host in self.hosts:
            for program in host.programs:
                if program.poll():
                    raise SystemExit(f"bench: {program.name} has failed:\n{self.log(program.name)[-2000:]}")

    def log(self, name):
        with open(self.path(name + ".log"), errors="replace") as file:
            return file.read()

    def prefer(self):
        """Gives the programs real-time priority, as if they had the processors to themselves. Call it after their start: the
        kernel throttles real-time programs that compute for most of a second."""
        for host in self.hosts:
            for pid in host.processes():
                subprocess.run(["chrt", "-a", "-r", "-p", "5", str(pid)], capture_output=True)

    def wait_for(self, name, text, seconds=20):
        """Waits until a program has written a text to its log."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if text in self.log(name):
                return
            time.sleep(0.05)
        raise SystemExit(f"bench: {name} did not say '{text}' within {seconds} s, but:\n{self.log(name)[-2000:]}")

    def kill(self, room):
        self.hosts[room].signal(signal.SIGKILL)
        takes = room and sorted(f for f in os.listdir(self.card(room)) if f.endswith(".times"))
        if takes:  # a killed program's card stops at once
            with open(os.path.join(self.card(room), takes[-1]), "a") as times:
                times.write(f"killed {time.monotonic_ns()} 0\n")

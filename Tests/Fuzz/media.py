"""Gives mutated files of ten containers to `tutti media-worker`, as players do, and counts the outcomes.

    media.py PROGRAM SECONDS FOLDER [SEED]

Says how much memory the largest process took. Files whose process crashed, or hung for 20 s, are kept in FOLDER. Each costs its own process alone, so they are findings of
FFmpeg and not of Tutti; the exit code is 1 where the process answered what it must not, or did not start.
"""

import array, collections, os, random, signal, socket, struct, subprocess, sys, time

program, seconds, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
draw = random.Random(seed)
containers = {
    "wav": [], "flac": [], "mp3": [], "m4a": ["-c:a", "aac"], "ogg": ["-c:a", "libvorbis"], "opus": [],
    "mka": ["-c:a", "flac"], "ts": ["-c:a", "aac"], "wma": [], "aiff": [], "caf": [], "wv": [], "ac3": [], "avi": ["-c:a", "mp3"],
}


def sounds():
    os.makedirs(folder, exist_ok=True)
    made = {}
    for kind, options in containers.items():
        path = f"{folder}/seed.{kind}"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=440:d=2:r=48000", "-ac", "2",
             "-metadata", "title=A", *options, path], check=True)
        with open(path, "rb") as file:
            made[kind] = file.read()
    return made


def mutated(sound):
    """Changes bytes, lengths and blocks, half of them in the first 600 bytes, where headers are."""
    data = bytearray(sound)
    for _ in range(draw.randint(1, 12)):
        area = min(600, len(data)) if draw.random() < 0.5 else len(data)
        place = draw.randrange(area)
        choice = draw.random()
        if choice < 0.5:
            data[place] = draw.randrange(256)
        elif choice < 0.7:
            value = draw.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data), draw.getrandbits(32)])
            data[place:place + 4] = struct.pack(draw.choice("<>") + "I", value & 0xFFFFFFFF)
        elif choice < 0.85:
            other = draw.randrange(len(data))
            data[place:place] = data[other:other + draw.randint(1, 400)]
        else:
            del data[place:place + draw.randint(1, 400)]
    return bytes(data) or b"\0"


class Ended(Exception):
    pass


class Worker:
    # In KiB, of all that have ended.
    peak = 0

    def __init__(self):
        self.near, far = socket.socketpair()
        self.process = subprocess.Popen([program, "media-worker"], stdin=far, stdout=far)
        far.close()
        self.near.settimeout(20)

    def ask(self, message, *descriptors):
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
            self.near.sendmsg([struct.pack("<I", len(message))], rights)
            self.near.sendall(message)
            while True:
                answer = self.hear()
                if answer[0] < 32:
                    return answer
                # A file makes no requests.
                refusal = b"\5" + struct.pack(">iH", -1, 0)
                self.near.sendall(struct.pack("<I", len(refusal)) + refusal)
        except (BrokenPipeError, ConnectionResetError):
            raise Ended

    def hear(self):
        return self.exactly(struct.unpack("<I", self.exactly(4))[0])

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.near.recv(count - len(data))
            if not more:
                raise Ended
            data += more
        return data

    def end(self):
        self.near.close()
        os.kill(self.process.pid, signal.SIGKILL)
        return self.wait()

    def wait(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        Worker.peak = max(Worker.peak, usage.ru_maxrss)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode


def number(kind, value):
    return bytes([kind]) + struct.pack(">q", value)


def play(worker, path):
    """Opens, reads, seeks and takes packets. Returns the kinds of the answers."""
    name = path.encode()
    kinds = []
    with open(path, "rb") as file:
        answer = worker.ask(b"\1" + struct.pack(">H", len(name)) + name, file.fileno())
    kinds.append(answer[0])
    if answer[0] != 1:
        return kinds
    for request in [number(3, 8192)] * 4 + [number(4, 50_000), number(3, 8192), number(4, 0), number(3, 8192), b"\5"]:
        kinds.append(worker.ask(request)[0])
    if kinds[-1] == 4:
        for request in [b"\6"] * 30 + [number(7, 40_000)] + [b"\6"] * 10:
            kinds.append(worker.ask(request)[0])
    return kinds


def main():
    made = sounds()
    count = collections.Counter()
    wrong = 0
    print(f"seed {seed}", flush=True)
    for kind, sound in made.items():
        worker = Worker()
        if play(worker, f"{folder}/seed.{kind}")[0] != 1:
            print(f"{kind}: the file as it was made does not play")
            wrong += 1
        worker.end()
    deadline = time.monotonic() + seconds
    spare = Worker()
    while time.monotonic() < deadline:
        kind = draw.choice(list(made))
        path = f"{folder}/now.{kind}"
        data = mutated(made[kind])
        with open(path, "wb") as file:
            file.write(data)
        worker, spare = spare, Worker()
        try:
            kinds = play(worker, path)
            count[f"{kind} " + ("plays" if kinds[0] == 1 else "refused")] += 1
            if any(one not in range(1, 8) for one in kinds):
                wrong += 1
            worker.end()
        except (Ended, TimeoutError) as fault:
            hangs = isinstance(fault, TimeoutError)
            code = worker.end() if hangs else worker.wait()
            what = "hangs" if hangs else f"crashes ({signal.Signals(-code).name if code < 0 else code})"
            count[f"{kind} {what}"] += 1
            kept = f"{folder}/{'hang' if hangs else 'crash'}-{sum(count.values())}.{kind}"
            os.rename(path, kept)
            print(f"{kept}: {what}", flush=True)
    spare.end()
    for line in sorted(count.items()):
        print("%-30s %d" % line)
    print("inputs", sum(count.values()))
    print("peak memory of a process", Worker.peak >> 10, "MiB")
    sys.exit(1 if wrong else 0)


main()

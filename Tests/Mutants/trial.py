"""Runs the tests that should notice a mutant, in a process of their own."""
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

# A mutant may take this much more of a processor than the same tests without it.
SLOWER, SPARE_SECONDS = 4, 15
# A mutant that waits for ever uses no processor. Machines that do other things as well are slow.
WAIT_SECONDS = 300
MEMORY_BYTES = 6 << 30


class Result:
    """`noticed` is None if nothing was, else what happened."""

    def __init__(self, noticed, tests, seconds, output):
        self.noticed, self.tests, self.seconds, self.output = noticed, tests, seconds, output


def run(binary, tests, number=0, cpu_seconds=0):
    """Runs the tests that a pattern chooses. Ends with the first that fails."""
    with tempfile.TemporaryDirectory(prefix="tutti-mutant-") as folder:
        env = dict(os.environ, TUTTI_MUTANT=str(number), XDG_STATE_HOME=folder, TMPDIR=folder, SWIFT_BACKTRACE="enable=no")
        begin = time.monotonic()
        process = subprocess.Popen(
            [binary, "--testing-library", "swift-testing", "--filter", tests, "--skip", "LongTests"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=env, cwd=folder, start_new_session=True)
        limit(process.pid, cpu_seconds)
        clock = threading.Timer(WAIT_SECONDS, end, [process])
        clock.start()
        output, failure = [], None
        for raw in process.stdout:
            line = re.sub(r"\x1b\[[0-9;]*m", "", raw.decode(errors="replace")).rstrip()
            output.append(line)
            if line.startswith("✘") and number:
                failure = line
                break
        if failure:
            end(process)
        status = process.wait()
        clock.cancel()
        end(process)
        process.stdout.close()
    text = "\n".join(output)
    count = re.search(r"Test run with (\d+) test", text)
    if not failure and status in (-signal.SIGKILL, -signal.SIGXCPU):
        failure = "never ended"
    elif not failure and status:
        failure = f"ended with {status}: {output[-1] if output else ''}"
    return Result(failure, int(count.group(1)) if count else 0, time.monotonic() - begin, text)


def limit(process, cpu_seconds):
    if cpu_seconds:
        resource.prlimit(process, resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 2))
    resource.prlimit(process, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Trials:
    """Tries mutants, and knows how long the tests take without one."""

    def __init__(self, binary):
        self.binary, self.limits = binary, {}

    def measure(self, tests):
        """Runs tests without a mutant; returns an error, or None."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run(self.binary, tests)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.limits[tests] = int(cpu * SLOWER + SPARE_SECONDS)
        print(f"{result.tests:5} tests, {result.seconds:5.1f} s, {cpu:5.1f} s of a processor: {tests}", flush=True)
        if result.noticed:
            return f"{tests} fails without any mutant:\n{result.output[-2000:]}"
        return None if result.tests else f"{tests} chooses no test"

    def attempt(self, mutant, patterns):
        """Returns what noticed the mutant; None if nothing did."""
        for tests in patterns:
            result = run(self.binary, tests, mutant.number, self.limits[tests])
            if result.noticed:
                return result.noticed
        return None

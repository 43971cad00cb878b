import Foundation
import TestSupport
import Testing

/// A program that reads files ends with the daemon that it works for, however that ends.
@Suite struct WorkerEndTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Starts a worker from a process of its own, has it decode a long file, and kills that process.
  private static let script = #"""
    import os, select, signal, socket, struct, subprocess, sys

    program, path = sys.argv[1:]
    ready, told = os.pipe()
    daemon = os.fork()
    if daemon == 0:
        ours, theirs = socket.socketpair()
        worker = subprocess.Popen([program, "library-worker", "--decoding"], stdin=theirs, stdout=theirs)
        theirs.close()
        for kind in "tags", "loudness":
            request = f"{kind}\0{path}".encode()
            ours.sendall(struct.pack("<I", len(request)) + request)
        # With the first answer it begins the second request.
        ours.recv(1)
        os.write(told, str(worker.pid).encode())
        signal.pause()
    worker = int(os.read(ready, 20))
    watch = os.pidfd_open(worker)
    print("works" if not select.select([watch], [], [], 0)[0] else "has ended", flush=True)
    os.kill(daemon, signal.SIGKILL)
    os.waitpid(daemon, 0)
    isGone = bool(select.select([watch], [], [], 20)[0])
    if not isGone: os.kill(worker, signal.SIGKILL)
    print("is gone" if isGone else "lives on", flush=True)
    """#

  @Test func `a worker ends with its daemon in the middle of a file`() throws {
    let path = folder.file("long.wav")
    try writeSilence(hours: 1, to: path)
    let program = try Program("/usr/bin/python3", ["-c", Self.script, LibraryBed.worker[0], path])
    #expect(try program.exitCode() == 0)
    #expect(program.lines == ["works", "is gone"])
  }

  /// A file without blocks on the disk, which takes a worker half a minute and more.
  private func writeSilence(hours: UInt32, to path: String) throws {
    let (rate, frameSize) = (UInt32(192_000), UInt32(4))
    let size = hours * 3_600 * rate * frameSize
    var bytes: [UInt8] = []
    func add(_ text: String) { bytes += Array(text.utf8) }
    func add<Number: FixedWidthInteger>(_ number: Number) {
      for place in 0..<Number.bitWidth / 8 {
        bytes.append(UInt8(truncatingIfNeeded: number >> (place * 8)))
      }
    }
    add("RIFF")
    add(size + 36)
    add("WAVEfmt ")
    add(UInt32(16))
    add(UInt16(1))
    add(UInt16(2))
    add(rate)
    add(rate * frameSize)
    add(UInt16(frameSize))
    add(UInt16(16))
    add("data")
    add(size)
    try Data(bytes).write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: UInt64(size) + 44)
    try file.close()
  }
}

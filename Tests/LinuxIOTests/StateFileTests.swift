import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import LinuxIO

struct StateFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var file: StateFile { StateFile(path: directory.path + "/state") }

  @Test func `what was written is read, by this user alone`() throws {
    try file.write(pattern(100_000))
    #expect(try file.read(limit: 100_000) == pattern(100_000))
    #expect(mode(file.path) == 0o600)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func `what root writes in somebody else's directory is theirs`() throws {
    #expect(chown(directory.path, 1234, 1235) == 0)
    try file.write([1])
    let lock = try DirectoryLock(directory: directory.path)
    for name in ["state", "lock"] {
      var status = stat()
      #expect(stat(directory.path + "/" + name, &status) == 0)
      #expect(status.st_uid == 1234 && status.st_gid == 1235, "\(name)")
    }
    _ = consume lock
  }

  @Test func `a pipe, a device, a socket or a folder in its place is refused at once`() throws {
    #expect(mkfifo(file.path, 0o600) == 0)
    expectRefusal(of: file)
    try file.remove()
    #expect(mkdir(file.path, 0o700) == 0)
    expectRefusal(of: file)
    #expect(rmdir(file.path) == 0)
    #expect(symlink("/dev/zero", file.path) == 0)
    expectRefusal(of: file)
  }

  /// Reads on another thread, so that a read that waits for a writer fails the test instead of holding up all of them.
  private func expectRefusal(of file: StateFile) {
    let attempt = Attempt()
    Thread.detachNewThread {
      do throws(IOError) { _ = try file.read(limit: 10) } catch {
        attempt.error.withLock { $0 = error }
      }
      attempt.done.signal()
    }
    if attempt.done.wait(timeout: .now() + 30) == .timedOut {
      Issue.record("it waits for a writer")
      close(open(file.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC))
      attempt.done.wait()
    }
    #expect(attempt.error.withLock { $0 }?.text.contains("is no regular file") == true)
  }

  private final class Attempt: Sendable {
    let error = Mutex<IOError?>(nil)
    let done = DispatchSemaphore(value: 0)
  }

  @Test func `what is shown is readable by all`() throws {
    try file.show([1, 2])
    #expect(try file.read(limit: 10) == [1, 2])
    #expect(mode(file.path) == 0o644)
    #expect(access(file.temporaryPath, F_OK) != 0)
  }

  @Test func `a file that is removed is gone, and one that is not there too`() throws {
    try file.show([1])
    try file.remove()
    try file.remove()
    #expect(try file.read(limit: 10) == nil)
  }

  @Test func `a file that is not there has no content`() throws {
    #expect(try file.read(limit: 10) == nil)
  }

  @Test func `new content replaces the old and leaves nothing beside it`() throws {
    try file.write([1, 2, 3])
    try file.write([])
    #expect(try file.read(limit: 10) == [])
    #expect(access(file.temporaryPath, F_OK) != 0)
  }

  @Test func `what belongs to the old content goes once the new one is written, and not before`()
    throws
  {
    let log = StateFile(path: file.path + "-log")
    try file.write([1])
    try log.write([2])
    // No new file can be written where a folder lies.
    #expect(mkdir(file.temporaryPath, 0o700) == 0)
    #expect(throws: IOError.self) { try file.keep([3], removing: ["-log"]) }
    #expect(try file.read(limit: 1) == [1])
    #expect(try log.read(limit: 1) == [2])
    #expect(rmdir(file.temporaryPath) == 0)
    try file.keep([3], removing: ["-log"])
    #expect(try file.read(limit: 1) == [3])
    #expect(log.stamp == nil)
  }

  @Test func `of two who write at once each writes it whole, and nothing is left beside it`() throws
  {
    let file = file
    let writers = try (1...2 as ClosedRange<UInt8>).map { number in
      let failures = Failures()
      let thread = try RealtimeThread.start(name: "writer", priority: nil) {
        for _ in 0..<300 {
          do { try file.show([UInt8](repeating: number, count: 20_000)) } catch {
            failures.texts.withLock { $0.append("\(error)") }
          }
        }
        failures.done.signal()
      }
      thread.detach()
      return failures
    }
    for writer in writers { writer.done.wait() }
    #expect(writers.flatMap { $0.texts.withLock { $0 } } == [])
    let content = try #require(try file.read(limit: 20_000))
    #expect(content.count == 20_000 && Set(content).count == 1)
    let beside = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(beside == ["state"])
  }

  private final class Failures: Sendable {
    let texts = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
  }

  @Test func `the old content stays readable to who has it open`() throws {
    try file.write([1, 2, 3])
    let old = open(file.path, O_RDONLY)
    defer { close(old) }
    try file.write([4])
    var bytes: [UInt8] = [0, 0, 0]
    #expect(read(old, &bytes, 3) == 3 && bytes == [1, 2, 3])
  }

  @Test func `a file above the limit is not read`() throws {
    try file.write(pattern(11))
    let error = #expect(throws: IOError.self) { try file.read(limit: 10) }
    #expect(error?.code == EFBIG)
  }

  @Test func `a link left in the way is not written through`() throws {
    let victim = StateFile(path: directory.path + "/victim")
    try victim.write([9])
    try #require(symlink(victim.path, file.temporaryPath) == 0)
    try file.write([1])
    #expect(try victim.read(limit: 10) == [9])
    #expect(try file.read(limit: 10) == [1])
  }

  @Test func `a directory that is not there fails in words`() {
    let missing = StateFile(path: directory.path + "/missing/state")
    let error = #expect(throws: IOError.self) { try missing.write([1]) }
    #expect(error?.code == ENOENT)
    #expect(error?.text.contains(missing.path) == true)
  }

  @Test func `a directory is made private with its parents, and once`() throws {
    let path = directory.path + "/a"
    try StateFile.createDirectory(path: path + "/b")
    try StateFile.createDirectory(path: path + "/b")
    #expect(mode(path) == 0o700 && mode(path + "/b") == 0o700)
    rmdir(path + "/b")
  }

  @Test func `a file in the place of a directory is an error`() throws {
    try file.write([1])
    #expect(throws: IOError.self) { try StateFile.createDirectory(path: file.path) }
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }
}

import Clock
import Foundation
import Glibc
import Synchronization
import Testing

@testable import LinuxIO

struct GrowingFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var path: String { directory.path + "/record" }
  private var content: String {
    get throws { try String(contentsOfFile: path, encoding: .utf8) }
  }

  private func open(limit: Int = 1000) throws(IOError) -> GrowingFile {
    try GrowingFile(path: path, limit: limit) { Issue.record("\($0)") }
  }

  private func add(_ lines: String, end: String, to file: GrowingFile) {
    file.add(Array(lines.utf8), end: Array(end.utf8))
    #expect(file.finish(within: 30_000))
  }

  @Test func `lines stay, and the end is written anew`() throws {
    let file = try open()
    #expect(file.found == nil)
    add("one\n", end: "a long end\n", to: file)
    #expect(try content == "one\na long end\n")
    add("", end: "end\n", to: file)
    #expect(try content == "one\nend\n")
    add("two\n", end: "", to: file)
    #expect(try content == "one\ntwo\n")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func `a file is continued where its owner says`() throws {
    add("one\n", end: "12 s: running\n", to: try open())
    let again = try open()
    let found = try #require(again.found)
    #expect(String(decoding: found.content, as: UTF8.self) == "one\n12 s: running\n")
    #expect(found.age >= .zero && found.age < .seconds(600))
    again.begin(at: 4)
    add("two\n", end: "", to: again)
    #expect(try content == "one\ntwo\n")
  }

  @Test func `its age is counted from the last change`() throws {
    add("one\n", end: "", to: try open())
    var times = [
      timespec(tv_sec: time(nil) - 3600, tv_nsec: 0),
      timespec(tv_sec: time(nil) - 3600, tv_nsec: 0),
    ]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    let age = try #require(try open().found).age
    #expect(age > .seconds(3590) && age < .seconds(4200))
  }

  @Test func `a folder, a pipe, and a file that is too large are refused`() throws {
    #expect(mkfifo(path, 0o600) == 0)
    #expect(throws: IOError.self) { try open() }
    unlink(path)
    #expect(mkdir(path, 0o700) == 0)
    #expect(throws: IOError.self) { try open() }
    rmdir(path)
    try Data(repeating: 10, count: 1001).write(to: URL(filePath: path))
    #expect(throws: IOError.self) { try open() }
  }

  /// Uses a small disk of its own, which only root may make.
  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func `a full disk is said once, and leaves whole lines`() throws {
    let disk = directory.path + "/disk"
    #expect(mkdir(disk, 0o700) == 0)
    guard mount("none", disk, "tmpfs", 0, "size=16k") == 0 else { return }
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let errors = Mutex<[IOError]>([])
    let file = try GrowingFile(path: disk + "/record", limit: 1000) { error in
      errors.withLock { $0.append(error) }
    }
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99) + [10]
    for _ in 0..<400 {
      file.add(line, end: line)
      #expect(file.finish(within: 30_000))
    }
    #expect(errors.withLock { $0.map(\.code) } == [ENOSPC])
    let content = try Data(contentsOf: URL(filePath: disk + "/record"))
    #expect(content.count % 100 == 0 && content.count > 1000, "\(content.count)")
  }
}

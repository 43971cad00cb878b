import Glibc
import Testing

@testable import LinuxIO

struct DirectoryLockTests {
  @Test func `a directory has one holder at a time`() throws {
    let directory = try TemporaryDirectory()
    do {
      let lock = try DirectoryLock(directory: directory.path)
      let error = #expect(throws: IOError.self) { _ = try DirectoryLock(directory: directory.path) }
      #expect(error?.code == EWOULDBLOCK)
      _ = consume lock
    }
    _ = try DirectoryLock(directory: directory.path)
  }

  @Test func `whoever looks finds the process that holds a directory`() throws {
    let directory = try TemporaryDirectory()
    #expect(DirectoryLock.process(holding: directory.path) == nil)
    let lock = try DirectoryLock(directory: directory.path)
    #expect(DirectoryLock.process(holding: directory.path) == getpid())
    _ = consume lock
    let waiting = try DirectoryLock(directory: directory.path, name: "other", waits: true)
    #expect(DirectoryLock.process(holding: directory.path, name: "other") == nil)
    _ = consume waiting
  }

  @Test func `a directory that is not there cannot be held`() throws {
    let error = #expect(throws: IOError.self) { _ = try DirectoryLock(directory: "/no/such") }
    #expect(error?.text == "/no/such/lock: No such file or directory (open)")
  }
}

import Clock
import Foundation
import Glibc
import TestSupport
import Testing

@testable import LinuxIO

/// Tests of the programs that give inputs their sound: their descriptors, their limits, and the end of all their processes.
@Suite struct SourceProgramTests {
  private let folder: TemporaryFolder
  private let waker: Waker

  init() throws {
    folder = try TemporaryFolder()
    waker = try Waker()
  }

  /// Makes a script that runs in a shell of its own.
  private func script(
    _ text: String, memoryMiB: Int = 256, hasEvents: Bool = false, takesOrders: Bool = false
  ) throws -> SourceProgram {
    let path = try folder.write(Array(("#!/bin/sh\n" + text).utf8), to: "script")
    chmod(path, 0o700)
    return try SourceProgram(
      .init(
        command: [path, "one argument", "$(false)"], memoryMiB: memoryMiB, hasEvents: hasEvents,
        takesOrders: takesOrders))
  }

  /// Collects news until it has ended.
  private func end(of program: SourceProgram) -> (code: Int32, words: String, events: String) {
    var (words, events): ([UInt8], [UInt8]) = ([], [])
    while true {
      for news in program.news(or: waker, until: nil) {
        switch news {
        case .words(let bytes): words += bytes
        case .events(let bytes): events += bytes
        case .ended(let code):
          return (
            code, String(decoding: words, as: UTF8.self), String(decoding: events, as: UTF8.self)
          )
        }
      }
    }
  }

  private func read(_ sound: SourceProgram.PipeEnd, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var place = pollfd(fd: sound.number, events: Int16(POLLIN), revents: 0)
    poll(&place, 1, 60_000)
    let read = Glibc.read(sound.number, &bytes, count)
    return Array(bytes.prefix(max(0, read)))
  }

  private func exists(_ process: Int32) -> Bool {
    // A process that has ended, and for which nobody has waited, is no more.
    let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    guard let state, let end = state.lastIndex(of: ")") else { return false }
    return !state[end...].contains(" Z ")
  }

  @Test func `it has the descriptors that it was given, its arguments, and nothing else`() throws {
    // Open here, and not closed where another program begins.
    let ours = dup2(0, 60)
    defer { close(ours) }
    let program = try script(
      """
      echo sound; echo words >&2; echo "$1|$2" >&3
      ls /proc/$$/fd | tr '\\n' ' ' >&3
      [ "$(head -c 1)" = "" ] && echo nothing >&3
      exit 7
      """, hasEvents: true)
    let found = end(of: program)
    #expect(found.code == 7 && found.words == "words\n")
    // The shell itself reads its script by 10.
    let lines = found.events.split(separator: "\n").map(String.init)
    try #require(lines.count == 2)
    #expect(lines[0] == "one argument|$(false)")
    // The shell has some more of its own while it makes a pipe.
    let words = Set(lines[1].split(separator: " "))
    #expect(words.isSuperset(of: ["0", "1", "2", "3", "nothing"]) && !words.contains("60"))
    #expect(String(decoding: read(program.sound, 64), as: UTF8.self) == "sound\n")
  }

  @Test
  func `it gets orders on its standard input, and does not wait for them where it takes none`()
    throws
  {
    let program = try script("read line; echo \"$line\" >&3", hasEvents: true, takesOrders: true)
    #expect(program.order(Array("{\"do\":\"pause\"}\n".utf8)))
    #expect(end(of: program).events == "{\"do\":\"pause\"}\n")
    let deaf = try script("read line; exit $?")
    #expect(!deaf.order([1]))
    #expect(end(of: deaf).code == 1)
  }

  @Test func `what it leaves behind ends with it, also what ignores that it is asked to`() throws {
    let program = try script(
      """
      trap '' TERM
      (trap '' TERM; echo $(sh -c 'echo $PPID') >&3; while :; do sleep 1000; done) &
      sleep 1000 & echo $! >&3
      echo $$ >&3
      while :; do sleep 1000; done
      """, hasEvents: true)
    var text = ""
    while text.split(separator: "\n").count < 3 {
      for case .events(let bytes) in program.news(or: waker, until: nil) {
        text += String(decoding: bytes, as: UTF8.self)
      }
    }
    let processes = text.split(separator: "\n").compactMap { Int32($0) }
    #expect(processes.count == 3 && processes.allSatisfy(exists))
    program.terminate()
    #expect(processes.contains(where: exists))
    program.kill()
    #expect(end(of: program).code == -SIGKILL)
    for process in processes { while exists(process) { sched_yield() } }
  }

  @Test func `what it has started ends, though it has ended well itself`() throws {
    let program = try script(
      "sleep 1000 & echo $! >&3; exit 0", hasEvents: true)
    let found = end(of: program)
    let process = try #require(Int32(found.events.dropLast()))
    #expect(found.code == 0)
    while exists(process) { sched_yield() }
  }

  @Test func `one that is let go of is gone with all its processes`() throws {
    var program: SourceProgram? = try script("echo $$ >&3; while :; do :; done", hasEvents: true)
    var text = ""
    while text.isEmpty {
      for case .events(let bytes) in program?.news(or: waker, until: nil) ?? [] {
        text += String(decoding: bytes, as: UTF8.self)
      }
    }
    program = nil
    #expect(!exists(try #require(Int32(text.dropLast()))))
  }

  @Test func `it has no more memory and descriptors than its limits, and no core`() throws {
    let program = try script(
      "ulimit -v >&3; ulimit -n >&3; ulimit -c >&3", memoryMiB: 64, hasEvents: true)
    #expect(end(of: program).events == "65536\n256\n0\n")
  }

  @Test func `a daemon with more descriptors than its programs may have starts them`() throws {
    var ours: [Int32] = []
    defer { for descriptor in ours { close(descriptor) } }
    while ours.last ?? 0 < 2 * Int32(SourceProgram.descriptorLimit) { ours.append(dup(0)) }
    try #require(!ours.contains(-1))
    #expect(end(of: try script("ulimit -n >&3", hasEvents: true)).events == "256\n")
  }

  @Test func `what is not there is refused with the reason`() {
    let error = #expect(throws: IOError.self) {
      try SourceProgram(
        .init(
          command: ["no-such-program-of-tutti"], memoryMiB: 64, hasEvents: false,
          takesOrders: false))
    }
    #expect(error?.description == "no-such-program-of-tutti: No such file or directory")
    #expect(ProgramSearch.path(of: "no-such-program-of-tutti") == nil)
    #expect(ProgramSearch.path(of: "sh")?.hasSuffix("/sh") == true)
    #expect(ProgramSearch.path(of: "/etc/passwd") == nil)
  }

  @Test func `pictures of inputs have names that are never used again, and no more than the limit`()
    throws
  {
    let path = folder.file("covers")
    let covers = try CoverFolder(path: path)
    let names = try (0..<40).map { try covers.keep([UInt8($0)]) }
    #expect(Set(names).count == 40 && names.allSatisfy { $0.utf8.count == 32 })
    let left = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(Set(left) == Set(names.suffix(CoverFolder.limit)))
    #expect(try folder.bytes(of: "covers/" + names[39]) == [39])
    _ = try CoverFolder(path: path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `a file that people edit keeps its mode and its link`() throws {
    let path = try folder.write([1], to: "real.conf")
    chmod(path, 0o640)
    let link = folder.file("link.conf")
    symlink(path, link)
    try StateFile(path: link).rewrite([2])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(try folder.bytes(of: "real.conf") == [2])
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    try StateFile(path: folder.file("new.conf")).rewrite([3])
    #expect(stat(folder.file("new.conf"), &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}

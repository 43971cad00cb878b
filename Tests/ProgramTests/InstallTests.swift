import Foundation
import TestSupport
import Testing

/// Tests of `make install` and `make uninstall`, into a folder instead of the system.
@Suite struct InstallTests {
  let folder: TemporaryFolder
  private let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

  init() throws { folder = try TemporaryFolder() }

  /// As root has it under sudo: without the toolchain in its path.
  private func make(
    _ goal: String, build: String, path: String = "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin",
    _ more: String...
  ) throws -> (code: Int32, text: String) {
    let make = Process()
    make.executableURL = URL(filePath: "/usr/bin/make")
    make.arguments =
      ["-C", repository.path, goal, "DESTDIR=\(folder.file("root"))", "BUILD=\(build)"] + more
    make.environment = ["PATH": path]
    let pipe = Pipe()
    make.standardOutput = pipe
    make.standardError = pipe
    try make.run()
    let said = pipe.fileHandleForReading.readDataToEndOfFile()
    make.waitUntilExit()
    return (make.terminationStatus, String(decoding: said, as: UTF8.self))
  }

  private var installed: [String] {
    let found = FileManager.default.enumerator(
      at: URL(filePath: folder.file("root")), includingPropertiesForKeys: [])
    return (found?.compactMap { ($0 as? URL)?.path } ?? []).sorted()
  }

  /// The programs are built beside the tests.
  private var built: String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  @Test func `what was built is installed without a toolchain, and taken away again`() throws {
    for goal in ["install-service", "install-daemon"] {
      let made = try make(goal, build: built)
      #expect(made.code == 0, "\(made.text)")
    }
    let programs = ["tutti", "tutti-receiver"].map { folder.file("root/usr/local/bin/\($0)") }
    #expect(Set(programs).isSubset(of: installed))
    let removed = try make("uninstall", build: built)
    #expect(removed.code == 0, "\(removed.text)")
    #expect(installed.isEmpty)
  }

  @Test func `what its owner has written stays, unless all is to go`() throws {
    _ = try make("install-service", build: built)
    let options = try folder.write(
      Array("OPTIONS=--name Bath\n".utf8), to: "root/etc/default/tutti-receiver")
    let key = try folder.write([1], to: "root/var/lib/tutti-receiver/receiver-key.pem")
    #expect(try make("uninstall", build: built).code == 0)
    #expect(Set([options, key]).isSubset(of: installed))
    #expect(!installed.contains { $0.hasSuffix("/bin/tutti-receiver") })
    #expect(try make("uninstall", build: built, "PURGE=1").code == 0)
    #expect(!installed.contains(options) && !installed.contains(key))
  }

  @Test func `libraries that are missing are named with their packages`() throws {
    let answer =
      "#!/bin/sh\nprintf '\\tlibasound.so.2 => not found\\n\\tlibsqlite3.so.0 => not found\\n'\n"
    let ldd = try folder.write(Array(answer.utf8), to: "bin/ldd")
    #expect(chmod(ldd, 0o755) == 0)
    let made = try make(
      "install", build: built, path: "\(folder.file("bin")):/usr/bin:/usr/sbin:/bin")
    #expect(made.text.contains("there is no libasound.so.2 libsqlite3.so.0"), "\(made.text)")
    #expect(made.text.contains("apt install libasound2 libsqlite3-0"), "\(made.text)")
  }

  @Test func `worker threads of the daemon choose their priority, and say nothing of it`() throws {
    let made = try make("install-daemon", build: built)
    #expect(made.code == 0, "\(made.text)")
    let unit = try #require(installed.first { $0.hasSuffix("/tutti.service") })
    let lines = try String(contentsOfFile: unit, encoding: .utf8).split(separator: "\n")
    #expect(lines.last { $0.hasPrefix("SystemCallFilter=") }?.contains(" setpriority") == true)
    #expect(lines.contains("Environment=LIBDISPATCH_LOG=NO"))
  }

  @Test func `the receiver that systemd starts may do no more than it needs`() throws {
    let made = try make("install-service", build: built)
    #expect(made.code == 0, "\(made.text)")
    let unit = try #require(installed.first { $0.hasSuffix("/tutti-receiver.service") })
    let lines = try String(contentsOfFile: unit, encoding: .utf8).split(separator: "\n")
    let settings = Dictionary(
      grouping: lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: "=", maxSplits: 1) },
      by: { $0[0] }
    ).mapValues { $0.map { $0.count > 1 ? String($0[1]) : "" } }
    #expect(settings["CapabilityBoundingSet"] == [""])
    #expect(settings["AmbientCapabilities"] == nil)
    for name in ["NoNewPrivileges", "MemoryDenyWriteExecute", "ProtectHome", "RestrictNamespaces"] {
      #expect(settings[Substring(name)] == ["yes"], "\(name)")
    }
    #expect(settings["SystemCallFilter"]?.first == "@system-service")
    #expect(settings["SystemCallFilter"]?.contains { $0.hasPrefix("~@privileged") } == true)
    #expect(settings["MemoryMax"] == ["512M"])
    #expect(settings["User"] == ["tutti"])
  }

  @Test func `what was not built is asked for`() throws {
    let made = try make("install", build: folder.file("nothing"))
    #expect(made.code != 0)
    #expect(made.text.contains("is not built yet; run this first, as yourself: make build"))
    #expect(installed.isEmpty)
  }
}

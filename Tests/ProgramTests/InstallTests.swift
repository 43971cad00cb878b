import Foundation
import TestSupport
import Testing

/// Tests of `make install` and `make uninstall`, into a folder instead of the system.
@Suite struct InstallTests {
  let folder: TemporaryFolder
  private let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

  init() throws { folder = try TemporaryFolder() }

  /// Runs make like root under sudo, without the toolchain in its path.
  private func make(_ goal: String, build: String) throws -> (code: Int32, text: String) {
    let make = Process()
    make.executableURL = URL(filePath: "/usr/bin/make")
    make.arguments = ["-C", repository.path, goal, "DESTDIR=\(folder.path)", "BUILD=\(build)"]
    make.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
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
      at: URL(filePath: folder.path), includingPropertiesForKeys: [.isRegularFileKey])
    return (found?.compactMap { $0 as? URL } ?? [])
      .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
      .map(\.path).sorted()
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
    let programs = ["tutti", "tutti-receiver"].map { folder.file("usr/local/bin/\($0)") }
    #expect(Set(programs).isSubset(of: installed))
    let removed = try make("uninstall", build: built)
    #expect(removed.code == 0, "\(removed.text)")
    // Files that the owner has edited stay.
    #expect(installed == ["etc/default/tutti-receiver", "etc/tutti/tutti.conf"].map(folder.file))
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

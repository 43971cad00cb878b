import Clock
import Disturbances
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

@Suite struct HouseRecordingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("house.txt") }
  private var lines: [String] {
    get throws {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
  }

  @Test func `what is asked of a household is recorded, also by the daemon after it`() throws {
    let home = try Home(in: folder, record: path)
    let group = try home.newGroup("Party\n2 s: somebody pauses", rooms: ["127.0.0.1:1"])
    _ = try home.edit(group.id, .add(Home.entries(1, 2), at: .end))
    _ = try home.ask(.transport(group: group.id, .play))
    _ = try home.ask(.transport(group: group.id, .next))
    try home.end()
    let kept = try lines
    #expect(kept.prefix(2) == ["tutti record 1", "program 1"])
    #expect(kept.contains("group 0 is Party 2 s: somebody pauses"))
    #expect(kept.contains("room 0 is 127.0.0.1:1"))
    #expect(kept.last?.hasSuffix(" s: running") == true)
    let record = try DisturbanceRecord(parsing: Array(Data(contentsOf: URL(filePath: path))))
    let kinds = record.only(group: 0).disturbances.map(\.kind)
    #expect(
      kinds.filter { $0.room == nil } == [
        .command(.halt), .command(.another), .command(.resume), .command(.next),
      ])
    #expect(kinds.contains(.join(0)))

    let again = try Home(in: folder, record: path)
    try again.end()
    let continued = try lines
    #expect(continued.dropLast(3).elementsEqual(kept.dropLast()) || continued.count > kept.count)
    #expect(continued.contains { $0.contains("the sender is killed, and starts again after ") })
    #expect(continued.filter { $0.hasPrefix("room ") }.count == 1)
  }

  @Test func `a record that cannot be continued stays as it is, and music plays`() throws {
    try Data("dear diary\n".utf8).write(to: URL(filePath: path))
    var said: [String] = []
    let home = try Home(in: folder, record: path) { said.append($0) }
    _ = try home.newGroup()
    try home.end()
    #expect(try lines == ["dear diary"])
    #expect(said.count == 1 && said[0].hasPrefix("\(path): it is no record"), "\(said)")
  }

  @Test func `where nothing can be recorded, one line says so`() throws {
    var said: [String] = []
    let home = try Home(in: folder, record: folder.file("none/house.txt")) { said.append($0) }
    _ = try home.newGroup()
    try home.end()
    #expect(said.count == 1 && said[0].contains("nothing is recorded, and music plays"), "\(said)")
  }
}

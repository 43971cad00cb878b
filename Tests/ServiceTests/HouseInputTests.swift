import Clock
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

/// Tests of named inputs: who plays them, and inputs that start by themselves.
@Suite struct HouseInputTests {
  private let folder: TemporaryFolder
  private let house: House
  private let loop: EventLoop
  private let warnings = Warnings()

  private final class Warnings { var lines: [String] = [] }

  init() throws {
    folder = try TemporaryFolder()
    let pipe = folder.file("turntable.fifo")
    #expect(mkfifo(pipe, 0o600) == 0)
    for number in 0...2 { try Home.silence.write(to: URL(filePath: folder.file("\(number).wav"))) }
    let host = try GroupHost(reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
    house = try House(
      host: host,
      settings: .init(
        name: "study", version: "1",
        encoding: EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20),
        path: folder.file("house.db"), resumes: true,
        inputs: [
          .init(name: "Turntable", source: .pipe(pipe), raw: nil, onSound: "Party"),
          .init(name: "Television", source: .card("none"), raw: nil, onSound: nil),
        ])
    ) { Issue.record("\($0)") }
    house.listener.warning = { [warnings] in warnings.lines.append($0) }
    loop = EventLoop(host.reactor, [host, house])
  }

  @discardableResult
  private func ask(_ request: Order) throws -> Answer {
    var result: Result<Answer, Refusal>?
    house.perform(request) { result = $0 }
    while result == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
    return try #require(result).get()
  }

  /// Makes a group of three entries, with a room that cannot be reached.
  private func party() throws -> String {
    let group = try #require(
      try ask(.createGroup(rooms: ["127.0.0.1:9"], name: "Party")).group)
    let entries = (0...2).map { Order.NewEntry(location: folder.file("\($0).wav")) }
    try ask(.edit(group: group.id, .add(entries, at: .end), expected: nil))
    return group.id
  }

  private func queue(_ group: String) throws -> [String] {
    try house.session.page(of: group, offset: 0, limit: 10).entries.map {
      ($0.isCurrent ? "> " : "") + ($0.uri.split(separator: "/").last.map(String.init) ?? "")
    }
  }

  private func shown(_ group: String) throws -> HouseState.Group {
    try #require(house.publish().groups.first { $0.id == group })
  }

  @Test func `an input that begins to sound is played at once, and gives back what it interrupted`()
    throws
  {
    let group = try party()
    try ask(.edit(group: group, .play(1), expected: nil))
    house.heard("Turntable", .opened)
    #expect(try queue(group) == ["0.wav", "1.wav", "> input:Turntable", "2.wav"])
    #expect(try shown(group).item?.title == "Turntable")
    #expect(try shown(group).item?.isLive ?? false)
    #expect(try shown(group).state == .starting)
    house.heard("Turntable", .closed)
    #expect(try queue(group) == ["0.wav", "> 1.wav", "2.wav"])
    #expect(try shown(group).state == .starting)
    #expect(warnings.lines == [])
  }

  @Test func `where nothing was playing, nothing plays after it`() throws {
    let group = try party()
    try ask(.edit(group: group, .play(2), expected: nil))
    try ask(.transport(group: group, .stop))
    house.heard("Turntable", .opened)
    #expect(try queue(group) == ["0.wav", "1.wav", "2.wav", "> input:Turntable"])
    house.heard("Turntable", .closed)
    #expect(try queue(group) == ["0.wav", "1.wav", "> 2.wav"])
    #expect(try shown(group).state == .stopped)
  }

  @Test func `who has chosen something else meanwhile keeps it`() throws {
    let group = try party()
    house.heard("Turntable", .opened)
    try ask(.edit(group: group, .play(2), expected: nil))
    house.heard("Turntable", .closed)
    #expect(try queue(group) == ["0.wav", "1.wav", "> 2.wav"])
    #expect(try shown(group).state == .starting)
  }

  @Test func `an input that its user plays stays in the queue when it falls silent`() throws {
    let group = try party()
    let added = try ask(
      .edit(group: group, .add([.init(input: "Turntable")], at: .end), expected: nil))
    let ids = try #require(added.queue).added
    try ask(.edit(group: group, .play(ids[0]), expected: nil))
    house.heard("Turntable", .opened)
    house.heard("Turntable", .closed)
    #expect(try queue(group) == ["0.wav", "1.wav", "2.wav", "> input:Turntable"])
    #expect(try shown(group).state == .starting)
  }

  @Test(.timeLimit(.minutes(3)))
  func `an input that was chosen a moment ago interrupts nothing`() throws {
    let group = try party()
    let added = try ask(
      .edit(group: group, .add([.init(input: "Turntable")], at: .end), expected: nil))
    let input = try #require(added.queue?.added.first)
    let member = try #require(house.session.groups[group])
    func wait(until item: Int) throws {
      while member.player.status.item?.item.id != item {
        try loop.turn(until: HostClock.now + .seconds(10))
      }
    }
    // The first file is open when the input is chosen, and the input is heard before it is.
    let first = try house.session.page(of: group, offset: 0, limit: 1).entries[0].id
    try wait(until: first)
    house.perform(.edit(group: group, .play(input), expected: nil)) { _ in }
    #expect(try queue(group).last == "> input:Turntable")
    house.heard("Turntable", .opened)
    try wait(until: input)
    house.heard("Turntable", .closed)
    #expect(member.goal(member.player.status)?.entry == input)
    #expect(try queue(group) == ["0.wav", "1.wav", "2.wav", "> input:Turntable"])
  }

  @Test func `surfaces see inputs, and which of them sound`() throws {
    _ = try party()
    #expect(house.publish().inputs.map(\.name) == ["Turntable", "Television"])
    #expect(house.publish().inputs.map(\.kind) == ["pipe", "card"])
    #expect(house.publish().inputs.map(\.isHeard) == [false, nil])
    let before = house.publish().revision
    house.heard("Turntable", .opened)
    #expect(house.publish().inputs.map(\.isHeard) == [true, nil])
    #expect(house.publish().revision > before)
  }

  @Test func `a group that is not there is told of in one line`() throws {
    house.heard("Turntable", .opened)
    #expect(
      warnings.lines == ["Turntable: there is no group or room called Party, see on-sound"])
  }

  @Test func `a terminal names inputs however it writes them`() throws {
    let group = try party()
    func add(_ name: String) throws -> ControlReply.Outcome {
      var reply: ControlReply?
      let entry = Order.NewEntry(PlaylistEntry("input:\(name)"))
      house.answer(.init(id: 1, .edit(.add([entry], at: .end)))) { reply = $0 }
      while reply == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
      return try #require(reply).outcome
    }
    guard case .done(let answer) = try add("turntable") else { throw Refusal.noSuch("") }
    #expect(answer.queue?.last?.item == "input:Turntable")
    #expect(answer.queue?.last?.title == "Turntable")
    let refusal = Refusal.invalid(
      "there is no file and no input called Gramophone; there are: Turntable, Television")
    #expect(try add("Gramophone") == .refused(error: refusal))
    #expect(try queue(group).count == 4)
  }
}

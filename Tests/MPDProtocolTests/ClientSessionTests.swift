import MPDProtocol
import Testing

@Suite struct ClientSessionTests {
  private var session = ClientSession()

  private mutating func receive(_ line: String) -> ClientSession.Action {
    session.receive(Array(line.utf8))
  }

  private static func run(_ lines: String..., saysEach: Bool = false) -> ClientSession.Action {
    .run(lines.map { Array($0.utf8) }, saysEach: saysEach)
  }

  @Test mutating func `a line that begins with no small letter ends the connection`() {
    for line in ["POST / HTTP/1.1", "PING", "", " ping", "\u{fc}ber", "1"] {
      #expect(receive(line) == .close, "\(line)")
    }
    #expect(receive("ping") == Self.run("ping"))
    #expect(receive("ping \t\r") == Self.run("ping"))
  }

  @Test mutating func `a list is done at its end`() {
    #expect(receive("command_list_ok_begin") == .none)
    #expect(receive("status") == .none)
    // It is refused when the list is done, as any unknown command.
    #expect(receive("command_list_begin") == .none)
    #expect(
      receive("command_list_end") == Self.run("status", "command_list_begin", saysEach: true))
    #expect(receive("command_list_end") == Self.run("command_list_end"))
  }

  @Test mutating func `who waits says noidle or is cut off`() {
    #expect(receive("noidle") == .none)
    #expect(receive("idle ") == .idle(.all))
    #expect(session.awaited == .all)
    #expect(receive("noidle") == .endIdle(.all))
    #expect(session.awaited == nil)
    #expect(receive("idle player \"mixer\"") == .idle([.player, .mixer]))
    session.wasTold()
    #expect(receive("status") == Self.run("status"))
    #expect(receive("idle") == .idle(.all))
    #expect(receive("status") == .close)
    session = ClientSession()
    #expect(receive("idle foo") == .refuse("ACK [2@0] {idle} Unrecognized idle event: foo\n"))
    #expect(receive("idler") == Self.run("idler"))
  }

  @Test mutating func `a list that is too long ends the connection`() {
    let line = "find " + String(repeating: "x", count: 1_000_000)
    #expect(receive("command_list_begin") == .none)
    #expect(receive(line) == .none)
    #expect(receive(line) == .none)
    #expect(receive(line) == .close)
  }

  @Test mutating func `a stranger's list is short`() {
    func receive(_ line: String) -> ClientSession.Action {
      session.receive(Array(line.utf8), isStranger: true)
    }
    #expect(receive("command_list_begin") == .none)
    #expect(receive("find " + String(repeating: "x", count: 4_096)) == .close)
    session = ClientSession()
    #expect(receive("command_list_begin") == .none)
    for _ in 0..<ClientSession.strangerCountLimit { #expect(receive("ping") == .none) }
    #expect(session.heldBytes > 16 * 64)
    #expect(receive("ping") == .close)
  }

  @Test mutating func `a list of too many commands ends the connection`() {
    #expect(receive("command_list_begin") == .none)
    for _ in 0..<ClientSession.listCountLimit { _ = receive("a") }
    #expect(receive("a") == .close)
  }

  @Test func `changes are told in the order of the protocol`() {
    let changed: Subsystems = [.player, .database, .mixer, .playlist, .storedPlaylist]
    let names = ["database", "stored_playlist", "playlist", "player", "mixer"]
    #expect(changed.lines == names.map { "changed: \($0)\n" }.joined())
  }
}

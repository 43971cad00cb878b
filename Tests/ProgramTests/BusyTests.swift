import TestSupport
import Testing

/// Tests of a room that two machines want: `--when-busy`, `--take`, `--priority`, `--give-back`.
@Suite struct BusyTests {
  let folder: TemporaryFolder
  private let long: String
  private let short: String

  init() throws {
    folder = try TemporaryFolder()
    long = try folder.write(Tone.wave(rate: 8000, seconds: 300, channels: 1), to: "long.wav")
    short = try folder.write(Tone.wave(rate: 8000, seconds: 1, channels: 1), to: "short.wav")
  }

  /// Returns a room in which a first machine plays.
  private func busy(_ policy: String) throws -> (room: ReceiverProgram, owner: Program) {
    let room = try ReceiverProgram("a", in: folder, "--output", "null", "--when-busy", policy)
    let owner = try player([long], at: [room.address], in: folder)
    try room.program.line(with: "playing")
    return (room, owner)
  }

  private func second(_ room: ReceiverProgram, _ arguments: String...) throws -> Program {
    try Program(
      "tutti",
      ["play", short, "--at", room.address, "--state-dir", folder.file("second")] + arguments)
  }

  @Test func `a room that refuses stays with the first, until it is taken`() throws {
    let (room, owner) = try busy("refuse")
    let refused = try second(room, "--priority", "255")
    try refused.line(with: "is playing there")
    #expect(try refused.exitCode() == 69)
    #expect(owner.lines(with: "gone").isEmpty)
    let taker = try second(room, "--take")
    #expect(try taker.exitCode() == 0, "\(taker.lines)")
    try owner.line(with: "has taken it over")
    #expect(owner.lines(with: "connected").count == 1)
  }

  @Test func `a room that is taken for a while goes back to who had it`() throws {
    let (room, owner) = try busy("refuse")
    let visitor = try second(room, "--take", "--give-back")
    #expect(try visitor.exitCode() == 0, "\(visitor.lines)")
    try owner.line(with: "plays there for a while")
    try owner.line("connected again") { _ in owner.lines(with: "a: connected").count == 2 }
    #expect(try owner.stop() == 0)
  }

  @Test func `a room that lets itself be taken over goes to the last`() throws {
    let (room, owner) = try busy("take-over")
    let next = try second(room)
    #expect(try next.exitCode() == 0, "\(next.lines)")
    try owner.line(with: "has taken it over")
  }

  @Test func `a room that goes by priority goes to the higher, and back`() throws {
    let (room, owner) = try busy("priority")
    let lower = try second(room, "--priority", "99")
    try lower.line(with: "is playing there")
    #expect(try lower.exitCode() == 69)
    let higher = try second(room, "--priority", "101")
    #expect(try higher.exitCode() == 0, "\(higher.lines)")
    try owner.line("connected again") { _ in owner.lines(with: "a: connected").count == 2 }
    #expect(try owner.stop() == 0)
  }
}

import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests that each command has one immediate reply with its identifier.
@Suite struct CommandReplyTests {
  @Test func `each command is answered once, with its own identifier, in the order asked`() {
    let commands: [PlayerCommand] = [
      .pause, .resume, .seek(to: .seconds(2)), .next, .previous, .volume(.all, 400),
      .streamVolume(.full), .edit(.clear), .effects(Effects()), .observePosition(every: nil), .stop,
    ]
    var group = TestGroup.playing()
    for (number, command) in commands.enumerated() {
      group.take()
      let id = CommandID(UInt64(1000 + number))
      group.handle(.command(id, command))
      let replies = group.outputs.filter { if case .reply = $0 { true } else { false } }
      #expect(replies == [.reply(id, .success(.done))], "\(command)")
    }
  }

  @Test func `what is added is told with its identities`() {
    var group = TestGroup(["8000x1:8000"])
    #expect(group.command(.edit(.insert(["a", "b"], .end))) == .success(.added(1..<3)))
    #expect(group.command(.edit(.replace(1, with: ["c"]))) == .success(.added(3..<4)))
    #expect(group.command(.edit(.remove([77]))) == .success(.done))
  }

  @Test func `what cannot be done is refused with its reason`() {
    var group = TestGroup(["8000x1:8000"])
    #expect(group.command(.jump(to: 9)) == .failure(.noSuchItem(9)))
    let stranger = RoomID(7)
    #expect(group.command(.mute(.room(stranger), true)) == .failure(.noSuchRoom(stranger)))
    let many: [PlaylistEntry] = Array(repeating: "a", count: Playlist.limit)
    #expect(group.command(.edit(.insert(many, .end))) == .failure(.playlistIsFull))
  }

  @Test func `in a full list an item is replaced by another, and by no two`() {
    var group = TestGroup(["8000x1:8000"])
    let many: [PlaylistEntry] = Array(repeating: "a", count: Playlist.limit - 1)
    #expect(group.command(.edit(.insert(many, .end))) != .failure(.playlistIsFull))
    #expect(group.command(.edit(.replace(5, with: ["b", "c"]))) == .failure(.playlistIsFull))
    let next = Playlist.limit
    #expect(group.command(.edit(.replace(5, with: ["b"]))) == .success(.added(next..<next + 1)))
    #expect(group.session.playlist.items.map(\.id)[4..<7] == [4, next, 6])
    #expect(group.session.playlist.count == Playlist.limit)
  }

  @Test func `a group that has ended refuses everything but to end`() {
    var group = TestGroup.playing()
    group.command(.stop)
    group.advance(by: .seconds(1))
    #expect(group.session.isFinished)
    #expect(group.command(.pause) == .failure(.finished))
    #expect(group.command(.stop) == .success(.done))
  }
}

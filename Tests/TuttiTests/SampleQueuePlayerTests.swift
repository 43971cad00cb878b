import Foundation
import TestSupport
import Testing
import Tutti

/// The long example of the documentation, heard in a real room.
@Suite(.timeLimit(.minutes(3))) struct SampleQueuePlayerTests {
  /// Sounds a level from its beginning to its end.
  private final class Level: SampleSource {
    let format = PCMFormat.stereo48k
    let frameCount: Int64?
    private let level: Float
    private var next: Int64 = 0

    init(_ level: Int, seconds: Double) {
      self.level = Float(level) / 16
      frameCount = Int64(seconds * 48_000)
    }

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      let given = min(Int64(count), (frameCount ?? 0) - next)
      frames += repeatElement(level, count: Int(given) * 2)
      next += given
    }

    func seek(toFrame frame: Int64) { next = frame }
  }

  private static func item(_ level: Int, seconds: Double = 1) -> SampleQueuePlayer.Item {
    .init(.custom("level \(level)") { Level(level, seconds: seconds) })
  }

  /// The levels in the order in which they were heard, and for how many seconds each.
  private static func heard(_ path: String) throws -> [(level: Int, seconds: Double)] {
    let sound = try RecordedSound(path)
    var heard: [(level: Int, frames: Int)] = []
    for sample in sound.sounding {
      let level = (sample * 16).rounded()
      // Fades have no level.
      guard abs(sample * 16 - level) < 0.02, level > 0 else { continue }
      if heard.last?.level == Int(level) {
        heard[heard.count - 1].frames += 1
      } else {
        heard.append((Int(level), 1))
      }
    }
    return heard.filter { $0.frames > 48 }
      .map { ($0.level, Double($0.frames) / Double(sound.rate)) }
  }

  private let folder: TemporaryFolder
  private let receiver: ReceiverProgram
  private let player: SampleQueuePlayer

  init() async throws {
    folder = try TemporaryFolder()
    receiver = try ReceiverProgram("Room", in: folder)
    player = try await SampleQueuePlayer(rooms: [.at("127.0.0.1", port: receiver.port)])
  }

  private func end() async throws -> [(level: Int, seconds: Double)] {
    await player.close()
    #expect(try receiver.program.stop() == 0)
    return try Self.heard(folder.file("Room.wav"))
  }

  private func wait(for event: SampleQueuePlayer.Event) async throws {
    _ = try await player.events.first { $0 == event }
  }

  @Test func `items play without a gap, while the list is edited ahead of the sound`() async throws
  {
    // The first is long enough to be edited behind by a busy machine.
    let items = (1...4).map { Self.item($0, seconds: $0 == 1 ? 4 : 2) }
    try await player.insert([items[0], items[3]])
    #expect(await player.currentItem == nil)
    try await player.play()
    try await wait(for: .itemStarted(items[0].id))
    #expect(await player.currentItem?.id == items[0].id)
    try await player.insert([items[1], items[2]], at: 1)
    try await player.move(items[2].id, to: 1)
    #expect(await player.items.map(\.id) == [0, 2, 1, 3].map { items[$0].id })
    #expect(await player.currentIndex == 0)
    try await wait(for: .itemStarted(items[2].id))
    try await player.insert([Self.item(5)], at: 0)
    #expect(await player.currentIndex == 2)
    try await player.remove([items[3].id])
    try await wait(for: .stopped)
    #expect(await player.currentItem == nil)
    let heard = try await end()
    let sound = try RecordedSound(folder.file("Room.wav"))
    #expect(sound.gaps(atLeast: sound.rate / 50).isEmpty)
    #expect(heard.map(\.level) == [1, 3, 2])
    for (one, seconds) in zip(heard, [4.0, 2, 2]) {
      #expect(abs(one.seconds - seconds) < 0.05, "\(one)")
    }
  }

  @Test func `a seek, a removal of what sounds, and an item that cannot be played`() async throws {
    let long = [Self.item(1, seconds: 60), Self.item(2, seconds: 60)]
    let missing = SampleQueuePlayer.Item(.file("/nowhere.flac"))
    let last = Self.item(3)
    try await player.insert([long[0], long[1], missing, last])
    try await player.play(at: 0)
    try await wait(for: .itemStarted(long[0].id))
    try await player.remove([long[0].id])
    try await wait(for: .itemStarted(long[1].id))
    #expect(await player.currentIndex == 0)
    try await player.pause()
    try await player.seek(to: .seconds(59.5))
    #expect(await player.position == .seconds(59.5))
    try await player.play()
    try await wait(for: .itemStarted(last.id))
    try await wait(for: .stopped)
    let heard = try await end()
    #expect(heard.map(\.level) == [1, 2, 2, 3] || heard.map(\.level) == [1, 2, 3])
    #expect(heard.last.map { abs($0.seconds - 1) < 0.05 } ?? false)
  }
}

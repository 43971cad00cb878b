import Foundation
import TestSupport
import Testing
import Tutti

/// Players and rooms in one program, as somebody tests a player of his own.
@Suite(.timeLimit(.minutes(2))) struct HostedRoomTests {
  /// Half of full scale, without an end.
  private final class Level: SampleSource {
    let format = PCMFormat.stereo48k

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      frames += repeatElement(0.5, count: count * 2)
    }

    func seek(toFrame frame: Int64) {}
  }

  @Test func `a player begins and ends at instants, and fades, in a room of this program`()
    async throws
  {
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    let player = try await Player(rooms: [ear.room], settings: settings)
    await #expect(throws: TuttiError.noSuchItem) { try await player.play(atHostTime: .now) }
    try await player.append([.custom("level") { Level() }])
    let wish = HostTime.now + .seconds(1)
    let began = try await player.play(atHostTime: wish)
    #expect(began >= wish)
    await ear.listen(until: began + .milliseconds(500))
    try await player.fade(to: 0.5, over: .milliseconds(200))
    #expect(player.volume == 0.5)
    let faded = HostTime.now + (try await player.outputLatency()) + .milliseconds(200)
    await ear.listen(until: faded + .milliseconds(200))
    let end = HostTime.now + .seconds(1)
    let ended = try await player.pause(atHostTime: end)
    #expect(ended >= end)
    await ear.listen(until: ended + .milliseconds(200))
    await player.close()

    let frames = ear.frames
    let first = try #require(frames.first { abs($0.level) > 1e-4 })
    let last = try #require(frames.last { abs($0.level) > 1e-4 })
    // A fade begins with less than anybody hears.
    #expect(abs((first.time - began) / .milliseconds(1)) < 5)
    #expect(abs((last.time - ended) / .milliseconds(1)) < 30)
    let loud = try #require(frames.first { $0.time > began + .milliseconds(300) })
    let quiet = try #require(frames.first { $0.time > faded + .milliseconds(100) })
    #expect(abs(loud.level - 0.5) < 0.01)
    #expect(quiet.level < 0.2 && quiet.level > 0.01)
  }

  /// The left channel alone, half of full scale.
  private final class LeftLevel: SampleSource {
    let format = PCMFormat.stereo48k

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      for _ in 0..<count { frames += [0.5, 0] }
    }

    func seek(toFrame frame: Int64) {}
  }

  @Test func `a room is told that it has headphones, and then loudspeakers`() async throws {
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    let player = try await Player(rooms: [ear.room], settings: settings)
    try await player.append([.custom("left") { LeftLevel() }])
    try await player.play()
    /// The loudest that both channels are in a moment in which all that was set before is heard: a machine that is too
    /// busy leaves parts of it silent.
    func heard() async throws -> [Float] {
      let begin = HostTime.now + (try await player.outputLatency()) + .milliseconds(500)
      await ear.listen(until: begin + .milliseconds(200))
      let moment = ear.pairs.filter { $0.time > begin }
      return try #require(moment.max { $0.levels[0] < $1.levels[0] }).levels
    }
    let plain = try await heard()
    #expect(abs(plain[0] - 0.5) < 0.01 && plain[1] == 0, "\(plain)")

    try await player.rooms.setSound(.headphones)
    let crossed = try await heard()
    // The filter passes all of a level that does not change, and lowers both channels so that nothing clips.
    #expect(abs(crossed[1] / crossed[0] - 0.37 / 0.63) < 0.01, "\(crossed)")
    #expect(try await player.rooms.status().rooms.first?.settings?.sound == .headphones)

    var sound = RoomSound()
    (sound.balance, sound.bands) = (-100, [.init(.peak, frequency: 1_000, gain: -3, q: 1.4)])
    try await player.rooms.setSound(sound)
    let balanced = try await heard()
    #expect(abs(balanced[0] - 0.5) < 0.01 && balanced[1] == 0, "\(balanced)")
    #expect(try await player.rooms.status().rooms.first?.settings?.sound == sound)

    sound.bass = 11
    await #expect(throws: TuttiError.invalid("bass is -10 to 10 dB")) {
      try await player.rooms.setSound(sound)
    }
    sound = RoomSound()
    sound.usesFIR = true
    await #expect(throws: TuttiError.self) { try await player.rooms.setSound(sound) }
    #expect(try await player.rooms.status().rooms.first?.settings?.sound?.balance == -100)
    await player.close()
  }

  @Test func `six channels are heard on their sides, by two speakers`() async throws {
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    let six = try PCMFormat(channelCount: 6)
    let renderer = try await AudioRenderer(rooms: [ear.room], format: six, settings: settings)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    // The centre and the left one at the back.
    let frame: [Float] = [0, 0, 0.4, 0, 0.4, 0]
    let second = (0..<48_000).flatMap { _ in frame }
    try renderer.enqueue(AudioBuffer(second, format: six, at: .zero))
    let began = try await synchronizer.setRate(1)
    await ear.listen(until: began + .milliseconds(700))
    await renderer.close()
    let loudest = try #require(ear.pairs.max { $0.levels[0] < $1.levels[0] }).levels
    // Each at half its power, and all at full scale together within it.
    let part = Float(0.5).squareRoot() / (1 + 2 * Float(0.5).squareRoot())
    #expect(abs(loudest[0] - 0.8 * part) < 0.01, "\(loudest)")
    #expect(abs(loudest[1] - 0.4 * part) < 0.01, "\(loudest)")
  }

  @Test func `two rooms of this program record the same`() async throws {
    let folder = try TemporaryFolder()
    let paths = ["a.wav", "b.wav"].map(folder.file)
    let rooms = paths.map { Room.recording(to: $0) }
    #expect(rooms[0] != rooms[1] && rooms[0].id != rooms[1].id)
    var settings = OutputSettings()
    settings.identity = .temporary
    let renderer = try await AudioRenderer(rooms: rooms, settings: settings)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    try await feed(renderer, from: .zero, to: .seconds(1)) { Float(0.2 + $0 / 4) }
    renderer.finish()
    try await synchronizer.setRate(1)
    _ = try await renderer.events.first { $0 == .ended }
    await renderer.close()
    for path in paths {
      let sound = try RecordedSound(path)
      let whole = sound.sounding.filter { $0 > 0.19 }
      #expect(abs(Double(whole.count) / Double(sound.rate) - 1) < 0.05, "\(path)")
      #expect(whole.max().map { abs($0 - 0.45) < 0.01 } ?? false)
    }
  }

  @Test func `a program pairs itself with a room by its PIN, and ends that`() async throws {
    let folder = try TemporaryFolder()
    // Of another user, whose token this one does not see.
    try FileManager.default.createDirectory(
      atPath: folder.file("home"), withIntermediateDirectories: true)
    let receiver = try ReceiverProgram(
      "a", in: folder, "--output", "null", "--access", "paired",
      environment: ["XDG_RUNTIME_DIR": folder.file("home")])
    let box = try Program("tutti-receiver", ["pin", "--state-dir", folder.file("state-a")])
    _ = try box.exitCode()
    let pin = try #require(box.lines.first)
    let room = Room.at("127.0.0.1", port: receiver.port)
    var settings = OutputSettings()
    settings.identity = .file(folder.file("key.pem"))

    func answer() async throws -> RoomEvent.Change? {
      let player = try await Player(rooms: [room], settings: settings)
      var answer: RoomEvent.Change?
      for await event in player.events {
        if case .room(let told) = event { answer = told.change }
        if answer != nil { break }
      }
      await player.close()
      return answer
    }

    await #expect(throws: TuttiError.self) { try await room.pair(pin: "1234", settings: settings) }
    try await room.pair(pin: pin, settings: settings)
    #expect(try await answer() == .connected)
    try await room.unpair(settings: settings)
    guard case .refused? = try await answer() else {
      Issue.record("it is paired still")
      return
    }
    let nobody = Room.at("127.0.0.1", port: 1)
    let refusal = await Self.refusal(of: nobody, pin: pin, settings)
    #expect(refusal == refusal.map { .pairingFailed($0.description) })
    #expect(refusal?.description.contains("127.0.0.1") ?? false)
  }

  /// The error with which pairing fails.
  private static func refusal(
    of room: Room, pin: String, _ settings: OutputSettings
  ) async -> TuttiError? {
    do throws(TuttiError) {
      try await room.pair(pin: pin, settings: settings)
      return nil
    } catch {
      return error
    }
  }
}

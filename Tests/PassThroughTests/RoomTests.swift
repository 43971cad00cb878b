import Audio
import Clock
import FFmpegDecoder
import FFmpegSource
import Foundation
import TestSupport
import Testing
import WireProtocol

@testable import Receiver
@testable import Sender

/// Tests from files to a room's deep buffer and its sound, over the bytes of the wire.
@Suite struct RoomTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What the sender puts on the media connection for these files.
  private func stream(_ paths: [String], passesPackets: Bool = true) -> [UInt8] {
    let serializer = Serializer(
      passesPackets: passesPackets,
      openSource: { (item) throws(MediaError) in try FileSource(path: item.location) },
      makeEncoder: { (shape) throws(CodecError) in
        PCMEncoder(audio: shape.format, sampleType: shape.sampleType)
      })
    var steps: [ProducedBatch.Step] = []
    var time = MediaTime.zero
    for (id, path) in paths.enumerated() {
      let beginning = ProductionOrder.Beginning(
        item: PlayItem(id: id, location: path), position: .zero, mediaTime: time, generation: 0,
        continues: id > 0)
      steps += serializer.produce(.begin(beginning)).steps
      for _ in 0..<1_000 {
        steps += serializer.produce(.more(.seconds(1), generation: 0)).steps
        if case .itemEnded(let end)? = steps.last {
          time = end
          break
        }
      }
    }
    steps += serializer.produce(.finish(generation: 0)).steps
    return bytes(steps)
  }

  private func bytes(_ steps: [ProducedBatch.Step]) -> [UInt8] {
    var sequence: UInt64 = 0
    return steps.flatMap { step -> [UInt8] in
      switch step {
      case .format(let id, let format): return MediaMessage.format(id: id, format).encoded()
      case .packet(let packet):
        defer { sequence += 1 }
        return MediaMessage.packet(
          AudioPacket(
            generation: 0, sequence: sequence, mediaTime: packet.mediaTime,
            formatID: packet.formatID, startsRun: packet.startsRun, endsStream: packet.endsStream,
            encoded: packet.encoded)
        ).encoded()
      case .opened, .metadata, .itemEnded, .failed, .finished: return []
      }
    }
  }

  private func buffer(_ bytes: [UInt8]) throws -> PlayoutBuffer {
    var buffer = PlayoutBuffer(capacity: Capacity(bytes: 64 << 20, duration: .seconds(600)))
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(bytes)
    while let raw = try framer.next() {
      switch try MediaMessage.decode(raw) {
      case .format(let id, let format)?: buffer.define(format, id: id)
      case .packet(let packet)?: #expect(buffer.insert(packet) == .inserted)
      case .attach?, .artwork?, nil: break
      }
    }
    return buffer
  }

  /// Returns the frames that the room's decoding puts into its ring, from media time 0 on.
  private func sound(_ buffer: inout PlayoutBuffer, rate: Int, frames: Int) throws -> [Float] {
    let ring = FrameRing(minimumCapacity: frames + 65_536, channelCount: 2)
    let stage = DecodeStage(
      makeDecoder: { (format) throws(CodecError) in try makeDecoder(format) }, ring: ring,
      device: AudioFormat(sampleRate: rate, channelCount: 2))
    while let (packet, format) = buffer.nextToDecode() {
      try stage.decode(packet, format: format, generation: 0)
      #expect(stage.isReadyForMore())
    }
    var reader = FrameRingReader(ring)
    reader.update()
    var sound: [Float] = []
    while sound.count < frames * 2 {
      let position = Int64(sound.count / 2)
      let run = reader.run(at: position, limit: Int64(frames))
      guard let place = run.place, run.end > position else { break }
      let count = Int(run.end - position)
      var block = [Float](repeating: 0, count: count * 2)
      block.withUnsafeMutableBufferPointer { samples in
        if let start = samples.baseAddress { reader.copy(from: place, count: count, into: start) }
      }
      sound += block
    }
    return sound
  }

  @Test(arguments: PassedFile.all)
  func `packets in a room's buffer are byte for byte those of the file`(file: PassedFile) throws {
    let path = try file.write(
      Recording(rate: file.rate, frames: file.rate * 4), as: file.name, in: folder)
    var buffer = try buffer(stream([path]))
    var held: [UInt8] = []
    while let (packet, format) = buffer.nextToDecode() {
      #expect(format.codec == file.codec)
      held += packet.encoded.payload
    }
    #expect(held == (try copiedPackets(of: path, file, in: folder)))
  }

  @Test(arguments: PassedFile.all)
  func `a sine cut into files sounds in a room as from one`(file: PassedFile) throws {
    let cuts = [0, file.rate + 21, file.rate * 2 - 333, file.rate * 3]
    var paths: [String] = []
    var expected: [Float] = []
    for (number, (from, to)) in zip(cuts, cuts.dropFirst()).enumerated() {
      let piece = Recording.sine(rate: file.rate, from..<to)
      paths.append(try file.write(piece, as: "\(number)-" + file.name, in: folder))
      expected += try readAll(FileSource(path: paths[number]))
    }
    var buffer = try buffer(stream(paths))
    let sound = try sound(&buffer, rate: file.rate, frames: expected.count / 2)
    #expect(sound.count == expected.count)
    #expect(largestDifference(sound, expected) < file.tolerance)
    if file.isExact { #expect(sound.count == 2 * file.rate * 3) }
  }

  /// Returns the sound of a room with such a card.
  private func sound(
    _ paths: [String], _ seconds: Int, card rate: Int, passesPackets: Bool
  ) throws -> [Float] {
    var buffer = try buffer(stream(paths, passesPackets: passesPackets))
    return try sound(&buffer, rate: rate, frames: seconds * rate)
  }

  @Test(arguments: [48_000, 44_100], [true, false])
  func `an album of Opus sounds as the recording that it was cut from`(
    card: Int, passesPackets: Bool
  ) throws {
    let seconds = 3
    let whole = try Recording.sine(rate: 48_000, 0..<48_000 * seconds)
      .write(to: "whole.opus", ["-c:a", "libopus", "-b:a", "128k"], in: folder)
    let album = try OpusAlbum(folder.bytes(of: "whole.opus"))
    let cuts = [0, 48_021, 95_667, 48_000 * seconds]
    let tracks = try zip(cuts, cuts.dropFirst()).map { from, to in
      try folder.write(album.track(from..<to), to: "\(from).opus")
    }
    let expected = try sound([whole], seconds, card: card, passesPackets: passesPackets)
    let heard = try sound(tracks, seconds, card: card, passesPackets: passesPackets)
    try #require(heard.count == 2 * seconds * card)
    try #require(heard.count == expected.count)
    for cut in cuts[1...2] {
      let joint = 2 * (cut * card / 48_000 - card / 40)..<2 * (cut * card / 48_000 + card / 40)
      #expect(largestDifference(Array(heard[joint]), Array(expected[joint])) < 3e-3)
    }
  }
}

import Audio
import Clock
import Testing
import WireProtocol

@Suite struct MediaMessageCodingTests {
  @Test func `an unknown type is skipped`() throws {
    #expect(try MediaMessage.decode(RawMessage(type: 0x0001, payload: [])) == nil)
  }

  @Test func `an attach of another version is refused`() throws {
    var raw = try #require(try onlyMessage(in: MediaMessage.attach(session: 7).bytes))
    raw.payload[raw.payload.startIndex + 5] = 1
    #expect(throws: DecodeError.unsupportedVersion(1)) { try MediaMessage.decode(raw) }
  }

  @Test func `formats out of range are refused`() {
    expectRefused(format, at: 6, [1, 0], .outOfRange(field: "format id", value: 256))
    expectRefused(format, at: 8, [0, 0], .outOfRange(field: "codec", value: 0))
    expectRefused(format, at: 10, [0, 0, 0, 0], .outOfRange(field: "sample rate", value: 0))
    expectRefused(format, at: 12, [0xac, 0x43], .outOfRange(field: "sample rate", value: 44_099))
    expectRefused(format, at: 14, [0], .outOfRange(field: "channel count", value: 0))
    expectRefused(format, at: 14, [9], .outOfRange(field: "channel count", value: 9))
    expectRefused(format, at: 15, [5], .outOfRange(field: "sample type", value: 5))
    expectRefused(
      format, at: 16, [0x20, 0x01],
      .tooLong(field: "configuration", byteCount: 8193, limit: 8192))
  }

  @Test func `packets out of range are refused`() {
    expectRefused(packet, at: 10, [0x80], .outOfRange(field: "generation", value: 0x8000_0000))
    expectRefused(packet, at: 22, [0xff], .outOfRange(field: "media time", value: -1 << 56))
    expectRefused(packet, at: 33, [0x04], .sealed)
    expectRefused(packet, at: 34, [0, 1, 0, 1], .outOfRange(field: "frame count", value: 65_537))
    expectRefused(
      packet, at: 38, [0, 1, 0, 1], .outOfRange(field: "skipped frames", value: 65_537))
    expectRefused(packet, at: 42, [0, 0, 0, 9], .truncated(field: "payload"))
    expectRefused(
      packet, at: 42, [0, 8, 0, 1],
      .tooLong(field: "payload", byteCount: 524_289, limit: 524_288))
  }

  @Test func `a packet of another stream is skipped, whatever else is in it`() throws {
    var bytes = packet.bytes
    bytes[9] = 1
    let other = try #require(try onlyMessage(in: bytes))
    #expect(try MediaMessage.decode(other) == nil)
    bytes[33] = 0x04
    let sealed = try #require(try onlyMessage(in: bytes))
    #expect(try MediaMessage.decode(sealed) == nil)
  }

  @Test func `the tag of a packet that is not sealed is ignored`() throws {
    var bytes = packet.bytes
    bytes[46] = 0xaa
    let raw = try #require(try onlyMessage(in: bytes))
    #expect(try MediaMessage.decode(raw) == packet)
  }

  private let format = MediaMessage.format(
    id: 0,
    StreamFormat(
      codec: .flac, audio: AudioFormat(sampleRate: 44_100, channelCount: 2), sampleType: .int16))
  private let packet = MediaMessage.packet(
    AudioPacket(
      generation: 0, sequence: 0, mediaTime: .zero, formatID: 0, startsRun: false,
      endsStream: false, encoded: EncodedPacket(payload: [1, 2, 3], frameCount: 1)))

  private func expectRefused(
    _ message: MediaMessage, at offset: Int, _ replacement: [UInt8], _ error: DecodeError
  ) {
    var bytes = message.bytes
    bytes.replaceSubrange(offset..<offset + replacement.count, with: replacement)
    #expect(throws: error) { try onlyMessage(in: bytes).flatMap { try MediaMessage.decode($0) } }
  }
}

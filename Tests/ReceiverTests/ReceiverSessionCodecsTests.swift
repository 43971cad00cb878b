import Audio
import Clock
import Receiver
import Testing
import WireProtocol

/// Tests of a decoder that was listed and cannot be made.
@Suite struct ReceiverSessionCodecsTests {
  private static let mp3 = StreamFormat(
    codec: .mp3, audio: TestReceiver.format.audio, sampleType: .float32)

  private static func receiver(_ error: CodecError, remaining: [Codec]? = nil) -> TestReceiver {
    TestReceiver(
      codecs: [.pcm, .mp3, .aac, .flac], remainingCodecs: remaining,
      makeDecoder: { format throws(CodecError) in
        guard format.codec == .pcm else { throw error }
        return try PCMDecoder(format: format)
      })
  }

  private static func lists(_ receiver: TestReceiver, _ control: ConnectionID) -> [[Codec]] {
    receiver.told(control).compactMap { if case .codecs(let list) = $0 { list } else { nil } }
  }

  private static func welcomed(_ receiver: TestReceiver, _ control: ConnectionID) -> [Codec]? {
    receiver.told(control).compactMap {
      if case .welcome(let welcome) = $0 { welcome.codecs } else { nil }
    }.last
  }

  private static func withdrawals(_ receiver: TestReceiver) -> [ReceiverEvent] {
    receiver.events.filter { if case .codecWithdrawn = $0 { true } else { false } }
  }

  /// Sends packets of a codec without a decoder, and runs for a second.
  private static func hear(_ receiver: inout TestReceiver) -> ConnectionID {
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.stream(.format(id: 0, mp3), on: media)
    receiver.send(20, on: media)
    receiver.report(.waiting)
    receiver.advance(by: .seconds(1))
    return control
  }

  @Test func `it is taken back once, with all that its library would have decoded`() {
    var receiver = Self.receiver(.unsupported("no such library"), remaining: [.pcm, .flac])
    let control = Self.hear(&receiver)
    #expect(Self.welcomed(receiver, control) == [.pcm, .mp3, .aac, .flac])
    #expect(Self.lists(receiver, control) == [[.pcm, .flac]])
    #expect(Self.withdrawals(receiver) == [.codecWithdrawn(.mp3, reason: "no such library")])
    let advertised = receiver.outputs.compactMap {
      if case .advertiseCodecs(let codecs) = $0 { codecs } else { nil }
    }
    #expect(advertised == [[.pcm, .flac]])
    // Nothing was decoded, so nothing could sound; the packets do not count as corrupt.
    let states = receiver.told(control).compactMap {
      if case .status(let status) = $0 { status } else { nil }
    }
    #expect(states.allSatisfy { $0.state != .ready && $0.corruptPackets == 0 })
    let next = receiver.hello(sender: 1, session: 6, clock: 78)
    #expect(Self.welcomed(receiver, next) == [.pcm, .flac])
  }

  @Test func `what only this sender's stream is wrong for is there for the next one`() {
    var receiver = Self.receiver(.malformed("a configuration of no sense"))
    let control = Self.hear(&receiver)
    #expect(Self.lists(receiver, control) == [[.pcm, .aac, .flac]])
    let again = receiver.hello(session: 6)
    #expect(Self.welcomed(receiver, again) == [.pcm, .aac, .flac])
    let next = receiver.hello(session: 7, clock: 78)
    #expect(Self.welcomed(receiver, next) == [.pcm, .mp3, .aac, .flac])
  }

  @Test func `what follows in another codec is heard`() {
    var receiver = Self.receiver(.unsupported("no such library"))
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.stream(.format(id: 0, Self.mp3), on: media)
    receiver.send(20, on: media)
    receiver.report(.waiting)
    receiver.advance(by: .seconds(1))
    receiver.say(.flush(Flush(from: .zero, generation: 1, isRamped: false)), on: control)
    receiver.stream(.format(id: 1, TestReceiver.format), on: media)
    for number in 20..<40 {
      var packet = TestReceiver.packet(
        number, generation: 1, at: TestReceiver.time(number - 20), startsRun: number == 20)
      packet.formatID = 1
      receiver.stream(.packet(packet), on: media)
    }
    receiver.report(.waiting)
    receiver.advance(by: .seconds(1))
    let states = receiver.told(control).compactMap {
      if case .status(let status) = $0 { status.state } else { nil }
    }
    #expect(states.last == .ready)
    #expect(Self.withdrawals(receiver).count == 1)
  }
}

import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Sends a receiver what the document's table "Skipped or violation" lists, and compares what becomes of it.
@Suite struct ViolationTableTests {
  private enum Outcome: String { case skipped, violation }

  /// Sends something to a receiver with both connections.
  private typealias Trial =
    @Sendable (
      inout TestReceiver, _ control: ConnectionID, _ media: ConnectionID
    ) -> Void

  private static let unknown: [UInt8] = [0, 0, 0, 3, 0x7F, 0x01, 9]
  private static let anchor = ControlMessage.anchor(
    Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 0), rate: .paused))

  private static let trials: [String: [Trial]] = [
    "a type that is not in the [table of types](framing.md)": [
      { receiver, control, _ in receiver.handle(.received(control, unknown)) },
      { receiver, _, media in receiver.handle(.received(media, unknown)) },
    ],
    "a message about another stream than 0": [
      { receiver, _, media in
        var bytes = MediaMessage.packet(TestReceiver.packet(0)).encoded()
        bytes[9] = 1
        receiver.handle(.received(media, bytes))
      }
    ],
    "a type that belongs on another connection: `packet` on control, `anchor` on media": [
      { receiver, control, _ in receiver.stream(.packet(TestReceiver.packet(0)), on: control) },
      { receiver, _, media in receiver.say(anchor, on: media) },
    ],
    "a control message that only the other side may send": [
      { receiver, control, _ in
        receiver.say(.flushed(Flushed(generation: 0, from: .zero)), on: control)
      }
    ],
    "`hello` or `prove` after `hello`": [
      { receiver, control, _ in receiver.say(.prove([1, 2, 3]), on: control) }
    ],
    "`attach` again on a media connection": [
      { receiver, _, media in receiver.stream(.attach(session: 5), on: media) }
    ],
    "a malformed message, or a length out of range": [
      { receiver, control, _ in receiver.handle(.received(control, [0, 0, 0, 3, 0, 2, 1])) },
      { receiver, control, _ in receiver.handle(.received(control, [0, 0, 0, 1])) },
      { receiver, control, _ in receiver.handle(.received(control, [0, 1, 0, 1])) },
      { receiver, _, media in receiver.handle(.received(media, [0, 0, 0, 4, 3, 2, 0, 0])) },
      { receiver, _, media in receiver.handle(.received(media, [0xFF, 0xFF, 0xFF, 0xFF])) },
    ],
    "a malformed `packet` in sound framing": [
      { receiver, _, media in
        receiver.handle(.received(media, [0, 0, 0, 4, 3, 3, 0, 0]))
      }
    ],
    "a packet that overlaps the one before it, see [media.md](media.md#runs)": [
      { receiver, _, media in
        receiver.send(2, on: media)
        receiver.send(1, from: 2, at: TestReceiver.time(1), on: media)
      }
    ],
    "more control messages than the [limits](#limits) allow": [
      { receiver, control, _ in
        for _ in 0...ProtocolLimits.controlMessageBurst { receiver.say(.keepAlive, on: control) }
      }
    ],
  ]

  private static func outcome(_ trial: Trial) -> Outcome {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.take()
    trial(&receiver, control, media)
    guard case .goodbye(let farewell)? = receiver.farewell(control) else { return .skipped }
    #expect(farewell.reason == .protocolViolation && !farewell.detail.isEmpty)
    #expect(receiver.closed.contains(control))
    return .violation
  }

  @Test func `a receiver skips, and is offended by, what the document says`() throws {
    let rows = try Specification.table(under: "Skipped or violation", of: "README.md")
    for (name, trials) in Self.trials {
      let row = try #require(rows.first { $0[0] == name }, "\(name)")
      for (index, trial) in trials.enumerated() {
        let outcome = Self.outcome(trial)
        #expect(row[1].hasPrefix(outcome.rawValue), "\(name), \(index): \(outcome)")
      }
    }
  }
}

import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Sends a sender what the document's table "Skipped or violation" lists, and compares what becomes of it.
@Suite struct ViolationTableTests {
  private typealias Trial = @Sendable (inout TestGroup) -> Void

  private static func control(_ bytes: [UInt8]) -> Trial {
    { $0.handle(.received(TestGroup.room, .control, bytes)) }
  }

  /// Sends it before `welcome`.
  private static let early: [(String, [ControlMessage])] = [
    (
      "`flushed`, `status`, `credit` before `welcome`",
      [
        .flushed(Flushed(generation: 0, from: .zero)), .status(.test(.ready)),
        .credit(.test(limit: 9)),
      ]
    ),
    ("a second `welcome`; `refuse` after `welcome`; `codecs` before it", [.codecs([.pcm])]),
  ]

  private static let trials: [String: [Trial]] = [
    "a type that is not in the [table of types](framing.md)": [
      control([0, 0, 0, 3, 0x7F, 0x01, 9])
    ],
    "a type that belongs on another connection: `packet` on control, `anchor` on media": [
      control([0, 0, 0, 3, 3, 3, 0])
    ],
    "a control message that only the other side may send": [{ $0.say(.keepAlive) }],
    "a second `welcome`; `refuse` after `welcome`; `codecs` before it": [
      { $0.say(.welcome(.test())) },
      { $0.say(.refuse(Refusal(reason: .busy, detail: ""))) },
    ],
    "anything on media": [
      { $0.handle(.received(TestGroup.room, .media, [0, 0, 0, 2, 0, 5])) }
    ],
    "a malformed message, or a length out of range": [
      control([0, 0, 0, 3, 1, 3, 0]), control([0, 0, 0, 1]), control([0, 1, 0, 1]),
    ],
    "a `limit` that falls, or lies above *sent* + capacity": [
      { $0.say(.credit(.test(limit: 0))) }, { $0.say(.credit(.test(limit: 1 << 59))) },
    ],
  ]

  private static func check(_ name: String, _ group: TestGroup) throws {
    let rows = try Specification.table(under: "Skipped or violation", of: "README.md")
    let row = try #require(rows.first { $0[0] == name }, "\(name)")
    let farewells = group.told().compactMap { message -> Goodbye? in
      if case .goodbye(let goodbye) = message { goodbye } else { nil }
    }
    if row[2] == "violation" {
      #expect(farewells.first?.reason == .protocolViolation, "\(name)")
      #expect(farewells.first?.detail.isEmpty == false, "\(name)")
    } else {
      #expect(farewells.isEmpty, "\(name): \(farewells)")
    }
  }

  @Test func `a sender skips, and is offended by, what the document says`() throws {
    for (name, trials) in Self.trials {
      for trial in trials {
        var group = TestGroup.playing()
        trial(&group)
        try Self.check(name, group)
      }
    }
    for (name, messages) in Self.early {
      for message in messages {
        var group = TestGroup()
        group.handle(.connected(TestGroup.room, .control))
        group.say(message)
        try Self.check(name, group)
      }
    }
  }
}

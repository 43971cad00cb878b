import Audio
import Clock
import Foundation
import TestSupport
import Testing
import WireProtocol

/// Checks that the code and the examples of docs/protocol agree, byte for byte.
@Suite struct SpecificationTests {
  @Test func `each example decodes to its meaning and encodes to its bytes`() throws {
    for example in try Specification.examples() {
      #expect(Meaning.isMet(by: example.bytes, named: example.name), "\(example.name)")
    }
  }

  @Test func `examples and meanings are the same set`() throws {
    let names = try Specification.examples().map(\.name)
    #expect(names.sorted() == Meaning.all.map(\.name).sorted())
  }

  @Test func `each kind of message has an example`() throws {
    var random = SplitMix64(seed: 1)
    let kinds = Set(Meaning.all.map { $0.value.kind })
    for message in random.controlMessages() {
      #expect(kinds.contains(Meaning.control(message).kind))
    }
    for message in random.mediaMessages() { #expect(kinds.contains(Meaning.media(message).kind)) }
    for message in random.pairingMessages() {
      #expect(kinds.contains(Meaning.pairing(message).kind))
    }
    for packet in random.timePackets() { #expect(kinds.contains(Meaning.time(packet).kind)) }
  }

  @Test func `any changed byte of an example is noticed`() throws {
    for example in try Specification.examples() {
      for i in example.bytes.indices {
        var changed = example.bytes
        changed[i] ^= 0x01
        #expect(!Meaning.isMet(by: changed, named: example.name), "\(example.name), byte \(i)")
      }
    }
  }

  @Test func `offsets in the tables of fields add up`() throws {
    for document in try Specification.documents() {
      var expected: Int?
      for line in document.text.split(separator: "\n", omittingEmptySubsequences: false) {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count >= 2, let offset = Int(cells[0]) else {
          expected = nil
          continue
        }
        if let expected { #expect(offset == expected, "\(document.name): \(line)") }
        expected = Int(cells[1]).map { offset + $0 }
      }
    }
  }

  @Test func `each limit is as documented`() throws {
    let rows = try Specification.table(under: "Limits", of: "README.md").map { ($0[0], $0[1]) }
    #expect(Dictionary(rows) { first, _ in first } == Self.limits)
  }

  private static let limits = [
    "length of the first message of a connection, and of all that pair":
      bytes(ProtocolLimits.openingMessage),
    "bytes of a handshake, each way": bytes(ProtocolLimits.handshake),
    "length of a control message": bytes(ProtocolLimits.controlMessage),
    "control messages to a receiver":
      "\(ProtocolLimits.controlMessagesPerSecond) a second, \(ProtocolLimits.controlMessageBurst) at once",
    "length of a media message": bytes(ProtocolLimits.mediaMessage),
    "payload of a packet": bytes(ProtocolLimits.audioPayload),
    "frames of a packet, and skipped frames":
      Specification.number(ProtocolLimits.framesPerPacket),
    "decoder configuration": bytes(ProtocolLimits.decoderConfiguration),
    "formats": "\(ProtocolLimits.formats)",
    "codecs listed": "\(ProtocolLimits.codecs)",
    "names": bytes(ProtocolLimits.name),
    "detail": bytes(ProtocolLimits.detail),
    "title, artist, album": bytes(ProtocolLimits.itemText),
    "announcements a receiver holds": "\(ProtocolLimits.heldAnnouncements)",
    "picture": bytes(ProtocolLimits.artwork),
    "pictures a receiver holds": "\(ProtocolLimits.heldArtwork >> 20) MiB",
    "piece of a picture": bytes(ProtocolLimits.artworkPiece),
    "clip": bytes(ProtocolLimits.clip),
    "length of a clip": Specification.span(
      nanoseconds: Nanoseconds(ProtocolLimits.clipSpan).count),
    "piece of a clip": bytes(ProtocolLimits.clipPiece),
    "pieces of clips on their way": bytes(ProtocolLimits.clipWindow),
    "clips a receiver holds": "\(ProtocolLimits.heldClips)",
    "ramp of a clip": Specification.span(nanoseconds: ProtocolLimits.clipRamp.upperBound),
    "media time": "0 to \(power(ProtocolLimits.mediaTime.upperBound)) flicks",
    "group and local time": "±\(power(ProtocolLimits.clockTime.upperBound)) ns",
    "byte and packet counts": power(Int64(ProtocolLimits.count.upperBound)),
    "generation": "\(power(Int64(ProtocolLimits.generation.upperBound) + 1)) − 1",
    "room delay": "±" + Specification.span(nanoseconds: ProtocolLimits.roomDelay.upperBound),
    "latency of a live stream": Specification.span(
      nanoseconds: ProtocolLimits.liveLatency.upperBound),
    "commit horizon": Specification.span(nanoseconds: ProtocolLimits.commitHorizon.upperBound),
  ]

  private static func bytes(_ count: Int) -> String { Specification.number(count) + " bytes" }

  private static func power(_ value: Int64) -> String {
    value.nonzeroBitCount == 1 ? "2^\(value.trailingZeroBitCount)" : "\(value)"
  }

  @Test func `what both sides keep to takes as long as documented`() throws {
    #expect(
      try Specification.times(of: "both") == [
        "silence after which a side gives up": Specification.span(
          nanoseconds: ProtocolLimits.silence.count)
      ])
    let sides = Set(try Specification.table(under: "Times", of: "README.md").map(\.last))
    #expect(sides == ["sender", "receiver", "both"])
  }

  @Test func `numbers for the smallest receiver are those of the programs`() throws {
    let rows = try Specification.table(under: "The numbers", of: "smallest-receiver.md")
    let numbers = Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    #expect(
      numbers["silence on both connections after which you say `goodbye(timeout)` and close"]
        == Specification.span(nanoseconds: ProtocolLimits.silence.count))
    let status = Specification.span(nanoseconds: ProtocolLimits.statusInterval.count)
    #expect(numbers["`status`"]?.contains("every \(status),") == true)
    let lengths = [
      ProtocolLimits.openingMessage, ProtocolLimits.controlMessage, ProtocolLimits.mediaMessage,
    ].map(Specification.number)
    #expect(
      numbers["longest message"]
        == "\(lengths[0]) bytes for the first of a connection, then \(lengths[1]) on control"
        + " and \(lengths[2]) on media")
  }

  @Test func `a connection begins with the messages that the documents name`() throws {
    let openings = try Specification.text(of: "framing.md").split(separator: "\n")
      .compactMap { line -> (type: UInt16, name: String)? in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 4, cells[0].hasPrefix("`0x"),
          let type = UInt16(cells[0].dropFirst(3).dropLast(), radix: 16), Self.opens(type)
        else { return nil }
        return (type, "`\(cells[1])`")
      }
    let names = openings.dropLast().map(\.name).joined(separator: ", ")
    let all = "\(names) or \(openings.last?.name ?? "")"
    #expect(
      try words(of: "framing.md").contains("first message of a connection must be \(all), and"))
    let pairing = openings.filter { $0.type >> 8 == 4 }.map(\.name)
    let list = pairing.dropLast().joined(separator: ", ") + " and " + (pairing.last ?? "")
    #expect(try words(of: "README.md").contains("\(list) one that pairs."))
  }

  /// True if a connection may begin with this type.
  private static func opens(_ type: UInt16) -> Bool {
    do throws(DecodeError) {
      _ = try OpeningMessage.decode(RawMessage(type: type, payload: []))
      return true
    } catch {
      return error != .notThisProtocol
    }
  }

  private func words(of document: String) throws -> String {
    try Specification.text(of: document).split { $0.isWhitespace }.joined(separator: " ")
  }

  /// Rules that no example shows, and that authors of other programs had to guess.
  @Test(arguments: [
    ("README.md", "`CLOCK_BOOTTIME` on Linux"),
    ("README.md", "It does not end the session for that, as the room still takes what it is sent."),
    ("README.md", "That holds for violations on media too."),
    ("README.md", "the number of the packet taken last, so it goes back as well."),
    ("framing.md", "the session ends with a `refuse` or `goodbye` on control, as"),
    ("smallest-sender.md", "on Linux use `CLOCK_BOOTTIME`"),
    ("control-messages.md", "sends it wherever it can read the token, paired or not."),
    ("control-messages.md", "one more than the number of the packet taken last"),
    ("control-messages.md", "A change that lasts for less than 250 ms need not be told"),
    ("smallest-receiver.md", "at each change of state that lasts 250 ms"),
    ("smallest-receiver.md", "by one frame or less: leave out its first frame"),
    ("security.md", "a client ignores tickets that it is sent"),
    ("pairing.md", "Context, idProver, idVerifier, M, N, shareP, shareV, Z, V, w0 (32 bytes)"),
    ("pairing.md", #"HKDF-SHA256(K_main, no salt, info "ConfirmationKeys", 64 bytes)"#),
    ("media.md", "may not begin before the one before it ends: an overlap is a violation."),
    ("media.md", "unless it is the first of its connection"),
    ("credit.md", "at two thirds of the rate for about 6 s"),
    ("time-exchange.md", "read the clock again after the tag is made"),
    ("flush.md", "A fresh receiver has generation 0 and takes the first packet's."),
    ("live.md", "both are optional"),
  ])
  func `what no message shows is said in words`(document: String, rule: String) throws {
    #expect(try words(of: document).contains(rule))
  }

  @Test func `numbers of the introduction are those of the programs`() throws {
    let text = try Specification.text(of: "README.md")
    let span = Specification.span(nanoseconds: ProtocolLimits.silence.count)
    #expect(
      text.contains(
        "The handshake and the first message of a connection must be complete within \(span)."))
  }
}

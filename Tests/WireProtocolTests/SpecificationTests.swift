import Audio
import Clock
import Foundation
import TestSupport
import Testing
import WireProtocol

/// The examples of docs/protocol mean what the code means by them, byte for byte.
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

  @Test func `limits are as documented`() throws {
    let readme = try #require(try Specification.documents().first { $0.name == "README.md" }).text
    #expect(readme.contains("first message of a connection | \(ProtocolLimits.openingMessage) "))
    #expect(
      readme.contains("a control message | 65 536 ") && ProtocolLimits.controlMessage == 65_536)
    #expect(readme.contains("a media message | 528 384 ") && ProtocolLimits.mediaMessage == 528_384)
    #expect(
      readme.contains("payload of a packet | 524 288 ") && ProtocolLimits.audioPayload == 524_288)
    #expect(readme.contains("configuration | \(ProtocolLimits.decoderConfiguration) "))
    #expect(readme.contains("formats | \(ProtocolLimits.formats) |"))
    #expect(
      readme.contains("at least every \(ProtocolLimits.keepAliveInterval.count / 1_000_000_000) s"))
    #expect(readme.contains("on control | \(ProtocolLimits.silence.count / 1_000_000_000) s"))
    #expect(readme.contains("title, artist, album | \(ProtocolLimits.itemText) "))
    #expect(
      readme.contains("announcements a receiver holds | \(ProtocolLimits.heldAnnouncements) |"))
    #expect(readme.contains("| picture | 4 194 304 ") && ProtocolLimits.artwork == 4_194_304)
    #expect(readme.contains("holds | \(ProtocolLimits.heldArtwork >> 20) MiB"))
    #expect(
      readme.contains("piece of a picture | 16 384 ") && ProtocolLimits.artworkPiece == 16_384)
    #expect(readme.contains("codecs listed | \(ProtocolLimits.codecs) |"))
  }
}

/// The documents, found beside the tests.
enum Specification {
  struct Document {
    var name: String
    var text: String
  }
  struct Example {
    var name: String
    var bytes: [UInt8]
  }

  static func documents() throws -> [Document] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/protocol").standardizedFileURL
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".md") }
      .map {
        Document(
          name: $0, text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
      }
  }

  static func examples() throws -> [Example] {
    var examples: [Example] = []
    var open: Example?
    for line in try documents().flatMap({ $0.text.split(separator: "\n") }) {
      if line.hasPrefix("```hex ") {
        open = Example(name: String(line.dropFirst("```hex ".count)), bytes: [])
      } else if line.hasPrefix("```") {
        if let example = open { examples.append(example) }
        open = nil
      } else if open != nil {
        let digits = line.prefix { $0 != "#" }.split(separator: " ")
        open?.bytes += try digits.map { try #require(UInt8($0, radix: 16)) }
      }
    }
    return examples
  }
}

import Audio
import Testing
import WireProtocol

@Suite struct ReceiverAdvertisementTests {
  @Test func `a text record comes back as it was announced`() throws {
    let record = Dictionary(uniqueKeysWithValues: kitchen.textRecord.map { ($0.key, $0.value) })
    #expect(record["id"] == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")
    #expect(record["codecs"] == "pcm,flac,opus")
    #expect(try ReceiverAdvertisement(textRecord: record) == kitchen)
  }

  @Test func `unknown keys, codecs and states do no harm`() throws {
    let found = try ReceiverAdvertisement(textRecord: [
      "id": kitchen.id.hex.uppercased(), "version": "7", "codecs": "opus,mp9,,pcm",
      "state": "asleep",
      "pk": "00", "colour": "red",
    ])
    #expect(found.id == kitchen.id)
    #expect(found.name == kitchen.id.hex)
    #expect(found.version == 7)
    #expect(found.codecs == [.opus, .pcm])
    #expect(found.state == .busy)
  }

  @Test func `records that cannot be used are refused`() {
    expectRefused(["version": "1"], .missing(key: "id"))
    expectRefused(["id": kitchen.id.hex], .missing(key: "version"))
    expectRefused(["id": "12", "version": "1"], .malformedText(field: "id"))
    expectRefused(["id": kitchen.id.hex, "version": "-1"], .malformedText(field: "version"))
    expectRefused(
      ["id": kitchen.id.hex, "version": "1", "name": "a\u{1b}[2J"], .malformedText(field: "name"))
    expectRefused(
      ["id": kitchen.id.hex, "version": "1", "model": String(repeating: "x", count: 65)],
      .tooLong(field: "model", byteCount: 65, limit: 64))
  }

  private let kitchen = ReceiverAdvertisement(
    id: .counting(from: 0xa0), name: "Küche", model: "Raspberry Pi 4", version: 1,
    codecs: [.pcm, .flac, .opus], state: .free, access: .paired)

  private func expectRefused(_ record: [String: String], _ error: DecodeError) {
    #expect(throws: error) { try ReceiverAdvertisement(textRecord: record) }
  }
}

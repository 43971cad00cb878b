import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct TimeResponderTests {
  private static let clockKey = ClockKey([1, 2, 3])

  private static func key(_ id: UInt32) -> ClockKey? { id == 5 ? clockKey : nil }

  private static let now = LocalTime(nanoseconds: 5_000)

  private static func request(_ sequence: UInt32, clock: UInt64 = 7) -> [UInt8] {
    TimePacket.request(
      TimeRequest(clockID: clock, keyID: 5, sequence: sequence, sentAt: LocalTime(nanoseconds: 123))
    ).encoded(key: Self.clockKey)
  }

  private static func answer(
    _ responder: inout TimeResponder<String>, _ sequence: UInt32, from peer: String = "kitchen"
  ) throws -> TimeAnswer {
    let answered = responder.answer(
      request(sequence), from: peer, of: peer, receivedAt: LocalTime(nanoseconds: 4_000), now: now,
      key: key)
    let bytes = try #require(answered).bytes
    guard case .answer(let answer) = try TimePacket.decode(bytes[...], key: Self.clockKey) else {
      throw Missing()
    }
    return answer
  }

  private struct Missing: Error {}

  @Test func `an answer carries the request's stamps and this clock's`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    let answer = try Self.answer(&responder, 3)
    #expect(answer.sequence == 3)
    #expect(answer.requestSentAt == LocalTime(nanoseconds: 123))
    #expect(answer.receivedAt == GroupTime(nanoseconds: 4_000))
    #expect(answer.sentAt == GroupTime(nanoseconds: 5_000))
    #expect(answer.previous == nil)
  }

  @Test func `a transmit stamp travels with the next answer to the same peer, once`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    _ = try Self.answer(&responder, 3)
    responder.transmitted(to: "kitchen", sequence: 3, at: LocalTime(nanoseconds: 5_200))
    #expect(try Self.answer(&responder, 1, from: "hall").previous == nil)
    let next = try Self.answer(&responder, 4)
    #expect(next.previous?.sequence == 3)
    #expect(next.previous?.sentAt == GroupTime(nanoseconds: 5_200))
    #expect(try Self.answer(&responder, 5).previous == nil)
  }

  @Test func `of a request that comes twice, only the first answer's stamp is told`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    _ = try Self.answer(&responder, 3)
    responder.transmitted(to: "kitchen", sequence: 3, at: LocalTime(nanoseconds: 6_000))
    _ = try Self.answer(&responder, 4)
    #expect(try Self.answer(&responder, 4).previous == nil)
    responder.transmitted(to: "kitchen", sequence: 4, at: LocalTime(nanoseconds: 7_000))
    responder.transmitted(to: "kitchen", sequence: 4, at: LocalTime(nanoseconds: 9_000))
    // An answer that was overtaken.
    #expect(try Self.answer(&responder, 3).previous == nil)
    responder.transmitted(to: "kitchen", sequence: 3, at: LocalTime(nanoseconds: 9_500))
    let next = try Self.answer(&responder, 5)
    #expect(next.previous == .init(sequence: 4, sentAt: GroupTime(nanoseconds: 7_000)))
  }

  @Test func `a stamp of an answer before the last one is ignored`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    _ = try Self.answer(&responder, 3)
    _ = try Self.answer(&responder, 4)
    responder.transmitted(to: "kitchen", sequence: 3, at: LocalTime(nanoseconds: 5_200))
    responder.transmitted(to: "nobody", sequence: 4, at: LocalTime(nanoseconds: 5_200))
    #expect(try Self.answer(&responder, 5).previous == nil)
  }

  @Test func `requests for another clock, answers and garbage stay unanswered`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    let echo = TimePacket.answer(try Self.answer(&responder, 1)).encoded(key: Self.clockKey)
    var random = SplitMix64(seed: 1)
    let strangers = [Self.request(1, clock: 8), echo, [], random.bytes(63), random.bytes(64)]
    for bytes in strangers {
      #expect(
        responder.answer(
          bytes, from: "x", of: "x", receivedAt: Self.now, now: Self.now, key: Self.key) == nil)
    }
  }

  @Test
  func `a request of no session, or with another key, is not answered and costs the host nothing`()
    throws
  {
    var responder = TimeResponder<String>(clockID: 7)
    let request = TimeRequest(
      clockID: 7, keyID: 6, sequence: 1, sentAt: LocalTime(nanoseconds: 123))
    for _ in 0..<3000 {
      let bytes = TimePacket.request(request).encoded(key: Self.clockKey)
      #expect(
        responder.answer(
          bytes, from: "x", of: "x", receivedAt: Self.now, now: Self.now, key: Self.key) == nil)
    }
    var forged = Self.request(1)
    forged[63] ^= 1
    #expect(
      responder.answer(
        forged, from: "x", of: "x", receivedAt: Self.now, now: Self.now, key: Self.key) == nil)
    _ = try Self.answer(&responder, 1, from: "x")
  }

  @Test func `peers beyond the limit are forgotten, the longest silent first`() throws {
    var responder = TimeResponder<String>(clockID: 7)
    for peer in 0..<TimeResponder<String>.limit {
      _ = try Self.answer(&responder, 1, from: "\(peer)")
    }
    _ = try Self.answer(&responder, 2, from: "0")
    _ = try Self.answer(&responder, 1, from: "one more")
    for peer in ["0", "1", "2"] {
      responder.transmitted(to: peer, sequence: 2, at: Self.now)
      responder.transmitted(to: peer, sequence: 1, at: Self.now)
    }
    #expect(try Self.answer(&responder, 3, from: "0").previous != nil)
    #expect(try Self.answer(&responder, 3, from: "2").previous != nil)
    #expect(try Self.answer(&responder, 3, from: "1").previous == nil)
  }

  @Test func `a host that asks without end is answered so often, and others as ever`() {
    var responder = TimeResponder<String>(clockID: 7)
    var now = Self.now
    func answered(of count: Int, host: String) -> Int {
      (0..<count).count { number in
        let bytes = Self.request(UInt32(number))
        return responder.answer(
          bytes, from: "\(host):\(number)", of: host, receivedAt: now, now: now, key: Self.key)
          != nil
      }
    }
    #expect(answered(of: 10_000, host: "flood") == 2000)
    #expect(answered(of: 64, host: "kitchen") == 64)
    now = now + .seconds(1)
    #expect(answered(of: 10_000, host: "flood") == 400)
  }
}

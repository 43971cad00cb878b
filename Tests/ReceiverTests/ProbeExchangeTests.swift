import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct ProbeExchangeTests {
  private static func local(_ microseconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: microseconds * 1000)
  }

  private static func answer(
    to request: TimeRequest, at microseconds: Int64, previous: TimeAnswer.TransmitStamp? = nil
  ) -> TimeAnswer {
    let time = GroupTime(nanoseconds: microseconds * 1000)
    return TimeAnswer(
      clockID: request.clockID, sequence: request.sequence, requestSentAt: request.sentAt,
      receivedAt: time, sentAt: time, previous: previous)
  }

  @Test func `a sample waits for the sender's stamp, which comes with the next answer`() throws {
    var exchange = ProbeExchange()
    let first = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(0))
    let second = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(1000))
    let none = exchange.answered(Self.answer(to: first, at: 5000), receivedAt: Self.local(300))
    #expect(none == nil)
    let stamp = TimeAnswer.TransmitStamp(
      sequence: first.sequence, sentAt: GroupTime(nanoseconds: 5_050_000))
    let improved = exchange.answered(
      Self.answer(to: second, at: 6000, previous: stamp), receivedAt: Self.local(1300))
    #expect(try #require(improved).roundTrip == .microseconds(250))
  }

  @Test func `a stamp of another answer improves nothing`() throws {
    var exchange = ProbeExchange()
    let first = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(0))
    let second = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(1000))
    _ = exchange.answered(Self.answer(to: first, at: 5000), receivedAt: Self.local(300))
    let stamp = TimeAnswer.TransmitStamp(
      sequence: 99, sentAt: GroupTime(nanoseconds: 5_050_000))
    let sample = exchange.answered(
      Self.answer(to: second, at: 6000, previous: stamp), receivedAt: Self.local(1300))
    #expect(try #require(sample).roundTrip == .microseconds(300))
  }

  @Test func `a sample does not wait for ever`() {
    var exchange = ProbeExchange()
    let request = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(0))
    _ = exchange.answered(Self.answer(to: request, at: 5000), receivedAt: Self.local(300))
    #expect(exchange.nextDeadline == Self.local(300) + ProbeExchange.timeout)
    let early = exchange.overdueSample(at: Self.local(300_000))
    #expect(early == nil)
    let late = exchange.overdueSample(at: Self.local(300_300))
    #expect(late != nil)
    #expect(exchange.nextDeadline == nil)
  }

  @Test func `the kernel's stamp of a request counts, an earlier one does not`() throws {
    var exchange = ProbeExchange()
    let request = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(100))
    exchange.transmitted(sequence: request.sequence, at: Self.local(50))
    exchange.transmitted(sequence: request.sequence, at: Self.local(130))
    exchange.transmitted(sequence: 77, at: Self.local(999))
    _ = exchange.answered(Self.answer(to: request, at: 5000), receivedAt: Self.local(400))
    let found = exchange.overdueSample(at: Self.local(900_000))
    #expect(try #require(found).roundTrip == .microseconds(270))
  }

  @Test func `an answer counts once, and only with its request's stamp`() {
    var exchange = ProbeExchange()
    let request = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(100))
    var forged = Self.answer(to: request, at: 5000)
    forged.requestSentAt = Self.local(101)
    _ = exchange.answered(forged, receivedAt: Self.local(300))
    #expect(exchange.nextDeadline == nil)
    _ = exchange.answered(Self.answer(to: request, at: 5000), receivedAt: Self.local(400))
    #expect(exchange.nextDeadline != nil)
    _ = exchange.overdueSample(at: Self.local(900_000))
    _ = exchange.answered(Self.answer(to: request, at: 5000), receivedAt: Self.local(500))
    #expect(exchange.nextDeadline == nil)
  }

  @Test func `answers that overtake each other are all samples`() {
    var exchange = ProbeExchange()
    let requests = (0..<4).map {
      exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local($0 * 10))
    }
    var samples = 0
    for index in [2, 0, 3, 1] {
      let answer = Self.answer(to: requests[index], at: 5000)
      if exchange.answered(answer, receivedAt: Self.local(300)) != nil { samples += 1 }
    }
    if exchange.overdueSample(at: Self.local(900_000)) != nil { samples += 1 }
    #expect(samples == 4)
  }

  @Test func `requests beyond the limit are forgotten`() {
    var exchange = ProbeExchange()
    let first = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(0))
    for step in 0..<Int64(ProbeExchange.limit) {
      _ = exchange.nextRequest(clockID: 1, keyID: 0, at: Self.local(step))
    }
    _ = exchange.answered(Self.answer(to: first, at: 5000), receivedAt: Self.local(400))
    #expect(exchange.nextDeadline == nil)
  }
}

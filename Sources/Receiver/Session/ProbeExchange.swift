import Clock
import WireProtocol

/// Joins time requests, their transmit stamps and the answers into samples. A sample waits for the next
/// answer, which brings the sender's transmit stamp of this one, but no longer than `timeout`.
struct ProbeExchange {
  /// Largest number of pending requests; an answer to an older one is thrown away.
  static let limit = 64
  /// Longest wait of a sample for the better stamp.
  static let timeout = Nanoseconds.milliseconds(300)

  private struct Request {
    let sequence: UInt32
    /// The stamp that the answer brings back.
    let stamp: LocalTime
    /// The same stamp, or the kernel's.
    var sentAt: LocalTime
  }

  private struct Answered {
    let sequence: UInt32
    let sentAt: LocalTime
    let receivedAt: GroupTime
    var answeredAt: GroupTime
    let returnedAt: LocalTime

    var due: LocalTime { returnedAt + ProbeExchange.timeout }
    /// Nil if the stamps cannot be right.
    var sample: TimeSample? {
      TimeSample(
        requestSentAt: sentAt, requestReceivedAt: receivedAt, answerSentAt: answeredAt,
        answerReceivedAt: returnedAt)
    }
  }

  private var requests: [Request] = []
  private var waiting: Answered?
  private(set) var lastSequence: UInt32 = 0

  mutating func nextRequest(
    clockID: UInt64, keyID: UInt32, at now: LocalTime
  ) -> TimeRequest {
    lastSequence &+= 1
    requests.append(Request(sequence: lastSequence, stamp: now, sentAt: now))
    if requests.count > Self.limit { requests.removeFirst() }
    return TimeRequest(clockID: clockID, keyID: keyID, sequence: lastSequence, sentAt: now)
  }

  /// Takes the kernel's stamp, which is later than the session's own, so it only tightens the sample.
  mutating func transmitted(sequence: UInt32, at time: LocalTime) {
    guard let index = requests.firstIndex(where: { $0.sequence == sequence }) else { return }
    if time > requests[index].sentAt { requests[index].sentAt = time }
  }

  /// Takes an answer. Returns the sample before this one, completed.
  mutating func answered(_ answer: TimeAnswer, receivedAt: LocalTime) -> TimeSample? {
    guard
      let index = requests.firstIndex(where: {
        $0.sequence == answer.sequence && $0.stamp == answer.requestSentAt
      })
    else { return nil }
    let request = requests.remove(at: index)
    var complete = waiting
    if let previous = answer.previous, let held = waiting, previous.sequence == held.sequence,
      previous.sentAt > held.answeredAt
    {
      complete?.answeredAt = previous.sentAt
    }
    waiting = Answered(
      sequence: answer.sequence, sentAt: request.sentAt, receivedAt: answer.receivedAt,
      answeredAt: answer.sentAt, returnedAt: receivedAt)
    return complete?.sample
  }

  /// Returns the sample that has waited long enough, if there is one.
  mutating func overdueSample(at now: LocalTime) -> TimeSample? {
    guard let held = waiting, held.due <= now else { return nil }
    waiting = nil
    return held.sample
  }

  var nextDeadline: LocalTime? { waiting?.due }
}

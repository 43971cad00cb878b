import Clock
import WireProtocol

/// Joins time requests, their transmit stamps and the answers into samples. A sample waits for the answer
/// after it, which brings the sender's own transmit stamp, but no longer than `patience`.
struct ProbeExchange {
  /// Requests under way; an answer to an older one is thrown away.
  static let limit = 64
  /// How long a sample waits for the better stamp.
  static let patience = Nanoseconds.milliseconds(300)

  private struct Request {
    let sequence: UInt32
    /// What the answer brings back.
    let stamp: LocalTime
    /// The same, or the kernel's stamp.
    var sentAt: LocalTime
  }

  private struct Answered {
    let sequence: UInt32
    let sentAt: LocalTime
    let receivedAt: GroupTime
    var answeredAt: GroupTime
    let returnedAt: LocalTime

    var due: LocalTime { returnedAt + ProbeExchange.patience }
    /// Nil where the stamps cannot be right.
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

  /// The kernel's stamp is later than our own, so it only tightens the sample.
  mutating func transmitted(sequence: UInt32, at time: LocalTime) {
    guard let index = requests.firstIndex(where: { $0.sequence == sequence }) else { return }
    if time > requests[index].sentAt { requests[index].sentAt = time }
  }

  /// Returns the sample before this one, completed.
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

  /// The sample that has waited long enough.
  mutating func overdueSample(at now: LocalTime) -> TimeSample? {
    guard let held = waiting, held.due <= now else { return nil }
    waiting = nil
    return held.sample
  }

  var nextDeadline: LocalTime? { waiting?.due }
}

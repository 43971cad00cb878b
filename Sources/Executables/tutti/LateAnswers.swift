import Driver
import House
import LinuxIO
import Service

/// Sends answers to other terminals that come from other threads, such as the library's, instead of the
/// loop's.
final class LateAnswers {
  typealias Reply = (ControlReply) -> Void

  /// Equal to the number of clients of both sockets together.
  private static let limit = 64

  private let answers: Inbox<(number: UInt64, ControlReply.Outcome)>
  private var waiting: [UInt64: (call: UInt64, reply: Reply)] = [:]
  private var last: UInt64 = 0

  init(waker: Waker) { answers = Inbox(limit: Self.limit, waker: waker) }

  func answer(
    _ call: ControlCall, _ reply: @escaping Reply,
    by body: @escaping @Sendable () async throws(Refusal) -> ControlReply.Outcome
  ) {
    last += 1
    let (number, answers) = (last, answers)
    waiting[number] = (call.id, reply)
    Task {
      do throws(Refusal) {
        answers.post((number, try await body()))
      } catch {
        answers.post((number, .refused(error: error)))
      }
    }
  }

  func replyToAll() {
    for (number, outcome) in answers.take() {
      guard let (call, reply) = waiting.removeValue(forKey: number) else { continue }
      reply(ControlReply(id: call, outcome))
    }
  }
}

import House
package import LinuxIO

/// Answers what terminals ask a daemon: of its household, and of the library, the pairings and the access around it. For the
/// loop's thread.
package final class TerminalDesk {
  /// Called when the program is told to end. The client takes the end of the connection as the answer.
  package var onEnd: () -> Void = {}
  private let house: House
  private let access: HouseAccess
  private let pairing: HousePairing
  private let library: any LibraryControl
  private let late: LateAnswers

  package init(
    _ house: House, access: HouseAccess, pairing: HousePairing, library: any LibraryControl,
    waker: Waker
  ) {
    (self.house, self.access) = (house, access)
    (self.pairing, self.library) = (pairing, library)
    late = LateAnswers(waker: waker)
  }

  /// Sends the answers that have come from other threads since.
  package func replyToAll() { late.replyToAll() }

  package func answer(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    switch call.request {
    case .access(let request):
      late.answer(call, reply) { [access] () throws(Refusal) in
        .access(answer: try await access.answer(request))
      }
    case .pairing(let request):
      late.answer(call, reply) { [pairing] () throws(Refusal) in
        .pairing(answer: try await pairing.answer(request))
      }
    case .library(let request): answer(request, call, reply)
    case .save(let name): save(name, call, reply)
    case .announce(let request): announce(request, call, reply)
    case .end: onEnd()
    case .status, .groups, .queue, .alarms, .inputs, .order, .play, .silence:
      house.answer(call, reply)
    }
  }

  private func answer(
    _ request: LibraryRequest, _ call: ControlCall, _ reply: @escaping (ControlReply) -> Void
  ) {
    do throws(Refusal) {
      let (client, library) = (house.client, self.library)
      switch request {
      case .play(let thing, let rooms, let takes):
        late.answer(call, reply) { () throws(Refusal) in
          .library(
            answer: try await client.play(
              thing, in: rooms, takes: takes, group: call.group, from: library))
        }
      case .add(let thing):
        let group = try house.groupID(named: call.group)
        late.answer(call, reply) { () throws(Refusal) in
          .library(answer: try await client.add(thing, to: group, from: library))
        }
      default:
        late.answer(call, reply) { () throws(Refusal) in
          .library(answer: try await client.answer(request, from: library))
        }
      }
    } catch {
      reply(ControlReply(id: call.id, .refused(error: error)))
    }
  }

  private func save(
    _ name: String, _ call: ControlCall, _ reply: @escaping (ControlReply) -> Void
  ) {
    do throws(Refusal) {
      let group = try house.groupID(named: call.group)
      let (client, library) = (house.client, self.library)
      late.answer(call, reply) { () throws(Refusal) in
        let (list, count) = try await client.save(group, as: name, in: library)
        let rest =
          list.trackCount < count ? "; files outside the library cannot be kept in playlists" : ""
        return .done(
          answer: ControlAnswer(
            said: "\(list.name): \(list.trackCount) of \(count) items saved\(rest)"))
      }
    } catch {
      reply(ControlReply(id: call.id, .refused(error: error)))
    }
  }

  private func announce(
    _ request: AnnounceRequest, _ call: ControlCall, _ reply: @escaping (ControlReply) -> Void
  ) {
    do throws(Refusal) {
      let (request, client) = (try house.identified(request), house.client)
      late.answer(call, reply) { () throws(Refusal) in
        let answer = try await client.announce(request, for: nil)
        return .done(answer: ControlAnswer(said: answer.said ?? ""))
      }
    } catch {
      reply(ControlReply(id: call.id, .refused(error: error)))
    }
  }
}

/// Sends answers to other terminals that come from other threads, such as the library's, instead of the
/// loop's.
private final class LateAnswers {
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

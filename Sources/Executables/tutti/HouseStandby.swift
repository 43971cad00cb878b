import Clock
import Glibc
import House
import LinuxIO
import Sender
import Service

import typealias WireProtocol.Term

/// `tutti serve` of a household with two daemons: waits until this one leads. Meanwhile its page and its socket say where the
/// other one is.
final class HouseStandby: LoopMember {
  private let reactor: Reactor
  private let controls: [ControlServer]
  private let sign: PageSign?
  private let second: SecondDaemon
  private var isOver = false
  /// False before it is known which of the two leads.
  private var follows = false
  private var term: Term?

  init(_ second: SecondDaemon, _ configuration: HouseConfiguration, state: StateDirectory) throws {
    let reactor = try Reactor()
    (self.reactor, self.second) = (reactor, second)
    let control = try ControlServer(path: state.controlSocket, reactor: reactor)
    let shared = try configuration.socket.map {
      try ControlServer(path: $0, isShared: true, reactor: reactor)
    }
    controls = [control] + [shared].compactMap { $0 }
    sign =
      configuration.port == 0
      ? nil
      : try PageSign(
        addresses: configuration.listen, port: configuration.port, reactor: reactor
      ) { second.other }
    control.answer = { [weak self] call, reply in self?.answer(call, reply, mayEnd: true) }
    shared?.answer = { [weak self] call, reply in self?.answer(call, reply, mayEnd: false) }
    let signals: [ProcessSignal] = ProcessSignal.hangUp.isIgnored ? [] : [.hangUp]
    try reactor.watch(signals: [.interrupt, .terminate] + signals)
    second.wakes(reactor.waker)
  }

  /// Returns the term in which this daemon leads; nil if it is to end.
  func run() throws -> Term? {
    let members: [any LoopMember] = [self] + controls + [sign].compactMap { $0 }
    try EventLoop(reactor, members).run { isOver || term != nil }
    sign?.close()
    return term
  }

  var nextDeadline: LocalTime? { nil }

  func handle(_ event: ReactorEvent) -> Bool {
    guard case .signal = event else { return false }
    isOver = true
    return true
  }

  func turn() {
    for news in second.takeNews() {
      switch news {
      case .leads(let term): self.term = term
      case .follows:
        (term, follows) = (nil, true)
        second.stands()
      }
    }
  }

  private func answer(
    _ call: ControlCall, _ reply: @escaping (ControlReply) -> Void, mayEnd: Bool
  ) {
    if case .end = call.request, mayEnd {
      isOver = true
      return
    }
    guard follows else {
      let refusal = Refusal.notYet("the daemon is starting; try again in two seconds")
      return reply(ControlReply(id: call.id, .refused(error: refusal)))
    }
    let place = second.other.host.map { " at \($0)" } ?? ""
    let refusal = Refusal.unavailable(
      "the household's other daemon leads\(place): give commands there, or on its page")
    reply(ControlReply(id: call.id, .refused(error: refusal)))
  }
}

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
  private let state: StateDirectory
  private var isOver = false
  /// False before it is known which of the two leads.
  private var follows = false
  private var term: Term?

  init(_ second: SecondDaemon, _ configuration: HouseConfiguration, state: StateDirectory) throws {
    let reactor = try Reactor()
    (self.reactor, self.second, self.state) = (reactor, second, state)
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

  /// Tells how things are, and which rooms are paired; all else is the leader's.
  private func outcome(of request: ControlRequest) -> ControlReply.Outcome {
    let other = second.other
    let line = other.problem ?? other.leading
    switch request {
    case .status:
      var answer = ControlAnswer(said: line)
      answer.household = .init(second: other.isUp ? other.host : nil, problem: other.problem)
      return .done(answer: answer)
    case .pairing(.list):
      if let paired = try? state.paired() { return .pairing(answer: PairingAnswer(paired)) }
    default: break
    }
    return .refused(error: .unavailable(line))
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
    reply(ControlReply(id: call.id, outcome(of: call.request)))
  }
}

import Clock
package import WireProtocol

/// Fences the daemons of a household that has two: the room obeys the one with the higher term, and hears no other. See
/// docs/protocol/second-sender.md.
extension ReceiverSession {
  /// Returns why a daemon may not lead here; nil if it may. One without a term has no other beside it.
  func fence(_ term: Term, of sender: Identifier, at now: LocalTime) -> Refusal.Reason? {
    let known = memory.term(of: sender)
    if term == 0 || term == known { return nil }
    if term < known { return .outdated }
    return isHeard(sender, at: now) ? .isLed : nil
  }

  /// Obeys the term from now on. A session of a lower one ends; the music plays on.
  mutating func obey(_ term: Term, of sender: Identifier, at now: LocalTime) {
    guard memory.raise(sender, to: term) else { return }
    outputs.append(.persist(memory))
    guard let link, link.secured.id == sender, 1..<term ~= link.hello.term else { return }
    outputs.append(.close(link.control))
    endSession(reason: "its household's other daemon leads", at: now)
  }

  /// Answers the question or the claim of a daemon.
  mutating func answer(_ request: TermRequest, of sender: Identifier, at now: LocalTime)
    -> TermReply
  {
    if request.isClaim, fence(request.term, of: sender, at: now) == nil {
      obey(request.term, of: sender, at: now)
    }
    return TermReply(term: memory.term(of: sender), isHeard: isHeard(sender, at: now))
  }

  /// True while the daemon that the room obeys speaks. A session without a term, such as that of a command, does not count.
  private func isHeard(_ sender: Identifier, at now: LocalTime) -> Bool {
    guard let link, link.secured.id == sender, link.hello.term > 0 else { return false }
    return now < link.lastHeard + ProtocolLimits.leaderSilence
  }
}

extension ReceiverMemory {
  package struct SenderTerm: Hashable, Sendable {
    package var sender: Identifier
    package var term: Term

    package init(sender: Identifier, term: Term) { (self.sender, self.term) = (sender, term) }
  }

  /// Households of two whose terms are kept, newest first.
  package static let termLimit = 16

  package func term(of sender: Identifier) -> Term {
    terms.first { $0.sender == sender }?.term ?? 0
  }

  /// False where that changes nothing.
  mutating func raise(_ sender: Identifier, to term: Term) -> Bool {
    guard term > self.term(of: sender) else { return false }
    terms.removeAll { $0.sender == sender }
    terms.insert(SenderTerm(sender: sender, term: term), at: 0)
    terms = Array(terms.prefix(Self.termLimit))
    return true
  }
}

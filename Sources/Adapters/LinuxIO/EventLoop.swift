package import Clock

/// What takes part in an event loop. Called on the loop's thread only.
package protocol LoopMember: AnyObject {
  /// When `turn` must come if nothing else happens first.
  var nextDeadline: LocalTime? { get }
  /// True where the event was for this member alone.
  func handle(_ event: ReactorEvent) -> Bool
  /// After the events of each wait.
  func turn()
}

/// The loop of everything that plays, on a program's thread or on one of the library's: it waits, hands each event to
/// its members until one takes it, and lets each have its turn, in their order.
package struct EventLoop {
  package let reactor: Reactor
  private let members: [any LoopMember]

  package init(_ reactor: Reactor, _ members: [any LoopMember]) {
    self.reactor = reactor
    self.members = members
  }

  package func run(until isOver: () -> Bool) throws(IOError) {
    while !isOver() { try turn() }
  }

  /// Waits once, and not beyond the deadline.
  package func turn(until deadline: LocalTime? = nil) throws(IOError) {
    let deadlines = members.map(\.nextDeadline) + [deadline]
    for event in try reactor.wait(until: deadlines.compactMap { $0 }.min()) {
      _ = members.contains { $0.handle(event) }
    }
    for member in members { member.turn() }
  }
}

package import Clock

/// A part of an event loop. Called on the loop's thread only.
package protocol LoopMember: AnyObject {
  /// Time at which `turn` must be called if nothing happens before.
  var nextDeadline: LocalTime? { get }
  /// Returns true if the event was for this member only.
  func handle(_ event: ReactorEvent) -> Bool
  /// Called after the events of each wait.
  func turn()
}

/// The loop of everything that plays, on a program's thread or on one of the library's. It waits, passes each event
/// to its members until one takes it, and then calls `turn` of each member, in order.
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

  /// Waits once, until the deadline at the latest.
  package func turn(until deadline: LocalTime? = nil) throws(IOError) {
    let deadlines = members.map(\.nextDeadline) + [deadline]
    for event in try reactor.wait(until: deadlines.compactMap { $0 }.min()) {
      _ = members.contains { $0.handle(event) }
    }
    for member in members { member.turn() }
  }
}

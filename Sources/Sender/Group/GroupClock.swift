package import Clock

/// The group's clock. It is this machine's, but does not stand still while the machine sleeps.
///
/// A session reckons in *continuous* local time: the machine's, as if it had never slept. Times that come from the driver
/// or go to it are the machine's.
package struct GroupClock: Sendable {
  /// The time for which the machine has slept since the start.
  private var asleep = Nanoseconds.zero

  package init() {}

  /// Goes on with the clock of a process that has ended, which led the machine's by `lead`.
  package init(lead: Nanoseconds) { asleep = lead }

  /// Group time less the machine's.
  package var lead: Nanoseconds { asleep }

  package mutating func slept(for span: Nanoseconds) { asleep = asleep + max(.zero, span) }

  package func continuous(_ machine: LocalTime) -> LocalTime { machine + asleep }

  package func machine(_ continuous: LocalTime) -> LocalTime { continuous - asleep }

  package func group(_ machine: LocalTime) -> GroupTime {
    GroupTime(ofSender: continuous(machine))
  }
}

extension GroupTime {
  /// Converts continuous local time to the group's, which is the same: the only place where local time becomes group
  /// time without measurement.
  package init(ofSender time: LocalTime) {
    self.init(nanoseconds: time.nanoseconds)
  }
}

extension LocalTime {
  package init(onSender time: GroupTime) {
    self.init(nanoseconds: time.nanoseconds)
  }
}

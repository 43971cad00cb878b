internal import CSys
internal import Glibc

/// The signals that a program may take as events.
package enum ProcessSignal: CaseIterable, Hashable, Sendable {
  case interrupt, terminate, hangUp, windowChanged
  /// The terminal asks the process to stop, as with Ctrl-Z; and the process goes on.
  case suspend, resume

  var number: Int32 {
    switch self {
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    case .hangUp: SIGHUP
    case .windowChanged: SIGWINCH
    case .suspend: SIGTSTP
    case .resume: SIGCONT
    }
  }

  /// True if the starter of this process wants it to ignore the signal, as `nohup` does with `hangUp`.
  package var isIgnored: Bool { csys_signal_is_ignored(number) == 1 }

  /// Does to this process what the signal does to one that does not take it as an event. Call it on the reactor's thread.
  /// After `suspend` it returns when the process goes on; at once if nobody could let it go on.
  package func takeEffect() {
    let numbers = [number]
    _ = csys_signals_unblock(numbers, 1)
    raise(number)
    _ = csys_signals_block(numbers, 1)
  }
}

/// Reports the signals that its thread has blocked, and unblocks them when it is freed.
final class SignalDescriptor {
  let descriptor: FileDescriptor

  private let signals: [ProcessSignal]

  init(_ number: Int32, signals: [ProcessSignal]) {
    descriptor = FileDescriptor(number)
    self.signals = signals
  }

  deinit {
    let numbers = signals.map(\.number)
    _ = csys_signals_unblock(numbers, Int32(numbers.count))
  }

  /// Returns the signals that came since the last call.
  func waiting() -> [ProcessSignal] {
    var waiting: [ProcessSignal] = []
    while true {
      let number = csys_signals_next(descriptor.number)
      guard number > 0 else { return waiting }
      waiting += signals.filter { $0.number == number }
    }
  }
}

import Synchronization

/// Hands the newest `Chain`, the objects that both threads share for an opened device, and the state of that device
/// from the output thread to the session's thread. The session's thread gets the current state, however many events
/// there were since it last looked, so nothing remains of a device that came and went in between.
package final class OutputHandover<Chain: Sendable>: Sendable {
  package enum News: Sendable {
    case opened(Chain)
    /// The device cannot be opened; the text is the reason. The thread tries again and again.
    case unavailable(String)
    case lost
    /// A file could not be written any further; the text is the reason.
    case ended(String)
  }

  private struct Told {
    var offered: (opening: Int, chain: Chain)?
    var device = Device.none(failure: nil)
  }

  /// The news that was reported last.
  private enum Device {
    /// No device is open, for the reason that was reported; nil if none was.
    case none(failure: String?)
    /// The one of this opening.
    case open(Int)
    case ended
  }

  package let control: OutputControl
  private let told = Mutex(Told())

  /// - Parameter wake: passed to `OutputControl`.
  package init(wake: @escaping @Sendable () -> Void) { control = OutputControl(wake: wake) }

  /// Offers the shared objects of a new device. Called on the output thread before it reports that the device is
  /// open.
  package func offer(_ chain: Chain) {
    told.withLock { $0.offered = (control.openings + 1, chain) }
  }

  /// Returns what has changed since the last call, in order. Called on the session's thread.
  package func takeNews() -> [News] {
    var isTold = control.droppedEvents > 0
    while control.takeEvent() != nil { isTold = true }
    guard isTold else { return [] }
    return told.withLock { told in
      var news: [News] = []
      if let (opening, chain) = told.offered.take() {
        told.device = .open(opening)
        news.append(.opened(chain))
      }
      if case .open(let opening) = told.device, opening <= control.lostOpening {
        told.device = .none(failure: nil)
        news.append(.lost)
      }
      if let failure = failure(&told.device) { news.append(failure) }
      return news
    }
  }

  private func failure(_ device: inout Device) -> News? {
    if case .ended = device { return nil }
    let failure = control.failure
    if control.hasEnded {
      device = .ended
      return .ended(failure ?? "the output ended")
    }
    guard let failure, case .none(let told) = device, failure != told else { return nil }
    device = .none(failure: failure)
    return .unavailable(failure)
  }
}

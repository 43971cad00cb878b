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
    /// The opening that was reported last, and whether its loss was reported; 0 for none.
    var opening = 0
    var isLost = false
    var failure: String?
    var hasEnded = false
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
        (told.opening, told.isLost, told.failure) = (opening, false, nil)
        news.append(.opened(chain))
      }
      if !told.isLost, told.opening > 0, told.opening <= control.lostOpening {
        told.isLost = true
        news.append(.lost)
      }
      news += failures(&told)
      return news
    }
  }

  private func failures(_ told: inout Told) -> [News] {
    let failure = control.failure
    if control.hasEnded {
      defer { told.hasEnded = true }
      return told.hasEnded ? [] : [.ended(failure ?? "the output ended")]
    }
    guard let failure, failure != told.failure, told.opening == 0 || told.isLost else { return [] }
    told.failure = failure
    return [.unavailable(failure)]
  }
}

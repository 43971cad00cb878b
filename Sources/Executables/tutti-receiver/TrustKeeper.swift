import LinuxIO
import Pairing
import Synchronization

/// Keeps who is trusted, on a thread of its own, and says what is on disk. A change that cannot be kept is told in the log,
/// and nothing that depends on it happens.
final class TrustKeeper: Sendable {
  private struct Change: Sendable {
    let trust: TrustMemory
    let number: Int
  }

  private let kept: Inbox<Int>
  private let writer: NewestValueThread<Change>

  init(_ file: TrustFile, _ log: ReceiverLog, waker: Waker) throws(IOError) {
    let kept = Inbox<Int>(limit: 64, waker: waker)
    self.kept = kept
    writer = try NewestValueThread(name: "trust") {
      { change in
        do throws(IOError) {
          try file.write(change.trust)
          kept.post(change.number)
        } catch {
          log.warning("who may play here could not be kept, so nobody can pair", "\(error)")
        }
      }
    }
  }

  func keep(_ trust: TrustMemory, _ number: Int) {
    writer.post(Change(trust: trust, number: number))
  }

  /// The number up to which all is on disk; nil where there is nothing new.
  func takeKept() -> Int? { kept.take().max() }

  func finish(within milliseconds: Int32) -> Bool { writer.finish(within: milliseconds) }
}

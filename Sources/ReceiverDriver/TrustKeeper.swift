import LinuxIO
import Pairing
import Synchronization

/// Stores who is trusted, on a thread of its own, and tells the session what is on disk. If a change cannot be stored,
/// the log says so, and nothing that depends on it happens. It also reports changes that a person makes in the file.
/// Used on the session's thread.
final class TrustKeeper {
  /// The session's change, and the memory `base` from which it started.
  private struct Change: Sendable {
    let base: TrustMemory
    let trust: TrustMemory
    let number: Int
  }

  /// Values passed between the two threads. Only the newest of each counts.
  private final class Shared: Sendable {
    struct State {
      var change: Change?
      var isToLook = false
      var kept: Int?
      /// The file's content after the change with this number was in it.
      var found: (trust: TrustMemory, after: Int)?
    }
    let state = Mutex(State())
  }

  private let shared = Shared()
  private let writer: NewestValueThread<Void>
  private let folder: (watch: DirectoryWatch, id: DescriptorID)?
  /// The session's trust, and the number of its newest change.
  private var trust: TrustMemory
  private var lastNumber = 0

  init(
    _ file: TrustFile, holding trust: TrustMemory, _ journal: any ReceiverJournal,
    on reactor: Reactor
  ) throws(IOError) {
    self.trust = trust
    let (shared, waker) = (shared, reactor.waker)
    writer = try NewestValueThread(name: "trust") {
      var last = 0
      return { _ in
        let (change, isToLook) = shared.state.withLock { state in
          defer { (state.change, state.isToLook) = (nil, false) }
          return (state.change, state.isToLook)
        }
        do {
          if let change {
            try file.change { record in
              record.memory = change.trust.merged(into: record.memory, since: change.base)
            }
            last = change.number
            shared.state.withLock { $0.kept = change.number }
          }
          if isToLook {
            let found = try file.read().memory
            shared.state.withLock { $0.found = (found, last) }
          }
        } catch {
          journal.warning("the list of paired senders could not be read or written", "\(error)")
        }
        waker.wake()
      }
    }
    do throws(IOError) {
      let watch = try DirectoryWatch(file.directory)
      folder = (watch, try reactor.watch(descriptor: watch.descriptor))
    } catch {
      folder = nil
      journal.warning(
        "tutti-receiver pin and unpair take effect at the next start only", "\(error)")
    }
  }

  func keep(_ trust: TrustMemory, _ number: Int) {
    shared.state.withLock { state in
      let base = state.change?.base ?? self.trust
      state.change = Change(base: base, trust: trust, number: number)
    }
    (self.trust, lastNumber) = (trust, number)
    writer.post(())
  }

  /// Reads the file if it was touched.
  func handle(_ event: ReactorEvent) {
    guard let folder, event == .readable(folder.id),
      folder.watch.takeNames().contains(TrustFile.name)
    else { return }
    shared.state.withLock { $0.isToLook = true }
    writer.post(())
  }

  /// Returns the number up to which all changes are on disk; nil if nothing new was stored.
  func takeKept() -> Int? {
    shared.state.withLock { state in
      defer { state.kept = nil }
      return state.kept
    }
  }

  /// Returns the file's content after a person has changed it; nil if it is not new to the session.
  func takeChanged() -> TrustMemory? {
    let found = shared.state.withLock { state in
      defer { state.found = nil }
      return state.found
    }
    // If the session has changed it since, the file is read again after that change was written.
    guard let found, found.after == lastNumber, found.trust != trust else { return nil }
    trust = found.trust
    return found.trust
  }

  func finish(within milliseconds: Int32) -> Bool { writer.finish(within: milliseconds) }
}

import Dispatch
import House

/// Sends listens to one service, each time by a program of its own that ends with it: it reaches the service, and what an
/// answer's bytes make of it dies with it.
final class ListenDesk: Sendable {
  private let service: ListenService
  private let queue = DispatchQueue(label: "tutti listens")
  private let worker: SingleUseWorker

  /// - Parameter command: a program that calls `LibraryWorker.run`.
  init(_ service: ListenService, command: [String]) {
    self.service = service
    worker = SingleUseWorker(command)
  }

  /// Returns the key with which they were sent, too.
  ///
  /// - Parameter isNow: true for what plays at present.
  func send(
    _ listens: [Listen], isNow: Bool
  ) async -> (outcome: ListenPacing.Outcome, key: ListenKey?) {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        do throws(ListenKey.Problem) {
          let key = try ListenKey(of: service)
          let request = ListenRequest(listens, isNow: isNow, to: service, key)
          continuation.resume(returning: (outcome(of: worker.ask(.listens(request))), key))
        } catch {
          continuation.resume(returning: (.failed(error.text), nil))
        }
      }
    }
  }

  /// The present key, or why it cannot be read.
  func key() async -> Result<ListenKey, ListenKey.Problem> {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        continuation.resume(
          returning: Result { () throws(ListenKey.Problem) in try ListenKey(of: service) })
      }
    }
  }

  private func outcome(of answer: WorkerAnswer?) -> ListenPacing.Outcome {
    switch answer {
    case .answered(let answer): answer.outcome(service.kind)
    case .broken(let reason), .useless(let reason): .failed("\(service.address.host): \(reason)")
    default: .failed("the program that sends them has ended, or took too long")
    }
  }

  /// Ends the program that sends, and sends nothing more.
  func close() { worker.close() }
}

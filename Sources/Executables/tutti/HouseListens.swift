import House
import Library
import Service

/// Tells services what is heard, and servers of libraries what is heard of their songs. With each change of these servers it
/// begins anew, as a daemon that is started again: listens that wait, and tracks that are half heard, are kept. For one thread.
final class HouseListens {
  private let services: [ListenService]
  private let house: HouseClient
  private let library: MediaLibrary?
  private let path: String
  private let report: @Sendable (String) -> Void
  private var told: [ListenService] = []
  private var task: Task<Void, Never>?

  /// - Parameters:
  ///   - services: those of the configuration.
  ///   - path: of the file with listens that wait.
  init(
    _ services: [ListenService], _ house: HouseClient, _ library: MediaLibrary?, path: String,
    report: @escaping @Sendable (String) -> Void
  ) {
    (self.services, self.house, self.library) = (services, house, library)
    (self.path, self.report) = (path, report)
  }

  /// Tells these servers from now on, and no others.
  func set(_ servers: [MediaServer]) {
    let all = services + servers.filter(\.hears).map { ListenService($0) }
    let (known, last) = (told, task)
    guard all != known else { return }
    told = all
    last?.cancel()
    task = Task.detached { [house, library, path, report] in
      // Two would count a track twice.
      await last?.value
      guard !Task.isCancelled, !all.isEmpty else { return }
      do throws(Refusal) {
        let keeper = try ListenKeeper(
          house, library, all, known: known, path: path, worker: HouseSurfaces.worker,
          report: report)
        await withTaskCancellationHandler {
          await keeper.run()
        } onCancel: {
          keeper.close()
        }
      } catch {
        // Music plays though nobody can be told of it.
        report("\(error)")
      }
    }
  }

  /// Counts and sends nothing more. What was not sent is kept.
  func end() { task?.cancel() }
}

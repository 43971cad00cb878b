import Dispatch
import Driver
import FFmpegSource
package import House
import LinuxIO
package import Sender
import Synchronization

/// Asks stations what they are called.
package final class StationNames: Sendable {
  /// A station that has said nothing by then is called by its address, in seconds.
  static let timeLimit = 6.0
  /// Stations that are asked at a time.
  static let limit = 4

  private let asked = Mutex(0)

  package init() {}

  /// Nil where the station does not say it, or does not answer in time. Throws where the address plays nothing.
  package func name(of uri: String, reach: SourceReach) async throws(Refusal) -> String? {
    let isFree = asked.withLock { asked in
      guard asked < Self.limit else { return false }
      asked += 1
      return true
    }
    guard isFree else { return nil }
    let answer = await withCheckedContinuation { continuation in
      let thread = try? RealtimeThread.start(name: "station", priority: nil) { [self] in
        let answer = Self.ask(uri, reach)
        asked.withLock { $0 -= 1 }
        continuation.resume(returning: answer)
      }
      guard let thread else {
        asked.withLock { $0 -= 1 }
        return continuation.resume(returning: .success(nil))
      }
      thread.detach()
    }
    do throws(MediaError) {
      return try answer.get()
    } catch {
      throw .invalid("no station can be heard there: \(error.problem)")
    }
  }

  /// Opens the station's stream. Blocks.
  private static func ask(_ uri: String, _ reach: SourceReach) -> Result<String?, MediaError> {
    guard let interruption = try? ReadInterruption() else { return .success(nil) }
    let isLate = Atomic(false)
    let end = DispatchWorkItem { [weak interruption] in
      isLate.store(true, ordering: .relaxed)
      interruption?.interrupt()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + timeLimit, execute: end)
    defer { end.cancel() }
    let opener = SourceOpener(interruption: interruption, report: { _ in })
    let item = PlayItem(id: 0, location: uri, title: nil, reach: reach)
    do throws(MediaError) {
      let said = try opener.open(item).metadata.album
      let name = ItemMetadata.shown(said ?? "").split(separator: " ").joined(separator: " ")
      return .success(Radio.nameLengths.contains(name.unicodeScalars.count) ? name : nil)
    } catch {
      return isLate.load(ordering: .relaxed) ? .success(nil) : .failure(error)
    }
  }
}

extension HouseControl {
  /// Keeps a station. Without a name, its address is opened: the station is called as it calls itself, else as its host, and is
  /// refused if nothing plays there. One that does not answer in time is kept.
  ///
  /// - Parameter picture: its address, as a list of stations has it; one that is none is left out.
  package func addRadio(
    name: String?, uri: String, picture: String? = nil, reach: SourceReach,
    in library: any LibraryControl
  ) async throws(Refusal) -> Radio {
    let uri = try Radio.checked(uri: uri)
    let picture = picture.flatMap { Radio.isAddress($0) ? $0 : nil }
    if let name {
      return try await library.addRadio(
        name: try Radio.checked(name: name), uri: uri, picture: picture)
    }
    let said = try await stationName(uri, reach: reach)
    let scheme = uri.place(of: "://")?.upperBound ?? uri.startIndex
    let host = String(uri[scheme...].prefix { !"/?#".contains($0) }.prefix(100))
    return try await library.addRadio(name: said ?? host, uri: uri, picture: picture)
  }
}

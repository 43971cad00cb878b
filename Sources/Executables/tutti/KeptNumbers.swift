import LinuxIO
import MPDProtocol
import Synchronization

/// The book of numbers and slugs on the disk, by which clients of MPD and the session bus know groups. From any thread.
final class KeptNumbers: Sendable {
  private let newest: Mutex<String>
  private let writer: NewestValueThread<String>

  init(_ file: StateFile, _ report: @escaping @Sendable (String) -> Void) throws {
    let bytes = try? file.read(limit: NumberBook.sizeLimit)
    newest = Mutex(String(decoding: (bytes ?? nil) ?? [], as: UTF8.self))
    writer = try NewestValueThread<String>(name: "mpd numbers") {
      { text in
        do {
          try file.write(Array(text.utf8))
        } catch {
          report("the numbers of rooms and groups cannot be kept: \(error)")
        }
      }
    }
  }

  /// As `NumberBook` writes it.
  var text: String { newest.withLock { $0 } }

  func keep(_ text: String) {
    newest.withLock { $0 = text }
    writer.post(text)
  }

  /// Waits until the numbers are on the disk.
  func end() { _ = writer.finish(within: 1000) }
}

import Clock
import Disturbances
import LinuxIO
import Sender

/// The file of `tutti serve --record`: what happens to the household, in lines that the simulation plays. Music never depends
/// on it: whatever goes wrong is one line of the log, and nothing more is recorded. For the loop's thread.
final class HouseRecording {
  private let file: GrowingFile
  private var recorder: DisturbanceRecorder
  private var isOver = false
  private let path: String
  private let warn: (String) -> Void

  /// - Parameters:
  ///   - failed: called on another thread when the file cannot be written; hand it to `failed(_:)`.
  ///   - warn: gets each line for the log.
  /// - Returns: Nil where the file is of no use.
  init?(
    path: String, program: String, warn: @escaping (String) -> Void,
    failed: @escaping @Sendable (IOError) -> Void
  ) {
    do {
      file = try GrowingFile(
        path: path, limit: DisturbanceRecord.byteLimit, failed: failed)
      if let found = file.found, !found.content.isEmpty {
        let (record, kept) = try DisturbanceRecord.continued(found.content)
        file.begin(at: kept)
        recorder = DisturbanceRecorder(
          continuing: record, kept: kept, after: found.age, at: HostClock.now)
      } else {
        recorder = DisturbanceRecorder(
          program: program, began: HostClock.utc, at: HostClock.now)
      }
    } catch let error as RecordError {
      warn("\(path): \(error); nothing is recorded until it is moved away, and music plays")
      return nil
    } catch {
      warn("\(error); nothing is recorded, and music plays")
      return nil
    }
    (self.path, self.warn) = (path, warn)
  }

  func handle(_ input: DisturbanceRecorder.Input) {
    recorder.handle(input, at: HostClock.now)
  }

  func knows(_ group: String) -> Bool { recorder.knows(group) }

  var nextDeadline: LocalTime? { isOver ? nil : recorder.nextDeadline }

  /// Hands over what is new.
  func write() {
    guard !isOver, let (lines, end) = recorder.take(at: HostClock.now) else { return }
    file.add(Array(lines.utf8), end: Array(end.utf8))
    guard recorder.isFull else { return }
    isOver = true
    warn("\(path) is full, and nothing more is recorded; move it away, and start the daemon again")
  }

  func failed(_ error: IOError) {
    isOver = true
    warn("\(error): nothing more is recorded, and the music goes on")
  }

  /// Waits for the disk, but not for long.
  func end() {
    write()
    _ = file.finish(within: 1000)
  }
}

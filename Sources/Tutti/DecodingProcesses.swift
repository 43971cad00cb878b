internal import Driver
internal import Glibc
internal import LinuxIO

/// Processes that demux and decode for this program, so that a file of a stranger that breaks FFmpeg costs one item and not
/// the program. Without them, everything is decoded in the program itself.
///
/// Such a process can only compute: it has the open file, or nothing; no network, no paths, at most 512 MiB of memory. It is
/// the program itself, started again with one argument, so call `start` as the first thing in `main`:
///
///     @main struct MyPlayer {
///       static func main() async throws {
///         try DecodingProcesses.start()
///         …
///       }
///     }
public enum DecodingProcesses {
  private static let argument = "tutti-media-worker"

  /// From now on, players and readers have each item decoded by a process of its own. In that process this method does not
  /// return.
  ///
  /// - Throws: `TuttiError.unavailable` if no thread can be started.
  public static func start() throws(TuttiError) {
    if CommandLine.arguments.dropFirst().elementsEqual([argument]) {
      MediaWorker.run()
      exit(0)
    }
    do throws(IOError) {
      try MediaWorkers.shared.start(["/proc/self/exe", argument])
    } catch {
      throw .unavailable("no thread for processes that decode: \(error)")
    }
  }
}

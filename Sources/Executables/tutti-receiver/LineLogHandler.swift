import Glibc
import LinuxIO
import Logging
import WireProtocol

/// Writes each event as one line to standard error: time, level, message and values. Under systemd the line begins with
/// the level as a number instead, which the journal understands; the journal adds the time itself.
struct LineLogHandler: LogHandler {
  var metadataProvider: Logger.MetadataProvider?
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.notice
  /// Longest line, in bytes.
  private static let longestLine = 2048
  private let isJournal: Bool

  init() {
    var status = stat()
    // systemd sets this variable to the journal's file. The comparison fails if standard error was redirected
    // elsewhere.
    isJournal =
      fstat(STDERR_FILENO, &status) == 0
      && getenv("JOURNAL_STREAM").map { String(cString: $0) } == "\(status.st_dev):\(status.st_ino)"
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var bytes = Array((prefix(event.level) + Self.text(event) + "\n").utf8)
    _ = write(STDERR_FILENO, &bytes, bytes.count)
  }

  private func prefix(_ level: Logger.Level) -> String {
    isJournal ? "<\(level.severity)>" : "\(Self.timestamp) \(level.rawValue) "
  }

  /// Puts the value called `detail`, which is a sentence, right behind the message. Text from a peer can neither break
  /// the line nor fill the disk.
  private static func text(_ event: LogEvent) -> String {
    let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }
    let pairs = values.filter { $0.key != "detail" }.map { " \($0.key)=\($0.value)" }
    let detail = values.first { $0.key == "detail" }.map { ": \($0.value)" } ?? ""
    let line = "\(event.message)" + detail + pairs.joined()
    return line.plain(atMost: longestLine)
  }

  private static var timestamp: String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { buffer in
      guard let text = buffer.baseAddress,
        strftime(text, buffer.count, "%Y-%m-%d %H:%M:%S", &parts) > 0
      else { return "" }
      return String(cString: text)
    }
  }
}

extension Logger.Level {
  /// The numbers of sd-daemon(3).
  fileprivate var severity: Int {
    switch self {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}

extension MediaError {
  /// True if a part of the item was played.
  package var hasSounded: Bool {
    switch self {
    case .broken, .endsEarly: true
    case .notFound, .unreadable, .notAudio, .unsupported, .notSeekable: false
    }
  }
}

extension MediaError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notFound(let path): "\(name(path)): no such file or folder; check the path"
    case .unreadable(let path, let reason): "\(name(path)): cannot be read: \(reason)"
    case .notAudio(let path, let reason): "\(name(path)): not audio: \(reason)"
    case .unsupported(let path, let reason): "\(name(path)): cannot be played: \(reason)"
    case .broken(let path, let reason):
      "\(name(path)): damaged: \(reason); what came before it was played"
    case .endsEarly(let path, let end, let length):
      "\(name(path)): incomplete: played to where the file ends, at \(clock(end)) of \(clock(length))"
    case .notSeekable(let path): "\(name(path)): can only be played from its beginning to its end"
    }
  }

  private func name(_ path: String) -> String { FileName.shown(path) }

  /// Returns `1:02:03`, or `2:03`.
  private func clock(_ seconds: Int64) -> String {
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    let rest = seconds % 60 < 10 ? "0\(seconds % 60)" : "\(seconds % 60)"
    guard hours > 0 else { return "\(minutes):\(rest)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(rest)"
  }
}

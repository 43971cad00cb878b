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
  package var description: String { "\(FileName.shown(path)): \(problem)" }

  /// The description without the item's name.
  package var problem: String {
    switch self {
    case .notFound: "no such file or folder; check the path"
    case .unreadable(_, let reason): "cannot be read: \(reason)"
    case .notAudio(_, let reason): "not audio: \(reason)"
    case .unsupported(_, let reason): "cannot be played: \(reason)"
    case .broken(_, let reason): "damaged: \(reason); what came before it was played"
    case .endsEarly(_, let end, let length):
      "incomplete: played to where the file ends, at \(clock(end)) of \(clock(length))"
    case .notSeekable: "can only be played from its beginning to its end"
    }
  }

  private var path: String {
    switch self {
    case .notFound(let path), .unreadable(let path, _), .notAudio(let path, _),
      .unsupported(let path, _), .broken(let path, _), .endsEarly(let path, _, _),
      .notSeekable(let path):
      path
    }
  }

  /// Returns `1:02:03`, or `2:03`.
  private func clock(_ seconds: Int64) -> String {
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    let rest = seconds % 60 < 10 ? "0\(seconds % 60)" : "\(seconds % 60)"
    guard hours > 0 else { return "\(minutes):\(rest)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(rest)"
  }
}

extension MediaError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notFound(let path): "\(path): no such file or folder; check the path"
    case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .notAudio(let path, let reason): "\(path): not audio: \(reason)"
    case .unsupported(let path, let reason): "\(path): cannot be played: \(reason)"
    case .broken(let path, let reason): "\(path): damaged: \(reason)"
    case .notSeekable(let path): "\(path): can only be played from its beginning to its end"
    }
  }
}

internal import FFmpegSource
internal import Sender
internal import Synchronization

/// The source of a playlist item.
public struct Media: Sendable {
  enum Kind: Sendable {
    case entry(PlaylistEntry)
    case custom(name: String, @Sendable () throws -> any SampleSource)
  }

  let kind: Kind

  /// A file of any format that FFmpeg reads. It is opened when its turn comes, and skipped then if it is missing.
  ///
  /// - Parameter path: preferably absolute; otherwise relative to the program's working directory.
  public static func file(_ path: String) -> Media { Media(kind: .entry(PlaylistEntry(path))) }

  /// A file, radio station or HLS stream.
  ///
  /// - Parameter url: `http://` or `https://`.
  public static func url(_ url: String) -> Media { Media(kind: .entry(PlaylistEntry(url))) }

  /// Returns the files in a folder and its subfolders, in natural order; the items of a list (M3U, PLS, XSPF, JSON);
  /// or the file itself. Reads the folder, or the network, at once, and blocks the thread meanwhile.
  ///
  /// - Throws: `TuttiError.unavailable`, with a line that names the path.
  public static func files(at path: String) throws(TuttiError) -> [Media] {
    do {
      return try MediaFolder.files(at: path).map { Media(kind: .entry($0)) }
    } catch {
      throw .unavailable(error.description)
    }
  }

  /// Audio that the program makes itself.
  ///
  /// - Parameters:
  ///   - name: for messages and displays.
  ///   - make: called on the producer's thread each time that the item starts or is sought in.
  public static func custom(
    _ name: String, make: @escaping @Sendable () throws -> any SampleSource
  ) -> Media {
    Media(kind: .custom(name: name, make))
  }
}

/// The custom items of a playlist. The session knows them by locations that this class assigns.
final class CustomMedia: Sendable {
  private struct Entry {
    var name: String
    var make: @Sendable () throws -> any SampleSource
  }

  private static let scheme = "custom:"
  private let state = Mutex<(count: Int, entries: [String: Entry])>((0, [:]))

  func entry(for media: Media) -> PlaylistEntry {
    switch media.kind {
    case .entry(let entry): entry
    case .custom(let name, let make):
      state.withLock { state in
        state.count += 1
        let location = "\(Self.scheme)\(state.count):\(name)"
        state.entries[location] = Entry(name: name, make: make)
        return PlaylistEntry(location)
      }
    }
  }

  /// Opens a custom item; returns nil for other locations.
  func open(_ location: String) throws(MediaError) -> (any MediaSource)? {
    guard location.hasPrefix(Self.scheme) else { return nil }
    guard let entry = state.withLock({ $0.entries[location] }) else {
      throw .notFound(path: location)
    }
    do {
      return CustomSource(try entry.make(), name: entry.name)
    } catch {
      throw .broken(path: entry.name, reason: "\(error)")
    }
  }

  /// Drops the items whose locations are not in `locations`.
  func keep(_ locations: Set<String>) {
    state.withLock { state in
      state.entries = state.entries.filter { locations.contains($0.key) }
    }
  }

  /// Returns an item's name for people.
  static func name(of location: String) -> String {
    guard location.hasPrefix(scheme) else { return location }
    let rest = location.dropFirst(scheme.count)
    return rest.firstIndex(of: ":").map { String(rest[rest.index(after: $0)...]) } ?? location
  }
}

import CFFmpeg
import Glibc
import PlaylistFormats
import Sender

/// Reads playlists from files and from the network.
enum ListFile {
  static func isList(_ location: String) -> Bool { PlaylistFile.format(ofName: location) != nil }

  /// Returns the entries of a list, with nested lists replaced by their entries. An HLS stream is its own entry. A
  /// missing file is reported when its turn comes. An entry without a title gets that of the list that it comes
  /// from.
  ///
  /// - Throws: `MediaError.unreadable`, or `notAudio`, which names the fault and its line.
  static func entries(at list: String) throws(MediaError) -> [PlaylistEntry] {
    var all: [PlaylistEntry] = []
    try collect(from: PlaylistEntry(list), depth: 0, into: &all)
    return all
  }

  private static func collect(
    from named: PlaylistEntry, depth: Int, into all: inout [PlaylistEntry]
  ) throws(MediaError) {
    let list = named.location
    guard depth < PlaylistFile.nestingLimit else {
      throw .notAudio(path: list, reason: "lists name lists without end")
    }
    guard let format = PlaylistFile.format(ofName: list) else { return }
    let isRemote = NetworkSource.isNetwork(list)
    let bytes = isRemote ? try fetch(list, named.reach) : try read(list)
    let entries: [PlaylistEntry]
    do throws(PlaylistFile.ParseError) {
      entries = try PlaylistFile.entries(in: bytes, format: format, base: list)
    } catch .stream {
      return all.append(named)
    } catch {
      throw .notAudio(path: list, reason: "as a playlist: \(error)")
    }
    for entry in entries {
      guard all.count < PlaylistFile.entryLimit else { return }
      // A list from the network must not name files of this machine.
      if isRemote, !NetworkSource.isNetwork(entry.location) { continue }
      let reach = isRemote && named.reach == .all ? .network : named.reach
      let entry = PlaylistEntry(entry.location, title: entry.title ?? named.title, reach: reach)
      if isList(entry.location) {
        try collect(from: entry, depth: depth + 1, into: &all)
      } else {
        all.append(entry)
      }
    }
  }

  private static func read(_ path: String) throws(MediaError) -> [UInt8] {
    let file = open(FileName.bytes(of: path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw errno == ENOENT
        ? .notFound(path: path) : .unreadable(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(file) }
    // Reading one byte beyond the limit shows that the list is too long.
    return try gather(path) { buffer, count in Glibc.read(file, buffer, count) }
  }

  private static func fetch(_ url: String, _ reach: SourceReach) throws(MediaError) -> [UInt8] {
    let library = try FFmpegLibrary.load(toPlay: url)
    let network = NetworkInput(
      url, reach: reach, settings: NetworkSettings(), interruption: try ReadInterruption(),
      library: library, report: { _ in })
    cff_clear_log()
    return try NetworkBytes(url, network, library).readAll(upTo: PlaylistFile.sizeLimit)
  }

  private static func gather(
    _ location: String, _ read: (UnsafeMutablePointer<UInt8>, Int) -> Int
  ) throws(MediaError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= PlaylistFile.sizeLimit {
      let count = block.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.map { read($0, buffer.count) } ?? 0
      }
      if count == 0 { break }
      guard count > 0 else { throw .unreadable(path: location, reason: "reading failed") }
      bytes += block[0..<count]
    }
    return bytes
  }
}

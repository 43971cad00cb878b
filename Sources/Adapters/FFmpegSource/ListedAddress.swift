import CFFmpeg
import PlaylistFormats
import Sender

/// Follows addresses that answer with a list instead of audio, as those of many radio stations do.
enum ListedAddress {
  /// Connects to the address itself, or to the first entry of its list that answers.
  static func connect(
    _ url: String, _ network: NetworkInput, _ library: FFmpegLibrary
  ) throws(MediaError) -> NetworkBytes {
    var attempts = PlaylistFile.mirrorLimit
    return try connect(url, depth: 0, &attempts, network, library)
  }

  private static func connect(
    _ url: String, depth: Int, _ attempts: inout Int, _ network: NetworkInput,
    _ library: FFmpegLibrary
  ) throws(MediaError) -> NetworkBytes {
    let bytes = try NetworkBytes(url, network, library)
    guard let format = PlaylistFile.format(ofType: bytes.contentType) else { return bytes }
    guard depth < PlaylistFile.nestingLimit else {
      throw .notAudio(path: url, reason: "lists name lists without end")
    }
    let entries: [PlaylistEntry]
    do throws(PlaylistFile.ParseError) {
      entries = try PlaylistFile.entries(
        in: bytes.readAll(upTo: PlaylistFile.sizeLimit), format: format, base: url)
    } catch .stream {
      // FFmpeg reads the list itself, from its beginning.
      return try NetworkBytes(url, network, library)
    } catch {
      throw .notAudio(path: url, reason: "as a playlist: \(error)")
    }
    var failure = MediaError.notAudio(path: url, reason: "its list names no address")
    for address in entries.map(\.location).filter(NetworkSource.isNetwork) {
      guard attempts > 0, !network.isInterrupted else { break }
      attempts -= 1
      do throws(MediaError) {
        return try connect(address, depth: depth + 1, &attempts, network, library)
      } catch {
        failure = error
      }
    }
    throw failure
  }
}

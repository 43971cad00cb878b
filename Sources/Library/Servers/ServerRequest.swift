import FFmpegSource
import House
import LinuxIO
import PlaylistFormats
import Sender
import Service

/// Questions to a server of a library, for the program that asks them. It confines itself for good before it looks at an
/// answer, and answers nothing else afterwards.
enum ServerRequest {
  /// Bytes of an answer with songs, and the time in which it must have come.
  static let listLimit = 8 << 20
  static let listTime = Duration.seconds(15)
  /// The time in which a picture must have come: people wait for it.
  static let pictureTime = Duration.seconds(8)
  /// Bytes of a picture in its final size: an answer has no room for more.
  static let pictureLimit = 900_000

  private struct Failure: Error {
    let reason: String
  }

  static func songs(_ server: MediaServer, from offset: Int) -> WorkerAnswer {
    do throws(Failure) {
      let bytes = try bytes(
        server, "search3",
        [
          ("query", ""), ("artistCount", "0"), ("albumCount", "0"),
          ("songCount", "\(SubsonicAnswer.songLimit)"), ("songOffset", "\(offset)"),
        ], limit: listLimit, time: listTime)
      let answer: SubsonicAnswer
      do {
        answer = try SubsonicAnswer(bytes)
      } catch {
        throw Failure(reason: error.description)
      }
      return .songs(answer.songs, count: answer.count)
    } catch {
      return .broken(error.reason)
    }
  }

  static func picture(_ server: MediaServer, _ id: String, _ size: Int) -> WorkerAnswer {
    // Afterwards nothing can be loaded.
    Picture.prepare()
    if server.kind == .upnp { return ShelfRequest.picture(server, id, size) }
    do throws(Failure) {
      let bytes = try bytes(
        server, "getCoverArt", [("id", id), ("size", "\(size)")], limit: Picture.sizeLimit,
        time: pictureTime)
      return picture(bytes, size)
    } catch {
      return .broken(error.reason)
    }
  }

  static func picture(_ bytes: [UInt8], _ size: Int) -> WorkerAnswer {
    guard let picture = Picture(bytes) else { return .broken("this is no picture") }
    // Without FFmpeg's filters a picture keeps its size.
    var made = picture
    do throws(MediaError) {
      made = try picture.fitting(size)
    } catch .unsupported {
    } catch {
      return .broken("it is broken, or too large")
    }
    return made.bytes.count <= pictureLimit ? .picture(made) : .broken("it is too large")
  }

  /// Reads an answer, and confines the process.
  private static func bytes(
    _ server: MediaServer, _ method: String, _ values: [(String, String)], limit: Int,
    time: Duration
  ) throws(Failure) -> [UInt8] {
    let address: String
    do {
      address = try ServerAccess.address(server, method, values)
    } catch {
      throw Failure(reason: error.text)
    }
    let bytes: [UInt8]
    do throws(MediaError) {
      bytes = try AddressBytes(at: address, reach: server.reach, limit: limit, time: time).bytes
    } catch .unreadable(_, let reason) {
      throw Failure(reason: reason.withoutQueries)
    } catch {
      // The other errors name the address.
      throw Failure(reason: "FFmpeg cannot be loaded")
    }
    if let reason = ConfinedService.confine() { throw Failure(reason: reason) }
    return bytes
  }
}

extension ServedSong {
  /// Their number is `wordCount`. No text holds a zero.
  var words: [String] {
    let texts = [
      id, title, artist, albumArtist, album, albumId, cover, suffix, genre, folder,
    ]
    let numbers = [track, disc, year].map { number in number.map(String.init) ?? "" }
    return texts + numbers + [durationS.map { "\($0)" } ?? "", "\(size)", "\(createdS)"]
  }

  static let wordCount = 16

  /// Returns nil for words that are none, or too many.
  static func songs(_ words: ArraySlice<String>) -> [ServedSong]? {
    guard words.count % wordCount == 0, words.count / wordCount <= SubsonicAnswer.songLimit else {
      return nil
    }
    return stride(from: words.startIndex, to: words.endIndex, by: wordCount).map { place in
      ServedSong(words: words[place..<place + wordCount])
    }
  }

  private init(words: ArraySlice<String>) {
    let words = Array(words)
    self.init()
    (id, title, artist, albumArtist) = (words[0], words[1], words[2], words[3])
    (album, albumId, cover, suffix) = (words[4], words[5], words[6], words[7])
    (genre, folder) = (words[8], words[9])
    (track, disc, year) = (Int(words[10]), Int(words[11]), Int(words[12]))
    durationS = Double(words[13])
    (size, createdS) = (Int64(words[14]) ?? 0, Int64(words[15]) ?? 0)
  }
}

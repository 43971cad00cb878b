package import PlaylistFormats

/// A page of a ContentDirectory: the songs and containers of a DIDL-Lite document.
package struct ShelfPage: Hashable, Sendable {
  /// Objects that are asked for at a time; further ones in an answer are left out.
  package static let objectLimit = 500
  /// Bytes of an object's identifier; one with a longer one is left out.
  package static let idLimit = 256

  /// Those that can be played. The identifier is the path of the song's file, and so is that of its picture.
  package var songs: [ServedSong] = []
  /// For each of these the identifier of its object, or of that which it refers to.
  package var objects: [String] = []
  /// Identifiers of containers.
  package var containers: [String] = []
  /// Objects that the page has, with those that were left out.
  package var count = 0
  /// Objects that there are, on all pages; 0 if the server does not say so.
  package var total = 0

  package init() {}

  /// - Parameter path: returns the path of an address that the server tells; nil if it leads elsewhere.
  package init(_ bytes: [UInt8], path: @escaping (String) -> String?) throws(MarkupFault) {
    let reader = ObjectReader(path)
    do throws(MarkupFault) {
      try PlainMarkup.read(bytes, textLimit: 4 * ServedSong.textLimit, to: reader)
    } catch {
      throw MarkupFault(description: "its list of songs is broken: \(error.description)")
    }
    guard reader.isList else {
      throw MarkupFault(description: "its list of songs is none")
    }
    self = reader.page
  }
}

/// Takes the objects of a DIDL-Lite document.
private final class ObjectReader: MarkupListener {
  private static let list = "urn:schemas-upnp-org:metadata-1-0/DIDL-Lite/"
  private static let core = "http://purl.org/dc/elements/1.1/"
  private static let upnp = "urn:schemas-upnp-org:metadata-1-0/upnp/"

  /// A file of a song.
  private struct File {
    var path: String
    var suffix: String
    var size: Int64
    var durationS: Double?
    /// The lower, the nearer to what the server keeps.
    var rank: Int
  }

  var page = ShelfPage()
  var isList = false
  private let path: (String) -> String?
  private var song = ServedSong()
  private var (id, creator, type, role) = ("", "", "", "")
  private var (protocolInfo, size, duration) = ("", "", "")
  private var file: File?

  init(_ path: @escaping (String) -> String?) { self.path = path }

  func begin(_ names: [String], _ attribute: (String) -> String?) {
    switch names.count {
    case 1: isList = names[0] == "\(Self.list) DIDL-Lite"
    case 2:
      song = ServedSong()
      (creator, type, file) = ("", "", nil)
      // A reference is the same song in another container.
      id = (names[1] == "\(Self.list) item" ? attribute("refID") : nil) ?? attribute("id") ?? ""
    case 3:
      role = attribute("role") ?? ""
      (protocolInfo, size) = (attribute("protocolInfo") ?? "", attribute("size") ?? "")
      duration = attribute("duration") ?? ""
    default: break
    }
  }

  func end(_ names: [String], _ text: [UInt8]) {
    guard isList else { return }
    switch names.count {
    case 2: endObject(names[1])
    case 3: take(names[2], text.trimmed)
    default: break
    }
  }

  private func take(_ name: String, _ text: String) {
    switch name {
    case "\(Self.core) title": song.title = ServedSong.text(text)
    case "\(Self.core) creator": creator = ServedSong.text(text)
    case "\(Self.core) date": song.year = number(String(text.prefix(4)), in: 1_000...9_999)
    case "\(Self.upnp) artist": take(artist: ServedSong.text(text))
    case "\(Self.upnp) album": song.album = ServedSong.text(text)
    case "\(Self.upnp) genre": song.genre = song.genre.isEmpty ? ServedSong.text(text) : song.genre
    case "\(Self.upnp) originalTrackNumber": song.track = number(text, in: 1...9_999)
    case "\(Self.upnp) originalDiscNumber": song.disc = number(text, in: 1...999)
    case "\(Self.upnp) albumArtURI": song.cover = song.cover.isEmpty ? path(text) ?? "" : song.cover
    case "\(Self.upnp) class": type = text
    case "\(Self.list) res": take(file: text)
    default: break
    }
  }

  private func take(artist name: String) {
    if role.lowercased() == "albumartist" {
      song.albumArtist = name
    } else if song.artist.isEmpty {
      song.artist = name
    }
  }

  /// Takes a file that comes nearer to what the server keeps than those before it.
  private func take(file address: String) {
    let parts = protocolInfo.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0] == "http-get", let path = path(address),
      let suffix = Self.suffix(parts[2].lowercased(), path)
    else { return }
    let isConverted = parts[3...].joined(separator: ":").contains("DLNA.ORG_CI=1")
    let rank = (isConverted ? 2 : 0) + (suffix == "wav" ? 1 : 0)
    guard rank < file?.rank ?? .max else { return }
    let size = number(self.size, in: 0...1 << 53) ?? 0
    file = File(
      path: path, suffix: suffix, size: Int64(size), durationS: Self.seconds(duration), rank: rank)
  }

  /// Returns the ending of a file's name; nil for what is no file of music. Samples without a head are none.
  private static func suffix(_ type: String, _ path: String) -> String? {
    let type = type.prefix { $0 != ";" }
    switch type {
    case "audio/flac", "audio/x-flac": return "flac"
    case "audio/mpeg", "audio/mp3", "audio/x-mp3": return "mp3"
    case "audio/wav", "audio/x-wav", "audio/wave": return "wav"
    case "audio/ogg", "audio/x-ogg", "application/ogg": return "ogg"
    case "audio/mp4", "audio/x-m4a", "audio/m4a": return "m4a"
    case "audio/l16", "audio/l24", "audio/x-mpegurl", "audio/mpegurl", "audio/x-scpls": return nil
    case _ where type.hasPrefix("audio/"):
      let name = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
      let ending = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) }
      return ending.map(ServedSong.suffix) ?? ""
    default: return nil
    }
  }

  /// Returns the seconds of `1:02:03.004`. The fraction may have any number of digits, of which three count.
  private static func seconds(_ text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hours = number(String(parts[0]), in: 0...999),
      let minutes = number(String(parts[1]), in: 0...59)
    else { return nil }
    let last = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = last.first.flatMap({ number(String($0), in: 0...59) }) else { return nil }
    let digits = (last.count > 1 ? last[1].prefix(3) : "") + "000"
    let fraction = number(String(digits.prefix(3)), in: 0...999) ?? 0
    let length = Double(hours * 3_600 + minutes * 60 + seconds) + Double(fraction) / 1_000
    return length > 0 ? length : nil
  }

  private func endObject(_ name: String) {
    page.count += 1
    guard page.count <= ShelfPage.objectLimit, (1...ShelfPage.idLimit).contains(id.utf8.count)
    else { return }
    if name == "\(Self.list) container" { return page.containers.append(id) }
    guard name == "\(Self.list) item", type.hasPrefix("object.item.audioItem"), let file else {
      return
    }
    (song.id, song.suffix, song.size) = (file.path, file.suffix, file.size)
    song.durationS = file.durationS
    if song.artist.isEmpty { song.artist = creator }
    page.songs.append(song)
    page.objects.append(id)
  }
}

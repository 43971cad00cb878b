import Clock
import Foundation
import LinuxIO
import Sender
import WireProtocol

/// What commands ask of a running player, one JSON object a line over its Unix-domain socket.
struct ControlRequest: Codable {
  enum Verb: String, Codable {
    case pause, resume, stop, seek, next, previous, volume, effects, status
    case queue, add, remove, move, clear, jump, shuffle, `repeat`
  }

  var verb: Verb
  /// Seconds: of `seek`, absolute or, with `isRelative`, from here.
  var seconds: Double?
  /// 0...100, or a step with `isRelative`.
  var volume: Double?
  var isRelative: Bool?
  var isMuted: Bool?
  /// Signed, positive is later.
  var delayMilliseconds: Double?
  var channels: String?
  /// A name, or nothing for all rooms.
  var room: String?
  /// Of `add`.
  var files: [String]?
  /// Items by their place in the list, from 1.
  var numbers: [Int]?
  /// The place in the list where `add` puts its first item, or `move` its only one; 0 is after the current item.
  var to: Int?
  /// `off`, `one` or `all`.
  var mode: String?
  /// Of `effects`; what is not there has no effect.
  var rate: Double?
  /// In semitones.
  var pitch: Double?
  /// In LUFS.
  var loudness: Double?
  /// In FFmpeg's notation.
  var filter: String?
}

/// What the player answers.
struct ControlReply: Codable {
  var error: String?
  /// The list after the command; only where it was about the list.
  var queue: [QueueEntry]?
  var status: StatusReport?
}

struct QueueEntry: Codable {
  /// From 1; changes with every edit.
  var number: Int
  /// Stays, and is never used again.
  var id: Int
  var item: String
  var current: Bool
}

/// JSON as programs meet it: one object a line, names in snake case with their unit at the end.
enum JSONLine {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return ((try? encoder.encode(value)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(line))
  }
}

/// The state of the player as programs read it. Times in seconds, errors in microseconds, drifts in ppm.
struct StatusReport: Codable {
  struct Room: Codable {
    var name: String
    /// A room state, `connecting`, or `away`.
    var state: String
    var detail: String?
    var volume: Double?
    var muted: Bool?
    var delayMs: Double?
    var channels: String?
    var bufferedS: Double?
    var bufferedBytes: UInt64?
    var syncErrorUs: Double?
    var syncErrorP50Us: Double?
    var syncErrorP99Us: Double?
    var syncErrorMaxUs: Double?
    var clockErrorBoundUs: Double?
    var roundTripUs: Double?
    var clockDriftPpm: Double?
    var deviceDriftPpm: Double?
    var underruns: UInt32?
    var latePackets: UInt32?
    var lostPackets: UInt32?
    var corruptPackets: UInt32?
  }

  var state: String
  var item: String?
  var title: String?
  var artist: String?
  var album: String?
  var albumArtist: String?
  var track: Int?
  var disc: Int?
  var date: String?
  /// Such as `image/jpeg`; nil where the item has no picture.
  var artworkType: String?
  var artworkBytes: Int?
  /// Of a file with it, as soon as the item sounds.
  var artworkPath: String?
  var itemNumber: Int
  var itemCount: Int
  var `repeat`: String
  var positionS: Double
  /// Where a seek goes that is under way.
  var targetS: Double?
  /// When that position sounds: nanoseconds of CLOCK_MONOTONIC_RAW, and of CLOCK_MONOTONIC. Nothing unless media time runs.
  var presentationTimeNs: Int64?
  var presentationTimeMonotonicNs: Int64?
  /// From a command to its sound.
  var outputLatencyMs: Double
  /// Nothing where the item does not say it and more of it may come.
  var durationS: Double?
  /// How much of the item has come, from its beginning.
  var arrivedS: Double?
  var producedS: Double
  /// What is waited for from the source; nothing where that is not what is waited for.
  var buffering: BufferingReport?
  /// Seconds of the item that pass in a second while it plays.
  var rate: Double
  var effects: EffectsReport
  var rooms: [Room]

  init(_ status: GroupStatus, artworkPath: String? = nil) {
    state = status.state.rawValue
    item = status.item?.item.location
    title = status.item?.metadata.title
    artist = status.item?.metadata.artist
    let metadata = status.item?.metadata
    (album, albumArtist) = (metadata?.album, metadata?.albumArtist)
    (track, disc, date) = (metadata?.track, metadata?.disc, metadata?.date)
    artworkType = metadata?.artwork?.mimeType
    artworkBytes = metadata?.artwork?.bytes.count
    self.artworkPath = artworkPath
    itemNumber = status.itemNumber
    itemCount = status.itemCount
    `repeat` = status.repetition.rawValue
    positionS = status.position.seconds
    presentationTimeNs = status.presentationTime?.nanoseconds
    presentationTimeMonotonicNs = status.presentationTime.flatMap(HostClock.monotonic)
    outputLatencyMs = status.outputLatency.seconds * 1000
    targetS = status.target?.seconds
    durationS = status.duration?.seconds
    arrivedS = status.arrived?.seconds
    producedS = status.produced.seconds
    buffering = status.buffering.map(BufferingReport.init)
    rate = status.rate
    effects = EffectsReport(status.effects)
    rooms = status.rooms.map(Room.init)
  }
}

/// How much is there to play, and how much there must be for the music to go on.
struct BufferingReport: Codable {
  var arrivedS: Double
  var neededS: Double

  init(_ buffering: Buffering) {
    arrivedS = buffering.arrived.seconds
    neededS = buffering.needed.seconds
  }

  /// For people.
  var sentence: String { String(format: "%.1f of %.1f s", arrivedS, neededS) }
}

/// As `tutti effects` was told last, or the keys of `tutti play`.
struct EffectsReport: Codable {
  var rate: Double
  /// In semitones.
  var pitch: Double
  /// In LUFS.
  var loudness: Double?
  var filter: String?

  init(_ effects: Effects) {
    (rate, pitch) = (effects.rate, effects.pitch)
    (loudness, filter) = (effects.loudness, effects.filter)
  }

  /// For people; empty where there are none.
  var sentence: String {
    var parts: [String] = []
    if rate != 1 { parts.append(String(format: "×%.2f", rate)) }
    if pitch != 0 { parts.append(String(format: "pitch %+g", pitch)) }
    if let loudness { parts.append(String(format: "%g LUFS", loudness)) }
    if filter != nil { parts.append("filter") }
    return parts.joined(separator: " ")
  }
}

extension StatusReport.Room {
  init(_ room: GroupStatus.Room) {
    name = room.name
    switch room.connection {
    case .connecting: state = "connecting"
    case .away(let reason): (state, detail) = ("away", reason)
    case .live(let status):
      state = "\(status.state)"
      detail = status.detail.isEmpty ? nil : status.detail
      take(status)
    }
    guard let settings = room.settings else { return }
    volume = Double(settings.volume) / 10
    muted = settings.isMuted
    delayMs = settings.delay.seconds * 1000
    channels = "\(settings.channelMap)"
  }

  private mutating func take(_ status: RoomStatus) {
    bufferedS = max(0, (status.bufferedUntil - status.playhead).seconds)
    bufferedBytes = status.heldBytes
    syncErrorUs = status.syncError.now.microseconds
    syncErrorP50Us = status.syncError.median.microseconds
    syncErrorP99Us = status.syncError.p99.microseconds
    syncErrorMaxUs = status.syncError.maximum.microseconds
    clockErrorBoundUs = status.clockErrorBound.microseconds
    roundTripUs = status.roundTrip.microseconds
    clockDriftPpm = Double(status.clockDrift) / 1000
    deviceDriftPpm = Double(status.deviceDrift) / 1000
    underruns = status.underruns
    latePackets = status.latePackets
    lostPackets = status.lostPackets
    corruptPackets = status.corruptPackets
  }
}

extension MediaDuration {
  /// Seconds, as far as an `Int64` of flicks reaches.
  init(seconds: Double) {
    let limit = 4e8
    let bounded = seconds.isNaN ? 0 : Swift.min(Swift.max(seconds, -limit), limit)
    self.init(flicks: Int64(bounded * Double(Self.flicksPerSecond)))
  }
}

import Clock
import LinuxIO
import Sender
import WireProtocol

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
  /// What plays after it. Title, artist and length are there once it has been opened.
  var nextItem: String?
  var nextTitle: String?
  var nextArtist: String?
  var nextDurationS: Double?
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
    positionS = status.position.seconds.rounded(to: 9)
    presentationTimeNs = status.presentationTime?.nanoseconds
    presentationTimeMonotonicNs = status.presentationTime.flatMap(HostClock.monotonic)
    outputLatencyMs = (status.outputLatency.seconds * 1000).rounded(to: 3)
    targetS = status.target?.seconds.rounded(to: 9)
    durationS = status.duration?.seconds.rounded(to: 9)
    arrivedS = status.arrived?.seconds.rounded(to: 9)
    producedS = status.produced.seconds.rounded(to: 6)
    nextItem = status.next?.item.location
    nextTitle = status.next?.opened?.metadata.title
    nextArtist = status.next?.opened?.metadata.artist
    nextDurationS = status.next?.opened?.duration?.seconds.rounded(to: 9)
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
    arrivedS = buffering.arrived.seconds.rounded(to: 6)
    neededS = buffering.needed.seconds.rounded(to: 6)
  }

  /// For people.
  var sentence: String {
    "\(NumberText.fixed(arrivedS, 1)) of \(NumberText.fixed(neededS, 1)) s"
  }
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
    if rate != 1 { parts.append("×" + NumberText.fixed(rate, 2)) }
    if pitch != 0 { parts.append("pitch " + NumberText.signed(pitch)) }
    if let loudness { parts.append("\(NumberText.short(loudness)) LUFS") }
    if filter != nil { parts.append("filter") }
    return parts.joined(separator: " ")
  }

  /// As `tutti effects` would be told them.
  var longSentence: String {
    var parts: [String] = []
    if rate != 1 { parts.append("rate \(NumberText.short(rate))") }
    if pitch != 0 { parts.append("pitch \(NumberText.signed(pitch))") }
    if let loudness { parts.append("loudness \(NumberText.short(loudness)) LUFS") }
    if let filter { parts.append("filter \(filter)") }
    return parts.joined(separator: ", ")
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
    delayMs = (settings.delay.seconds * 1000).rounded(to: 3)
    channels = "\(settings.channelMap)"
  }

  private mutating func take(_ status: RoomStatus) {
    bufferedS = max(0, (status.bufferedUntil - status.playhead).seconds).rounded(to: 3)
    bufferedBytes = status.heldBytes
    syncErrorUs = status.syncError.now.microseconds.rounded(to: 3)
    syncErrorP50Us = status.syncError.median.microseconds.rounded(to: 3)
    syncErrorP99Us = status.syncError.p99.microseconds.rounded(to: 3)
    syncErrorMaxUs = status.syncError.maximum.microseconds.rounded(to: 3)
    clockErrorBoundUs = status.clockErrorBound.microseconds.rounded(to: 3)
    roundTripUs = status.roundTrip.microseconds.rounded(to: 3)
    clockDriftPpm = Double(status.clockDrift) / 1000
    deviceDriftPpm = Double(status.deviceDrift) / 1000
    underruns = status.underruns
    latePackets = status.latePackets
    lostPackets = status.lostPackets
    corruptPackets = status.corruptPackets
  }
}

extension Double {
  /// To so many digits behind the point, as JSON then shows it: 15.000000000000002 is 15.
  func rounded(to digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let result = (self * scale).rounded() / scale
    // Also without a negative zero.
    return result.isFinite ? result + 0 : self
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

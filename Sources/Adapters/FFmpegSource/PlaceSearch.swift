import CFFmpeg

/// Seeks in MP3, AAC, AC-3 or E-AC-3 streams without an index, for which FFmpeg would read everything before the
/// place. It computes the expected place, reads the bytes there, and enters the packet that it finds into FFmpeg's
/// index.
///
/// With a constant bit rate each place is exact. Otherwise it is estimated from the table in the first packet, or
/// from the mean bit rate. An estimated place keeps its time, so that the same time leads to the same audio again.
/// In AC-3 and E-AC-3, whose bit rate seldom changes, FFmpeg reads on to the place instead.
final class PlaceSearch {
  /// A place at most this many bytes ahead is reached by reading, which is exact, instead of by a request.
  static let nearBytes: Int64 = 128 << 10
  /// The same limit if a request is as exact as reading.
  private static let nearExactBytes: Int64 = 32 << 10
  /// In bytes: enough for four of the largest packets, which are those of E-AC-3, of up to 4 KiB.
  private static let windowSize = 16 << 10
  /// Bytes by which packets of a constant bit rate may differ from the computed place, because their sizes are
  /// rounded.
  private static let tolerance: Int64 = 2

  private let library: FFmpegLibrary
  private let stream: UnsafeMutablePointer<AVStream>
  private let bytes: NetworkBytes
  private let size: Int64
  /// Ticks of the time base per packet.
  private let step: Int64
  private let first: AVIndexEntry
  /// Ticks of the whole stream; nil if unknown.
  private let duration: Int64?
  /// In bytes; nil if the bit rate changes.
  private let packetSize: Double?
  /// Mean size of the first packets, in bytes.
  private let meanSize: Double
  private let mayEstimate: Bool
  private let mayHaveTable: Bool
  /// Nil until it was searched for.
  private var table: MP3Table??

  /// Returns nil for streams of other kinds.
  init?(in demuxer: Demuxer) {
    let (library, stream) = (demuxer.library, demuxer.stream)
    let size = demuxer.byteCount
    let name = demuxer.formatName
    guard ["mp3", "aac", "ac3", "eac3"].contains(name), size > 2 * Int64(Self.windowSize),
      let bytes = demuxer.bytes, let step = Self.step(of: stream),
      let first = library.calls.avformat_index_get_entry(stream, 0)?.pointee
    else { return nil }
    (self.library, self.stream, self.bytes, self.first) = (library, stream, bytes, first)
    let duration = demuxer.durationIsKnown ? stream.pointee.duration : nil
    (self.size, self.step, self.duration) = (size, step, duration)
    let (isMPEG, isDolby) = (name == "mp3", name.hasSuffix("ac3"))
    mayEstimate = !isDolby
    mayHaveTable = isMPEG && duration != nil
    // These bytes were kept, so this costs no request, unless a picture precedes them.
    let begin = Self.read(from: first.pos, bytes, library)
    let sizes = Self.sizes(in: begin)
    guard !sizes.isEmpty else { return nil }
    let mean = Double(sizes.reduce(0, +)) / Double(sizes.count)
    meanSize = mean
    let whole = duration.map { Double(size - first.pos) / Double($0 / step) }
    packetSize =
      if isMPEG {
        Self.constantSize(sizes, near: mean, whole: whole, stream)
      } else if isDolby, sizes.allSatisfy({ $0 == sizes[0] }) {
        mean
      } else {
        nil
      }
    guard packetSize != nil || !isDolby else { return nil }
  }

  /// Returns the time of the index entry at which to start reading for `timestamp`; adds an entry if there is none
  /// near it.
  func reach(_ timestamp: Int64) -> Int64 {
    guard let known = entry(AVSEEK_FLAG_BACKWARD, timestamp) else { return timestamp }
    let goal = known.timestamp + (timestamp - known.timestamp) / step * step
    if let packetSize {
      let number = (goal - first.timestamp) / step
      let place = first.pos + Int64(min(Double(size), Double(number) * packetSize))
      guard place - known.pos > Self.nearExactBytes else { return timestamp }
      if enter(goal, between: place - Self.tolerance, and: place + Self.tolerance) { return goal }
    }
    guard mayEstimate, let place = estimate(goal, after: known),
      place - known.pos > Self.nearBytes
    else { return timestamp }
    return enter(goal, between: place, and: .max) ? goal : timestamp
  }

  private func entry(_ flags: Int32, _ timestamp: Int64) -> AVIndexEntry? {
    library.calls.avformat_index_get_entry_from_timestamp(stream, timestamp, flags)?.pointee
  }

  /// Enters the first packet that begins between two places, as that of `timestamp`. Returns false if there is
  /// none.
  private func enter(_ timestamp: Int64, between start: Int64, and end: Int64) -> Bool {
    let window = read(from: start)
    guard let found = PacketHeader.firstPacket(in: window, from: 0),
      let header = PacketHeader(window, at: found), start + Int64(found) <= end
    else { return false }
    let place = start + Int64(found)
    add(place, timestamp)
    // FFmpeg reads on from the last entry before it searches for a place.
    add(place + Int64(header.byteCount), timestamp + step)
    bytes.jump(to: place)
    return true
  }

  private func add(_ place: Int64, _ timestamp: Int64) {
    _ = library.calls.av_add_index_entry(stream, place, timestamp, 0, 0, AVINDEX_KEYFRAME)
  }

  private func read(from place: Int64) -> [UInt8] { Self.read(from: place, bytes, library) }

  private static func read(
    from place: Int64, _ bytes: NetworkBytes, _ library: FFmpegLibrary
  ) -> [UInt8] {
    bytes.jump(to: place)
    var window = [UInt8](repeating: 0, count: windowSize)
    let count = library.calls.avio_read(bytes.context, &window, Int32(window.count))
    return Array(window.prefix(max(0, Int(count))))
  }

  // MARK: - Estimated places

  /// Returns the ticks per packet. FFmpeg leaves out every second entry of a long index.
  private static func step(of stream: UnsafeMutablePointer<AVStream>) -> Int64? {
    guard let parameters = stream.pointee.codecpar?.pointee else { return nil }
    let isDolby = [AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3].contains(parameters.codec_id)
    let frames = isDolby ? PacketHeader.dolbyFrameCount : Int64(parameters.frame_size)
    guard frames > 0 else { return nil }
    let base = stream.pointee.time_base
    let rate = Int64(parameters.sample_rate) * Int64(base.num)
    let ticks = frames * Int64(base.den)
    return rate > 0 && ticks % rate == 0 ? ticks / rate : nil
  }

  /// Returns the sizes of the consecutive packets at the beginning of `bytes`.
  private static func sizes(in bytes: [UInt8]) -> [Int] {
    var sizes: [Int] = []
    var place = 0
    while let header = PacketHeader(bytes, at: place) {
      sizes.append(header.byteCount)
      place += header.byteCount
    }
    return sizes
  }

  /// Returns the size of packets of a constant bit rate; nil if the bit rate changes.
  private static func constantSize(
    _ sizes: [Int], near mean: Double, whole: Double?, _ stream: UnsafeMutablePointer<AVStream>
  ) -> Double? {
    guard let parameters = stream.pointee.codecpar?.pointee, sizes.count > 2 else { return nil }
    let perKilobit = 125 * Double(parameters.frame_size) / Double(parameters.sample_rate)
    let candidates = PacketHeader.bitRates.joined().map { Double($0) * perKilobit }
    guard let size = candidates.min(by: { abs($0 - mean) < abs($1 - mean) }),
      abs((whole ?? size) / size - 1) < 0.01
    else { return nil }
    var sum = 0
    for (index, own) in sizes.enumerated() {
      sum += own
      guard abs(Double(sum) - Double(index + 1) * size) <= Double(tolerance) else { return nil }
    }
    return size
  }

  /// Estimates a place between the known ones before and after it.
  private func estimate(_ timestamp: Int64, after known: AVIndexEntry) -> Int64? {
    guard let ahead = distance(from: known.timestamp, to: timestamp, after: known) else {
      return nil
    }
    var place = Double(known.pos) + ahead
    if let next = entry(0, timestamp), next.pos > known.pos, next.timestamp > known.timestamp,
      let gap = distance(from: known.timestamp, to: next.timestamp, after: known), gap > 0
    {
      place = Double(known.pos) + ahead * Double(next.pos - known.pos) / gap
    }
    return Int64(min(max(0, place), Double(size - Int64(Self.windowSize))))
  }

  /// Estimates the number of bytes between two times.
  private func distance(from start: Int64, to end: Int64, after known: AVIndexEntry) -> Double? {
    if mayHaveTable, table == nil { table = .some(readTable()) }
    if let duration, let place = table ?? nil {
      let scale = Double(size - first.pos)
      return
        (place.share(at: Double(end) / Double(duration))
        - place.share(at: Double(start) / Double(duration))) * scale
    }
    let ticks = Double(end - start)
    if let duration { return ticks * Double(size - first.pos) / Double(duration) }
    // The bytes read so far give a better estimate than the beginning alone.
    guard known.timestamp - first.timestamp > 100 * step else {
      return ticks / Double(step) * meanSize
    }
    return ticks * Double(known.pos - first.pos) / Double(known.timestamp - first.timestamp)
  }

  /// Reads the table from the packet before the first audible one.
  private func readTable() -> MP3Table? {
    let start = max(0, first.pos - Int64(MP3Tag.frameLimit))
    let window = read(from: start)
    return MP3Table(Array(window.prefix(Int(first.pos - start))))
  }
}

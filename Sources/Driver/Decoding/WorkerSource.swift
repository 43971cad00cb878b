package import Audio
package import Clock
package import FFmpegSource
package import Sender

/// A file, an address or a stream that a separate process demuxes and decodes. Its answers are checked: an impossible
/// length, format or number ends the item.
package final class WorkerSource: MediaSource {
  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless: Bool
  package let frameCount: Int64?
  package let isSeekable: Bool
  package let supply: Supply
  package private(set) var estimatedFrameCount: Int64?
  package private(set) var metadata = ItemMetadata()
  private var wasReusable = false

  private let link: WorkerLink
  private let gate: (any SourceGate)?

  /// - Throws: `MediaError`, also if the process crashes or hangs on the file.
  package convenience init(
    path: String, workers: MediaWorkers = .shared, interruption: ReadInterruption
  ) throws(MediaError) {
    let file = try MediaFile(path: path)
    let link = try WorkerLink(path, workers: workers, interruption: interruption, gate: nil)
    let answer = try link.open(.openFile(name: path), descriptor: file.descriptor)
    try self.init(link, nil, answer)
  }

  /// - Parameters:
  ///   - reach: the addresses to which it may lead, including redirects and lists.
  ///   - secretAddress: makes the address of an item whose location is none.
  ///   - keeping: keeps a station; nil if none is kept.
  package convenience init(
    url: String, reach: SourceReach = .all, workers: MediaWorkers = .shared,
    settings: NetworkSettings = .init(),
    secretAddress: (() throws(MediaError) -> String)? = nil, keeping: StationKeeping? = nil,
    interruption: ReadInterruption, report: @escaping @Sendable (SourceNotice) -> Void
  ) throws(MediaError) {
    let gate = try NetworkGate(
      url, reach: reach, settings: settings, secretAddress: secretAddress, keeping: keeping,
      interruption: interruption, report: report)
    let link = try WorkerLink(url, workers: workers, interruption: interruption, gate: gate)
    try self.init(link, gate, link.open(.openAddress(url), descriptor: nil))
  }

  /// - Parameter bytes: which a program feeds.
  package convenience init(
    _ bytes: FedBytes, workers: MediaWorkers = .shared, interruption: ReadInterruption
  ) throws(MediaError) {
    let gate = FedGate(bytes, interruption: interruption)
    let link = try WorkerLink(
      bytes.name, workers: workers, interruption: interruption, gate: gate)
    try self.init(link, gate, link.open(.openAddress(bytes.name), descriptor: nil))
  }

  /// A stream that is read from its beginning to its end.
  ///
  /// - Parameters:
  ///   - descriptor: stays open; it belongs to the caller.
  ///   - rawFormat: the format of the samples; nil if a header tells it.
  package convenience init(
    descriptor: Int32, rawFormat: RawFormat?, workers: MediaWorkers = .shared,
    interruption: ReadInterruption
  ) throws(MediaError) {
    let gate = DescriptorGate(descriptor: descriptor, interruption: interruption)
    let link = try WorkerLink(
      StreamSource.standardInput, workers: workers, interruption: interruption, gate: gate)
    try self.init(link, gate, link.open(.openStream(rawFormat), descriptor: nil))
  }

  private init(
    _ link: WorkerLink, _ gate: (any SourceGate)?, _ answer: MediaAnswer
  ) throws(MediaError) {
    guard case .opened(let info, let state) = answer else { throw link.talksNonsense() }
    (self.link, self.gate) = (link, gate)
    format = info.format
    sampleType = info.sampleType
    isLossless = info.isLossless
    frameCount = info.frameCount
    isSeekable = info.isSeekable
    supply = info.supply
    note(state)
  }

  /// Longest silence of the process.
  package var timeout: Duration {
    get { link.timeout }
    set { link.timeout = newValue }
  }
  /// The process that decodes the item; nil once it has ended.
  package var process: Int32? { link.process }

  package var isReusable: Bool { wasReusable && link.isAlive && gate?.isCurrent ?? true }

  private func note(_ state: MediaState) {
    estimatedFrameCount = state.estimatedFrameCount
    wasReusable = state.isReusable
    if let metadata = state.metadata { self.metadata = metadata }
  }

  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    guard count > 0 else { return }
    let wanted = min(count, DecoderMessage.frameLimit)
    guard case .frames(let bytes, let failure, let state) = try link.ask(.read(count: wanted)),
      bytes.count % (MemoryLayout<Float>.size * format.channelCount) == 0,
      bytes.count <= wanted * format.channelCount * MemoryLayout<Float>.size
    else { throw link.talksNonsense() }
    note(state)
    frames.append(samples: bytes)
    if let failure { throw failure.error(of: link.location) }
  }

  package func place(near position: MediaDuration) -> MediaDuration {
    gate?.place(near: position) ?? position
  }

  package func seek(toFrame frame: Int64) throws(MediaError) {
    let answer = try link.opening { () throws(MediaError) in try link.ask(.seek(frame: frame)) }
    guard case .done(let state) = answer else { throw link.talksNonsense() }
    note(state)
  }

  package func packets() throws(PassObstacle) -> any PacketSource {
    let answer: MediaAnswer
    do throws(MediaError) {
      answer = try link.opening { () throws(MediaError) in try link.ask(.packets) }
    } catch {
      throw .unreadable(error)
    }
    switch answer {
    case .packets(let format, let position):
      guard format.audio == self.format else { throw .unreadable(link.talksNonsense()) }
      return WorkerPackets(link, format, position)
    case .obstacle(let obstacle): throw obstacle.obstacle(of: link.location)
    default: throw .unreadable(link.talksNonsense())
    }
  }
}

/// The packets of such an item.
private final class WorkerPackets: PacketSource {
  let format: StreamFormat
  private(set) var position: Int64
  private let link: WorkerLink

  init(_ link: WorkerLink, _ format: StreamFormat, _ position: Int64) {
    (self.link, self.format, self.position) = (link, format, position)
  }

  func next() throws(MediaError) -> EncodedPacket? { try take(link.ask(.nextPacket)) }

  func seek(toFrame frame: Int64) throws(MediaError) {
    let answer = try link.opening { () throws(MediaError) in
      try link.ask(.seekPackets(frame: frame))
    }
    _ = try take(answer)
  }

  private func take(_ answer: MediaAnswer) throws(MediaError) -> EncodedPacket? {
    guard case .packet(let packet, let position) = answer else { throw link.talksNonsense() }
    self.position = position
    return packet
  }
}

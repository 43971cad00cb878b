package import Audio
package import Clock
import WireProtocol

/// Carries out production orders: opens items, reads them, encodes, and gives packets their media times. Consecutive
/// items of one format share an encoder, so that they join without a gap. Used by one thread at a time; opening and
/// reading may block on files.
package final class Serializer {
  package typealias OpenSource = (PlayItem) throws(MediaError) -> any MediaSource
  /// Returns a source with the effects applied to its sound.
  package typealias ApplyEffects =
    (any MediaSource, ProductionOrder.Beginning) -> any MediaSource
  /// Returns the place at which somebody has left an item; nil if it begins at its beginning.
  package typealias KeptPlace = (PlayItem) -> MediaDuration?
  package typealias MakeEncoder = (SourceShape) throws(CodecError) -> any AudioEncoder

  /// Takes the end of the item before, which is needed before the next item is open. Returns false if it does not
  /// take it; that part then comes with the rest of the batch.
  package var giveEarly: (ProducedBatch) -> Bool = { _ in false }
  /// Returns true if an order waits that makes everything from a media time on obsolete. The portion under way ends there:
  /// whoever gave the order would wait for seconds of audio that nobody hears to be read, changed and encoded.
  package var isObsolete: (MediaTime) -> Bool = { _ in false }
  /// Frames of one read, and reads per second of a live source, whose packets are to leave as soon as their last
  /// frame has come.
  static let readFrames = 4096
  private static let livePacketsPerSecond = 400

  /// True if packets of items may be passed on as they are.
  let passesPackets: Bool
  private let openSource: OpenSource
  private let changesAll: Bool
  private let applyEffects: ApplyEffects
  private let makeEncoder: MakeEncoder
  private let keptPlace: KeptPlace
  private(set) var generation: UInt32 = 0
  var source: (any MediaSource)?
  /// The packets of `source`, if they are passed on.
  var packets: (any PacketSource)?
  private var item: PlayItem?
  /// The source opened last, without effects, if it is worth keeping.
  private var kept: (location: String, source: any MediaSource)?
  /// The codecs that the rooms decode.
  private var codecs = CodecSet.all
  /// The latest description of the item, and the media time from which on it holds.
  private var opened: (item: OpenedItem, start: MediaTime)?
  private(set) var run: EncoderRun?
  /// The end of the item under way, as far as it was read; or of the item before, while nothing follows it.
  var held: HeldEnd?
  /// The item before, while it fades out over the one under way.
  var overlap: Overlap?
  /// Seconds over which items fade into each other.
  private(set) var crossfade = 0.0
  /// The run of packets that are passed on, in the place of `run`.
  var passedRun: PacketRun?
  private var nextFormatID: UInt16 = 0
  var steps: [ProducedBatch.Step] = []

  /// True if the audio that it makes is heard a moment later.
  package var isLive: Bool { source?.live != nil }

  /// - Parameters:
  ///   - passesPackets: true to pass on items as they are if all rooms decode their codec.
  ///   - changesAll: true if `applyEffects` changes the sound even if the effects change nothing.
  package init(
    passesPackets: Bool = false, openSource: @escaping OpenSource, changesAll: Bool = false,
    applyEffects: @escaping ApplyEffects = { source, _ in source },
    keptPlace: @escaping KeptPlace = { _ in nil },
    makeEncoder: @escaping MakeEncoder
  ) {
    self.passesPackets = passesPackets
    self.openSource = openSource
    self.changesAll = changesAll
    self.applyEffects = applyEffects
    self.keptPlace = keptPlace
    self.makeEncoder = makeEncoder
  }

  package func produce(_ order: ProductionOrder) -> ProducedBatch {
    steps.removeAll(keepingCapacity: true)
    switch order {
    case .begin(let beginning): begin(beginning)
    case .more(let span, let generation) where generation == self.generation: more(span)
    case .finish(let generation) where generation == self.generation: finish()
    case .recode(let codecs, let generation) where generation == self.generation:
      recode(for: codecs)
    case .more, .finish, .recode: break
    case .leave(let time, let generation, let fading):
      forgetSource()
      // A station would be read on.
      if kept?.source.isKept ?? false { kept = nil }
      forgetEnd()
      leaveRun(before: time)
      self.generation = generation
      var end = time
      if let fading { held = reopen(fading, at: &end) }
      steps.append(.itemEnded(at: end))
    }
    return ProducedBatch(
      generation: generation, steps: steps, heldLatency: source?.heldLatency)
  }

  private func begin(_ beginning: ProductionOrder.Beginning) {
    let continues = beginning.continues && beginning.generation == generation
    let end = continues ? takeEnd() : nil
    let before = listened(by: beginning.item)
    defer { withExtendedLifetime(before) {} }
    forgetSource()
    if !continues {
      forgetEnd()
      leaveRun(before: beginning.mediaTime)
      if !steps.isEmpty, generation != beginning.generation,
        giveEarly(ProducedBatch(generation: generation, steps: steps))
      {
        steps.removeAll(keepingCapacity: true)
      }
    }
    generation = beginning.generation
    item = beginning.item
    codecs = beginning.codecs
    crossfade = beginning.effects.crossfade
    var start = beginning.mediaTime
    held = end
    if let fading = beginning.fading { held = reopen(fading, at: &start) }
    var beginning = beginning
    let place = beginning.resumes ? keptPlace(beginning.item) : nil
    if let place { beginning.position = place + beginning.position }
    do {
      var opened = try open(beginning)
      if let place, let end = opened.duration, place >= end {
        // It is shorter than it was when somebody left it.
        beginning.position = .zero
        opened = try open(beginning)
      }
      // An item that is not seekable begins at its beginning: a caller that asks for another place does not know
      // that yet.
      var position = opened.isSeekable ? beginning.position : .zero
      if position > .zero { position = opened.place(near: position) }
      let frame = opened.format.frames(in: position)
      // The packets of a station come from where its frames do.
      if opened.isKept, frame > 0 { try opened.seek(toFrame: frame) }
      source = opened
      join(opened, at: frame, beginning, &start)
      let choice = try takeUp(
        opened, at: frame, &start, isRecoding: beginning.isRecoding && held == nil)
      var described = OpenedItem(
        item: beginning.item, duration: opened.duration, position: position,
        isSeekable: opened.isSeekable, metadata: metadata(of: opened, for: beginning.item),
        rate: opened.rate,
        wire: choice, supply: opened.supply, live: opened.live)
      described.fade = beginOverlap(at: start, beginning.fading)
      held = HeldEnd(of: opened, from: frame, described, at: start, seconds: crossfade)
      described.fadeOut = held?.length ?? .zero
      self.opened = (described, start)
      steps.append(.opened(described, at: start))
    } catch let error as MediaError {
      fail(error, at: start)
    } catch {
      fail(.unsupported(path: beginning.item.location, reason: "\(error)"), at: start)
    }
  }

  /// Returns the source of an item, with its effects.
  func open(_ beginning: ProductionOrder.Beginning) throws -> any MediaSource {
    let isChanged = changesAll || !beginning.effects.changesNothing
    let opened = try take(beginning).opened(
      at: beginning.position, in: beginning.generation, keepsFormat: isChanged)
    return isChanged ? applyEffects(opened, beginning) : opened
  }

  /// `source` has ended: the item has ended too, or goes on in another format.
  func end(_ source: any MediaSource, at end: MediaTime) {
    (self.source, packets) = (nil, nil)
    finishOverlap()
    guard let item, let opened, let next = source.successor() else {
      return steps.append(.itemEnded(at: run?.inputEnd ?? end))
    }
    releaseEnd()
    var time = run?.inputEnd ?? end
    do {
      self.source = next
      let position = opened.item.position(after: time - opened.start)
      note(try takeUp(next, at: next.format.frames(in: position), &time), of: next, at: time)
    } catch let error as MediaError {
      fail(error, at: time)
    } catch {
      fail(.unsupported(path: item.location, reason: "\(error)"), at: time)
    }
  }

  /// Returns a source for the item. Reuses the one kept for a seek, if opening another would take long.
  private func take(_ beginning: ProductionOrder.Beginning) throws -> any MediaSource {
    let location = beginning.item.location
    if beginning.position > .zero, let kept, kept.location == location, kept.source.isReusable {
      return kept.source
    }
    kept = nil
    let opened = try openSource(beginning.item)
    if opened.isReusable { kept = (location, opened) }
    return opened
  }

  /// Continues the run if the new item has the shape of the last; else ends it and begins another. `time` becomes
  /// where the item really begins: not before the end of what the encoder still held back. Returns the codec.
  func continueRun(
    with source: any MediaSource, at time: inout MediaTime, leadIn: MediaDuration = .zero
  ) throws(CodecError) -> Codec {
    let shape = SourceShape(source, codecs)
    if let run, run.shape == shape {
      time = run.inputEnd
      return run.codec
    }
    if let end = endRun(endsStream: false) { time = max(end, time) }
    let encoder = try makeEncoder(shape)
    let begun = EncoderRun(
      shape: shape, encoder: encoder, formatID: announce(encoder.format), generation: generation,
      start: time, leadIn: leadIn)
    time = begun.start
    run = begun
    return begun.codec
  }

  /// Announces a format. Returns its number for the packets that follow.
  func announce(_ format: StreamFormat) -> UInt16 {
    defer { nextFormatID = (nextFormatID + 1) % UInt16(ProtocolLimits.formats) }
    steps.append(.format(id: nextFormatID, format))
    return nextFormatID
  }

  private func recode(for codecs: CodecSet) {
    self.codecs = codecs
    guard let source, passedRun != nil || run != nil else { return }
    encodeOn(source)
  }

  /// Reports in which codec the item under way continues.
  func note(_ choice: WireChoice, of source: any MediaSource, at time: MediaTime) {
    guard let opened, opened.item.wire != choice else { return }
    var item = opened.item
    (item.wire, item.metadata) = (choice, metadata(of: source, for: item.item))
    item.fade = nil
    item.position = item.position(after: time - opened.start)
    self.opened = (item, time)
    steps.append(.metadata(item, at: time))
  }

  /// True if all rooms decode the codec.
  func isDecodable(_ codec: Codec) -> Bool { codecs.contains(codec) }

  /// Returns the source under way if it listens to an input that this item listens to as well. It is kept until the item
  /// does: else the input would be closed and opened again, and a card that is still being closed is busy.
  private func listened(by next: PlayItem) -> (any MediaSource)? {
    source?.supply == .input && item?.location == next.location ? source : nil
  }

  private func forgetSource() {
    source = nil
    packets = nil
  }

  private func more(_ span: MediaDuration) {
    if packets != nil { return passMore(span) }
    guard let source, let begun = run else { return }
    let goal = begun.inputEnd + span
    let count =
      begun.shape.isLive
      ? max(1, source.format.sampleRate / Self.livePacketsPerSecond) : Self.readFrames
    var frames: [Float] = []
    do {
      while let time = run?.inputEnd, time < goal, !isObsolete(time) {
        frames.removeAll(keepingCapacity: true)
        try source.read(count, appendingTo: &frames)
        if frames.isEmpty { return end(source, at: time) }
        noteMetadata(of: source, at: time)
        fade(&frames)
        try write(frames)
        if source.mayWait { break }
      }
    } catch let error as MediaError {
      releaseEnd()
      fail(error, at: run?.inputEnd ?? begun.inputEnd)
    } catch {
      let time = run?.inputEnd ?? begun.inputEnd
      run = nil
      forgetEnd()
      fail(.unsupported(path: item?.location ?? "", reason: "\(error)"), at: time)
    }
  }

  private func write(_ frames: [Float]) throws(CodecError) {
    for packet in try run?.encode(frames) ?? [] { steps.append(.packet(packet)) }
  }

  /// Encodes frames of an item that has ended. If the encoder fails, they are missing, and the next item begins a run.
  func encode(_ frames: [Float]) {
    guard !frames.isEmpty else { return }
    do { try write(frames) } catch { run = nil }
  }

  /// Ends the run, because everything from `time` on is produced anew. Still gives what the encoder holds back of
  /// the time before: it is part of an item that plays on to its end.
  private func leaveRun(before time: MediaTime) {
    if let last = passedRun?.finish(endsStream: false), last.mediaTime < time {
      steps.append(.packet(last))
    }
    passedRun = nil
    guard var left = run else { return }
    run = nil
    // If the encoder fails here, a few milliseconds are missing before the cut, and nobody can do anything.
    let packets = (try? left.finish(endsStream: false)) ?? []
    for packet in packets where packet.mediaTime < time { steps.append(.packet(packet)) }
  }

  /// Reports new metadata, such as the title that a radio station plays now.
  func noteMetadata(of source: any MediaSource, at time: MediaTime) {
    guard let opened else { return }
    let metadata = metadata(of: source, for: opened.item.item)
    guard metadata != opened.item.metadata else { return }
    var item = opened.item
    (item.metadata, item.fade) = (metadata, nil)
    item.position = item.position(after: time - opened.start)
    self.opened = (item, time)
    steps.append(.metadata(item, at: time))
  }

  /// Returns the metadata of the source, with the title of the list if the source has none.
  private func metadata(of source: any MediaSource, for item: PlayItem) -> ItemMetadata {
    var metadata = source.metadata
    if metadata.title?.isEmpty ?? true { metadata.title = item.title }
    return metadata
  }

  private func finish() {
    releaseEnd()
    forgetSource()
    kept = nil
    let before = run?.inputEnd ?? .zero
    steps.append(.finished(at: endRun(endsStream: true) ?? before))
  }

  /// Ends the run and gives what it held back. Returns the end of the run; nil if there was none.
  func endRun(endsStream: Bool) -> MediaTime? {
    if var ending = passedRun {
      passedRun = nil
      if let last = ending.finish(endsStream: endsStream) { steps.append(.packet(last)) }
      return ending.end
    }
    guard var ending = run else { return nil }
    run = nil
    do {
      for packet in try ending.finish(endsStream: endsStream) { steps.append(.packet(packet)) }
    } catch {
      let location = item?.location ?? ""
      if let item {
        steps.append(
          .failed(item, .broken(path: location, reason: "\(error)"), at: ending.inputEnd))
      }
    }
    return max(ending.outputEnd, ending.inputEnd)
  }

  func fail(_ error: MediaError, at time: MediaTime) {
    forgetSource()
    kept = nil
    guard let item else { return }
    steps.append(.failed(item, error, at: time))
  }
}

/// The properties in which two items must agree to share an encoder.
package struct SourceShape: Hashable, Sendable {
  package var format: AudioFormat
  package var sampleType: SampleType
  package var isLossless: Bool
  /// The codecs that the rooms decode.
  package var codecs: CodecSet
  /// True if each packet must fit into a datagram and cover little time.
  package var isLive: Bool
  /// True for the encoding that rooms with weak links get.
  package var isSmall = false

  package init(
    format: AudioFormat, sampleType: SampleType, isLossless: Bool, codecs: CodecSet = .all,
    isLive: Bool = false
  ) {
    self.isLive = isLive
    self.codecs = codecs
    self.format = format
    self.sampleType = sampleType
    self.isLossless = isLossless
  }

  init(_ source: any MediaSource, _ codecs: CodecSet) {
    self.init(
      format: source.format, sampleType: source.sampleType, isLossless: source.isLossless,
      codecs: codecs, isLive: source.live != nil)
  }
}

extension MediaSource {
  /// The duration, exact or estimated; nil if it is not known, or if the item claims more than media time can count.
  fileprivate var duration: MediaDuration? {
    let frame = format.duration(ofFrames: 1).flicks
    let longest = ProtocolLimits.mediaTime.upperBound / frame
    return (frameCount ?? estimatedFrameCount).flatMap {
      (0...longest).contains($0) ? MediaDuration(flicks: $0 * frame) : nil
    }
  }
}

extension AudioFormat {
  /// Returns the number of frames that begin before `span` has passed.
  func frames(in span: MediaDuration) -> Int64 {
    let frame = duration(ofFrames: 1).flicks
    return max(0, (span.flicks + frame - 1) / frame)
  }
}

import Audio
import Clock

/// Lets the end of an item fade out while the next one fades in.
extension Serializer {
  /// Applies the fades to frames that were read. Leaves in `frames` those to encode now.
  func fade(_ frames: inout [Float]) {
    if overlap != nil {
      overlap?.mix(into: &frames)
      if overlap?.isOver ?? true { overlap = nil }
    }
    held?.hold(&frames)
  }

  /// Gives what is left of an item that fades out, and the end that was held back. Nothing follows that could fade in.
  func releaseEnd() {
    if var overlap { encode(overlap.rest()) }
    if let held { encode(held.samples) }
    forgetEnd()
  }

  /// Forgets what was not given of items that nobody hears any more.
  func forgetEnd() { (overlap, held) = (nil, nil) }

  /// Returns the end that the next item may fade in over; an item of which nothing was read gives back the one before
  /// it.
  func takeEnd() -> HeldEnd? {
    defer { forgetEnd() }
    guard source != nil else {
      finishOverlap()
      return held
    }
    if let overlap, overlap.isUntouched { return overlap.end }
    releaseEnd()
    return nil
  }

  /// The item has ended before the one that fades out.
  func finishOverlap() {
    if var overlap { encode(overlap.rest()) }
    overlap = nil
  }

  /// Reads the end of an item again, because it is to fade anew. Returns nil, and the next item begins alone, if it
  /// cannot be read. `time` becomes where it really begins.
  func reopen(_ fading: ProductionOrder.Fading, at time: inout MediaTime) -> HeldEnd? {
    var beginning = ProductionOrder.Beginning(
      item: fading.item, position: fading.position, mediaTime: time, generation: generation,
      continues: false)
    (beginning.effects, beginning.neighbours) = (fading.effects, fading.neighbours)
    do {
      let source = try open(beginning)
      guard source.isSeekable else { return nil }
      try source.seek(toFrame: source.format.frames(in: fading.position))
      let samples = try read(source.format.frames(in: fading.span), of: source)
      _ = try continueRun(with: source, at: &time)
      var opened = OpenedItem(
        item: fading.item, duration: nil, position: fading.position, isSeekable: true,
        metadata: source.metadata)
      opened.rate = source.rate
      return HeldEnd(opened, at: time, source.format, samples: samples)
    } catch {
      return nil
    }
  }

  /// Reads so many frames, or as many as there are.
  private func read(_ count: Int64, of source: any MediaSource) throws(MediaError) -> [Float] {
    let channels = source.format.channelCount
    let limit = min(Int(clamping: count), HeldEnd.sampleLimit / channels)
    var samples: [Float] = []
    samples.reserveCapacity(limit * channels)
    while samples.count < limit * channels {
      let before = samples.count
      let wanted = min(Self.readFrames, limit - before / channels)
      try source.read(wanted, appendingTo: &samples)
      if samples.count == before { break }
    }
    return samples
  }

  /// Gives so much of the end before the next item as does not sound together with it. What is left of it in `held`
  /// does.
  func join(
    _ next: any MediaSource, at frame: Int64, _ beginning: ProductionOrder.Beginning,
    _ time: inout MediaTime
  ) {
    guard let end = held else { return }
    let frames = overlapFrames(of: end, with: next, at: frame, beginning)
    encode(held?.keep(frames: frames) ?? [])
    if frames == 0 { held = nil }
    time = run?.inputEnd ?? time
  }

  private func overlapFrames(
    of end: HeldEnd, with next: any MediaSource, at frame: Int64,
    _ beginning: ProductionOrder.Beginning
  ) -> Int {
    guard next.format == end.format, next.mayFade else { return 0 }
    if beginning.fading?.elapsed ?? .zero > .zero { return end.frameCount }
    guard beginning.item.id != end.opened.item.id,
      !end.opened.metadata.isFollowed(by: next.metadata),
      let limit = next.fadeLimit(from: frame, seconds: beginning.effects.crossfade)
    else { return 0 }
    return min(limit, end.frameCount)
  }

  /// The next item is taken up: what is left of the end fades out from `time` on. Returns how, for the session.
  func beginOverlap(at time: MediaTime, _ fading: ProductionOrder.Fading?) -> OpenedItem.Fade? {
    guard let end = held, end.frameCount > 0 else { return nil }
    let elapsed = fading?.elapsed ?? .zero
    let overlap = Overlap(end, elapsed: Int(clamping: end.format.frames(in: elapsed)))
    (self.overlap, held) = (overlap, nil)
    return OpenedItem.Fade(
      item: end.opened.item, position: end.opened.position(after: time - end.start),
      rate: end.opened.rate, length: end.format.duration(ofFrames: end.frameCount),
      elapsed: elapsed)
  }
}

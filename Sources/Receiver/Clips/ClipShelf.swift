import Audio
import Clock
import WireProtocol

/// The clips that a room holds: takes them piece by piece, decodes them into their own ring, and says how far it is. A
/// clip whose time was told needs no sender any more.
struct ClipShelf {
  /// The longest time from the end of a clip until its last frame has left the sound device.
  private static let tail = Nanoseconds.seconds(1)
  /// Decoded audio that makes a clip ready.
  private static let startThreshold = MediaDuration.milliseconds(100)
  /// How much earlier than needed decoding begins where a device comes back in the middle of a clip.
  private static let preroll = MediaDuration.milliseconds(100)

  private struct Held {
    let offer: ClipOffer
    /// As the render thread numbers it.
    let number: UInt32
    /// Its place in the clips' own media time, a whole second, so that it is a whole frame at each rate.
    let from: MediaTime
    var bytes: [UInt8] = []
    /// Nil until all pieces are here.
    var packets: [EncodedPacket]?
    var frameCount = 0
    /// The packet to decode next, and the frames of those before it.
    var next = 0
    var decoded = 0
    var rendered: RenderedClip?
    /// When it is dropped, whatever happens.
    var over: LocalTime
    var refusal: String?
    var told: ClipState?

    var length: MediaDuration { offer.format.audio.duration(ofFrames: frameCount) }

    var isDecoded: Bool { packets.map { next >= $0.count } ?? false }

    /// True if enough of it is decoded to begin.
    var isPrepared: Bool {
      isDecoded || offer.format.audio.duration(ofFrames: decoded) >= ClipShelf.startThreshold
    }
  }

  private let makeDecoder: DecodeStage.MakeDecoder
  private var held: [Held] = []
  private var count: UInt32 = 0
  private var nextPlace = MediaTime.zero
  private var stage: DecodeStage?
  /// True if a packet should be decoded at once.
  private(set) var hasMore = false

  init(makeDecoder: @escaping DecodeStage.MakeDecoder) { self.makeDecoder = makeDecoder }

  var isEmpty: Bool { held.isEmpty }

  /// The gain of the loudest clip whose time was told; nil if there is none.
  var loudestGain: Float? { held.compactMap(\.rendered?.gain).max() }

  /// The rate at which a sound device is best opened for them, in Hz; nil if there are none.
  var sampleRate: Int? { held.first?.offer.format.audio.sampleRate }

  var nextDeadline: LocalTime? { held.map(\.over).min() }

  // MARK: - What the sender says

  mutating func offered(_ offer: ClipOffer, at now: LocalTime) -> [Playout.Step] {
    if let known = held.first(where: { $0.offer.number == offer.number }) {
      // The sender has come back, and the clip is to sound already.
      guard known.rendered == nil else { return [] }
    }
    let steps = remove { $0.offer.number == offer.number }
    guard held.count < ProtocolLimits.heldClips else {
      let state = ClipState(
        number: offer.number, received: 0, stage: .refused, detail: "it holds too many clips")
      return steps + [.clipState(state)]
    }
    count += 1
    held.append(
      Held(offer: offer, number: count, from: nextPlace, over: now + ProtocolLimits.clipWait))
    nextPlace += ProtocolLimits.clipSpan + .seconds(1)
    return steps
  }

  mutating func received(_ piece: ClipPiece) {
    guard let index = held.firstIndex(where: { $0.offer.number == piece.number }),
      held[index].packets == nil, held[index].refusal == nil
    else { return }
    let offer = held[index].offer
    guard piece.offset == held[index].bytes.count,
      piece.offset + piece.bytes.count <= offer.byteCount
    else {
      held[index].refusal = "its pieces came out of order"
      return
    }
    held[index].bytes += piece.bytes
    guard held[index].bytes.count == offer.byteCount else { return }
    do throws(DecodeError) {
      let packets = try Clip(format: offer.format, bytes: held[index].bytes).packets()
      held[index].packets = packets
      held[index].frameCount = packets.reduce(0) { $0 + $1.frameCount }
      if held[index].frameCount == 0 { held[index].refusal = "it has no sound" }
      hasMore = true
    } catch {
      held[index].refusal = "\(error)"
    }
  }

  /// Takes a clip's time, or withdraws it. `groupTime` is the present time of the sender; nil if it is not known.
  mutating func timed(
    _ time: ClipTime, _ groupTime: GroupTime?, settings: RoomSettings, at now: LocalTime
  ) -> [Playout.Step] {
    guard let begins = time.begins else { return remove { $0.offer.number == time.number } }
    guard let index = held.firstIndex(where: { $0.offer.number == time.number }),
      held[index].packets != nil, held[index].refusal == nil
    else { return [] }
    let wait = groupTime.map { begins - $0 } ?? .zero
    guard wait <= ProtocolLimits.clipWait else {
      held[index].refusal = "its time is too far ahead"
      return []
    }
    let clip = held[index]
    let length = Nanoseconds(clip.length)
    let rendered = RenderedClip(
      number: clip.number, from: clip.from, until: clip.from + clip.length, begins: begins,
      ends: begins + length,
      gain: clip.offer.volume.map(settings.gain(ofSpeech:)) ?? settings.gainOfSpeech,
      musicGain: perceivedGain(volume: clip.offer.musicVolume, isMuted: false),
      ramp: clip.offer.ramp)
    held[index].rendered = rendered
    held[index].over = now + max(wait, .zero) + length + clip.offer.ramp + Self.tail
    return [.render(.clip(rendered))]
  }

  /// Drops clips without a time: they will get none.
  mutating func senderGone() -> [Playout.Step] { remove { $0.rendered == nil } }

  mutating func removeAll() -> [Playout.Step] { remove { _ in true } }

  private mutating func remove(_ isMeant: (Held) -> Bool) -> [Playout.Step] {
    let gone = held.filter(isMeant)
    guard !gone.isEmpty else { return [] }
    held.removeAll(where: isMeant)
    // A later clip begins a run of its own.
    if gone.contains(where: { $0.next > 0 && !$0.isDecoded }) { stage?.reset() }
    return gone.map { .render(.endClip($0.number)) }
  }

  // MARK: - The sound device

  /// Decodes into this ring from now on, from what is to sound now.
  mutating func opened(_ ring: FrameRing, _ device: AudioFormat, groupTime: GroupTime?) {
    stage = DecodeStage(makeDecoder: makeDecoder, ring: ring, device: device)
    hasMore = !held.isEmpty
    for index in held.indices {
      (held[index].next, held[index].decoded) = (0, 0)
      guard let rendered = held[index].rendered, let groupTime else { continue }
      skip(in: index, to: MediaDuration(groupTime - rendered.begins) - Self.preroll)
    }
  }

  private mutating func skip(in index: Int, to position: MediaDuration) {
    let clip = held[index]
    for packet in clip.packets ?? [] {
      let end = clip.offer.format.audio.duration(
        ofFrames: held[index].decoded + packet.frameCount)
      guard end < position else { return }
      held[index].next += 1
      held[index].decoded += packet.frameCount
    }
  }

  mutating func closed() { stage = nil }

  /// The commands that bring a new render thread up to date.
  var commandsForNewDevice: [RenderCommand] {
    held.compactMap(\.rendered).map { .clip($0) }
  }

  // MARK: - Time

  /// Decodes what there is space for, drops what is over, and says what is news.
  mutating func advance(
    to now: LocalTime, isReady: Bool, trouble: String?
  ) -> [Playout.Step] {
    var steps = remove { $0.over <= now }
    decode()
    for index in held.indices {
      let state = state(of: held[index], isReady: isReady, trouble: trouble)
      guard state != held[index].told else { continue }
      held[index].told = state
      steps.append(.clipState(state))
    }
    return steps + remove { $0.told?.stage == .refused }
  }

  private func state(of clip: Held, isReady: Bool, trouble: String?) -> ClipState {
    let refusal = clip.refusal ?? (clip.rendered == nil ? trouble : nil)
    let stage: ClipState.Stage =
      if refusal != nil { .refused } else if clip.rendered != nil || isReady && clip.isPrepared {
        .ready
      } else { .taking }
    return ClipState(
      number: clip.offer.number, received: clip.bytes.count, stage: stage, detail: refusal ?? "")
  }

  private mutating func decode() {
    hasMore = false
    guard let stage else { return }
    var left = Playout.decodeSlice
    for index in held.indices where held[index].packets != nil && held[index].refusal == nil {
      while !held[index].isDecoded {
        guard stage.isReadyForMore() else { return }
        guard left > 0 else {
          hasMore = true
          return
        }
        left -= 1
        decodeNext(of: index, with: stage)
      }
    }
    _ = stage.isReadyForMore()
  }

  private mutating func decodeNext(of index: Int, with stage: DecodeStage) {
    let clip = held[index]
    guard let packets = clip.packets, clip.next < packets.count else { return }
    let (format, encoded) = (clip.offer.format, packets[clip.next])
    let packet = AudioPacket(
      generation: clip.number, sequence: UInt64(clip.next),
      mediaTime: clip.from + format.audio.duration(ofFrames: clip.decoded), formatID: 0,
      startsRun: clip.next == 0, endsStream: clip.next == packets.count - 1, encoded: encoded)
    held[index].next += 1
    held[index].decoded += encoded.frameCount
    do throws(CodecError) {
      try stage.decode(packet, format: format, generation: clip.number)
    } catch {
      held[index].refusal = "it cannot be decoded: \(error)"
    }
  }
}

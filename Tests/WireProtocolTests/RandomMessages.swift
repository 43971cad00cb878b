import Audio
import Clock
import TestSupport
import WireProtocol

/// Messages of every kind, with values from their whole ranges.
extension SplitMix64 {
  private mutating func streamVolume() -> StreamVolume {
    var volume = StreamVolume(volume: pick(ProtocolLimits.volume), isMuted: next() % 2 == 0)
    if next() % 2 == 0 {
      volume.rise = .init(
        begin: GroupTime(nanoseconds: pick(ProtocolLimits.clockTime)),
        span: Nanoseconds(pick(ProtocolLimits.rise)))
    }
    return volume
  }

  mutating func controlMessages() -> [ControlMessage] {
    [
      .hello(hello()), .prove(bytes(32)), .anchor(anchor()), .flush(flush()), .settings(settings()),
      .keepAlive, .sound(sound()),
      .nowPlaying(nowPlaying()), .welcome(welcome()),
      .streamVolume(streamVolume()),
      .refuse(
        Refusal(
          reason: element(Refusal.Reason.allCases), detail: text(atMost: 256),
          term: pick(0...Term.max))),
      .credit(
        Credit(
          limit: pick(ProtocolLimits.count), bufferedUntil: mediaTime(),
          heldBytes: pick(ProtocolLimits.count))),
      .flushed(flushed()), .flushedAutomatically(flushed()), .status(status()),
      .live(element([nil, liveStream()])),
      .liveReport(
        LiveReport(
          received: pick(0...UInt32.max), recovered: pick(0...UInt32.max),
          concealed: pick(0...UInt32.max),
          leastMargin: Nanoseconds(pick(ProtocolLimits.difference)))),
      .clip(
        ClipOffer(
          number: pick(0...UInt32.max), byteCount: Int(pick(1...UInt32(ProtocolLimits.clip))),
          volume: element([nil, pick(1...1000)]), musicVolume: pick(ProtocolLimits.volume),
          ramp: Nanoseconds(pick(ProtocolLimits.clipRamp)), format: format())),
      .clipPiece(
        ClipPiece(
          number: pick(0...UInt32.max), offset: Int(pick(0...UInt32(ProtocolLimits.clip))),
          bytes: bytes(Int(pick(1...UInt32(300)))))),
      .clipTime(ClipTime(number: pick(0...UInt32.max), begins: element([nil, groupTime()]))),
      .clipState(
        ClipState(
          number: pick(0...UInt32.max), received: Int(pick(0...UInt32(ProtocolLimits.clip))),
          stage: element(ClipState.Stage.allCases), detail: text(atMost: 256))),
      .codecs(Array(Codec.allCases.shuffled(using: &self).prefix(pick(0...9)))),
      .goodbye(
        Goodbye(reason: element(Goodbye.Reason.allCases), detail: text(atMost: 256))),
    ]
  }

  mutating func sound() -> SoundSetting {
    var sound = SoundSetting()
    (sound.isOn, sound.hasLoudness) = (next() % 2 == 0, next() % 2 == 0)
    (sound.hasCrossfeed, sound.usesFIR) = (next() % 2 == 0, next() % 2 == 0)
    sound.bass = Double(Int(pick(0...2_000 as ClosedRange<UInt32>)) - 1_000) / 100
    sound.treble = Double(Int(pick(0...2_000 as ClosedRange<UInt32>)) - 1_000) / 100
    sound.balance = Double(Int(pick(0...200 as ClosedRange<UInt32>)) - 100)
    sound.distance = Double(pick(0...30_000 as ClosedRange<UInt32>)) / 1_000
    if next() % 2 == 0 {
      sound.crossover = Crossover(
        element(Crossover.Part.allCases),
        frequency: Double(pick(200...10_000 as ClosedRange<UInt32>)) / 10)
    }
    sound.bands = (0..<Int(pick(0...8 as ClosedRange<UInt32>))).map { _ in
      SoundBand(
        element(SoundBand.Kind.allCases),
        frequency: Double(pick(200...200_000 as ClosedRange<UInt32>)) / 10,
        gain: Double(Int(pick(0...2_400 as ClosedRange<UInt32>)) - 1_200) / 100,
        q: Double(pick(10...1_000 as ClosedRange<UInt32>)) / 100)
    }
    return sound
  }

  mutating func mediaMessages() -> [MediaMessage] {
    [
      .attach(session: next()),
      .format(id: pick(0...255), format()),
      .packet(packet()), .artwork(artworkPiece()),
    ]
  }

  mutating func pairingMessages() -> [PairingMessage] {
    [
      .request(name: text(atMost: 64)), .share(bytes(65)), .confirm(bytes(32)), .unpair,
      .salt(bytes(16)), .answer(share: bytes(65), confirm: bytes(32)),
      .paired(name: text(atMost: 64)),
      .household(name: text(atMost: 64), key: bytes(pick(1...PairingMessage.keyLimit))),
      .refused(
        PairingRefusal(
          reason: element(PairingRefusal.Reason.allCases), wait: pick(0...UInt32.max),
          detail: text(atMost: 256))),
      .unpaired, .sayPIN, .sayingPIN,
    ]
  }

  mutating func timePackets() -> [TimePacket] {
    let request = TimeRequest(
      clockID: next(), keyID: pick(0...UInt32.max), sequence: pick(0...UInt32.max),
      sentAt: localTime())
    let stamp = TimeAnswer.TransmitStamp(sequence: pick(0...UInt32.max), sentAt: groupTime())
    let answer = TimeAnswer(
      clockID: next(), sequence: pick(0...UInt32.max), requestSentAt: localTime(),
      receivedAt: groupTime(), sentAt: groupTime(),
      previous: Bool.random(using: &self) ? stamp : nil)
    return [.request(request), .answer(answer)]
  }

  mutating func mediaTime() -> MediaTime { MediaTime(flicks: pick(ProtocolLimits.mediaTime)) }
  mutating func groupTime() -> GroupTime { GroupTime(nanoseconds: pick(ProtocolLimits.clockTime)) }
  mutating func localTime() -> LocalTime { LocalTime(nanoseconds: pick(ProtocolLimits.clockTime)) }

  private mutating func liveStream() -> LiveStream {
    LiveStream(
      latency: Nanoseconds(pick(1...ProtocolLimits.liveLatency.upperBound)),
      sampleRate: element(AudioFormat.supportedRates), port: pick(1...UInt16.max), key: bytes(32))
  }

  private mutating func identifier() -> Identifier {
    Identifier(bytes(16)) ?? Identifier.counting(from: 0)
  }

  private mutating func hello() -> Hello {
    Hello(
      version: pick(1...UInt16.max), senderID: identifier(), senderName: text(atMost: 64),
      session: next(), clockID: next(), clockPort: pick(1...UInt16.max),
      takesOver: Bool.random(using: &self), givesBack: Bool.random(using: &self),
      priority: pick(0...UInt8.max), term: pick(0...Term.max))
  }

  private mutating func anchor() -> Anchor {
    Anchor(
      mediaTime: mediaTime(), groupTime: groupTime(), rate: element([.paused, .playing]))
  }

  private mutating func flush() -> Flush {
    Flush(
      from: mediaTime(), generation: pick(ProtocolLimits.generation),
      isRamped: Bool.random(using: &self), isCrossed: Bool.random(using: &self))
  }

  private mutating func nowPlaying() -> NowPlaying {
    let item = ItemDescription(
      title: text(atMost: 512), artist: text(atMost: 512), album: text(atMost: 512),
      track: pick(0...UInt16.max),
      duration: MediaDuration(flicks: pick(ProtocolLimits.mediaTime)),
      artwork: pick(0...UInt32.max))
    return NowPlaying(
      generation: pick(ProtocolLimits.generation), from: mediaTime(),
      item: Bool.random(using: &self) ? item : nil)
  }

  private mutating func artworkPiece() -> ArtworkPiece {
    let bytes = bytes(1 + Int(pick(UInt8(0)...200)))
    let size = Int.random(in: bytes.count...ProtocolLimits.artwork, using: &self)
    return ArtworkPiece(
      number: pick(1...UInt32.max), size: size,
      offset: Int.random(in: 0...size - bytes.count, using: &self), mimeType: text(atMost: 64),
      bytes: bytes)
  }

  private mutating func flushed() -> Flushed {
    Flushed(generation: pick(ProtocolLimits.generation), from: mediaTime())
  }

  private mutating func settings() -> RoomSettings {
    RoomSettings(
      volume: pick(ProtocolLimits.volume), isMuted: Bool.random(using: &self),
      delay: Nanoseconds(pick(ProtocolLimits.roomDelay)),
      channelMap: element(RoomSettings.ChannelMap.allCases),
      volumeLimit: element([
        nil, VolumeLimit(pick(ProtocolLimits.volumeLimit), isFixed: Bool.random(using: &self)),
      ]))
  }

  private mutating func welcome() -> Welcome {
    Welcome(
      version: pick(0...UInt16.max), receiverID: identifier(), name: text(atMost: 64),
      model: text(atMost: 64),
      capacity: Capacity(
        bytes: pick(ProtocolLimits.count),
        duration: MediaDuration(flicks: pick(ProtocolLimits.mediaTime))),
      codecs: Array(Codec.allCases.shuffled(using: &self).prefix(pick(0...3))),
      settings: settings(),
      held: Bool.random(using: &self)
        ? HeldStream(
          generation: pick(ProtocolLimits.generation), nextSequence: pick(ProtocolLimits.count),
          from: mediaTime())
        : nil,
      dropped: Bool.random(using: &self)
        ? DroppedStream(
          unheard: MediaDuration(flicks: pick(ProtocolLimits.mediaTime)),
          senderName: text(atMost: 64))
        : nil)
  }

  private mutating func status() -> RoomStatus {
    RoomStatus(
      state: element(RoomStatus.State.allCases), detail: text(atMost: 256),
      playhead: mediaTime(), bufferedUntil: mediaTime(), heldBytes: pick(ProtocolLimits.count),
      syncError: SyncErrorStatistics(
        now: Nanoseconds(pick(ProtocolLimits.difference)), median: span(), p99: span(),
        maximum: span()),
      clockErrorBound: span(), roundTrip: span(),
      commitHorizon: Nanoseconds(pick(ProtocolLimits.commitHorizon)),
      clockDrift: pick(Int32.min...Int32.max),
      deviceDrift: pick(Int32.min...Int32.max), underruns: pick(0...UInt32.max),
      latePackets: pick(0...UInt32.max), lostPackets: pick(0...UInt32.max),
      corruptPackets: pick(0...UInt32.max))
  }

  private mutating func span() -> Nanoseconds { Nanoseconds(pick(ProtocolLimits.span)) }

  private mutating func format() -> StreamFormat {
    StreamFormat(
      codec: element(Codec.allCases),
      audio: AudioFormat(
        sampleRate: element(AudioFormat.supportedRates), channelCount: pick(1...8)),
      sampleType: element(SampleType.allCases), configuration: bytes(Int(pick(UInt8(0)...100))))
  }

  private mutating func packet() -> AudioPacket {
    AudioPacket(
      generation: pick(ProtocolLimits.generation),
      sequence: pick(ProtocolLimits.count), mediaTime: mediaTime(), formatID: pick(0...255),
      startsRun: Bool.random(using: &self), endsStream: Bool.random(using: &self),
      encoded: EncodedPacket(
        payload: bytes(Int(pick(UInt8(0)...255))), skippedFrames: pick(0...65_536),
        frameCount: pick(0...65_536)))
  }
}

extension Identifier {
  /// Sixteen bytes that count up.
  static func counting(from first: UInt8) -> Identifier {
    guard let identifier = Identifier((0..<16).map { first &+ $0 }) else { preconditionFailure() }
    return identifier
  }
}

extension ControlMessage {
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    encode(appendingTo: &bytes)
    return bytes
  }
}

extension MediaMessage {
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    encode(appendingTo: &bytes)
    return bytes
  }
}

extension TimePacket {
  var bytes: [UInt8] {
    encoded(key: .example)
  }
}

extension ClockKey {
  /// The key of the specification's examples, and of SipHash's test vectors.
  static let example = ClockKey((0..<16).map { $0 })
}

/// Returns the one message in `bytes`; nil if they are not exactly one.
func onlyMessage(in bytes: [UInt8]) throws(DecodeError) -> RawMessage? {
  var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
  framer.append(bytes)
  let message = try framer.next()
  return framer.heldByteCount == 0 ? message : nil
}

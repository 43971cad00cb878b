import Audio
import Clock
import WireProtocol

/// The meaning of the specification's examples.
enum Meaning: Hashable {
  case control(ControlMessage)
  case media(MediaMessage)
  case pairing(PairingMessage)
  case time(TimePacket)
  case ask(LiveAsk)
  /// The content of sealed datagrams is checked by the tests of the cipher.
  case audio(LiveDatagram)
  case journal(StreamJournal)
  case termRequest(TermRequest)
  case termReply(TermReply)

  /// Returns true if the bytes decode to the meaning of this name, and the meaning encodes to them.
  static func isMet(by bytes: [UInt8], named name: String) -> Bool {
    guard let meaning = all.first(where: { $0.name == name })?.value else { return false }
    do {
      switch meaning {
      case .control(let message):
        guard let raw = try onlyMessage(in: bytes) else { return false }
        return try ControlMessage.decode(raw) == message && message.bytes == bytes
      case .media(let message):
        guard let raw = try onlyMessage(in: bytes) else { return false }
        return try MediaMessage.decode(raw) == message && message.bytes == bytes
      case .pairing(let message):
        guard let raw = try onlyMessage(in: bytes) else { return false }
        return try PairingMessage.decode(raw) == message && message.encoded() == bytes
      case .time(let packet):
        return try TimePacket.decode(bytes[...], key: .example) == packet && packet.bytes == bytes
      case .ask(let ask):
        return try LiveAsk.decode(bytes[...]) { _ in .example } == ask
          && ask.encoded(key: .example) == bytes
      case .audio(let datagram):
        return try LiveDatagram(decoding: bytes) == datagram && datagram.encoded == bytes
      case .termRequest(let request):
        guard let raw = try onlyMessage(in: bytes) else { return false }
        return try OpeningMessage.decode(raw) == .term(request) && request.encoded() == bytes
      case .termReply(let reply):
        guard let raw = try onlyMessage(in: bytes) else { return false }
        return try TermReply.decode(raw) == reply && reply.encoded() == bytes
      case .journal(let journal):
        return try StreamJournal(decoding: bytes) == journal && journal.encoded() == bytes
      }
    } catch {
      return false
    }
  }

  /// Identifies the case, whatever its values are.
  var kind: String {
    switch self {
    case .control(let message): "control.\(caseName(of: message))"
    case .media(let message): "media.\(caseName(of: message))"
    case .pairing(let message): "pairing.\(caseName(of: message))"
    case .time(let packet): "time.\(caseName(of: packet))"
    case .ask: "live.ask"
    case .audio: "live.audio"
    case .journal: "journal"
    case .termRequest, .termReply: "term"
    }
  }

  private func caseName(of value: Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
  }

  private static var rising: StreamVolume {
    var volume = StreamVolume.full
    volume.rise = .init(begin: GroupTime(nanoseconds: 10_000_000_000), span: .seconds(60))
    return volume
  }

  private static func seconds(_ count: Int64) -> MediaTime { MediaTime.zero + .seconds(count) }

  static let all: [(name: String, value: Meaning)] =
    [session, terms, playing, media, pairing, time, live, clips, journal].flatMap { $0 }

  private static let terms: [(name: String, value: Meaning)] = [
    (
      "control.hello.term",
      .control(
        .hello(
          Hello(
            version: 2, senderID: .counting(from: 0x10), senderName: "home",
            session: 0x0102_0304_0506_0708, clockID: 0x1112_1314_1516_1718, clockPort: 46_000,
            term: 2)))
    ),
    (
      "control.refuse.outdated",
      .control(.refuse(Refusal(reason: .outdated, detail: "", term: 2)))
    ),
    ("control.refuse.led", .control(.refuse(Refusal(reason: .isLed, detail: "", term: 1)))),
    ("control.askTerm", .termRequest(TermRequest(term: 1, isClaim: false))),
    ("control.askTerm.claim", .termRequest(TermRequest(term: 2, isClaim: true))),
    ("control.term", .termReply(TermReply(term: 1, isHeard: true))),
  ]

  private static let session: [(name: String, value: Meaning)] = [
    (
      "control.hello",
      .control(
        .hello(
          Hello(
            version: 2, senderID: .counting(from: 0x10), senderName: "study",
            session: 0x0102_0304_0506_0708, clockID: 0x1112_1314_1516_1718, clockPort: 46_000)))
    ),
    (
      "control.hello.takingOver",
      .control(
        .hello(
          Hello(
            version: 2, senderID: .counting(from: 0x20), senderName: "loft",
            session: 0x0102_0304_0506_0709, clockID: 0x1112_1314_1516_1719, clockPort: 46_001,
            takesOver: true, givesBack: true, priority: 200)))
    ),
    (
      "control.welcome",
      .control(
        .welcome(
          Welcome(
            version: 2, receiverID: .counting(from: 0xa0), name: "Küche", model: "Raspberry Pi 4",
            capacity: Capacity(bytes: 32 << 20, duration: .seconds(1800)),
            codecs: [.pcm, .flac, .opus],
            settings: RoomSettings(volume: 800, isMuted: true, delay: .zero, channelMap: .stereo),
            held: HeldStream(generation: 2, nextSequence: 300, from: seconds(61)),
            playsClips: true)))
    ),
    (
      "control.welcome.dropped",
      .control(
        .welcome(
          Welcome(
            version: 2, receiverID: .counting(from: 0xa0), name: "Bad", model: "",
            capacity: Capacity(bytes: 32 << 20, duration: .seconds(1800)), codecs: [.pcm],
            settings: RoomSettings(volume: 800, isMuted: false, delay: .zero, channelMap: .stereo),
            held: nil,
            dropped: DroppedStream(unheard: .seconds(90), senderName: "study"))))
    ),
    (
      "control.welcome.limited",
      .control(
        .welcome(
          Welcome(
            version: 2, receiverID: .counting(from: 0xa0), name: "Attic", model: "",
            capacity: Capacity(bytes: 32 << 20, duration: .seconds(1800)), codecs: [.pcm],
            settings: RoomSettings(
              volume: 300, isMuted: false, delay: .zero, channelMap: .stereo,
              volumeLimit: VolumeLimit(500, isFixed: true)),
            held: nil)))
    ),
    ("control.welcome.sound", .control(.welcome(soundWelcome))),
    ("control.sound", .control(.sound(subwoofer))),
    ("control.refuse", .control(.refuse(Refusal(reason: .busy, detail: "study")))),
    ("control.refuse.notPaired", .control(.refuse(Refusal(reason: .notPaired, detail: "")))),
    ("control.prove", .control(.prove(counting(from: 0x40, 32)))),
    ("control.keepAlive", .control(.keepAlive)),
    ("control.codecs", .control(.codecs([.pcm, .flac, .opus]))),
    (
      "control.goodbye",
      .control(.goodbye(Goodbye(reason: .shutdown, detail: "restarting for an update")))
    ),
    (
      "control.goodbye.replaced",
      .control(.goodbye(Goodbye(reason: .replaced, detail: "loft")))
    ),
    (
      "control.goodbye.lent",
      .control(.goodbye(Goodbye(reason: .lent, detail: "loft")))
    ),
    ("control.goodbye.notPaired", .control(.goodbye(Goodbye(reason: .notPaired, detail: "")))),
  ]

  private static let playing: [(name: String, value: Meaning)] = [
    (
      "control.anchor",
      .control(
        .anchor(
          Anchor(
            mediaTime: seconds(10), groupTime: GroupTime(nanoseconds: 90_000_250_000_000),
            rate: .playing)))
    ),
    (
      "control.anchor.paused",
      .control(
        .anchor(
          Anchor(
            mediaTime: seconds(75) + .milliseconds(500),
            groupTime: GroupTime(nanoseconds: 90_065_750_000_000), rate: .paused)))
    ),
    (
      "control.flush",
      .control(.flush(Flush(from: seconds(42), generation: 3, isRamped: true)))
    ),
    (
      "control.flush.crossed",
      .control(
        .flush(Flush(from: seconds(42), generation: 3, isRamped: true, isCrossed: true)))
    ),
    (
      "control.flushed",
      .control(
        .flushed(
          Flushed(generation: 3, from: seconds(42) + MediaDuration(frames: 1600, at: 48_000))))
    ),
    (
      "control.flushedAutomatically",
      .control(.flushedAutomatically(Flushed(generation: 3, from: seconds(50))))
    ),
    (
      "control.nowPlaying",
      .control(
        .nowPlaying(
          NowPlaying(
            generation: 3, from: seconds(42),
            item: ItemDescription(
              title: "Sinnerman", artist: "Nina Simone", album: "Pastel Blues", track: 10,
              duration: .seconds(622), artwork: 7))))
    ),
    (
      "control.nowPlaying.nothing",
      .control(.nowPlaying(NowPlaying(generation: 3, from: seconds(664), item: nil)))
    ),
    (
      "control.settings",
      .control(
        .settings(
          RoomSettings(
            volume: 650, isMuted: false, delay: .microseconds(-1500), channelMap: .left)))
    ),
    (
      "control.settings.limit",
      .control(
        .settings(
          RoomSettings(
            volume: 500, isMuted: false, delay: .zero, channelMap: .stereo,
            volumeLimit: VolumeLimit(500))))
    ),
    (
      "control.streamVolume",
      .control(.streamVolume(StreamVolume(volume: 500, isMuted: false)))
    ),
    ("control.streamVolume.rises", .control(.streamVolume(rising))),
    (
      "control.credit",
      .control(
        .credit(Credit(limit: 33_677_888, bufferedUntil: seconds(61), heldBytes: 5_000_000)))
    ),
    (
      "control.status",
      .control(
        .status(
          RoomStatus(
            state: .playing, detail: "", playhead: seconds(44), bufferedUntil: seconds(104),
            heldBytes: 7 << 20,
            syncError: SyncErrorStatistics(
              now: Nanoseconds(-800), median: Nanoseconds(2100), p99: Nanoseconds(9400),
              maximum: .microseconds(31)),
            clockErrorBound: .microseconds(15), roundTrip: .microseconds(412),
            commitHorizon: .milliseconds(60),
            clockDrift: -12_345, deviceDrift: 48_000, underruns: 1, latePackets: 2, lostPackets: 0,
            corruptPackets: 0)))
    ),
  ]

  /// Stereo at 44.1 kHz.
  private static func format(
    _ id: UInt16, _ codec: Codec, _ sampleType: SampleType, _ configuration: [UInt8]
  ) -> Meaning {
    .media(
      .format(
        id: id,
        StreamFormat(
          codec: codec, audio: AudioFormat(sampleRate: 44_100, channelCount: 2),
          sampleType: sampleType, configuration: configuration)))
  }

  private static let media: [(name: String, value: Meaning)] = [
    ("media.attach", .media(.attach(session: 0x0102_0304_0506_0708))),
    (
      "media.format.pcm",
      .media(
        .format(
          id: 0,
          StreamFormat(
            codec: .pcm, audio: AudioFormat(sampleRate: 44_100, channelCount: 2),
            sampleType: .int16)))
    ),
    (
      "media.format.opus",
      .media(
        .format(
          id: 1,
          StreamFormat(
            codec: .opus, audio: AudioFormat(sampleRate: 48_000, channelCount: 2),
            sampleType: .float32,
            configuration: Array("OpusHead".utf8) + [
              1, 2, 0x38, 0x01, 0x80, 0xbb, 0, 0, 0, 0, 0,
            ])))
    ),
    ("media.format.aac", format(2, .aac, .float32, [0x2b, 0x92, 0x08, 0])),
    ("media.format.mp3", format(3, .mp3, .float32, [])),
    (
      "media.format.alac",
      format(
        4, .alac, .int16,
        [0, 0, 0x10, 0, 0, 16, 40, 10, 14, 2, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xac, 0x44])
    ),
    (
      "media.artwork",
      .media(
        .artwork(
          ArtworkPiece(
            number: 7, size: 40_000, offset: 39_996, mimeType: "image/jpeg",
            bytes: [0x8a, 0x3c, 0xff, 0xd9])))
    ),
    (
      "media.packet.preparing",
      .media(
        .packet(
          AudioPacket(
            generation: 4, sequence: 1024, mediaTime: MediaTime(flicks: 705_600_000), formatID: 3,
            startsRun: true, endsStream: false,
            encoded: EncodedPacket(payload: [0xff, 0xfb, 0x90, 0x64], frameCount: 0))))
    ),
    (
      "media.packet",
      .media(
        .packet(
          AudioPacket(
            generation: 3, sequence: 1017, mediaTime: seconds(42), formatID: 0, startsRun: true,
            endsStream: false,
            encoded: EncodedPacket(
              payload: [
                0, 0, 0, 0, 100, 0, 0x9c, 0xff, 200, 0, 0x38, 0xff, 0x2c, 0x01, 0xd4, 0xfe,
              ], frameCount: 4))))
    ),
  ]

  /// From the worked example of RFC 9383, appendix C.
  private static let shareP: [UInt8] = hex(
    "04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1"
      + "de127727f418b5966afadfdd95a6e4591d171056b333dab97a79c7193e341727")
  private static let shareV: [UInt8] = hex(
    "04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb"
      + "5cc1ca7494db39e82ff2f50665255d76173e09986ab46742c798a9a68437b048")
  private static let confirmP: [UInt8] = hex(
    "926cc713504b9b4d76c9162ded04b5493e89109f6d89462cd33adc46fda27527")
  private static let confirmV: [UInt8] = hex(
    "9747bcc4f8fe9f63defee53ac9b07876d907d55047e6ff2def2e7529089d3e68")

  private static func hex(_ digits: String) -> [UInt8] {
    let digits = Array(digits)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  static func counting(from first: UInt8, _ count: UInt8) -> [UInt8] {
    (0..<count).map { first + $0 }
  }

  private static let pairing: [(name: String, value: Meaning)] = [
    ("pairing.request", .pairing(.request(name: "study"))),
    ("pairing.salt", .pairing(.salt(counting(from: 0x30, 16)))),
    ("pairing.share", .pairing(.share(shareP))),
    ("pairing.answer", .pairing(.answer(share: shareV, confirm: confirmV))),
    ("pairing.confirm", .pairing(.confirm(confirmP))),
    ("pairing.paired", .pairing(.paired(name: "Küche"))),
    (
      "pairing.household",
      .pairing(.household(name: "home", key: Array("-----BEGIN PRIVATE KEY-----\n".utf8)))
    ),
    ("pairing.refused", .pairing(.refused(PairingRefusal(reason: .wait, wait: 60_000)))),
    ("pairing.unpair", .pairing(.unpair)),
    ("pairing.unpaired", .pairing(.unpaired)),
    ("pairing.sayPIN", .pairing(.sayPIN)),
    ("pairing.sayingPIN", .pairing(.sayingPIN)),
  ]

  private static let time: [(name: String, value: Meaning)] = [
    (
      "time.request",
      .time(
        .request(
          TimeRequest(
            clockID: 0x1112_1314_1516_1718, keyID: 0x0506_0708, sequence: 77,
            sentAt: LocalTime(nanoseconds: 5_000_000_000_123))))
    ),
    (
      "time.answer",
      .time(
        .answer(
          TimeAnswer(
            clockID: 0x1112_1314_1516_1718, sequence: 77,
            requestSentAt: LocalTime(nanoseconds: 5_000_000_000_123),
            receivedAt: GroupTime(nanoseconds: 90_000_100_000_456),
            sentAt: GroupTime(nanoseconds: 90_000_100_040_789),
            previous: TimeAnswer.TransmitStamp(
              sequence: 76, sentAt: GroupTime(nanoseconds: 90_000_000_039_001)))))
    ),
    (
      "time.answer.first",
      .time(
        .answer(
          TimeAnswer(
            clockID: 0x1112_1314_1516_1718, sequence: 0,
            requestSentAt: LocalTime(nanoseconds: 4_999_000_000_123),
            receivedAt: GroupTime(nanoseconds: 90_000_000_000_456),
            sentAt: GroupTime(nanoseconds: 90_000_000_040_789), previous: nil)))
    ),
  ]

  private static let live: [(name: String, value: Meaning)] = [
    (
      "control.live",
      .control(
        .live(
          LiveStream(
            latency: .milliseconds(30), sampleRate: 44_100, port: 46_001,
            key: counting(from: 0x60, 32))))
    ),
    ("control.live.ended", .control(.live(nil))),
    (
      "control.liveReport",
      .control(
        .liveReport(
          LiveReport(
            received: 100, recovered: 3, concealed: 1, leastMargin: .milliseconds(-2))))
    ),
    (
      "live.ask",
      .ask(
        LiveAsk(
          clockID: 0x1112_1314_1516_1718, keyID: 0x0506_0708, sequence: 5,
          missing: [1017, 1020, 1208]))
    ),
    (
      "live.audio",
      .audio(
        LiveDatagram(
          clockID: 0x1112_1314_1516_1718, number: 1017,
          sealed: hex(
            "82a2229b6adbcd691cea0e2d62e1b1601faef3f75cd445b4295df59dedb9ce6d"
              + "d9009879c889cc0e75603db2e1bd9c75f788ffb74050b3dbda5f2643944c57d6"
              + "1fcdeabc5de6e5591195f02f5d97fdfb574a10f5813ef9e01381d2646bf61bfb"
              + "407500854b7a330c9f79793774b340d4")))
    ),
  ]
}

/// The meaning of `control.sound`.
private let subwoofer: SoundSetting = {
  var sound = SoundSetting()
  sound.bands = [
    SoundBand(.peak, frequency: 1_000, gain: -3, q: 1.4), SoundBand(.highPass, frequency: 30),
  ]
  (sound.bass, sound.treble, sound.balance) = (3, -4, -40)
  (sound.hasLoudness, sound.usesFIR) = (true, true)
  sound.crossover = Crossover(.low, frequency: 80)
  sound.distance = 3.2
  return sound
}()

private let soundWelcome: Welcome = {
  var settings = RoomSettings(
    volume: 300, isMuted: false, delay: .zero, channelMap: .stereo, volumeLimit: .full)
  var sound = SoundSetting()
  sound.crossover = Crossover(.high, frequency: 80)
  sound.bands = [SoundBand(.lowPass, frequency: 18_000)]
  (settings.sound, settings.hasFIR) = (sound, true)
  return Welcome(
    version: 2, receiverID: .counting(from: 0xa0), name: "Attic", model: "",
    capacity: Capacity(bytes: 32 << 20, duration: .seconds(1800)), codecs: [.pcm],
    settings: settings, held: nil)
}()

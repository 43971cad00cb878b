import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Packets of 5 ms, each due 30 ms after it was sent. Times count from the first packet.
struct LiveReceiverTests {
  private static let start: Int64 = 1_000_000_000
  private static let length = MediaDuration.milliseconds(5)
  private static let key = [UInt8](repeating: 3, count: 32)
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 1), sampleType: .int16)

  private static func now(_ milliseconds: Double) -> LocalTime {
    LocalTime(nanoseconds: start + Int64(milliseconds * 1e6))
  }

  private static func due(_ time: MediaTime) -> LocalTime? {
    now(30) + Nanoseconds(time - .zero)
  }

  private static func mediaTime(_ number: UInt64) -> MediaTime {
    .zero + MediaDuration(flicks: Int64(number) * length.flicks)
  }

  private static func packet(
    _ number: UInt64, at time: MediaTime? = nil, generation: UInt32 = 0, endsStream: Bool = false
  ) -> AudioPacket {
    AudioPacket(
      generation: generation, sequence: number, mediaTime: time ?? mediaTime(number), formatID: 0,
      startsRun: number == 0, endsStream: endsStream,
      encoded: EncodedPacket(payload: [UInt8](repeating: 1, count: 480), frameCount: 240))
  }

  private static func datagram(
    _ number: UInt64, clockID: UInt64 = 77, holding packet: AudioPacket? = nil
  ) -> [UInt8] {
    let messages =
      MediaMessage.format(id: 0, format).encoded()
      + MediaMessage.packet(packet ?? Self.packet(number)).encoded()
    return LiveDatagram(
      sealing: messages, clockID: clockID, number: number, key: key, with: FakeCipher()
    ).encoded
  }

  private struct Bed {
    var receiver = LiveReceiver(
      LiveStream(
        latency: .milliseconds(30), sampleRate: 48_000, port: 5, key: LiveReceiverTests.key),
      clockID: 77, cipher: FakeCipher(), at: LiveReceiverTests.now(0))
    /// True if it is known when a packet is needed.
    var knowsTime = true
    var roundTrip = LiveReceiver.RoundTrip(
      shortest: .milliseconds(1), usual: .milliseconds(2))
    var numbers: [UInt64] = []
    /// The generations of the same packets.
    var generations: [UInt32] = []
    var asks: [(at: Double, numbers: [UInt64])] = []
    /// Asks that name no packet.
    var calls: [Double] = []
    var concealed: [MediaTime] = []
    var reports: [LiveReport] = []
    var skipped = 0
    var wentBack = 0

    private var due: (MediaTime) -> LocalTime? {
      let knowsTime = knowsTime
      return { knowsTime ? LiveReceiverTests.due($0) : nil }
    }

    mutating func receive(_ bytes: [UInt8], at time: Double) {
      receiver.received(bytes, at: LiveReceiverTests.now(time), generation: 0, due: due)
      advance(to: time)
    }

    mutating func receive(_ number: UInt64, at time: Double) {
      receive(LiveReceiverTests.datagram(number), at: time)
    }

    /// Wakes at each deadline until `end`.
    mutating func advance(to end: Double) {
      while let deadline = receiver.nextDeadline, deadline <= LiveReceiverTests.now(end) {
        step(at: Double(deadline.nanoseconds - LiveReceiverTests.start) / 1e6)
      }
      step(at: end)
    }

    private mutating func step(at time: Double) {
      receiver.advance(
        to: LiveReceiverTests.now(time), roundTrip: roundTrip, due: due)
      for step in receiver.takeSteps() {
        switch step {
        case .packet(let packet, _):
          numbers.append(packet.sequence)
          generations.append(packet.generation)
        case .conceal(let time, _): concealed.append(time)
        case .skip(let count): skipped += Int(count)
        case .ask(let numbers):
          if numbers.isEmpty { calls.append(time) } else { asks.append((time, numbers)) }
        case .report(let report): reports.append(report)
        case .goBack: wentBack += 1
        }
      }
    }
  }

  @Test func `a media connection that begins in the middle of a live stream does not end it`() {
    var room = TestReceiver()
    let control = room.hello()
    let stream = LiveStream(
      latency: .milliseconds(30), sampleRate: 48_000, port: 5, key: Self.key)
    room.say(.live(stream), on: control)
    for number in 0..<4 as Range<UInt64> {
      room.handle(.datagram(Self.datagram(number), receivedAt: room.now))
    }
    room.handle(.timeout)
    #expect(room.session.playout.bufferedUntil == Self.mediaTime(4))
    // The identifiers of an earlier connection are forgotten.
    let media = room.accept()
    room.stream(.attach(session: 5), on: media)
    for number in 4..<8 as Range<UInt64> {
      room.handle(.datagram(Self.datagram(number), receivedAt: room.now))
    }
    room.handle(.timeout)
    #expect(room.session.playout.bufferedUntil == Self.mediaTime(8))
  }

  @Test func `packets that come in order are given at once`() {
    var bed = Bed()
    for number in 0..<10 {
      bed.receive(UInt64(number), at: Double(number) * 5)
      #expect(bed.numbers.count == number + 1)
    }
    #expect(bed.asks.isEmpty && bed.concealed.isEmpty)
  }

  @Test func `packets that come in another order are given in theirs`() {
    var bed = Bed()
    for (place, number) in [0, 2, 1, 4, 3, 5].enumerated() {
      bed.receive(UInt64(number), at: Double(place) * 2)
    }
    #expect(bed.numbers == Array(0...5))
    #expect(bed.asks.isEmpty)
  }

  @Test func `a missing packet is asked for while its answer can be in time, and no more`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    bed.receive(2, at: 10)
    // The first ask comes two packets after the gap was seen, the second 10 ms later. The packet is
    // due after 35 ms, minus 4.
    for number in 3..<12 { bed.receive(UInt64(number), at: Double(number) * 5) }
    #expect(bed.asks.map(\.at) == [20, 30])
    #expect(bed.asks.allSatisfy { $0.numbers == [1] })
    #expect(bed.concealed == [Self.mediaTime(1)])
    #expect(bed.numbers == [0] + Array(2..<12))
  }

  @Test func `what is lost before time is known is asked for once`() {
    var bed = Bed()
    bed.knowsTime = false
    bed.receive(0, at: 0)
    bed.receive(5, at: 1)
    bed.advance(to: 100)
    #expect(bed.asks.map(\.at) == [1, 11])
    #expect(bed.asks.map(\.numbers) == [[1, 2], [3, 4]])
  }

  @Test func `after a burst of losses no time is lost before the oldest are asked for`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    bed.receive(5, at: 25)
    #expect(bed.asks.map(\.at) == [25])
    #expect(bed.asks.first?.numbers == [1, 2])
    bed.advance(to: 35)
    #expect(bed.asks.map(\.at) == [25, 35])
    #expect(bed.asks.last?.numbers == [2, 3, 4])
  }

  @Test func `a packet that comes again is given in its place, and counts as recovered`() {
    var bed = Bed()
    for number in [0, 1, 3, 4] { bed.receive(UInt64(number), at: Double(number) * 5) }
    bed.advance(to: 26)
    #expect(bed.asks.count == 1)
    bed.receive(2, at: 28)
    #expect(bed.numbers == Array(0...4))
    bed.advance(to: 39)
    #expect(bed.concealed.isEmpty)
    bed.advance(to: 501)
    #expect(bed.reports.first?.recovered == 1)
    #expect(bed.reports.first?.received == 5)
    #expect(bed.reports.first?.leastMargin == .milliseconds(12))
  }

  @Test func `what is due is concealed for 40 ms, and then whatever comes begins anew`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    bed.advance(to: 200)
    #expect(bed.concealed == (1...8).map { Self.mediaTime($0) })
    bed.receive(50, at: 250)
    bed.advance(to: 276)
    #expect(bed.numbers == [0, 50])
    // A packet that was given up is late.
    bed.receive(3, at: 277)
    #expect(bed.numbers == [0, 50])
    // Eight were concealed.
    #expect(bed.skipped == 41)
    #expect(bed.receiver.concealed == 49)
  }

  @Test func `after a gap in which all was given up, what is not needed yet is asked for`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    bed.receive(15, at: 76)
    #expect(bed.asks.first?.numbers == [10, 11, 12])
    for number in 10..<15 { bed.receive(UInt64(number), at: 79) }
    #expect(bed.numbers == [0] + Array(10...15))
    #expect(bed.skipped == 1 && bed.receiver.concealed == 9)
  }

  @Test func `in a long gap each packet is awaited until it is needed`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    bed.receive(12, at: 60)
    for number in 10..<12 { bed.receive(UInt64(number), at: 78) }
    #expect(bed.numbers == [0, 10, 11, 12])
    #expect(bed.skipped == 1 && bed.receiver.concealed == 9)
  }

  @Test func `where nothing comes the sender is asked to go on, every 50 ms for 2 s`() {
    var bed = Bed()
    for number in 0..<20 { bed.receive(UInt64(number), at: Double(number) * 5) }
    #expect(bed.calls == [0])
    bed.advance(to: 250)
    #expect(bed.calls == [0, 145, 195, 245])
    bed.advance(to: 10_000)
    #expect((38...40).contains(bed.calls.count { $0 < 2_100 }))
    #expect((15...17).contains(bed.calls.count { $0 > 2_100 }))
  }

  @Test func `behind the end of a stream nothing is missing, and what follows begins anew`() {
    var bed = Bed()
    for number in 0..<10 { bed.receive(UInt64(number), at: Double(number) * 5) }
    bed.receive(Self.datagram(10, holding: Self.packet(10, endsStream: true)), at: 50)
    bed.advance(to: 400)
    #expect(bed.numbers == Array(0...10))
    #expect(bed.concealed.isEmpty && bed.receiver.concealed == 0)
    bed.receive(Self.datagram(11, holding: Self.packet(11, at: Self.mediaTime(90))), at: 450)
    #expect(bed.numbers == Array(0...11))
    #expect(bed.receiver.concealed == 0)
  }

  // MARK: - Attacks

  @Test func `a forged datagram has no effect`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    let real = Self.datagram(1)
    for bit in stride(from: 0, to: real.count * 8, by: 7) {
      // The flags are ignored.
      guard !(6..<8).contains(bit / 8) else { continue }
      var forged = real
      forged[bit / 8] ^= 1 << (bit % 8)
      bed.receive(forged, at: 1)
    }
    bed.receive(Self.datagram(2, clockID: 78), at: 1)
    for count in 0..<real.count { bed.receive(Array(real.prefix(count)), at: 1) }
    #expect(bed.numbers == [0])
    bed.receive(real, at: 5)
    #expect(bed.numbers == [0, 1])
    #expect(bed.asks.isEmpty)
  }

  @Test func `a datagram that is sent again has no effect`() {
    var bed = Bed()
    for number in 0..<20 { bed.receive(UInt64(number), at: Double(number) * 5) }
    let refused = bed.receiver.refused
    for number in 0..<20 { bed.receive(UInt64(number), at: 96) }
    #expect(bed.receiver.refused == refused + 20)
    #expect(bed.numbers == Array(0..<20))
  }

  @Test func `a leap of the numbers makes nobody ask for what is between`() {
    var bed = Bed()
    bed.receive(0, at: 0)
    for number in 2_000..<2_002 { bed.receive(UInt64(number), at: Double(number) * 5) }
    #expect(bed.numbers == [0])
    bed.receive(2_002, at: 10_010)
    bed.advance(to: 10_025)
    #expect(bed.numbers == [0, 2_000, 2_001, 2_002])
    #expect(bed.asks.isEmpty)
  }

  /// Receives a stream of 100 packets, with forged ones after the fortieth.
  private static func taken(despite forged: [[UInt8]], from first: UInt64 = 40) -> Bed {
    var bed = Bed()
    for number in 0..<first { bed.receive(number, at: Double(number) * 5) }
    for bytes in forged { bed.receive(bytes, at: Double(first) * 5 - 1) }
    for number in first..<100 { bed.receive(number, at: Double(number) * 5) }
    return bed
  }

  @Test func `a datagram or two with numbers far ahead lead nobody away`() {
    let right = Self.mediaTime(41)
    for time in [right, Self.mediaTime(3_040), nil] {
      let forged = [3_040, 1 << 59].map { number in
        Self.datagram(number, holding: Self.packet(number, at: time ?? .zero))
      }
      #expect(Self.taken(despite: forged).numbers == Array(0..<100))
      // Forged packets that come first: genuine ones then lead back.
      let early = Self.taken(despite: forged, from: 0)
      #expect(early.numbers.suffix(96) == Array(4..<100))
    }
  }

  @Test func `who was led away by a row of datagrams comes back by the next that are true`() {
    let forged = (3_000..<3_003 as Range<UInt64>).map { number in
      Self.datagram(number, holding: Self.packet(number, at: Self.mediaTime(number - 2_950)))
    }
    let bed = Self.taken(despite: forged)
    #expect(bed.numbers.filter { $0 < 1_000 } == Array(0..<100))
    #expect(bed.wentBack == 1)
  }

  @Test func `a datagram that holds another number than its own is refused`() {
    let forged = Self.datagram(40, holding: Self.packet(1 << 40, at: Self.mediaTime(40)))
    #expect(Self.taken(despite: [forged]).numbers == Array(0..<100))
  }

  @Test func `a packet that lies does so for its own place only`() {
    let far = Self.datagram(40, holding: Self.packet(40, at: Self.mediaTime(1 << 30)))
    #expect(Self.taken(despite: [far]).numbers == Array(0..<100))
    let near = Self.datagram(40, holding: Self.packet(40, at: Self.mediaTime(60)))
    // Genuine packets that overlap it are dropped.
    #expect(Self.taken(despite: [near]).numbers == Array(0...40) + Array(61..<100))
  }

  @Test func `a generation that no flush has announced begins with three in a row`() {
    let forged = Self.datagram(
      40, holding: Self.packet(40, at: Self.mediaTime(40), generation: 1 << 30))
    #expect(Self.taken(despite: [forged]).numbers == Array(0..<100))
    #expect(Set(Self.taken(despite: [forged]).generations) == [0])
    let others = (40..<43 as Range<UInt64>).map { number in
      Self.datagram(number, holding: Self.packet(number, generation: 3))
    }
    let two = Self.taken(despite: Array(others.prefix(2)))
    #expect(two.numbers == Array(0..<100) && Set(two.generations) == [0])
    let three = Self.taken(despite: others)
    #expect(three.numbers == Array(0..<100))
    #expect(three.generations[39...43] == [0, 3, 3, 3, 0])
  }

  @Test func `what a stranger has recorded leads nobody back`() {
    var bed = Bed()
    let recorded = (0..<3).map { Self.datagram(UInt64($0)) }
    for number in 0..<1_200 { bed.receive(UInt64(number), at: Double(number) * 5) }
    for bytes in recorded { bed.receive(bytes, at: 5_996) }
    // If it is not known when a packet is needed, it may look as if it fitted.
    bed.knowsTime = false
    for bytes in recorded { bed.receive(bytes, at: 5_997) }
    bed.knowsTime = true
    bed.receive(1_200, at: 6_000)
    #expect(bed.numbers == Array(0...1_200))
    #expect(bed.wentBack == 0)
  }

  @Test func `the window takes each number once, and none before it`() {
    var window = ReplayWindow()
    var random = SplitMix64(seed: 5)
    var seen: Set<UInt64> = []
    var newest: UInt64 = 0
    for _ in 0..<20_000 {
      let number = UInt64.random(in: max(newest, 2_000) - 2_000...newest + 10, using: &random)
      let isWithin = number > newest || newest - number < 1_024
      let isFresh = window.place(of: number) == .fresh
      #expect(isFresh == (isWithin && !seen.contains(number)) || seen.isEmpty)
      guard isFresh else { continue }
      window.note(number)
      seen.insert(number)
      newest = max(newest, number)
    }
  }
}

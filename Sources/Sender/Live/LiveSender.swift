import Audio
import Clock
package import WireProtocol

/// What a group needs to send live streams as datagrams.
package struct LiveSecret: Sendable {
  package var cipher: any DatagramCipher
  /// 32 bytes that nobody can foretell.
  package var key: [UInt8]
  /// Where rooms ask for packets.
  package var port: UInt16

  package init(cipher: any DatagramCipher, key: [UInt8], port: UInt16) {
    self.cipher = cipher
    self.key = key
    self.port = port
  }
}

/// The datagrams of a live stream: each packet is sealed once, for all rooms, and kept for those that ask for it.
struct LiveSender {
  /// Datagrams that are kept: more than rooms wait for.
  static let historyLimit = 512

  private struct Sent {
    let number: UInt64
    let bytes: [UInt8]
  }

  private let secret: LiveSecret
  private let clockID: UInt64
  /// In the order of their numbers.
  private var history: [Sent] = []
  /// The packet with which the stream has ended. Nothing follows that would show a room that it lacks it.
  private(set) var end: UInt64?

  init(_ secret: LiveSecret, clockID: UInt64) {
    self.secret = secret
    self.clockID = clockID
  }

  func stream(latency: Nanoseconds, sampleRate: Int) -> LiveStream {
    LiveStream(latency: latency, sampleRate: sampleRate, port: secret.port, key: secret.key)
  }

  /// Nil where the packet does not fit.
  mutating func seal(_ entry: PacketStore.Entry) -> [UInt8]? {
    let messages = MediaMessage.format(id: entry.formatID, entry.format).encoded() + entry.bytes
    let datagram = LiveDatagram(
      sealing: messages, clockID: clockID, number: entry.sequence, key: secret.key,
      with: secret.cipher
    ).encoded
    guard datagram.count <= LiveDatagram.byteLimit else { return nil }
    end = entry.endsStream ? entry.sequence : nil
    if history.count == Self.historyLimit { history.removeFirst() }
    history.append(Sent(number: entry.sequence, bytes: datagram))
    return datagram
  }

  /// Nil where it is not kept any more, or was never sent.
  func datagram(_ number: UInt64) -> [UInt8]? {
    history.last { $0.number <= number }.flatMap { $0.number == number ? $0.bytes : nil }
  }
}

/// The way of a live stream's datagrams to one room: where they go is known to whoever sends them.
struct LiveRoad {
  /// How long a room is sent datagrams after it has last asked; as long it may take to ask at all.
  static let patience = Nanoseconds.seconds(2)
  /// Packets that may be sent again for each that is sent, and how many of them may be saved up.
  private static let share = 0.5
  private static let mostSaved = 32.0

  private var toldAt: LocalTime?
  private var heardAt: LocalTime?
  private var saved = 0.0
  /// What was sent again, oldest first.
  private var again: [UInt64] = []

  /// The room has heard that the stream is live.
  mutating func told(at now: LocalTime) { toldAt = now }

  mutating func asked(at now: LocalTime) { heardAt = now }

  /// Whether datagrams reach the room.
  func isOpen(at now: LocalTime) -> Bool { heardAt.map { now - $0 < Self.patience } ?? false }

  /// Whether it is worth waiting for the room's first ask.
  func isAwaited(at now: LocalTime) -> Bool {
    heardAt == nil && toldAt.map { now - $0 < Self.patience } ?? false
  }

  mutating func sent() { saved = min(saved + Self.share, Self.mostSaved) }

  /// Whether the packet may be sent again; counts it as sent.
  mutating func admits(_ number: UInt64) -> Bool {
    guard saved >= 1, again.count(where: { $0 == number }) < LiveAsk.answers else { return false }
    saved -= 1
    if again.count == LiveSender.historyLimit { again.removeFirst() }
    again.append(number)
    return true
  }
}

extension SourceShape {
  /// Frames of a PCM packet of this shape: 5 ms, or what a datagram has room for.
  package var livePacketFrames: Int {
    let frameBytes = sampleType.byteCount * format.channelCount
    return max(1, min(format.sampleRate / 200, LiveDatagram.payloadLimit / frameBytes))
  }
}

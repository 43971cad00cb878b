import Audio
import Clock
package import WireProtocol

/// The cipher, key and port that a group needs to send live streams as datagrams.
package struct LiveSecret: Sendable {
  package var cipher: any DatagramCipher
  /// 32 bytes that nobody can predict.
  package var key: [UInt8]
  /// The port at which rooms ask for packets.
  package var port: UInt16

  package init(cipher: any DatagramCipher, key: [UInt8], port: UInt16) {
    self.cipher = cipher
    self.key = key
    self.port = port
  }
}

/// The datagrams of a live stream. Each packet is sealed once for all rooms, and kept for those that ask for it.
struct LiveSender {
  /// Datagrams that are kept: more than rooms wait for.
  static let historyLimit = 512

  private struct Sent {
    let number: UInt64
    let bytes: [UInt8]
  }

  private let secret: LiveSecret
  private let clockID: UInt64
  /// Sorted by number.
  private var history: [Sent] = []
  /// The number of the packet with which the stream has ended. No later packet shows a room that it lacks this
  /// one.
  private(set) var end: UInt64?

  init(_ secret: LiveSecret, clockID: UInt64) {
    self.secret = secret
    self.clockID = clockID
  }

  func stream(latency: Nanoseconds, sampleRate: Int) -> LiveStream {
    LiveStream(latency: latency, sampleRate: sampleRate, port: secret.port, key: secret.key)
  }

  /// Returns the datagram of a packet; nil if the packet does not fit.
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

  /// Returns a datagram; nil if it is no longer kept, or was never sent.
  func datagram(_ number: UInt64) -> [UInt8]? {
    history.last { $0.number <= number }.flatMap { $0.number == number ? $0.bytes : nil }
  }
}

/// The path of a live stream's datagrams to one room. `GroupSender` keeps the address.
struct LivePath {
  /// A room is sent datagrams for this long after its last ask. It may take as long to ask at all.
  static let askTimeout = Nanoseconds.seconds(2)
  /// Packets that may be sent again for each packet that is sent, and how many of them may be saved up.
  private static let share = 0.5
  private static let mostSaved = 32.0

  private var toldAt: LocalTime?
  private var heardAt: LocalTime?
  private var saved = 0.0
  /// Numbers of the packets that were sent again, oldest first.
  private var again: [UInt64] = []

  /// The room was told that the stream is live.
  mutating func told(at now: LocalTime) { toldAt = now }

  mutating func asked(at now: LocalTime) { heardAt = now }

  /// True if datagrams reach the room.
  func isOpen(at now: LocalTime) -> Bool { heardAt.map { now - $0 < Self.askTimeout } ?? false }

  /// True if it is worth waiting for the room's first ask.
  func isAwaited(at now: LocalTime) -> Bool {
    heardAt == nil && toldAt.map { now - $0 < Self.askTimeout } ?? false
  }

  mutating func sent() { saved = min(saved + Self.share, Self.mostSaved) }

  /// Returns true if the packet may be sent again, and counts it as sent.
  mutating func admits(_ number: UInt64) -> Bool {
    guard saved >= 1, again.count(where: { $0 == number }) < LiveAsk.answers else { return false }
    saved -= 1
    if again.count == LiveSender.historyLimit { again.removeFirst() }
    again.append(number)
    return true
  }
}

extension SourceShape {
  /// Frames of a PCM packet of this shape: 5 ms, or as many as a datagram has room for.
  package var livePacketFrames: Int {
    let frameBytes = sampleType.byteCount * format.channelCount
    return max(1, min(format.sampleRate / 200, LiveDatagram.payloadLimit / frameBytes))
  }
}

internal import CSys
package import Clock
internal import Glibc

/// The DSCP class of outgoing packets; Wi-Fi maps it to an access category.
package enum TrafficClass: Int32, Sendable {
  case standard = 0
  /// Expedited forwarding: live audio.
  case audio = 0xB8
  /// CS6, as for network control: the time exchange.
  case clock = 0xC0
}

/// A received datagram. `receivedAt` is the time at which the kernel took it from the network if `hasKernelStamp`, else
/// the time of reading it.
package struct Datagram: Hashable, Sendable {
  package var bytes: [UInt8]
  package var from: SocketAddress
  package var receivedAt: LocalTime
  package var hasKernelStamp: Bool

  package init(bytes: [UInt8], from: SocketAddress, receivedAt: LocalTime, hasKernelStamp: Bool) {
    self.bytes = bytes
    self.from = from
    self.receivedAt = receivedAt
    self.hasKernelStamp = hasKernelStamp
  }
}

/// The number of a datagram that a socket sent; it grows by one.
package struct TransmitID: Hashable, Sendable {
  package let number: UInt32

  package init(number: UInt32) { self.number = number }
}

/// The time at which the kernel passed a datagram on. A datagram has up to two stamps; the driver's is the better one.
package struct TransmitStamp: Hashable, Sendable {
  package enum Point: Sendable {
    /// The datagram was put into the queue in front of the driver.
    case queue
    /// The driver took the datagram.
    case driver
  }

  package var id: TransmitID
  package var at: LocalTime
  package var point: Point
}

/// A UDP socket with the kernel's receive and transmit stamps, as far as this kernel has them. For one thread; a
/// `Reactor` owns it.
final class TimestampedSocket {
  enum Stamps { case none, received, both }

  /// Number of last datagrams to which a transmit stamp can be matched.
  static let remembered = 256
  /// Messages without a stamp that are read from the queue of errors in a row.
  static let errorQueueLimit = 64
  /// Buffers of an audio socket, in bytes: datagrams that arrive while the program is late are not lost, and few wait
  /// that would leave too late.
  private static let audioReceiveBuffer: Int32 = 1 << 20
  private static let audioSendBuffer: Int32 = 64 << 10
  /// A transmit stamp may seem older by this much than the call that sent: an error of converting between the two
  /// clocks.
  static let conversionError = Nanoseconds.microseconds(10)

  let descriptor: FileDescriptor
  let localAddress: SocketAddress
  let stamps: Stamps
  /// Time for which the socket ends no wait after it has been read; nil if it always does.
  var rest: Nanoseconds?
  private let family: Int32
  private var converter = RealtimeConverter()
  private var nextID: UInt32 = 0
  /// The number here of the kernel's datagram zero.
  private var kernelBase: UInt32 = 0
  private var sentAt: [LocalTime?] = Array(repeating: nil, count: remembered)

  /// Opens the socket. An IPv6 socket bound to all addresses takes IPv4 as well.
  init(address: SocketAddress, trafficClass: TrafficClass) throws(IOError) {
    let number = try IOError.check("socket", csys_datagram(address.family), "\(address)")
    descriptor = FileDescriptor(number)
    family = address.family
    localAddress = try bindSocket(number, to: address)
    // A network that does not know the class ignores it, and so does this.
    _ = csys_traffic_class(number, trafficClass.rawValue)
    if trafficClass == .audio {
      csys_datagram_configure(number, Self.audioReceiveBuffer, Self.audioSendBuffer)
    }
    stamps =
      switch Int(csys_stamps_enable(number)) {
      case CSYS_STAMPS_BOTH: .both
      case CSYS_STAMPS_RECEIVED: .received
      default: .none
      }
  }

  /// Sends at once or fails: there is no queue, because a late datagram is of no use.
  func send(_ bytes: [UInt8], to address: SocketAddress) throws(IOError) -> TransmitID {
    var target = address.system
    let now = HostClock.now
    let result = bytes.withUnsafeBytes {
      csys_send_to(descriptor.number, family, $0.baseAddress, $0.count, &target)
    }
    if result < 0 {
      // Kernels differ in counting a refused datagram.
      restartNumbering()
      try IOError.check("sendto", result, "\(address)")
    }
    defer { nextID &+= 1 }
    sentAt[slot(nextID)] = now
    return TransmitID(number: nextID)
  }

  /// Returns the next waiting datagram; `nil` if there is none.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Datagram? {
    var received = csys_received()
    let count = csys_receive_from(descriptor.number, buffer.baseAddress, buffer.count, &received)
    // This call has cleared an error of an earlier datagram; the datagrams behind it are read in the next turn.
    guard count >= 0, let from = SocketAddress(received.from) else { return nil }
    let now = HostClock.now
    let stamp =
      received.realtime_ns == 0 ? nil : converter.localTime(ofRealtime: received.realtime_ns)
    return Datagram(
      bytes: [UInt8](buffer[..<count]), from: from, receivedAt: stamp ?? now,
      hasKernelStamp: stamp != nil)
  }

  /// Returns the next waiting transmit stamp; `nil` if there is none, or too much else lies before it.
  func nextTransmitStamp() -> TransmitStamp? {
    var transmitted = csys_transmitted()
    return Self.first { () -> Waiting in
      let result = csys_transmitted_next(descriptor.number, &transmitted)
      guard result >= 0 else { return .nothing }
      return (result > 0 ? stamp(transmitted) : nil).map { .stamp($0) } ?? .other
    }
  }

  /// The next message in the queue of errors.
  enum Waiting {
    case nothing
    /// No stamp, or one of a datagram that is forgotten.
    case other
    case stamp(TransmitStamp)
  }

  /// The first stamp among a bounded number of messages. A queue that is never empty, as an emulator's may seem, does
  /// not hold the thread.
  static func first(_ next: () -> Waiting) -> TransmitStamp? {
    for _ in 0..<errorQueueLimit {
      switch next() {
      case .nothing: return nil
      case .other: continue
      case .stamp(let stamp): return stamp
      }
    }
    return nil
  }

  private func stamp(_ transmitted: csys_transmitted) -> TransmitStamp? {
    let number = kernelBase &+ transmitted.counter
    let age = nextID &- number
    guard age >= 1, age <= UInt32(Self.remembered), let sent = sentAt[slot(number)],
      let at = converter.localTime(ofRealtime: transmitted.realtime_ns),
      at >= sent - Self.conversionError
    else { return nil }
    return TransmitStamp(
      id: TransmitID(number: number), at: at,
      point: transmitted.from_driver != 0 ? .driver : .queue)
  }

  private func restartNumbering() {
    guard stamps == .both else { return }
    _ = csys_stamps_enable(descriptor.number)
    kernelBase = nextID
  }

  private func slot(_ number: UInt32) -> Int { Int(number % UInt32(Self.remembered)) }
}

/// Binds a socket and returns its actual address.
func bindSocket(_ descriptor: Int32, to address: SocketAddress) throws(IOError) -> SocketAddress {
  var wanted = address.system
  let result = csys_bind(descriptor, &wanted)
  guard result >= 0 else { throw .binding(to: address, code: -result) }
  var bound = csys_address()
  try IOError.check("getsockname", csys_local_address(descriptor, &bound), "\(address)")
  return SocketAddress(bound) ?? address
}

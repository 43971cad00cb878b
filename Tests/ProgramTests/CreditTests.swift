import Foundation
import OpenSSLSecurity
import TestSupport
import Testing
import WireProtocol

/// Tests of a sender that fills a receiver with data that takes memory and is not music.
@Suite struct CreditTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - $0))) }
  }

  private static func message(_ type: [UInt8], _ payload: [UInt8]) -> [UInt8] {
    bytes(UInt64(payload.count + 2), 4) + type + payload
  }

  /// PCM with the largest possible configuration, different for each number.
  private static func format(_ number: Int) -> [UInt8] {
    let header =
      bytes(0, 2) + bytes(1, 2) + bytes(48_000, 4) + [2, 1] + bytes(8192, 2)
      + bytes(UInt64(number), 8)
    return message([3, 2], header + [UInt8](repeating: 7, count: 8184))
  }

  private static func packet(_ number: Int) -> [UInt8] {
    message(
      [3, 3],
      bytes(0, 8) + bytes(UInt64(number), 8) + bytes(0, 8) + bytes(0, 2) + bytes(1, 2)
        + bytes(0, 4) + bytes(0, 4) + bytes(0, 4) + [UInt8](repeating: 0, count: 16))
  }

  @Test func `formats without music fill no more than the buffer, and who ignores the credit goes`()
    throws
  {
    let receiver = try ReceiverProgram("a", in: folder, "--buffer", "8")
    let key = try IdentityKey.generate()
    let control = try #require(TestConnection.sender(to: receiver.port, key))
    control.send(try greeting(of: key))
    let media = try #require(TestConnection.sender(to: receiver.port, key))
    try receiver.program.line(with: "sender connected")
    let before = try receiver.program.status("VmRSS")
    media.send(try Specification.example("media.attach"))
    for number in 0..<60_000 {
      guard media.send(Self.format(number) + Self.packet(number)) else { break }
    }
    let farewell = String(decoding: control.receiveAll(), as: UTF8.self)
    #expect(farewell.contains("more than was granted"))
    #expect(try receiver.program.status("VmHWM") < before + (8 + 16) << 10)
  }

  @Test func `formats that no packet has are not kept, however many come`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--buffer", "8")
    let key = try IdentityKey.generate()
    let control = try #require(TestConnection.sender(to: receiver.port, key))
    control.send(try greeting(of: key))
    let media = try #require(TestConnection.sender(to: receiver.port, key))
    try receiver.program.line(with: "sender connected")
    let before = try receiver.program.status("VmRSS")
    media.send(try Specification.example("media.attach"))
    var granted = Granted(on: control)
    var sent = 0
    // This is 64 MiB. When the last format is sent, the receiver has read all but the bytes that it
    // may still grant.
    for number in 0..<8_192 {
      let format = Self.format(number)
      sent += format.count
      try granted.wait(for: sent)
      try #require(media.send(format))
      if number % 512 == 0 { control.send(ControlMessage.keepAlive.encoded()) }
    }
    #expect(try receiver.program.status("VmHWM") < before + (8 + 16) << 10)
  }
}

/// The credit that a receiver has granted on its control connection.
private struct Granted {
  let control: TestConnection
  private var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
  /// Bytes since the media connection began.
  private(set) var limit = 0

  init(on control: TestConnection) { self.control = control }

  mutating func wait(for bytes: Int) throws {
    while limit < bytes {
      let received = control.receive()
      try #require(!received.isEmpty, "the receiver has closed its control connection")
      framer.append(received)
      while let message = try framer.next() {
        if case .credit(let credit) = try ControlMessage.decode(message) {
          limit = Int(clamping: credit.limit)
        }
      }
    }
  }
}

import SecurityTestSupport
import TestSupport
import Testing
import WireProtocol

@testable import OpenSSLSecurity

/// Two channels, and the data that each has received from the other.
private final class Line {
  let near: any SecureChannel
  let far: any SecureChannel
  private(set) var heardNear: [UInt8] = []
  private(set) var heardFar: [UInt8] = []
  /// The error with which one of them ended.
  private(set) var nearFailure: SecureChannelError?
  private(set) var farFailure: SecureChannelError?

  init(_ near: any SecureChannel, _ far: any SecureChannel) { (self.near, self.far) = (near, far) }

  /// Carries bytes until both sides are silent.
  func pump(pieces: Int = 64 << 10, change: (inout [UInt8]) -> Void = { _ in }) {
    while true {
      var (there, back) = (near.takeOutput(), far.takeOutput())
      if there.isEmpty, back.isEmpty { return }
      change(&there)
      change(&back)
      give(there, pieces, to: far, &heardFar, &farFailure)
      give(back, pieces, to: near, &heardNear, &nearFailure)
    }
  }

  private func give(
    _ bytes: [UInt8], _ size: Int, to channel: any SecureChannel, _ heard: inout [UInt8],
    _ failure: inout SecureChannelError?
  ) {
    for start in stride(from: 0, to: bytes.count, by: size) {
      do throws(SecureChannelError) {
        heard += try channel.receive(Array(bytes[start..<min(start + size, bytes.count)]))
      } catch {
        failure = failure ?? error
      }
    }
  }
}

private struct Ends {
  let dialling: IdentityKey
  let accepting: IdentityKey

  init() throws {
    dialling = try IdentityKey.generate()
    accepting = try IdentityKey.generate()
  }

  func line() throws -> Line {
    Line(
      try TLSContext(dialling).channel(.dialled), try TLSContext(accepting).channel(.accepted))
  }
}

struct TLSChannelTests {
  @Test(arguments: [1, 7, 64 << 10])
  func `both ends know each other's key, and share secrets of this channel`(pieces: Int) throws {
    let ends = try Ends()
    let line = try ends.line()
    line.pump(pieces: pieces)
    let (near, far) = (try #require(line.near.peer), try #require(line.far.peer))
    #expect(near.id == ends.accepting.identifier)
    #expect(far.id == ends.dialling.identifier)
    #expect(near.clockKey == far.clockKey && near.clockKey.count == 16)
    #expect(near.binding == far.binding && near.binding.count == 32)
    let other = try ends.line()
    other.pump()
    #expect(try #require(other.near.peer).clockKey != near.clockKey)
    #expect(try #require(other.near.peer).binding != near.binding)
  }

  @Test(arguments: [1_000, 64 << 10])
  func `large data arrives whole in both directions`(pieces: Int) throws {
    let line = try Ends().line()
    line.pump()
    let sent = pattern(3_000_000)
    line.near.send(sent)
    line.near.send([1, 2, 3])
    line.far.send(sent.reversed())
    line.pump(pieces: pieces)
    #expect(line.heardFar == sent + [1, 2, 3])
    #expect(line.heardNear == sent.reversed())
  }

  /// A change of the key takes one additional record.
  @Test func `after so many records the key changes, and data goes on`() throws {
    let ends = try Ends()
    let near = TLSChannel(try TLSContext(ends.dialling), .dialled, recordsPerKey: 3)
    let line = Line(near, try TLSContext(ends.accepting).channel(.accepted))
    line.pump()
    for number in 0..<10 as Range<UInt8> {
      near.send([number])
      var count = 0
      line.pump { count += recordCount($0) }
      #expect(count == (number % 3 == 2 ? 2 : 1))
      line.far.send([number])
      line.pump()
    }
    #expect(line.heardFar == Array(0..<10))
    #expect(line.heardNear == Array(0..<10))
    #expect(line.nearFailure == nil && line.farFailure == nil)
  }

  @Test func `what was sent before the end arrives, and nothing after it`() throws {
    let line = try Ends().line()
    line.near.finish()
    line.pump()
    line.near.send([1, 2, 3])
    line.near.finish()
    line.pump()
    #expect(line.heardFar == [1, 2, 3])
    #expect(try line.far.receive([UInt8](repeating: 9, count: 40)).isEmpty)
    line.far.send([4])
    line.pump()
    #expect(line.heardNear == [4])
    #expect(line.nearFailure == nil && line.farFailure == nil)
  }

  @Test func `a record that is cut off says nothing`() throws {
    let line = try Ends().line()
    line.pump()
    line.near.send([1, 2, 3])
    let record = line.near.takeOutput()
    for byte in record.dropLast() { #expect(try line.far.receive([byte]).isEmpty) }
    #expect(try line.far.receive([record[record.count - 1]]) == [1, 2, 3])
  }

  // MARK: - Changed on the way

  @Test func `of a record with a changed bit nothing is believed`() throws {
    let ends = try Ends()
    for bit in 0..<8 * 25 {
      let line = try ends.line()
      line.pump()
      line.near.send([1, 2, 3])
      var record = line.near.takeOutput()
      guard bit / 8 < record.count else { break }
      record[bit / 8] ^= 1 << UInt8(bit % 8)
      let heard = try? line.far.receive(record)
      #expect(heard == nil || heard == [], "bit \(bit)")
    }
    let line = try ends.line()
    line.pump()
    line.near.send([1, 2, 3])
    line.pump { bytes in if !bytes.isEmpty { bytes[bytes.count - 1] ^= 1 } }
    #expect(line.farFailure == .changed)
    #expect(throws: SecureChannelError.changed) { try line.far.receive([1]) }
  }

  /// Some bytes have no meaning, such as the version of the first record; changing them changes
  /// nothing.
  @Test func `a handshake with a changed byte agrees on nothing, or on the same`() throws {
    let ends = try Ends()
    var agreements = 0
    for place in 0..<1_800 {
      let line = try ends.line()
      var passed = 0
      line.pump { bytes in
        if (passed..<passed + bytes.count).contains(place) { bytes[place - passed] ^= 0x10 }
        passed += bytes.count
      }
      guard passed > place else { break }
      if let near = line.near.peer { #expect(near.id == ends.accepting.identifier) }
      if let far = line.far.peer { #expect(far.id == ends.dialling.identifier) }
      guard let near = line.near.peer, let far = line.far.peer else { continue }
      #expect(near.binding == far.binding, "byte \(place)")
      agreements += 1
    }
    #expect(agreements < 20)
  }

  // MARK: - Others

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n", "\u{0}\u{1}\u{0}\u{0}\u{0}\u{10}tutti hello", "SSH-2.0-x\r\n",
  ])
  func `a peer that does not speak TLS is told from one that does`(text: String) throws {
    for role in [SecureRole.dialled, .accepted] {
      let channel = try TLSContext(try IdentityKey.generate()).channel(role)
      _ = channel.takeOutput()
      #expect(throws: SecureChannelError.notTLS) { try channel.receive(Array(text.utf8)) }
      #expect(channel.peer == nil)
    }
  }

  /// Returns the error of our end in a handshake with another program.
  private func failure(_ role: SecureRole, against manners: ForeignPeer.Manners) throws
    -> SecureChannelError?
  {
    let channel = try TLSContext(try IdentityKey.generate()).channel(role)
    let foreign = try ForeignPeer(role == .dialled ? .accepted : .dialled, manners)
    let line = Line(channel, foreign)
    line.pump()
    #expect(line.nearFailure == nil || channel.peer == nil)
    return line.nearFailure
  }

  @Test(arguments: [SecureRole.dialled, .accepted])
  func `another program with the right manners is let in`(role: SecureRole) throws {
    #expect(try failure(role, against: .init()) == nil)
  }

  /// As docs/protocol/security.md says: some libraries cannot leave tickets out.
  @Test func `who dials ignores tickets that it is sent`() throws {
    let channel = try TLSContext(try IdentityKey.generate()).channel(.dialled)
    let foreign = try ForeignPeer(.accepted, .init())
    let line = Line(channel, foreign)
    line.pump()
    #expect(foreign.ticketCount == 2)
    foreign.send(pattern(1_000))
    channel.send([7])
    line.pump()
    #expect(line.nearFailure == nil && line.heardNear == pattern(1_000))
    #expect(line.heardFar == [7])
  }

  @Test(arguments: [
    (ForeignPeer.Manners(key: .none), SecureChannelError.otherTLS, SecureChannelError.noKey),
    (.init(key: .rsa), .refused, .noKey),
    (.init(key: .p256), .refused, .noKey),
    (.init(applicationProtocol: nil), .otherProtocol, .otherProtocol),
    (.init(applicationProtocol: "tutti/3"), .otherProtocol, .otherProtocol),
    (.init(version: .tls12), .otherTLS, .otherTLS),
  ])
  func `a peer that is not ours is refused with a reason`(
    manners: ForeignPeer.Manners, dialled: SecureChannelError, accepted: SecureChannelError
  ) throws {
    let (asDialled, asAccepted) = (
      try failure(.dialled, against: manners), try failure(.accepted, against: manners)
    )
    #expect(asDialled == dialled, "\(manners)")
    #expect(asAccepted == accepted, "\(manners)")
  }

  @Test func `who dials without a key is told that one is asked for`() throws {
    let channel = try TLSContext(try IdentityKey.generate()).channel(.accepted)
    let foreign = try ForeignPeer(.dialled, .init(key: .none))
    Line(channel, foreign).pump()
    let certificateRequired = 116
    #expect(foreign.alert == certificateRequired)
    #expect(channel.peer == nil)
  }

  @Test(arguments: [SecureRole.dialled, .accepted])
  func `a certificate without its key opens nothing`(role: SecureRole) throws {
    let victim = try IdentityKey.generate()
    #expect(try failure(role, against: .init(key: .stolen(victim))) == .notItsKey)
  }

  @Test(arguments: [SecureRole.dialled, .accepted])
  func `a certificate of more than 4 KiB is refused`(role: SecureRole) throws {
    #expect(try failure(role, against: .init(nameCount: 40)) == nil)
    #expect(try failure(role, against: .init(nameCount: 60)) != nil)
  }
}

/// Counts TLS records: each begins with five bytes, the last two of which are its length.
private func recordCount(_ bytes: [UInt8]) -> Int {
  var (place, count) = (0, 0)
  while place + 5 <= bytes.count {
    place += 5 + Int(bytes[place + 3]) << 8 + Int(bytes[place + 4])
    count += 1
  }
  return count
}

/// Bytes in which a shift or a gap shows.
private func pattern(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16) }
}

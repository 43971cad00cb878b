import Audio
import Clock
import LinuxIO
import OpenSSLSecurity
import Sender
import TestSupport
import WireProtocol

@testable import Driver

/// A receiver on a real socket that is always ready, plays nothing, grants more credit as data arrives, and records
/// what it was told.
final class TestRoom {
  /// The sender's actions in one session.
  struct Session {
    let hello: Hello
    let peer: SecuredPeer?
    var messages: [ControlMessage] = []
    var packets: [AudioPacket] = []
    var mediaBytes = 0
    var isOpen = true
  }

  /// A small credit, so that a sender who has used it has only just begun.
  private static let credit: UInt64 = 256 << 10

  let record: RoomRecord
  private(set) var sessions: [Session] = []
  private let listener: ListenerID
  private let peers: PeerConnections<Int>
  private var acceptedCount = 0
  /// The session of each connection, and true for its media connection.
  private var uses: [Int: (session: Int, isMedia: Bool)] = [:]
  private var framers: [Int: MessageFramer] = [:]
  private var known: [Int: SecuredPeer] = [:]
  private let receiverID: Identifier

  init(_ number: Int, on reactor: Reactor) throws {
    listener = try reactor.listen(on: .loopback(port: 0))
    let security = try TLSContext(try IdentityKey.generate())
    peers = PeerConnections(reactor: reactor, limit: 16, secure: security.channel)
    receiverID = security.identifier
    record = RoomRecord(
      id: receiverID.hex, name: "source-\(number)", model: "test", state: .free,
      addresses: ["127.0.0.1"], port: reactor.localAddress(of: listener)?.port ?? 0,
      codecs: ["pcm"])
  }

  func handle(_ event: ReactorEvent) {
    if case .accepted(let id, by: listener, let address) = event {
      acceptedCount += 1
      framers[acceptedCount] = MessageFramer(limit: ProtocolLimits.mediaMessage)
      _ = peers.accept(id, from: address, as: acceptedCount)
    }
    peers.take(event) { event in
      switch event {
      case .received(let id, let bytes): received(bytes, on: id)
      case .closed(let id, _):
        if let use = uses[id], !use.isMedia { sessions[use.session].isOpen = false }
      case .connected(let id, let peer): known[id] = peer
      case .failed: break
      }
    }
  }

  private func received(_ bytes: [UInt8], on id: Int) {
    framers[id]?.append(bytes)
    if let use = uses[id], use.isMedia { count(bytes.count, in: use.session) }
    while let raw = try? framers[id]?.next() {
      guard let use = uses[id] else {
        if let opening = try? OpeningMessage.decode(raw) { open(opening, on: id) }
        continue
      }
      if use.isMedia {
        if case .packet(let packet)? = try? MediaMessage.decode(raw) {
          sessions[use.session].packets.append(packet)
        }
      } else if let message = try? ControlMessage.decode(raw) {
        sessions[use.session].messages.append(message)
      }
    }
  }

  private func open(_ opening: OpeningMessage, on id: Int) {
    switch opening {
    case .control(let hello):
      sessions.append(Session(hello: hello, peer: known[id]))
      uses[id] = (sessions.count - 1, false)
      say(.welcome(welcome), on: id)
      say(.status(.made(.ready)), on: id)
    case .media(let session):
      guard let index = sessions.lastIndex(where: { $0.hello.session == session }) else { return }
      uses[id] = (index, true)
      grant(in: index)
    case .proof, .pairing, .term: break
    }
  }

  private func count(_ bytes: Int, in session: Int) {
    sessions[session].mediaBytes += bytes
    grant(in: session)
  }

  private func grant(in session: Int) {
    let limit = UInt64(sessions[session].mediaBytes) + Self.credit
    guard let id = uses.first(where: { $0.value == (session, false) })?.key else { return }
    say(.credit(Credit(limit: limit, bufferedUntil: .zero, heldBytes: 0)), on: id)
  }

  private func say(_ message: ControlMessage, on id: Int) { peers.send(message.encoded(), to: id) }

  private var welcome: Welcome {
    Welcome(
      version: ProtocolVersion.newest, receiverID: receiverID, name: record.name, model: "test",
      capacity: Capacity(bytes: 64 << 20, duration: .seconds(600)), codecs: [.pcm],
      settings: RoomSettings(
        volume: 1000, isMuted: false, delay: .zero, channelMap: .stereo), held: nil)
  }
}

import Clock
package import Pairing
import Receiver
import Sender
package import WireProtocol

/// Another program that speaks to a room, with a key of its own. Its bytes take no time.
final class SimulatedVisitor {
  let id: ConnectionID
  let room: Int
  let identity: Identifier
  var pairing: PairingVisit?
  /// Messages to a visitor without a pairing visit.
  var told: [ControlMessage] = []
  var framer = MessageFramer(limit: ProtocolLimits.controlMessage)

  init(id: ConnectionID, room: Int, identity: Identifier) {
    self.id = id
    self.room = room
    self.identity = identity
  }
}

extension SecuredPeer {
  /// Equal at both ends except for the identifier, and different for each connection.
  static func simulated(_ id: Identifier, connection: Int) -> SecuredPeer {
    var random = SplitMix64(seed: UInt64(connection), part: 5000)
    let bytes = (0..<48).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return SecuredPeer(
      id: id, clockKey: Array(bytes.prefix(16)), binding: Array(bytes.suffix(32)))
  }
}

extension Identifier {
  /// Identifier of the group's own sender.
  package static var simulatedSender: Identifier { simulated(1) }
  static func simulated(receiver room: Int) -> Identifier { simulated(100 + room) }
  /// Identifier of another sender.
  package static func simulated(visitor number: Int) -> Identifier { simulated(1000 + number) }
}

// MARK: - Trust

extension SimulatedGroup {
  /// Types a room's PIN at the machine of this sender. The result goes to `pairingReports`.
  package func pair(_ room: Int, _ pin: PIN, as identity: Identifier = .simulatedSender) {
    visit(room, as: identity, .pair(pin))
  }

  package func unpair(_ room: Int, as identity: Identifier = .simulatedSender) {
    visit(room, as: identity, .unpair)
  }

  private func visit(_ room: Int, as identity: Identifier, _ purpose: PairingVisit.Purpose) {
    guard let arithmetic = configuration.arithmetic, let visitor = connect(room, as: identity)
    else { return }
    visitor.pairing = PairingVisit(
      purpose, senderID: identity, senderName: "visitor",
      receiverID: .simulated(receiver: room), arithmetic: arithmetic, at: visitTime)
    let peer = SecuredPeer.simulated(
      .simulated(receiver: room), connection: visitor.id.number)
    step(visitor, .connected(peer))
  }

  private var visitTime: LocalTime { LocalTime(nanoseconds: now.nanoseconds) }

  private func connect(_ room: Int, as identity: Identifier) -> SimulatedVisitor? {
    guard rooms[room].session != nil else { return nil }
    connectionCount += 1
    let id = ConnectionID(connectionCount)
    let visitor = SimulatedVisitor(id: id, room: room, identity: identity)
    visitors.append(visitor)
    let peer = SecuredPeer.simulated(identity, connection: connectionCount)
    serve(room, [.accepted(id, peer: "visitor"), .secured(id, peer)])
    return visitor
  }

  private func step(_ visitor: SimulatedVisitor, _ input: PairingVisit.Input) {
    visitor.pairing?.handle(input, at: visitTime)
    while let output = visitor.pairing?.nextOutput() {
      switch output {
      case .send(let bytes): serve(visitor.room, [.received(visitor.id, bytes)])
      case .close: leave(visitor)
      case .done(let report): pairingReports.append((now, report))
      }
    }
  }

  private func leave(_ visitor: SimulatedVisitor) {
    guard visitors.contains(where: { $0 === visitor }) else { return }
    visitors.removeAll { $0 === visitor }
    serve(visitor.room, [.closed(visitor.id)])
  }

  /// Delivers bytes of a room's program to a visitor.
  func heard(_ bytes: [UInt8], by id: ConnectionID) {
    guard let visitor = visitors.first(where: { $0.id == id }) else { return }
    // Later, so that the room's program has finished its turn.
    queue.insert(
      .action { group in
        if visitor.pairing != nil { return group.step(visitor, .received(bytes)) }
        visitor.framer.append(bytes)
        while let raw = try? visitor.framer.next() {
          if let message = try? ControlMessage.decode(raw) { visitor.told.append(message) }
        }
      }, at: now)
  }

  func dismissed(_ id: ConnectionID) {
    guard let visitor = visitors.first(where: { $0.id == id }) else { return }
    queue.insert(
      .action { group in
        if visitor.pairing != nil { group.step(visitor, .closed(reason: "it closed")) }
        group.visitors.removeAll { $0 === visitor }
      }, at: now)
  }

  /// Changes the trust of a room, as a user at the room's machine.
  package func changeTrust(of room: Int, _ change: (inout TrustMemory) -> Void) {
    change(&rooms[room].trust)
    serve(room, [.trustChanged(rooms[room].trust)])
  }

  func distrust(_ room: Int) {
    guard rooms[room].host.frozenUntil <= now else { return }
    changeTrust(of: room) { $0.pairings = Pairings([]) }
  }

  /// Lets the room trust those again that it knew first, and announces it, as a room does when its pairings change.
  func trustAgain(_ room: Int) {
    let awake = rooms[room].host.frozenUntil
    guard awake <= now else { return queue.insert(.action { $0.trustAgain(room) }, at: awake) }
    let known = rooms[room].quality.trust.pairings
    changeTrust(of: room) { $0.pairings = known }
    announce(room)
  }

  /// Stores trust after a moment, as a disk does; a program that is killed meanwhile has stored nothing.
  func keep(_ trust: TrustMemory, _ number: Int, _ room: SimulatedRoom) {
    let process = room.process
    queue.insert(
      .action { group in
        guard room.process == process else { return }
        room.trust = trust
        group.serve(room.index, [.trustKept(number)])
      }, at: now + .milliseconds(10))
  }
}

// MARK: - Other senders

extension SimulatedGroup {
  /// Lets another sender ask for the room. Returns its number for `endVisit`.
  package func beginVisit(
    _ room: Int, as number: Int, takesOver: Bool = false, givesBack: Bool = false,
    priority: UInt8 = Hello.usualPriority
  ) -> Int? {
    let identity = Identifier.simulated(visitor: number)
    guard let visitor = connect(room, as: identity) else { return nil }
    let hello = Hello(
      version: ProtocolVersion.newest, senderID: identity, senderName: "visitor \(number)",
      session: UInt64(visitor.id.number), clockID: UInt64(7000 + number), clockPort: 1,
      takesOver: takesOver, givesBack: givesBack, priority: priority)
    serve(room, [.received(visitor.id, ControlMessage.hello(hello).encoded())])
    return visitor.id.number
  }

  /// Lets that sender finish.
  package func endVisit(_ number: Int) {
    guard let visitor = visitors.first(where: { $0.id.number == number }) else { return }
    let goodbye = ControlMessage.goodbye(Goodbye(reason: .finished, detail: ""))
    serve(visitor.room, [.received(visitor.id, goodbye.encoded())])
    leave(visitor)
  }
}

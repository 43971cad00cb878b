package import LinuxIO
package import OpenSSLSecurity
package import Sender
package import WireProtocol

/// Asks rooms which term they obey, for `Leadership`. For the thread of its reactor.
package final class RoomTerms {
  package enum Event: Sendable {
    case answered(round: Int, TermReply)
    case allAnswered(round: Int)
  }

  private struct Question: Hashable {
    let round: Int
    let room: Int
    let attempt: Int
  }

  private struct Call {
    let receiverID: Identifier?
    var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
  }

  private let peers: PeerConnections<Question>
  /// Those of the present round, one for each address of a room that has not answered.
  private var calls: [Question: Call] = [:]
  private var request = TermRequest(term: 0, isClaim: false)
  private var round = 0

  package init(reactor: Reactor, security: TLSContext) {
    peers = PeerConnections(
      reactor: reactor, limit: GroupHost.connectionLimit, secure: security.channel)
  }

  /// Asks these rooms, at all their addresses at once: a round is too short for one that does not answer. The calls of the
  /// round before are given up.
  package func ask(
    _ request: TermRequest, round: Int, of rooms: [RoomRecord], _ tell: (Event) -> Void
  ) {
    for question in calls.keys { peers.close(question) }
    (calls, self.request, self.round) = ([:], request, round)
    for (room, record) in rooms.enumerated() {
      let addresses = record.socketAddresses.prefix(RoomDial.addressLimit)
      for (attempt, address) in addresses.enumerated() {
        let question = Question(round: round, room: room, attempt: attempt)
        guard peers.connect(to: address, as: question) else { continue }
        calls[question] = Call(receiverID: Identifier(hex: record.id))
      }
    }
    tellIfOver(tell)
  }

  private func tellIfOver(_ tell: (Event) -> Void) {
    if calls.isEmpty, round > 0 { tell(.allAnswered(round: round)) }
  }

  package func take(_ event: ReactorEvent, _ tell: (Event) -> Void) {
    peers.take(event) { event in
      switch event {
      case .connected(let question, let peer): connected(question, peer, tell)
      case .received(let question, let bytes): received(bytes, question, tell)
      case .failed(let question, _), .closed(let question, _):
        if calls.removeValue(forKey: question) != nil { tellIfOver(tell) }
      }
    }
  }

  private func connected(_ question: Question, _ peer: SecuredPeer, _ tell: (Event) -> Void) {
    guard let call = calls[question], call.receiverID == nil || call.receiverID == peer.id else {
      return end(question, tell)
    }
    if let proof = LocalProof.proof(to: peer) {
      peers.send(ControlMessage.prove(proof).encoded(), to: question)
    }
    peers.send(request.encoded(), to: question)
  }

  private func received(_ bytes: [UInt8], _ question: Question, _ tell: (Event) -> Void) {
    calls[question]?.framer.append(bytes)
    do throws(DecodeError) {
      guard let raw = try calls[question]?.framer.next() else { return }
      // A receiver that knows no terms refuses the question.
      if let reply = try TermReply.decode(raw) {
        forget(addressesOf: question)
        tell(.answered(round: question.round, reply))
      }
    } catch {
      // Whoever sends such bytes is no receiver.
    }
    end(question, tell)
  }

  /// A room answers once.
  private func forget(addressesOf question: Question) {
    for other in calls.keys where other.room == question.room && other != question {
      peers.close(other)
      calls[other] = nil
    }
  }

  private func end(_ question: Question, _ tell: (Event) -> Void) {
    peers.close(question)
    calls[question] = nil
    tellIfOver(tell)
  }
}

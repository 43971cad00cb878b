package import Clock
package import LinuxIO
package import Receiver

/// The lines of a receiver that is hosted in its sender's process.
package final class HostedLines: ReceiverLines {
  private let room: HostedRoom

  package init(_ room: HostedRoom) { self.room = room }

  package func take(_ event: ReactorEvent, _ tell: (ReceiverSession.Input) -> Void) {
    guard event == .woken else { return }
    for message in room.take() {
      switch message {
      case .connected(let number, let peer):
        let id = Receiver.ConnectionID(number)
        tell(.accepted(id, peer: "this program"))
        tell(.secured(id, peer))
      case .received(let number, let bytes): tell(.received(.init(number), bytes))
      case .closed(let number): tell(.closed(.init(number)))
      case .datagram(let bytes, let time): tell(.datagram(bytes, receivedAt: time))
      }
    }
  }

  package func send(_ bytes: [UInt8], to id: Receiver.ConnectionID) {
    room.send(bytes, on: id.number)
  }

  package func close(_ id: Receiver.ConnectionID) { room.close(id.number) }

  package func sendTimeRequest(
    _ bytes: [UInt8], sequence: UInt32, toHostOf id: Receiver.ConnectionID, port: UInt16
  ) -> LocalTime? {
    room.sendTimeRequest(bytes)
  }

  package func sendAsk(_ bytes: [UInt8], toHostOf id: Receiver.ConnectionID, port: UInt16) {
    room.sendAsk(bytes)
  }
}

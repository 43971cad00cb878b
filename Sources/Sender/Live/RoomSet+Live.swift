import Clock
import WireProtocol

/// Sends the datagrams of a live stream.
extension RoomSet {
  /// The rooms were told that the stream is live.
  mutating func noteLive(at now: LocalTime) {
    for index in links.indices { links[index].connected?.livePath.told(at: now) }
  }

  /// Sends a packet to the rooms. Each packet goes to another room first, so that no room always
  /// waits for all the others.
  mutating func sendLive(_ datagram: [UInt8], number: UInt64, at now: LocalTime) {
    for offset in links.indices {
      let index = (offset + Int(number % UInt64(links.count))) % links.count
      guard links[index].connected?.livePath.isOpen(at: now) == true else { continue }
      links[index].connected?.livePath.sent()
      outputs.append(.sendDatagram(links[index].id, datagram))
    }
  }

  mutating func answer(
    _ ask: LiveAsk, of id: RoomID, from sender: LiveSender, at now: LocalTime
  ) {
    guard let index = index(of: id), links[index].connected != nil else { return }
    links[index].connected?.livePath.asked(at: now)
    let missing = ask.missing.isEmpty ? sender.end.map { [$0] } ?? [] : ask.missing
    for number in missing {
      guard let datagram = sender.datagram(number),
        links[index].connected?.livePath.admits(number) == true
      else { continue }
      outputs.append(.sendDatagram(id, datagram))
    }
  }
}

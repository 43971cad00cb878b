package import LinuxIO
package import Sender

/// The connections of all groups, over sockets and to rooms in this process alike.
extension GroupHost {
  /// False where there are too many.
  func connect(to address: SocketAddress, as line: Line, options: ConnectionOptions) -> Bool {
    hosted.connect(to: address, as: line) || peers.connect(to: address, as: line, options: options)
  }

  func send(_ bytes: [UInt8], to line: Line) {
    if !hosted.send(bytes, to: line) { peers.send(bytes, to: line) }
  }

  func close(_ line: Line) {
    if !hosted.close(line) { peers.close(line) }
  }

  /// Bytes that were not taken from here.
  func queuedBytes(to line: Line) -> Int {
    hosted.queuedBytes(to: line) ?? peers.queuedBytes(to: line)
  }

  /// The room is not here any more; groups that play in it try it until they are told to stop.
  package func remove(_ room: HostedRoom) { hosted.remove(room) }
}

extension GroupDriver {
  /// A room in this process: see `HostedRoom`.
  @discardableResult
  package func addRoom(_ room: HostedRoom, name: String) -> RoomID {
    addRoom(name, receiverID: room.id, at: [host.hosted.address(of: room)])
  }
}

extension ControlMessage {
  /// The whole message, framing included.
  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    encode(appendingTo: &bytes)
    return bytes
  }
}

extension MediaMessage {
  /// The whole message, framing included.
  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    encode(appendingTo: &bytes)
    return bytes
  }
}

extension PairingMessage {
  /// The whole message, framing included.
  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    encode(appendingTo: &bytes)
    return bytes
  }
}

extension TimePacket {
  /// The whole datagram.
  package func encoded(key: ClockKey) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(key: key, appendingTo: &bytes)
    return bytes
  }
}

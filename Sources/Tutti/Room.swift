internal import Driver
internal import Sender

/// A receiver in which a program can play. A value: the facts known when it was found.
public struct Room: Hashable, Sendable, Identifiable {
  public enum State: String, Hashable, Sendable {
    case free
    /// Another sender plays there.
    case busy
    /// Not found now.
    case away
    /// Known only by its address.
    case unknown

    init(_ state: RoomRecord.State) {
      self =
        switch state {
        case .free: .free
        case .busy: .busy
        case .away: .away
        }
    }
  }

  /// How to make it, for a room in this program.
  let hosting: RoomHosting?
  /// The receiver's identity, 32 hexadecimal digits; for a room by address, that address.
  public let id: String
  /// The name for people. Two rooms may have the same.
  public let name: String
  /// The kind of the machine; may be empty.
  public let model: String
  /// Numeric addresses or a host name, the likeliest first.
  public let addresses: [String]
  /// TCP port.
  public let port: UInt16
  public let state: State
  /// Names of the codecs that it decodes; empty if not known.
  public let codecs: [String]

  /// The receiver at an address, without discovery.
  ///
  /// - Parameters:
  ///   - host: a host name, an IPv4 or an IPv6 address.
  ///   - port: the TCP port with which the receiver was started; 7770 by default.
  public static func at(_ host: String, port: UInt16 = 7770) -> Room {
    Room(
      id: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)", name: host, model: "",
      addresses: [host], port: port, state: .unknown, codecs: [])
  }

  private init(
    id: String, name: String, model: String, addresses: [String], port: UInt16, state: State,
    codecs: [String], hosting: RoomHosting? = nil
  ) {
    self.hosting = hosting
    self.id = id
    self.name = name
    self.model = model
    self.addresses = addresses
    self.port = port
    self.state = state
    self.codecs = codecs
  }

  init(_ hosting: RoomHosting) {
    self.init(
      id: hosting.hex, name: hosting.name, model: "hosted", addresses: [], port: 0, state: .free,
      codecs: [], hosting: hosting)
  }

  init(_ record: RoomRecord) {
    self.init(
      id: record.id, name: record.name, model: record.model, addresses: record.addresses,
      port: record.port, state: State(record.state), codecs: record.codecs)
  }

  /// Nil for a room that is known only by its address.
  var record: RoomRecord? {
    guard hosting == nil, let state = RoomRecord.State(rawValue: state.rawValue) else { return nil }
    return RoomRecord(
      id: id, name: name, model: model, state: state, addresses: addresses, port: port,
      codecs: codecs)
  }
}

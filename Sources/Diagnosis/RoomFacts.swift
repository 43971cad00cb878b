package import Clock
import WireProtocol

/// The facts that were learned about one room by looking at it.
package struct RoomFacts: Hashable, Sendable {
  package enum Connection: Hashable, Sendable {
    /// The room answered at this address.
    case connected(to: String)
    /// The connection failed: the address and the reason, in one line.
    case failed(String)
    /// It has no address that could be tried.
    case unknown
  }

  package enum Visit: Hashable, Sendable {
    /// It accepted the connection, but never said a word.
    case silent
    case notPaired
    /// It says that another sender plays there.
    case busy
    /// This machine's own player plays there; nil if it has not measured the round trip.
    case ours(roundTrip: Nanoseconds?)
    case refused(String)
    /// It is not a receiver that this program understands.
    case broken(String)
    case held(Exchange)
    /// It was only connected, because a visit could disturb it.
    case spared
    /// It may still play what a player of this machine has left there, and was left alone.
    case leftAlone
  }

  /// Time requests that arrived, and whether their answers did.
  package struct Exchange: Hashable, Sendable {
    package var requests: Int
    package var lost: Int
    /// Measured by the room; nil if no answer has reached it.
    package var roundTrip: Nanoseconds?

    package init(requests: Int, lost: Int, roundTrip: Nanoseconds?) {
      self.requests = requests
      self.lost = lost
      self.roundTrip = roundTrip
    }
  }

  package var name: String
  /// Nil if discovery does not work, or was not asked.
  package var isAnnounced: Bool?
  /// True if this machine is paired with it, or with no room at all.
  package var isOurs: Bool
  /// The newest protocol version that it announces.
  package var version: UInt16?
  package var connection: Connection
  package var visit: Visit?
  /// The firewall that runs on this machine, as far as can be seen.
  package var firewall: String?

  package init(
    name: String, isAnnounced: Bool?, isOurs: Bool, version: UInt16? = nil, connection: Connection,
    visit: Visit? = nil, firewall: String? = nil
  ) {
    self.name = name
    self.isAnnounced = isAnnounced
    self.isOurs = isOurs
    self.version = version
    self.connection = connection
    self.visit = visit
    self.firewall = firewall
  }
}

extension RoomFacts {
  /// Shares of lost packets beyond which the room gets a notice, or is wrong. Clock and pacing cope with less.
  static let noticedLoss = 0.02
  static let wrongLoss = 0.2
  /// Wi-Fi without power saving answers well within this.
  static let noticedRoundTrip = Nanoseconds.milliseconds(30)

  package var finding: Finding {
    if let version, !ProtocolVersion.isSpoken(version) {
      return .wrong(
        name, "speaks protocol \(version); this program speaks \(ProtocolVersion.spoken)",
        cure: version < ProtocolVersion.oldest
          ? "update Tutti in that room" : "update Tutti on this machine")
    }
    switch connection {
    case .connected(let address): return visited(at: address)
    case .failed(let reason) where isAnnounced == true:
      return .wrong(
        name, "is announced, and cannot be reached: \(reason)",
        cure: "let TCP through the firewall there, or: sudo systemctl restart tutti-receiver")
    case .failed(let reason):
      return .notice(name, "is away: \(reason)", cure: "switch it on, or name where it is: --at")
    case .unknown:
      return .notice(
        name, "is away, and where it was is not known",
        cure: "switch it on; if it is gone for good: tutti unpair")
    }
  }

  private func visited(at address: String) -> Finding {
    switch visit {
    case .silent?, nil:
      .wrong(
        name, "takes the connection at \(address) and says nothing",
        cure: "restart it there: sudo systemctl restart tutti-receiver")
    case .notPaired?: unpaired(at: address)
    case .busy?: .well(name, "\(address), plays, so the network was not measured")
    case .refused(let reason)? where reason.hasPrefix("busy: "):
      .well(name, "\(address), \(reason)")
    case .broken(let reason)?:
      .wrong(
        name, "\(address) does not answer as a receiver: \(reason)",
        cure: "is it tutti-receiver that listens there, and of the same version?")
    case .spared? where isAnnounced != false: .well(name, "answers at \(address)")
    case .spared?:
      .notice(
        name, "answers at \(address), and is not announced",
        cure: "restart Avahi there; a router may keep multicast back: then use --at")
    case .ours(let roundTrip)?:
      .well(
        name, "\(address), plays for this machine" + (roundTrip.map { ", " + trip($0) } ?? ""))
    case .refused(let reason)?:
      .wrong(
        name, "refuses this machine: \(reason)", cure: "see its log: journalctl -u tutti-receiver")
    case .leftAlone?:
      .notice(
        name, "\(address), may still play for a player that was killed",
        cure: "end that: tutti stop --all")
    case .held(let exchange)?: exchanged(exchange, at: address)
    }
  }

  /// An unpaired room is wrong only if it is ours: a neighbour's room need not be paired.
  private func unpaired(at address: String) -> Finding {
    let cure = "pair with it once: tutti pair \(name.asShellWord)"
    return isOurs
      ? .wrong(name, "\(address), is not paired with this machine", cure: cure)
      : .notice(name, "\(address), is not paired with this machine", cure: cure)
  }

  private func exchanged(_ exchange: Exchange, at address: String) -> Finding {
    guard exchange.requests > 0 else {
      return .wrong(
        name, "answers by TCP at \(address), but its UDP packets do not arrive here",
        cure: "let UDP in on this machine" + (firewall.map { ": \($0)" } ?? "'s firewall"))
    }
    guard let roundTrip = exchange.roundTrip else {
      return .wrong(
        name, "this machine's UDP packets do not arrive at \(address)",
        cure: "let UDP in there, from this machine")
    }
    let sent = exchange.requests + exchange.lost
    let figures = "\(address), \(trip(roundTrip)), \(exchange.lost) of \(sent) packets lost"
    let network = "use a cable, or a nearer access point, and no Wi-Fi power saving at both ends"
    if Double(exchange.lost) > Double(sent) * Self.wrongLoss {
      return .wrong(name, figures, cure: network)
    }
    if Double(exchange.lost) > Double(sent) * Self.noticedLoss || roundTrip > Self.noticedRoundTrip
    {
      return .notice(name, figures, cure: network)
    }
    return .well(name, figures)
  }

  private func trip(_ time: Nanoseconds) -> String { "round trip \(time.inMilliseconds)" }
}

extension Nanoseconds {
  /// The time in milliseconds, with one digit behind the point.
  var inMilliseconds: String {
    let tenths = (count.magnitude + 50_000) / 100_000
    return "\(count < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) ms"
  }
}

/// The results of discovery: whether it works at all, and who is announced.
package struct NetworkFacts: Sendable {
  package enum Daemon: Hashable, Sendable {
    case answers
    /// It was asked, but has not answered.
    case silent
    case absent(reason: String)
  }

  /// One service of a receiver.
  package struct Announcement: Hashable, Sendable {
    package var id: String
    package var name: String
    /// Numeric, with the port.
    package var addresses: [String]

    package init(id: String, name: String, addresses: [String]) {
      self.id = id
      self.name = name
      self.addresses = addresses
    }
  }

  package var daemon: Daemon
  package var announcements: [Announcement]
  /// Names of the receivers that this machine is paired with, by their identifiers.
  package var paired: [String: String]

  package init(daemon: Daemon, announcements: [Announcement] = [], paired: [String: String] = [:]) {
    self.daemon = daemon
    self.announcements = announcements
    self.paired = paired
  }
}

extension NetworkFacts {
  private static let check = "Avahi"
  private static let start =
    "sudo apt install avahi-daemon; sudo systemctl enable --now avahi-daemon"

  package var findings: [Finding] { [discovery] + (names.map { [$0] } ?? []) }

  private var discovery: Finding {
    switch daemon {
    case .answers where announcements.isEmpty:
      .notice(
        Self.check, "answers, and no receiver is announced on this network",
        cure:
          "start tutti-receiver; a router, VLAN or firewall may keep multicast (UDP 5353) back: then use --at"
      )
    case .answers:
      .well(
        Self.check,
        announcements.count == 1
          ? "answers; 1 receiver is announced"
          : "answers; \(announcements.count) receivers are announced")
    case .silent:
      .wrong(
        Self.check, "is there, and does not answer", cure: "sudo systemctl restart avahi-daemon")
    case .absent(let reason):
      .wrong(Self.check, reason, cure: Self.start + "; until then name rooms with --at")
    }
  }

  /// Reports names or identities that two receivers must not share; nil if no receiver is
  /// announced.
  private var names: Finding? {
    guard !announcements.isEmpty else { return nil }
    for (place, one) in announcements.enumerated() {
      for other in announcements[..<place] where other.id == one.id && !other.isSameMachine(as: one)
      {
        return .wrong(
          "names", "two receivers have one identity: \(other.whereabouts) and \(one.whereabouts)",
          cure: "delete receiver-key.pem in the state directory of the copy, and restart it")
      }
    }
    if let stranger = announcements.first(where: isStranger) {
      return .notice(
        "names",
        "\(stranger.whereabouts) is not the \(stranger.name) that this machine is paired with",
        cure:
          "if it was set up anew: tutti unpair, then tutti pair \(stranger.name)#\(stranger.id.prefix(4))"
      )
    }
    for (place, one) in announcements.enumerated() {
      for other in announcements[..<place]
      where other.id != one.id && other.name.lowercased() == one.name.lowercased() {
        return .notice(
          "names", "two rooms are called \(one.name): \(other.whereabouts) and \(one.whereabouts)",
          cure: "rename one: tutti-receiver --name; until then: \(one.name)#\(one.id.prefix(4))")
      }
    }
    return .well("names", "each room has its own name and identity")
  }

  private func isStranger(_ announcement: Announcement) -> Bool {
    paired[announcement.id] == nil
      && paired.values.contains { $0.lowercased() == announcement.name.lowercased() }
  }
}

extension NetworkFacts.Announcement {
  /// True if both have an address in common: one machine may be announced twice, under two names.
  fileprivate func isSameMachine(as other: Self) -> Bool {
    addresses.contains(where: other.addresses.contains)
  }

  fileprivate var whereabouts: String { "\(name) at \(addresses.first ?? "no address")" }
}

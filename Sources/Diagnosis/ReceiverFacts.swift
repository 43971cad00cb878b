/// A receiver's sound device.
package struct CardFacts: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    case opened
    case busy
    /// It cannot be opened, for this reason: one line that says what to do.
    case failed(String)
    /// The receiver needs none.
    case unused(String)
  }

  /// A process that has a device open.
  package struct Owner: Hashable, Sendable {
    package var id: Int32
    package var name: String

    package init(id: Int32, name: String) {
      self.id = id
      self.name = name
    }
  }

  package var device: String
  package var state: State
  /// Processes that have any playing device open.
  package var owners: [Owner]
  /// Process of the receiver that runs with this state directory.
  package var receiver: Int32?

  package init(device: String, state: State, owners: [Owner] = [], receiver: Int32? = nil) {
    self.device = device
    self.state = state
    self.owners = owners
    self.receiver = receiver
  }

  private static let servers = ["pipewire", "pulseaudio", "wireplumber", "jackd"]

  package var finding: Finding {
    switch state {
    case .opened: return .well("sound card", "\(device) can be opened")
    case .unused(let output): return .well("sound card", "none is needed: --output \(output)")
    case .failed(let reason):
      return .wrong("sound card", reason, cure: "plug it in, or name another with --device")
    case .busy: break
    }
    let others = owners.filter { $0.id != receiver }
    if others.isEmpty, receiver != nil {
      return .well("sound card", "\(device) is in use by this receiver")
    }
    guard let other = others.first else {
      return .wrong(
        "sound card", "\(device) is in use by another program",
        cure: "see which: sudo fuser -v /dev/snd/*")
    }
    let fact =
      "\(device) is in use by \(others.map { "\($0.name) (\($0.id))" }.joined(separator: ", "))"
    let isServer = Self.servers.contains { other.name.hasPrefix($0) }
    return .wrong(
      "sound card", fact,
      cure: isServer
        ? "play through it with --device default, or stop it: systemctl --user stop \(other.name)"
        : "end it: kill \(other.id)")
  }
}

/// The receiver of a machine, seen from outside.
package struct ReceiverFacts: Hashable, Sendable {
  package enum Port: Hashable, Sendable {
    case answers(UInt16)
    case failed(UInt16, reason: String)
    /// It was left to the system, and is not announced.
    case unknown
  }

  /// The process that holds the state directory; nil if there is none.
  package var process: Int32?
  package var name: String
  package var port: Port
  /// True if discovery shows the receiver; nil if it should not, or if discovery does not work.
  package var isAnnounced: Bool?
  package var pairings: Int
  package var isOpen: Bool

  package init(
    process: Int32?, name: String, port: Port, isAnnounced: Bool?, pairings: Int, isOpen: Bool
  ) {
    self.process = process
    self.name = name
    self.port = port
    self.isAnnounced = isAnnounced
    self.pairings = pairings
    self.isOpen = isOpen
  }

  package var findings: [Finding] { [running, pairing] }

  private var running: Finding {
    guard let process else {
      return .wrong(
        "receiver", "does not run",
        cure: "sudo systemctl start tutti-receiver, and if it ends again: "
          + "journalctl -u tutti-receiver -n 5; or without a service: tutti-receiver --name Kitchen"
      )
    }
    if case .failed(let number, let reason) = port {
      return .wrong(
        "receiver", "runs (\(process)), and port \(number) does not answer: \(reason)",
        cure: "sudo systemctl restart tutti-receiver, and see: journalctl -u tutti-receiver")
    }
    let place = if case .answers(let number) = port { " on port \(number)" } else { "" }
    if isAnnounced == false {
      return .wrong(
        "receiver", "\(name) runs\(place), and is not announced",
        cure: "sudo systemctl restart avahi-daemon, and see: journalctl -u avahi-daemon")
    }
    return .well(
      "receiver", "\(name) runs\(place)" + (isAnnounced == true ? ", and is announced" : ""))
  }

  private var pairing: Finding {
    if isOpen { return .well("pairing", "anybody on this network may play here: --access open") }
    guard pairings > 0 else {
      return .notice(
        "pairing", "no sender is paired with this receiver",
        cure: "on a sender: tutti pair; the PIN is shown by: tutti-receiver pin")
    }
    return .well("pairing", pairings == 1 ? "1 sender is paired" : "\(pairings) senders are paired")
  }
}

import Driver
import LinuxIO
import OpenSSLSecurity
import Pairing
import Sender
import WireProtocol

import struct Clock.LocalTime

/// Lets machines that know the household's PIN join it, one after the other. For the thread of `SecondDaemon`.
final class JoiningDesk {
  /// A machine whose connection has shown a key, and what it has said before its offer was ready.
  private struct Guest {
    let name: Int
    let peer: SecuredPeer
    var bytes: [UInt8] = []
    var offer: HouseholdOffer?
  }

  /// Knows the PIN; nil while this daemon does not lead.
  var access: HouseAccess?
  private let link: DaemonLink
  private let mailbox: Mailbox<SecondLoop>
  private let directory: String
  private let report: (String) -> Void
  private var guest: Guest?

  /// - Parameter directory: the state directory, which has the household's key.
  init(
    _ link: DaemonLink, _ mailbox: Mailbox<SecondLoop>, directory: String,
    report: @escaping (String) -> Void
  ) {
    (self.link, self.mailbox) = (link, mailbox)
    (self.directory, self.report) = (directory, report)
  }

  var nextDeadline: LocalTime? { guest?.offer?.nextDeadline }

  func turn(at now: LocalTime) { handle(.timeout, at: now) }

  // MARK: - Guests

  func came(_ name: Int, _ peer: SecuredPeer) {
    guard let access, guest == nil else {
      link.send(HouseholdOffer.busy, to: name)
      return link.close(stranger: name)
    }
    guest = Guest(name: name, peer: peer)
    let mailbox = mailbox
    // The record of a new PIN takes a tenth of a second.
    Task {
      let record = try? await access.verifier(by: SPAKE2())
      mailbox.post { $0.joining.begin(name, record, at: HostClock.now) }
    }
  }

  func said(_ name: Int, _ bytes: [UInt8], at now: LocalTime) {
    guard let guest, guest.name == name else { return }
    if guest.offer != nil { return handle(.received(bytes), at: now) }
    self.guest?.bytes += bytes
    // Nobody says more before the first answer.
    if guest.bytes.count + bytes.count > ProtocolLimits.openingMessage { end() }
  }

  func left(_ name: Int) {
    if guest?.name == name { guest = nil }
  }

  private func begin(_ name: Int, _ record: PairingVerifierRecord?, at now: LocalTime) {
    guard let guest, guest.name == name else { return }
    guard let record, let key = try? SenderKeyFile(stateDirectory: directory).key(),
      let pem = try? key.pem()
    else { return end() }
    self.guest?.offer = HouseholdOffer(
      id: key.identifier, name: householdName(), key: pem, record: record, arithmetic: SPAKE2(),
      at: now)
    handle(.connected(guest.peer), at: now)
    if !guest.bytes.isEmpty { handle(.received(guest.bytes), at: now) }
  }

  /// The name that a machine which joins is told.
  var householdName: () -> String = { "" }

  // MARK: - The offer

  private func handle(_ input: HouseholdOffer.Input, at now: LocalTime) {
    guest?.offer?.handle(input, at: now)
    while let output = guest?.offer?.nextOutput() { perform(output) }
  }

  private func perform(_ output: HouseholdOffer.Output) {
    guard let name = guest?.name, let access else { return end() }
    switch output {
    case .send(let bytes): link.send(bytes, to: name)
    case .keepGuess:
      let mailbox = mailbox
      Task {
        let refusal = await access.countGuess()
        mailbox.post { $0.joining.counted(name, refusal, at: HostClock.now) }
      }
    case .joined(let machine):
      report("\(machine.shownPlainly) has joined the household: it goes on if this machine fails")
      Task { await access.guessWasRight() }
    case .close: end()
    }
  }

  private func counted(_ name: Int, _ refusal: PairingRefusal?, at now: LocalTime) {
    guard guest?.name == name else { return }
    handle(refusal.map { .guessRefused($0) } ?? .guessKept, at: now)
  }

  private func end() {
    if let name = guest?.name { link.close(stranger: name) }
    guest = nil
  }
}

package import Clock
import Dispatch
package import House
package import Pairing
import Synchronization

/// Decides who may use the household's page, from any thread. Whoever knows the PIN, or a secret of a QR code, gets a key;
/// only the key's hash is kept. What it answers is on the disk before.
package final class HouseAccess: Sendable {
  package struct Means: Sendable {
    package var now: @Sendable () -> LocalTime
    /// Days since 1970 by UTC.
    package var today: @Sendable () -> Int
    /// Bytes that nobody can foretell.
    package var random: @Sendable (_ count: Int) throws -> [UInt8]
    package var sha256: @Sendable ([UInt8]) -> [UInt8]
    /// Returns when the text is on the disk. Blocks meanwhile.
    package var keep: @Sendable (String) throws -> Void
    /// Under which a phone reaches this machine, such as `http://192.168.1.20:8770`.
    package var address: @Sendable () -> String

    package init(
      now: @escaping @Sendable () -> LocalTime, today: @escaping @Sendable () -> Int,
      random: @escaping @Sendable (Int) throws -> [UInt8],
      sha256: @escaping @Sendable ([UInt8]) -> [UInt8],
      keep: @escaping @Sendable (String) throws -> Void, address: @escaping @Sendable () -> String
    ) {
      (self.now, self.today, self.random) = (now, today, random)
      (self.sha256, self.keep, self.address) = (sha256, keep, address)
    }
  }

  /// Secrets of QR codes that can be used; the oldest of more is forgotten.
  package static let secretLimit = 8
  /// How long a secret lasts that a page or a command shows.
  package static let secretTime = Nanoseconds.seconds(600)
  /// Addresses from which the right token came, and wrong tokens that are not counted again.
  static let tokenMemory = 64

  struct State {
    var record: AccessRecord
    var pinGuesses: GuessLimit
    var tokenGuesses: GuessLimit
    /// The record of a PIN, once a machine has asked to join.
    var verifier: (pin: PIN, record: PairingVerifierRecord)?
    var secrets: [(digest: [UInt8], end: LocalTime?)] = []
    var tokenAddresses: [String] = []
    var wrongTokens: [[UInt8]] = []
    var listeners: [@Sendable () -> Void] = []
    var fixedOpen: Bool?
  }

  let means: Means
  /// The setting of the configuration, if there is one; then guests are as it says.
  private var fixedOpen: Bool? { state.withLock { $0.fixedOpen } }
  package let token: String?
  let state: Mutex<State>
  /// All that is written is written here, one after the other.
  private let writer = DispatchQueue(label: "access")

  /// - Parameters:
  ///   - text: what was kept; nil before the first start.
  ///   - isOpen: what the configuration says of guests.
  ///   - token: that of the configuration.
  package init(_ text: String?, isOpen: Bool?, token: String?, means: Means) throws {
    var record = AccessRecord(text: text ?? "")
    let before = record
    if record.pin == nil { record.pin = try Self.newPIN(means) }
    if record != before { try means.keep(record.text) }
    (self.means, self.token) = (means, token)
    state = Mutex(
      State(
        record: record, pinGuesses: GuessLimit(wrong: record.wrongPINs),
        tokenGuesses: GuessLimit(wrong: record.wrongTokens), fixedOpen: isOpen))
  }

  // MARK: - What holds

  package var isOpen: Bool { fixedOpen ?? state.withLock { $0.record.isOpen } }
  /// True if the configuration says it.
  package var isOpenFixed: Bool { fixedOpen != nil }
  package var pin: PIN? { state.withLock { $0.record.pin } }
  package var browsers: [PairedBrowser] { state.withLock { $0.record.browsers } }
  package var today: Int { means.today() }

  /// Calls `listener`, from any thread, when somebody may have lost what they were allowed.
  package func follow(_ listener: @escaping @Sendable () -> Void) {
    state.withLock { $0.listeners.append(listener) }
  }

  /// Returns true if somebody who was let in for something still is.
  package func isStill(_ asker: Asker, allowed permission: Permission) -> Bool {
    switch asker {
    case .browser(let id): state.withLock { $0.record.browser(id) != nil }
    case .guest: isOpen && asker.may(permission)
    case .machine, .token, .stranger: asker.may(permission)
    }
  }

  /// The browser to which a key was given.
  package func browser(key: String) -> PairedBrowser? {
    guard (1...Self.keyLimit).contains(key.utf8.count) else { return nil }
    let (digest, today) = (means.sha256(Array(key.utf8)), means.today())
    let (browser, isNew) = state.withLock { state in
      let browser = state.record.browser(digest: digest)
      return (browser, browser.map { state.record.see($0.id, on: today) } ?? false)
    }
    // Once a day; that it is lost costs nothing.
    if isNew { writer.async { try? self.keep() } }
    return browser
  }

  private static let keyLimit = 100

  // MARK: - Pairing

  /// The secret that a browser is given, once.
  package struct Key: Hashable, Sendable {
    package let text: String
    package let browser: PairedBrowser
  }

  /// - Parameter isSlowed: whether a wrong PIN counts; not for those who may see it anyway.
  package func pair(
    pin text: String, name: String, isSlowed: Bool = true
  ) async throws(Refusal) -> Key {
    let pin = try Self.pin(text)
    return try await onWriter { () throws(Refusal) in
      if isSlowed { try self.wait(\.pinGuesses, "PINs") }
      let isRight = self.state.withLock { state in
        let own = Array((state.record.pin?.digits ?? "").utf8)
        return own.isEqualInConstantTime(to: Array(pin.digits.utf8))
      }
      if isSlowed { try self.note(isRight, \.pinGuesses, \.wrongPINs) }
      guard isRight else {
        throw .wrong("This is not the PIN of this household. On its machine: tutti pin")
      }
      return try self.admit(name)
    }
  }

  /// A secret counts once. Nobody can guess one, so that wrong ones cost no time.
  package func pair(secret: String, name: String) async throws(Refusal) -> Key {
    let digest = means.sha256(Array(secret.utf8.prefix(Self.keyLimit)))
    return try await onWriter { () throws(Refusal) in
      let now = self.means.now()
      let isRight = self.state.withLock { state in
        state.secrets.removeAll { $0.end.map { $0 <= now } ?? false }
        let before = state.secrets.count
        state.secrets.removeAll { $0.digest == digest }
        return state.secrets.count < before
      }
      guard isRight else {
        throw .wrong("This code was used before, or is too old. Show another one: tutti add-phone")
      }
      return try self.admit(name)
    }
  }

  private func admit(_ name: String) throws(Refusal) -> Key {
    let key = try randomText(32)
    let today = means.today()
    let digest = means.sha256(Array(key.utf8))
    let browser = PairedBrowser(digest: digest, name: name, pairedDay: today, seenDay: today)
    let added = try change { record throws(Refusal) in
      guard record.add(browser) else {
        throw .unavailable(
          "No more than \(AccessRecord.browserLimit) browsers are paired; remove one first: tutti browsers"
        )
      }
      return record.browser(browser.id) ?? browser
    }
    return Key(text: key, browser: added)
  }

  private static func pin(_ text: String) throws(Refusal) -> PIN {
    do throws(PIN.Mistake) {
      return try PIN(text)
    } catch {
      throw switch error {
      case .malformed: .invalid("A PIN has eight digits, such as 1234 5671.")
      case .typo: .invalid("One of the digits is wrong: the last one checks the others.")
      }
    }
  }

  // MARK: - Changes

  package func remove(_ id: String) async throws(Refusal) {
    try await onWriter { () throws(Refusal) in
      try self.change { record throws(Refusal) in
        guard record.remove(id) else { throw Self.unknown(id) }
      }
    }
    tell()
  }

  package func rename(_ id: String, to name: String) async throws(Refusal) -> PairedBrowser {
    try await onWriter { () throws(Refusal) in
      try self.change { record throws(Refusal) in
        guard record.rename(id, to: name), let browser = record.browser(id) else {
          throw Self.unknown(id)
        }
        return browser
      }
    }
  }

  private static func unknown(_ id: String) -> Refusal {
    .noSuch("No browser \(id) is paired; see the list of browsers.")
  }

  /// Guesses of the old one count no more. Who is paired stays so.
  package func renewPIN() async throws(Refusal) -> PIN {
    try await onWriter { () throws(Refusal) in
      guard let pin = try? Self.newPIN(self.means) else { throw Self.noRandomness }
      self.state.withLock { $0.pinGuesses.reset() }
      try self.change { record throws(Refusal) in
        (record.pin, record.wrongPINs) = (pin, 0)
      }
      return pin
    }
  }

  /// The configuration's file has changed.
  package func configured(isOpen: Bool?) {
    state.withLock { $0.fixedOpen = isOpen }
    tell()
  }

  package func setOpen(_ isOpen: Bool) async throws(Refusal) {
    guard fixedOpen == nil else {
      throw .unavailable("The configuration of the daemon says whether guests may steer: open = ")
    }
    try await onWriter { () throws(Refusal) in
      try self.change { record throws(Refusal) in record.isOpen = isOpen }
    }
    tell()
  }

  private func tell() {
    for listener in state.withLock({ $0.listeners }) { listener() }
  }

  // MARK: - Steps

  private static func newPIN(_ means: Means) throws -> PIN {
    PIN(random: try means.random(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  static let noRandomness = Refusal.unavailable(
    "The machine has no random numbers yet; try again in a moment.")

  /// In letters that need no quoting in addresses and headers.
  func randomText(_ count: Int) throws(Refusal) -> String {
    guard let bytes = try? means.random(count) else { throw Self.noRandomness }
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  func wait(
    _ guesses: any WritableKeyPath<State, GuessLimit> & Sendable, _ what: String
  ) throws(Refusal) {
    let now = means.now()
    let wait = state.withLock { $0[keyPath: guesses].wait(at: now) }
    guard wait > .zero else { return }
    throw .tooMany(
      "There were too many wrong \(what). The next one is taken in a while.",
      retryAfterS: Int((wait.count + 999_999_999) / 1_000_000_000))
  }

  /// Returns when a wrong guess is on the disk, so that no restart gives it back.
  func note(
    _ isRight: Bool, _ guesses: any WritableKeyPath<State, GuessLimit> & Sendable,
    _ count: any WritableKeyPath<AccessRecord, Int> & Sendable
  ) throws(Refusal) {
    let now = means.now()
    let isNew = state.withLock { state in
      if isRight {
        state[keyPath: guesses].reset()
      } else {
        state[keyPath: guesses].count(at: now)
      }
      let before = state.record[keyPath: count]
      state.record[keyPath: count] = state[keyPath: guesses].wrong
      return state.record[keyPath: count] != before
    }
    if isNew { try keepOrExplain() }
  }

  /// A change that cannot be kept is not made.
  private func change<Value>(
    _ body: (inout AccessRecord) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    let before = state.withLock { $0.record }
    var record = before
    let value = try body(&record)
    guard record != before else { return value }
    do {
      try means.keep(record.text)
    } catch {
      throw .unavailable("This cannot be kept: \(error)")
    }
    state.withLock { state in
      // Days on which browsers were seen are kept with the next change.
      state.record = record
    }
    return value
  }

  private func keep() throws { try means.keep(state.withLock { $0.record.text }) }

  private func keepOrExplain() throws(Refusal) {
    do {
      try keep()
    } catch {
      throw .unavailable("The guess cannot be counted, and so is not answered: \(error)")
    }
  }

  func onWriter<Value: Sendable>(
    _ body: @escaping @Sendable () throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let result = await withCheckedContinuation { continuation in
      writer.async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }
}

import WireProtocol

/// A browser, or another program, that is paired with the household.
package struct PairedBrowser: Hashable, Sendable {
  /// For people and programs; not secret.
  package var id: String { String(digest.hex.prefix(12)) }
  /// SHA-256 of the key that only the browser keeps.
  package let digest: [UInt8]
  /// For people.
  package var name: String
  /// Days since 1970 by UTC on which it was paired, and last seen.
  package let pairedDay: Int
  package var seenDay: Int

  package init(digest: [UInt8], name: String, pairedDay: Int, seenDay: Int) {
    (self.digest, self.pairedDay, self.seenDay) = (digest, pairedDay, seenDay)
    self.name = Self.clean(name)
  }

  package static let nameLimit = 64

  static func clean(_ name: String) -> String { name.plain(atMost: nameLimit) }
}

/// Everything that a household keeps about who may use its page.
package struct AccessRecord: Hashable, Sendable {
  /// More than the phones and computers of a household; few enough to look through.
  package static let browserLimit = 64

  /// Nil before one was made.
  package var pin: PIN?
  /// Wrong PINs since the last right one.
  package var wrongPINs = 0
  package var wrongTokens = 0
  /// True if guests may steer music.
  package var isOpen = false
  /// In the order in which they came.
  package private(set) var browsers: [PairedBrowser] = []

  package init() {}

  package func browser(_ id: String) -> PairedBrowser? { browsers.first { $0.id == id } }

  package func browser(digest: [UInt8]) -> PairedBrowser? {
    browsers.first { $0.digest == digest }
  }

  /// Returns false if there are too many, or if its id is known already.
  package mutating func add(_ browser: PairedBrowser) -> Bool {
    guard browsers.count < Self.browserLimit, self.browser(browser.id) == nil else { return false }
    var browser = browser
    browser.name = unusedName(browser.name)
    browsers.append(browser)
    return true
  }

  /// Returns false if there is no such browser.
  package mutating func remove(_ id: String) -> Bool {
    let before = browsers.count
    browsers.removeAll { $0.id == id }
    return browsers.count < before
  }

  /// Returns false if there is no such browser.
  package mutating func rename(_ id: String, to name: String) -> Bool {
    guard let index = browsers.firstIndex(where: { $0.id == id }) else { return false }
    browsers[index].name = PairedBrowser.clean(name)
    return true
  }

  /// Returns false if nothing changes.
  package mutating func see(_ id: String, on day: Int) -> Bool {
    guard let index = browsers.firstIndex(where: { $0.id == id }), browsers[index].seenDay < day
    else { return false }
    browsers[index].seenDay = day
    return true
  }

  /// Returns the browsers of this name or, if there are none, those whose id begins with it.
  package func matches(_ wanted: String) -> [PairedBrowser] {
    let wanted = wanted.lowercased()
    let named = browsers.filter { $0.name.lowercased() == wanted }
    guard named.isEmpty, wanted.utf8.count >= 4 else { return named }
    return browsers.filter { $0.id.hasPrefix(wanted) }
  }

  private func unusedName(_ name: String) -> String {
    let names = Set(browsers.map(\.name))
    guard names.contains(name) else { return name }
    let free = (2...Self.browserLimit + 1).first { !names.contains("\(name) \($0)") }
    return free.map { "\(name) \($0)" } ?? name
  }
}

// MARK: - As text

extension AccessRecord {
  /// Reads lines of `key value`. A line that cannot be understood lets nobody in. A count that cannot be read may have
  /// been any, so it counts as the largest.
  package init(text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
      let value = words.dropFirst().first.map(String.init)
      switch words.first {
      case "pin": pin = value.flatMap { try? PIN($0) }
      case "wrong_pins": wrongPINs = value.flatMap { Int($0) } ?? .max
      case "wrong_tokens": wrongTokens = value.flatMap { Int($0) } ?? .max
      case "open": isOpen = value == "yes"
      case "browser": if let browser = PairedBrowser(words.map(String.init)) { _ = add(browser) }
      default: break
      }
    }
  }

  package var text: String {
    let head = [
      pin.map { "pin \($0.digits)" }, "wrong_pins \(wrongPINs)", "wrong_tokens \(wrongTokens)",
      "open \(isOpen ? "yes" : "no")",
    ]
    return (head.compactMap { $0 } + browsers.map(\.line)).map { $0 + "\n" }.joined()
  }
}

extension PairedBrowser {
  fileprivate init?(_ words: [String]) {
    guard words.count == 5, let digest = [UInt8](hex: words[1], count: 32),
      let paired = Int(words[2]), let seen = Int(words[3])
    else { return nil }
    self.init(digest: digest, name: words[4], pairedDay: paired, seenDay: seen)
  }

  fileprivate var line: String { "browser \(digest.hex) \(pairedDay) \(seenDay) \(name)" }
}

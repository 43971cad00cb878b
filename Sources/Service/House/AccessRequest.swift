package import House
import Pairing
import Synchronization

/// A request to a daemon about those who may use its page.
package enum AccessRequest: Codable, Hashable, Sendable {
  /// How a phone is added.
  case invite
  case pin(isNew: Bool)
  case browsers
  /// Removes the browser of this name, or whose id begins so.
  case remove(browser: String)
  case rename(browser: String, name: String)
}

package struct AccessAnswer: Codable, Hashable, Sendable {
  package struct Browser: Codable, Hashable, Sendable {
    package var id: String
    package var name: String
    package var pairedDaysAgo: Int
    package var seenDaysAgo: Int
  }

  package var invitation: Invitation?
  package var pin: String?
  /// All of them, or the one that was changed.
  package var browsers: [Browser]?
}

extension HouseAccess {
  package func answer(_ request: AccessRequest) async throws(Refusal) -> AccessAnswer {
    switch request {
    case .invite: AccessAnswer(invitation: try invite())
    case .pin(isNew: true): AccessAnswer(pin: try await renewPIN().written)
    case .pin(isNew: false): AccessAnswer(pin: pin?.written)
    case .browsers: AccessAnswer(browsers: browsers.map(shown))
    case .remove(let wanted): AccessAnswer(browsers: [try await removed(wanted)])
    case .rename(let wanted, let name):
      AccessAnswer(browsers: [shown(try await rename(try only(wanted).id, to: name))])
    }
  }

  private func removed(_ wanted: String) async throws(Refusal) -> AccessAnswer.Browser {
    let browser = try only(wanted)
    try await remove(browser.id)
    return shown(browser)
  }

  private func only(_ wanted: String) throws(Refusal) -> PairedBrowser {
    let matches = state.withLock { $0.record.matches(wanted) }
    guard let browser = matches.first else {
      throw .noSuch("no browser called \(wanted) is paired; see: tutti browsers")
    }
    guard matches.count == 1 else {
      let ids = matches.map { String($0.id.prefix(8)) }.joined(separator: ", ")
      throw .noSuch("\(matches.count) browsers are called \(wanted); say which: \(ids)")
    }
    return browser
  }

  private func shown(_ browser: PairedBrowser) -> AccessAnswer.Browser {
    AccessAnswer.Browser(
      id: browser.id, name: browser.name, pairedDaysAgo: max(0, today - browser.pairedDay),
      seenDaysAgo: max(0, today - browser.seenDay))
  }
}

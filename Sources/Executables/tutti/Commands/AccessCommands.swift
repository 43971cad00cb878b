import ArgumentParser
import Glibc
import Pairing
import QRCode
import Service
import WireProtocol

struct AddPhoneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add-phone",
    abstract: "Shows a QR code and a PIN that let a phone or computer use the page.",
    discussion: """
      The QR code works once, within ten minutes.
      The PIN is valid until you change it with: tutti pin --new

      Examples:
        tutti add-phone
        tutti add-phone --json        the code's address, for programs
      """)
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let answer = try common.ask(.invite)
      guard let invitation = answer.invitation else { throw AccessClient.misunderstood }
      if common.json { return try printJSON(invitation) }
      if isatty(STDOUT_FILENO) == 1, let code = QRCode(invitation.address) {
        for line in code.lines { try printLine(line) }
        try printLine("Scan this with a phone within ten minutes. It works once.")
      } else {
        try printLine("Open this within ten minutes. It works once: \(invitation.address)")
      }
      try printLine("Or open \(invitation.page) and type the PIN \(invitation.pin)")
    }
  }
}

struct HousePINCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin", abstract: "Shows or changes the PIN that lets a new browser use the page.",
    discussion: """
      Paired browsers stay paired. A new PIN also ends the delay after wrong PINs.

      Examples:
        tutti pin
        tutti pin --new
      """)
  @Flag(help: "Make a new one.")
  var new = false
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      guard let pin = try common.ask(.pin(isNew: new)).pin else { throw AccessClient.misunderstood }
      if common.json { return try printJSON(["pin": pin]) }
      try printLine(pin)
    }
  }
}

struct BrowsersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browsers",
    abstract: "Lists, renames and removes the browsers that may use the page.",
    discussion: """
      A removed browser loses access at once.
      Browsers are given by name, or by the beginning of their identifier.

      Examples:
        tutti browsers
        tutti browsers --rename 'Chrome on Android' --to 'Phone of Ann'
        tutti browsers --remove 'Phone of Ann'
        tutti browsers --remove 4f2a91c0
      """)
  @Option(help: .init("Remove this browser.", valueName: "browser"))
  var remove: String?
  @Option(help: .init("Rename this browser.", valueName: "browser"))
  var rename: String?
  @Option(help: .init("The new name.", valueName: "name"))
  var to: String?
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let answer = try common.ask(try request())
      let browsers = answer.browsers ?? []
      if common.json {
        for browser in browsers { try printJSON(browser) }
        return
      }
      if let remove { return try printLine("\(remove.shownPlainly) is not paired any more") }
      if browsers.isEmpty { return try printLine("no browser is paired; add one: tutti add-phone") }
      for browser in browsers {
        try printLine(
          "\(browser.id.prefix(8))  \(browser.name.shownPlainly), seen \(Self.day(browser.seenDaysAgo))"
        )
      }
    }
  }

  private func request() throws -> AccessRequest {
    switch (remove, rename, to) {
    case (nil, nil, nil): return .browsers
    case (let remove?, nil, nil): return .remove(browser: remove)
    case (nil, let rename?, let to?):
      guard (1...PairedBrowser.nameLimit).contains(to.utf8.count) else {
        throw Failure(.usage, "--to takes 1 to \(PairedBrowser.nameLimit) bytes")
      }
      return .rename(browser: rename, name: to)
    default: throw Failure(.usage, "give either --remove, or --rename with --to")
    }
  }

  private static func day(_ daysAgo: Int) -> String {
    switch daysAgo {
    case 0: "today"
    case 1: "yesterday"
    default: "\(daysAgo) days ago"
    }
  }
}

private enum AccessClient {
  static let misunderstood = Failure(
    .unavailable, "the daemon's answer was not understood; is it of another version?")
}

extension PlaceOptions {
  fileprivate func ask(_ request: AccessRequest) throws -> AccessAnswer {
    let client = ControlClient(try StateDirectory(stateDir).commands)
    guard let answer = try client.ask(request) else {
      throw Failure(.unavailable, "no daemon runs; start one with: tutti serve")
    }
    return answer
  }
}

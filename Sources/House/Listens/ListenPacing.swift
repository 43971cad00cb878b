/// Decides when listens go to one service, how many at once, and which line says how that goes. For one thread.
package struct ListenPacing: Sendable {
  /// Most listens of one request; Last.fm takes no more.
  package static let batchLimit = 50
  /// Pauses before a request is repeated, in seconds; each is twice the one before.
  package static let firstPauseS = 5
  package static let longestPauseS = 3_600

  /// The end of a request.
  package enum Outcome: Hashable, Sendable {
    case taken
    /// The service takes nothing with this key or token.
    case wrongKey
    /// There is something wrong with one of these listens.
    case rejected
    /// The service asks for a pause, in seconds where it names one.
    case busy(afterS: Int?)
    /// The listens did not come there, for this reason.
    case failed(String)
  }

  package struct Verdict: Hashable, Sendable {
    /// True if the listens of this request are not sent again.
    package var isDone: Bool
    package var pauseS = 0
    /// A sentence for people, without the name of the service.
    package var line: String?
  }

  private enum Trouble: Hashable { case key, network, listen }

  private var failureCount = 0
  /// The trouble of which people were told.
  private var told: Trouble?
  /// Listens that are sent one by one, because one of them is rejected.
  private var singles = 0

  private let tokenFile: String

  /// - Parameter tokenFile: the path of the service's secrets, for people.
  package init(tokenFile: String) { self.tokenFile = tokenFile }

  /// Most listens of the next request.
  package var limit: Int { singles > 0 ? 1 : Self.batchLimit }

  /// Takes in how a request with `count` listens has ended.
  package mutating func take(_ outcome: Outcome, of count: Int) -> Verdict {
    switch outcome {
    case .taken:
      singles = max(0, singles - count)
      failureCount = 0
      let line = told == .key || told == .network ? "listens are taken again" : nil
      told = nil
      return Verdict(isDone: true, line: line)
    case .rejected:
      failureCount = 0
      guard count == 1 else {
        singles = count
        return Verdict(isDone: false)
      }
      singles = max(0, singles - 1)
      return Verdict(
        isDone: true, line: tell(.listen, "the service refuses a listen, which is dropped"))
    case .wrongKey:
      return Verdict(
        isDone: false, pauseS: pause(),
        line: tell(
          .key,
          "the service refuses the token; get a new one there, and write it into \(tokenFile); "
            + "until then listens are kept"))
    case .busy(let seconds):
      let usual = pause()
      return Verdict(
        isDone: false, pauseS: min(max(1, seconds ?? usual), Self.longestPauseS))
    case .failed(let reason):
      return Verdict(
        isDone: false, pauseS: pause(),
        line: tell(
          .network, "listens cannot be sent: \(reason); they are kept, and it is tried again"))
    }
  }

  private mutating func pause() -> Int {
    failureCount = min(failureCount + 1, 20)
    return min(Self.longestPauseS, Self.firstPauseS << (failureCount - 1))
  }

  private mutating func tell(_ trouble: Trouble, _ line: String) -> String? {
    guard told != trouble else { return nil }
    told = trouble
    return line
  }
}

import FFmpegSource
import House
import LinuxIO
import ProgramJSON
import Sender
import Service

/// Listens on their way to one service, for the program that sends them.
struct ListenRequest: Codable, Hashable {
  /// No more of an answer is read, in bytes.
  static let answerLimit = 64 << 10
  /// The time in which a service must have answered.
  static let time = Duration.seconds(15)

  private var kind: String
  private var address: String
  private var key: ListenKey
  private var isNow: Bool
  private var listens: [Listen]
  /// The words of a `MediaServer`.
  private var server: [String]?

  init(_ listens: [Listen], isNow: Bool, to service: ListenService, _ key: ListenKey) {
    (kind, address) = (service.kind.rawValue, service.target.text)
    (self.key, self.isNow, self.listens) = (key, isNow, listens)
    server = service.server?.words
  }

  /// Sends them, and then confines the process for good: it looks at the answer only then. Blocks.
  func answer() -> WorkerAnswer {
    guard let kind = ListenService.Kind(rawValue: kind), let address = ListenAddress(address),
      let body = try? body(kind), let path = path(address)
    else { return .broken("these listens cannot be sent") }
    let server = AddressPost.Server(
      host: address.host, port: address.port, isSecure: address.isSecure)
    let post: AddressPost
    do throws(MediaError) {
      post = try AddressPost(
        head(kind, address, path, body.count) + body, to: server,
        limit: Self.answerLimit, time: Self.time,
        reach: self.server.flatMap { MediaServer(words: $0)?.reach } ?? .all)
    } catch .unreadable(_, let reason) {
      return .broken(reason)
    } catch {
      return .useless("\(error)")
    }
    if let reason = ConfinedService.confine() { return .useless(reason) }
    return .answered(ListenAnswer(post.answer))
  }

  private func body(_ kind: ListenService.Kind) throws -> [UInt8] {
    switch kind {
    case .listenBrainz: try ListenBody.json(listens, isNow: isNow)
    case .lastFM: try ListenBody.form(listens, isNow: isNow, key) { try AddressPost.hash(of: $0) }
    case .subsonic: []
    }
  }

  /// Returns nil where the server of a library cannot be told of it. It is told in the path, for older ones read no bodies.
  private func path(_ address: ListenAddress) -> String? {
    guard let words = server else { return address.path }
    guard let server = MediaServer(words: words), let listen = listens.first,
      let id = listen.libraryId
    else { return nil }
    let fields = [
      ("id", id), ("time", "\(listen.atS * 1_000)"), ("submission", isNow ? "false" : "true"),
    ]
    return try? ServerAccess.path(server, key.token, "scrobble", fields)
  }

  /// Only what was checked is part of it.
  private func head(
    _ kind: ListenService.Kind, _ address: ListenAddress, _ path: String, _ count: Int
  ) -> [UInt8] {
    var lines = [
      "\(kind == .subsonic ? "GET" : "POST") \(path) HTTP/1.1", "Host: \(address.authority)",
      "User-Agent: tutti",
      "Accept: application/json", "Content-Length: \(count)", "Connection: close",
    ]
    switch kind {
    case .listenBrainz:
      lines.append("Content-Type: application/json")
      if ListenKey.isSecret(key.token) { lines.append("Authorization: Token \(key.token)") }
    case .lastFM: lines.append("Content-Type: application/x-www-form-urlencoded")
    case .subsonic: break
    }
    return Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
  }
}

/// The few facts that are taken from a service's answer.
struct ListenAnswer: Hashable {
  /// HTTP's; 0 is none.
  var status = 0
  /// When it may be asked again, in seconds.
  var afterS: Int?
  /// Last.fm's number of an error, or that of Subsonic's interface.
  var error: Int?

  private static let headLimit = 16 << 10

  init(_ bytes: [UInt8]) {
    let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? bytes.count
    let lines = bytes.prefix(min(end, Self.headLimit)).split(separator: UInt8(ascii: "\n"))
    guard let first = lines.first, first.starts(with: "HTTP/1.".utf8) else { return }
    status = Self.number(first.drop { $0 != 32 }.dropFirst()) ?? 0
    for line in lines.dropFirst() {
      let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
      guard ["retry-after", "x-ratelimit-reset-in"].contains(name.lowercased()) else { continue }
      afterS = Self.number(line.dropFirst(name.utf8.count + 1)) ?? afterS
    }
    let mark = Array("\"error\":".utf8)
    if let place = bytes[end...].firstRange(of: mark) {
      let rest = bytes[place.upperBound...]
      let code = rest.firstRange(of: Array("\"code\":".utf8))
      error = Self.number(rest) ?? code.flatMap { Self.number(rest[$0.upperBound...]) }
    }
  }

  init?(words: ArraySlice<String>) {
    let words = Array(words)
    guard words.count == 3, let status = Int(words[0]), (0...99_999).contains(status) else {
      return nil
    }
    (self.status, afterS, error) = (status, Int(words[1]), Int(words[2]))
  }

  var words: [String] {
    ["\(status)", afterS.map { "\($0)" } ?? "", error.map { "\($0)" } ?? ""]
  }

  /// The digits at the beginning, after spaces; at most five of them.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    let digits = bytes.drop { $0 == 32 }.prefix(5).prefix { (48...57).contains($0) }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  /// Tells how the request has ended for its listens.
  func outcome(_ kind: ListenService.Kind) -> ListenPacing.Outcome {
    switch kind == .subsonic ? error : nil {
    case 40, 41, 42, 43, 44, 50: return .wrongKey
    case 70: return .rejected
    case let error?: return .failed("the server answers with its error \(error)")
    case nil: break
    }
    switch kind == .lastFM ? error : nil {
    case 4, 9, 10, 13, 14, 26: return .wrongKey
    case 6: return .rejected
    case 29: return .busy(afterS: afterS)
    case let error?: return .failed("the service answers with its error \(error)")
    case nil: break
    }
    switch status {
    case 200..<300: return .taken
    case 300..<400:
      return .failed(
        "the service has moved (HTTP \(status)), and is not followed; set its new address as url")
    case 401, 403: return .wrongKey
    case 400, 413, 422: return .rejected
    case 429: return .busy(afterS: afterS)
    case 0: return .failed("this is no answer of HTTP; check url")
    case 404, 405: return .failed("there is no such service at this address (\(status)); check url")
    default: return .failed("the service answers HTTP \(status)")
    }
  }
}

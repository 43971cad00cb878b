import House
import LinuxIO
import Service

/// The secrets of one service, from a file. They go to the program that sends, and nowhere else.
struct ListenKey: Codable, Hashable {
  /// Largest file, in bytes.
  static let sizeLimit = 4_096
  private static let lengths = 8...256
  private static let letters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)

  struct Problem: Error {
    let text: String
  }

  /// The token of ListenBrainz; the session's key of Last.fm.
  var token: String
  /// Last.fm's alone: the key and the secret of whoever has registered the program there.
  var apiKey = ""
  var secret = ""

  /// Reads a token that stands alone, or lines such as `session-key = …`.
  init(of service: ListenService) throws(Problem) {
    if let server = service.server {
      do throws(ServerAccess.Problem) {
        token = try ServerAccess.secret(of: server)
        return
      } catch {
        throw Problem(text: error.text)
      }
    }
    let bytes: [UInt8]?
    do {
      bytes = try StateFile(path: service.tokenFile).read(limit: Self.sizeLimit)
    } catch {
      throw Problem(text: "\(error)")
    }
    guard let bytes else { throw Problem(text: "there is no file \(service.tokenFile)") }
    let lines = bytes.split { $0 == 10 || $0 == 13 }.map { line in
      String(decoding: line, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
    }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    switch service.kind {
    case .listenBrainz, .subsonic:
      guard lines.count == 1, Self.isSecret(lines[0]) else {
        throw Problem(text: "\(service.tokenFile) must have the token alone")
      }
      token = lines[0]
    case .lastFM:
      func value(_ name: String) throws(Problem) -> String {
        let found = lines.filter { $0.hasPrefix(name + "=") }.map {
          String($0.dropFirst(name.count + 1))
        }
        guard found.count == 1, Self.isSecret(found[0]) else {
          throw Problem(text: "\(service.tokenFile) needs a line: \(name) = …")
        }
        return found[0]
      }
      token = try value("session-key")
      (apiKey, secret) = (try value("api-key"), try value("secret"))
    }
  }

  /// True for letters that mean nothing more in a header or a form.
  static func isSecret(_ text: String) -> Bool {
    lengths.contains(text.utf8.count) && text.utf8.allSatisfy(letters.contains)
  }
}

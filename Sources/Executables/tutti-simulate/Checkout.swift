import Foundation

/// The checkout that the program is run in. A seed plays the same only with the same code.
enum Checkout {
  /// As the last line of git's log has it; nil outside a checkout.
  static let commit: String? = {
    var folder = URL(filePath: FileManager.default.currentDirectoryPath)
    while folder.path != "/" {
      let log = folder.appending(path: ".git/logs/HEAD")
      if let text = try? String(contentsOf: log, encoding: .utf8) {
        let words = text.split(separator: "\n").last?.split(separator: " ") ?? []
        guard words.count > 1, words[1].allSatisfy(\.isHexDigit) else { return nil }
        return String(words[1].prefix(12))
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }()
}

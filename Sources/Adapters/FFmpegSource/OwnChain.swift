/// A chain of audio filters in FFmpeg's own notation, typed by the user who started this program.
///
/// Such a chain can read and write files, load libraries and take all memory. Therefore it comes only from the command
/// line of this process: any other text makes none, and a chain is not `Codable`.
package struct OwnChain: Hashable, Sendable {
  let text: String

  /// - Parameter argument: the text after `--filter`.
  /// - Returns: nil for text that is not on this program's command line.
  package init?(_ argument: String) {
    let isTyped = CommandLine.arguments.contains { word in
      word == argument || word.hasPrefix("--") && word.hasSuffix("=" + argument)
    }
    guard isTyped, !argument.isEmpty else { return nil }
    text = argument
  }

  /// For tests of this module.
  init(trusted text: String) { self.text = text }
}

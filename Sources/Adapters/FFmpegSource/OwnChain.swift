/// A chain of audio filters in FFmpeg's own notation, as whoever started this program typed it.
///
/// Such a chain can read and write files, load libraries and take all memory. So it comes from the command line of this
/// process and from nowhere else: a text that does not stand there makes none, and a chain is not `Codable`.
package struct OwnChain: Hashable, Sendable {
  let text: String

  /// - Parameter argument: what stands behind `--filter`.
  /// - Returns: nil for what is not on this program's command line.
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

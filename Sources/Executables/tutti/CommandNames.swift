import ArgumentParser

/// Suggests a command for a mistyped one.
enum CommandNames {
  /// Returns a hint, or nil if the word is a command or begins with a hyphen.
  static func advice(on word: String?) -> String? {
    guard let word, !word.hasPrefix("-") else { return nil }
    let shown = TuttiCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    let all = TuttiCommand.configuration.subcommands.map(name) + ["help"]
    guard !all.contains(word) else { return nil }
    let near = nearest(to: word, of: shown.map(name)).map { "did you mean: tutti \($0)" }
    return "there is no command \(word); \(near ?? "all of them: tutti --help")"
  }

  private static func name(_ command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? command._commandName
  }

  /// Returns nil if no name is within two typing errors, or one for words of fewer than five
  /// letters.
  private static func nearest(to word: String, of names: [String]) -> String? {
    guard word.count < 20 else { return nil }
    let limit = word.count < 5 ? 1 : 2
    let near = names.map { ($0, slips(Array(word), Array($0))) }.min { $0.1 < $1.1 }
    return near.flatMap { $0.1 <= limit ? $0.0 : nil }
  }

  /// The number of typing errors between two words: letters that are missing, added, wrong, or
  /// swapped with a neighbour.
  private static func slips(_ a: [Character], _ b: [Character]) -> Int {
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}

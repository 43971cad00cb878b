extension String {
  /// The string as one word of a command that people may copy into a shell, whatever it contains.
  package var asShellWord: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch UnicodeScalar(byte) {
        case "0"..."9", "A"..."Z", "a"..."z", "_", ".", "-": true
        default: false
        }
      }
    guard !isPlain || hasPrefix("-") else { return self }
    return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

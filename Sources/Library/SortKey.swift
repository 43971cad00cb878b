/// Lower-case names without accents, for sorting and comparing.
enum SortKey {
  /// Base letters of U+00C0 to U+017F, without case; a dot for characters that are no letters with
  /// accents.
  private static let bases = Array(
    ("aaaaaaaceeeeiiiidnooooo.ouuuuyts" + "aaaaaaaceeeeiiiidnooooo.ouuuuyty"
      + "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
      + "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs").utf8)

  static func of(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.lowercased().unicodeScalars {
      let place = Int(scalar.value) - 0xc0
      if bases.indices.contains(place), bases[place] != UInt8(ascii: ".") {
        scalars.append(Unicode.Scalar(bases[place]))
      } else if !(0x300...0x36f).contains(scalar.value) {
        // Leave out combining accents.
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// Returns the key by which people look for a name on a shelf: without a leading article.
  static func ofShelf(_ name: String) -> String {
    let key = of(name)
    return key.hasPrefix("the ") ? String(key.dropFirst(4)) : key
  }
}

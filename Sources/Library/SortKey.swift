/// Small letters without accents, by which names are sorted and compared.
enum SortKey {
  /// For U+00C0 to U+017F, without regard to case; a dot for what is no letter with an accent.
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
        // Combining accents are left out.
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// As people look for a name on a shelf: without a leading article.
  static func ofShelf(_ name: String) -> String {
    let key = of(name)
    return key.hasPrefix("the ") ? String(key.dropFirst(4)) : key
  }
}

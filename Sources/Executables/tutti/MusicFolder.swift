import LinuxIO
import Service

/// The folder in which a desktop keeps its user's music.
enum MusicFolder {
  /// In bytes; desktops write a tenth of it.
  private static let sizeLimit = 16 << 10

  /// Nil for a user without a home, such as that of a service.
  static var own: String? {
    guard let home = Environment["HOME"], home.hasPrefix("/") else { return nil }
    let settings = (Environment["XDG_CONFIG_HOME"] ?? home + "/.config") + "/user-dirs.dirs"
    let bytes = try? StateFile(path: settings).read(limit: sizeLimit)
    let text = String(decoding: bytes.flatMap(\.self) ?? [], as: UTF8.self)
    return named(in: text, home: home) ?? home + "/Music"
  }

  /// Reads a line such as `XDG_MUSIC_DIR="$HOME/Musik"`.
  static func named(in text: String, home: String) -> String? {
    let start = "XDG_MUSIC_DIR=\""
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(start) {
      let value = line.dropFirst(start.count).prefix { $0 != "\"" }
      let path = value.hasPrefix("$HOME/") ? home + value.dropFirst(5) : String(value)
      // A desktop that has no such folder names the home.
      guard path.hasPrefix("/"), path != home, path != home + "/" else { return nil }
      return path
    }
    return nil
  }
}

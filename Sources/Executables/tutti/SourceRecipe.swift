import Driver
import House
import LinuxIO
import Service

/// A ready-made input whose sound comes from a program that others have written.
enum SourceRecipe: String, CaseIterable {
  case airplay, spotify, bluetooth, dlna

  var usualName: String {
    switch self {
    case .airplay: "AirPlay"
    case .spotify: "Spotify"
    case .bluetooth: "Bluetooth"
    case .dlna: "DLNA"
    }
  }

  var program: String {
    switch self {
    case .airplay: "shairport-sync"
    case .spotify: "librespot"
    case .bluetooth: "arecord"
    case .dlna: "gmediarender"
    }
  }

  /// The programs that it needs, and how each is had.
  private var needs: [(program: String, cure: String)] {
    switch self {
    case .airplay: [(program, "sudo apt install shairport-sync")]
    case .spotify: [(program, "Debian has none; see: https://github.com/librespot-org/librespot")]
    case .bluetooth:
      [(program, "sudo apt install alsa-utils"), ("bluealsa", "sudo apt install bluez-alsa-utils")]
    case .dlna: [(program, "sudo apt install gmediarender gstreamer1.0-plugins-good")]
    }
  }

  /// Those that are not there, each with a cure.
  var missing: [(program: String, cure: String)] {
    needs.filter { ProgramSearch.path(of: $0.program) == nil }
  }

  init?(program: String) {
    let base = program.split(separator: "/").last.map(String.init)
    guard let found = Self.allCases.first(where: { $0.program == base }) else { return nil }
    self = found
  }

  /// The lines of the section.
  ///
  /// - Parameter name: as everybody sees it, also on phones; without quotes.
  /// - Parameter settings: the path of `settingsFile`, if it has one.
  func section(named name: String, settings: String?) -> [String] {
    let lines: [String]
    switch self {
    case .airplay:
      lines = [
        "command = shairport-sync --configfile=\(Self.quoted(settings ?? ""))",
        "raw = 44100:16:2", "events = shairport-sync",
      ]
    case .spotify:
      lines = [
        "command = librespot --name \(Self.quoted(name)) --backend pipe --bitrate 320 "
          + "--volume-ctrl fixed --disable-audio-cache --onevent \"tutti event-of librespot\"",
        "raw = 44100:16:2", "events = json",
      ]
    case .bluetooth:
      lines = [
        "command = arecord -q -t raw -f S16_LE -r 44100 -c 2 "
          + "-D bluealsa:DEV=00:00:00:00:00:00,PROFILE=a2dp",
        "raw = 44100:16:2",
      ]
    case .dlna:
      lines = [
        // All of them take one port unless they are told another; a second one on it waits, and ends.
        "command = gmediarender --friendly-name \(Self.quoted(name)) --uuid \(Self.identifier()) "
          + "--port \(UInt16.random(in: 61_000...65_500)) --gstout-audiopipe "
          + "\"audioresample ! audioconvert ! audio/x-raw,format=S16LE,rate=44100,channels=2 "
          + "! fdsink fd=1\"",
        // Its threads map as much as the usual limit, and use little of it; where that is missing it ends by signal 11.
        "memory = 4096",
        "raw = 44100:16:2",
      ]
    }
    return ["[input \(name)]"] + lines
  }

  /// Settings that a program takes only from a file of its own; nil if it needs none.
  func settingsFile(named name: String) -> [String]? {
    guard self == .airplay else { return nil }
    return [
      "// Written by tutti sources add airplay: the daemon starts shairport-sync with it.",
      "general = {", "  name = \"\(name)\";", "  output_backend = \"stdout\";",
      "  // The group's volume is set in its place.", "  ignore_volume_control = \"yes\";", "};",
      "metadata = {", "  enabled = \"yes\";", "  include_cover_art = \"yes\";",
      "  // The pipe that the daemon has made.", "  pipe_name = \"/dev/fd/3\";", "};",
    ]
  }

  /// A device's name for machines. All copies of gmediarender have the same one of themselves, and apps take two of them for one.
  private static func identifier() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    // A random one, by RFC 9562.
    (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x40, bytes[8] & 0x3F | 0x80)
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 0x0F, radix: 16) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
      .joined(separator: "-")
  }

  private static func quoted(_ text: String) -> String {
    text.contains(where: \.isWhitespace) || text.contains("'") ? "\"\(text)\"" : text
  }
}

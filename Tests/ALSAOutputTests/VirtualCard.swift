import Foundation

/// A directory with a virtual sound card in it (`Tests/Support/virtual-card`), for one test.
final class VirtualCard {
  let directory: URL
  /// ALSA's name of it.
  let device: String

  /// - Parameter options: as the plugin's, `RATE=44100` or `PPM=-900000`.
  init(_ options: String...) throws {
    _ = try Self.plugin.get()
    directory = FileManager.default.temporaryDirectory.appending(path: "card-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    device = "virtual:" + (["DIR=\(directory.path)"] + options).joined(separator: ",")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  enum Control: String { case vanish, suspend, underrun, dry }

  func set(_ control: Control) throws {
    try Data().write(to: directory.appending(path: control.rawValue))
  }
  func clear(_ control: Control) throws {
    try FileManager.default.removeItem(at: directory.appending(path: control.rawValue))
  }

  /// What its mixer was set to: volume and switch of Digital, volume of Tone.
  func mixer() throws -> String {
    try String(contentsOf: directory.appending(path: "mixer"), encoding: .utf8)
  }

  /// What it was given to play, as samples of `type`.
  func heard<Sample: BitwiseCopyable>(as type: Sample.Type) throws -> [Sample] {
    let data = try Data(contentsOf: directory.appending(path: "heard"))
    return data.withUnsafeBytes { bytes in
      (0..<(bytes.count / MemoryLayout<Sample>.size)).map {
        bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Sample>.size, as: Sample.self)
      }
    }
  }

  /// When it was started, in nanoseconds of CLOCK_MONOTONIC, and with which frame of `heard`.
  func starts() throws -> [(nanoseconds: Int64, frame: Int64)] {
    try String(contentsOf: directory.appending(path: "starts"), encoding: .utf8)
      .split(separator: "\n")
      .map { line in
        let words = line.split(separator: " ").compactMap { Int64($0) }
        return (words[0], words[1])
      }
  }

  /// Compiled once for the process, and made known to alsa-lib.
  private static let plugin = Result {
    let place = FileManager.default.temporaryDirectory.appending(path: "virtual-card-\(getpid())")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let card = try compile("virtual_card", into: place)
    let mixer = try compile("virtual_mixer", into: place)
    let configuration = place.appending(path: "asound.conf")
    try Data(
      """
      pcm_type.virtual_card { lib "\(card)" }
      ctl_type.virtual_mixer { lib "\(mixer)" }
      ctl.virtual {
        @args [ DIR ]
        @args.DIR { type string }
        type virtual_mixer
        dir $DIR
      }
      pcm.virtual {
        @args [ DIR PPM STEP RATE FORMAT CHANNELS ]
        @args.DIR { type string }
        @args.PPM { type real default 0.0 }
        @args.STEP { type integer default 1 }
        @args.RATE { type integer default 0 }
        @args.FORMAT { type string default "" }
        @args.CHANNELS { type integer default 0 }
        type virtual_card
        dir $DIR
        ppm $PPM
        step $STEP
        rate $RATE
        format $FORMAT
        channels $CHANNELS
      }
      """.utf8
    ).write(to: configuration)
    setenv("ALSA_CONFIG_PATH", configuration.path, 1)
  }

  /// The path of the plugin made of a source of `Tests/Support/virtual-card`.
  private static func compile(_ name: String, into place: URL) throws -> String {
    let library = place.appending(path: "\(name).so").path
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Support/virtual-card/\(name).c").standardized.path
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = [
      "cc", "-O2", "-shared", "-fPIC", "-DPIC", "-o", library, source, "-lasound", "-lm",
    ]
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return library
  }
}

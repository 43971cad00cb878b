package import Foundation

/// A directory with a virtual sound card in it (`Tests/Support/virtual-card`), for one test.
package final class VirtualCard {
  package let directory: URL
  /// ALSA's name of the card.
  package let device: String

  /// - Parameter options: options of the plugin, such as `RATE=44100` or `PPM=-900000`.
  package init(_ options: String...) throws {
    _ = try Self.plugin.get()
    directory = FileManager.default.temporaryDirectory.appending(path: "card-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    device = "virtual:" + (["DIR=\(directory.path)"] + options).joined(separator: ",")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  package enum Control: String { case vanish, suspend, underrun, dry }

  package func set(_ control: Control) throws {
    try Data().write(to: directory.appending(path: control.rawValue))
  }
  package func clear(_ control: Control) throws {
    try FileManager.default.removeItem(at: directory.appending(path: control.rawValue))
  }

  /// Returns the settings of the mixer: volume and switch of Digital, volume of Tone.
  package func mixer() throws -> String {
    try String(contentsOf: directory.appending(path: "mixer"), encoding: .utf8)
  }

  /// Returns the audio that the card was given, as samples of `type`.
  package func heard<Sample: BitwiseCopyable>(as type: Sample.Type) throws -> [Sample] {
    let data = try Data(contentsOf: directory.appending(path: "heard"))
    return data.withUnsafeBytes { bytes in
      (0..<(bytes.count / MemoryLayout<Sample>.size)).map {
        bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Sample>.size, as: Sample.self)
      }
    }
  }

  /// Returns for each start of the card its time in nanoseconds of CLOCK_MONOTONIC, and the frame of `heard` with
  /// which it began.
  package func starts() throws -> [(nanoseconds: Int64, frame: Int64)] {
    try String(contentsOf: directory.appending(path: "starts"), encoding: .utf8)
      .split(separator: "\n")
      .map { line in
        let words = line.split(separator: " ").compactMap { Int64($0) }
        return (words[0], words[1])
      }
  }

  /// Compiles the plugin once for the process, and registers it with alsa-lib.
  fileprivate static let plugin = Result {
    let place = FileManager.default.temporaryDirectory.appending(path: "virtual-card-\(getpid())")
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Support/virtual-card/build.sh").standardized.path
    let build = Process()
    build.executableURL = URL(filePath: "/bin/sh")
    build.arguments = [script, place.path]
    try build.run()
    build.waitUntilExit()
    guard build.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    setenv("ALSA_CONFIG_PATH", place.appending(path: "asound.conf").path, 1)
  }
}

/// The same for a card that records (`virtual_input.c`).
package final class VirtualInput {
  package let directory: URL
  package let device: String

  package init(_ options: String...) throws {
    _ = try VirtualCard.plugin.get()
    directory = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    device = "input:" + (["DIR=\(directory.path)"] + options).joined(separator: ",")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Returns an environment in which a program knows the card by a plain name, as from a user's `.asoundrc`.
  package func environment(naming name: String) throws -> [String: String] {
    let file = directory.appending(path: "asound.conf").path
    try "pcm.\(name) \"\(device)\"\n".write(toFile: file, atomically: true, encoding: .utf8)
    let usual = ProcessInfo.processInfo.environment["ALSA_CONFIG_PATH"] ?? ""
    return ["ALSA_CONFIG_PATH": "\(usual):\(file)"]
  }

  package enum Control: String { case vanish, overrun }

  package func set(_ control: Control) throws {
    try Data().write(to: directory.appending(path: control.rawValue))
  }
  package func clear(_ control: Control) throws {
    try FileManager.default.removeItem(at: directory.appending(path: control.rawValue))
  }
}

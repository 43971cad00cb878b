import Foundation
import TestSupport
import Testing

/// Obstacles for a program that is started with `environment`.
struct Obstacles {
  enum Obstacle: String {
    case fsync, rename
    case noThread = "pthread_create"
    case open = "snd_pcm_open"
    case busy
  }

  private let folder: TemporaryFolder
  private let library: String

  init(in folder: TemporaryFolder) throws {
    self.folder = folder
    library = folder.file("obstacles.so")
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Support/obstacles/obstacles.c").standardized
    let compiler = try Process.run(
      URL(filePath: "/usr/bin/cc"),
      arguments: ["-shared", "-fPIC", "-O1", "-o", library, source.path, "-ldl"])
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
  }

  var environment: [String: String] {
    ["LD_PRELOAD": library, "OBSTACLES": folder.file("obstacles")]
  }

  func put(_ obstacle: Obstacle) throws {
    try folder.write([], to: "obstacles/" + obstacle.rawValue)
  }

  func remove(_ obstacle: Obstacle) throws {
    try FileManager.default.removeItem(atPath: folder.file("obstacles/" + obstacle.rawValue))
  }
}

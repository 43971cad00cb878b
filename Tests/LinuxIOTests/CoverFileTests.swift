import Glibc
import Testing

@testable import LinuxIO

struct CoverFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func exists(_ name: String) -> Bool { access(directory.path + "/" + name, F_OK) == 0 }

  @Test func `the picture is a file that is called by its type`() throws {
    var cover = CoverFile(directory: directory.path)
    #expect(cover.path == nil)
    for (type, name) in [
      ("image/jpeg", "cover.jpg"), ("image/png", "cover.png"), ("../../evil", "cover.image"),
    ] {
      try cover.show([1, 2], mimeType: type)
      #expect(cover.path == directory.path + "/" + name)
      #expect(try StateFile(path: directory.path + "/" + name).read(limit: 9) == [1, 2])
    }
    #expect(!exists("cover.jpg") && !exists("cover.png"))
  }

  @Test func `the same picture is not written again, another takes its place`() throws {
    var cover = CoverFile(directory: directory.path)
    try cover.show([1], mimeType: "image/png")
    unlink(directory.path + "/cover.png")
    try cover.show([1], mimeType: "image/png")
    #expect(!exists("cover.png"))
    try cover.show([2], mimeType: "image/png")
    #expect(exists("cover.png"))
  }

  @Test func `what an earlier run has left goes too`() throws {
    var earlier = CoverFile(directory: directory.path)
    try earlier.show([1], mimeType: "image/webp")
    var cover = CoverFile(directory: directory.path)
    try cover.remove()
    #expect(!exists("cover.webp"))
    #expect(cover.path == nil)
  }

  @Test func `where it cannot be written there is none`() throws {
    var cover = CoverFile(directory: directory.path)
    try cover.show([1], mimeType: "image/jpeg")
    // Even root cannot put a file in place of a directory.
    mkdir(directory.path + "/cover.png", 0o700)
    #expect(throws: IOError.self) { try cover.show([2], mimeType: "image/png") }
    #expect(cover.path == nil)
    #expect(!exists("cover.jpg"))
  }
}

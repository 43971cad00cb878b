import Testing

@testable import LinuxIO

/// The stamp by which a change of a file is noticed without reading it.
struct StateFileStampTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var file: StateFile { StateFile(path: directory.path + "/state") }

  @Test func `without a file there is no stamp`() throws {
    #expect(file.stamp == nil)
    try file.keep([1])
    #expect(file.stamp != nil)
    try file.remove()
    #expect(file.stamp == nil)
  }

  @Test func `a file that nobody touches keeps its stamp, also when it is read`() throws {
    try file.write([1, 2])
    let stamp = try #require(file.stamp)
    _ = try file.read(limit: 10)
    #expect(file.stamp == stamp)
  }

  @Test func `each replaced content has another stamp than the one before`() throws {
    var last: StateFile.Stamp?
    for number in UInt8(0)..<50 {
      // The contents have one length, and come within a tick of the file system's clock.
      if number.isMultiple(of: 2) {
        try file.keep([number])
      } else {
        try file.write([number])
      }
      let stamp = try #require(file.stamp)
      #expect(stamp != last)
      last = stamp
    }
  }
}

import LinuxIO
import TestSupport
import Testing

@Suite struct DirectoryWatchTests {
  @Test func `files that are replaced or removed are told by name, once`() throws {
    let folder = try TemporaryFolder()
    let watch = try DirectoryWatch(folder.path)
    #expect(watch.takeNames().isEmpty)
    try StateFile(path: folder.file("trust")).write([1])
    #expect(watch.takeNames().contains("trust"))
    #expect(watch.takeNames().isEmpty)
    try StateFile(path: folder.file("trust")).remove()
    #expect(watch.takeNames() == ["trust"])
  }

  @Test func `a directory that is not there is an error`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: IOError.self) { try DirectoryWatch(folder.file("nothing")) }
  }
}

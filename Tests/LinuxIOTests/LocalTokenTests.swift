import Glibc
import Testing

@testable import LinuxIO

struct LocalTokenTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var place: String { directory.path + "/tutti" }
  private var token: LocalToken { LocalToken(directory: place, name: "a0b1") }

  @Test func `what was made is read, by this user alone, and is another one each time`() throws {
    let first = try token.renew()
    #expect(first.count == LocalToken.byteCount)
    #expect(token.read() == first)
    #expect(LocalToken.find("a0b1", in: ["/nowhere", place]) == first)
    var status = stat()
    #expect(stat(token.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(place, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(try token.renew() != first)
  }

  @Test func `what is not there is no token`() throws {
    #expect(token.read() == nil)
    _ = try token.renew()
    token.remove()
    #expect(token.read() == nil)
    #expect(LocalToken.find("other", in: [place]) == nil)
  }

  @Test func `a directory that others may enter is not trusted, nor written to`() throws {
    _ = try token.renew()
    #expect(chmod(place, 0o755) == 0)
    #expect(token.read() == nil)
    #expect(throws: IOError.self) { try token.renew() }
  }

  @Test func `links are not followed`() throws {
    _ = try token.renew()
    let link = LocalToken(directory: directory.path + "/link", name: "a0b1")
    #expect(symlink(place, link.directory) == 0)
    #expect(link.read() == nil)
    #expect(throws: IOError.self) { try link.renew() }
    let other = LocalToken(directory: place, name: "other")
    #expect(symlink(token.path, other.path) == 0)
    #expect(other.read() == nil)
  }

  @Test func `a file that others may read, or that is damaged, is no token`() throws {
    _ = try token.renew()
    #expect(chmod(token.path, 0o644) == 0)
    #expect(token.read() == nil)
    for content in ["", "12", String(repeating: "g", count: 64), String(repeating: "0", count: 65)]
    {
      try StateFile(path: token.path).write(Array(content.utf8))
      #expect(token.read() == nil, "\(content)")
    }
  }
}

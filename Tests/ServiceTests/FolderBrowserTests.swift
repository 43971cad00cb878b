import Clock
import Foundation
import House
import LinuxIO
import Synchronization
import TestSupport
import Testing

@testable import Service

/// Tests of the folders that people may choose from, with real ones.
@Suite struct FolderBrowserTests {
  private let temporary: TemporaryFolder
  private var root: String { temporary.file("root") }
  private var browser: FolderBrowser { FolderBrowser(roots: [root]) }

  init() throws {
    temporary = try TemporaryFolder()
    for path in ["root/Jazz/Nina", "root/Rock", "root/.hidden", "secret/diary"] { try make(path) }
    try temporary.write("x".utf8, to: "root/letter.txt")
  }

  private func make(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: temporary.file(path), withIntermediateDirectories: true)
  }

  private func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: temporary.file(path), withDestinationPath: target)
  }

  @Test func `folders are shown level by level, and neither files nor what is hidden`() async throws
  {
    let top = try await browser.choices(in: nil)
    #expect(top.folders.map(\.path) == [root] && top.path == nil && top.parent == nil)
    let first = try await browser.choices(in: root)
    #expect(first.folders.map(\.name) == ["Jazz", "Rock"] && first.parent == nil && !first.isCut)
    let second = try await browser.choices(in: first.folders[0].path)
    #expect(second.folders.map(\.path) == [root + "/Jazz/Nina"] && second.parent == root)
    try await browser.check(root + "/Jazz")
  }

  @Test(arguments: ["/../secret", "/./Jazz", "/Jazz/../../secret", "x", "/none", "/letter.txt"])
  func `no path leads out`(rest: String) async throws {
    for path in [root + rest, temporary.file("secret"), "/", "/etc", "", "root"] {
      await #expect(throws: Refusal.self, "\(path)") { try await browser.choices(in: path) }
      await #expect(throws: Refusal.self, "\(path)") { try await browser.check(path) }
    }
  }

  @Test func `no link is shown or followed`() async throws {
    try link("root/out", to: temporary.file("secret"))
    try link("root/Rock/up", to: "..")
    try link("root/Rock/Jazz", to: root + "/Jazz")
    #expect(try await browser.choices(in: root).folders.map(\.name) == ["Jazz", "Rock"])
    #expect(try await browser.choices(in: root + "/Rock").folders.isEmpty)
    for path in ["/out", "/out/diary", "/Rock/up", "/Rock/Jazz", "/Rock/Jazz/Nina"] {
      await #expect(throws: Refusal.self, "\(path)") { try await browser.choices(in: root + path) }
    }
    // The root itself is named by the configuration, which may name a link.
    try link("music", to: root)
    let linked = FolderBrowser(roots: [temporary.file("music")])
    #expect(try await linked.choices(in: temporary.file("music")).folders.count == 2)
  }

  @Test func `a long list is cut, and says so`() async throws {
    for number in 0..<FolderTree.limit { try make("root/Rock/\(number)") }
    let whole = try await browser.choices(in: root + "/Rock")
    #expect(whole.folders.count == FolderTree.limit && !whole.isCut)
    try make("root/Rock/more")
    let cut = try await browser.choices(in: root + "/Rock")
    #expect(cut.folders.count == FolderTree.limit && cut.isCut)
  }

  @Test func `roots that are not there are left out, and a pipe is none`() async throws {
    #expect(mkfifo(temporary.file("pipe"), 0o600) == 0)
    let browser = FolderBrowser(roots: [temporary.file("none"), root, temporary.file("pipe")])
    #expect(try await browser.choices(in: nil).folders.map(\.path) == [root])
    browser.set(roots: [])
    #expect(try await browser.choices(in: nil).folders.isEmpty)
  }

  @Test func `a name that is no UTF-8 is shown, and leads to its folder`() async throws {
    let name = [UInt8](root.utf8) + [0x2f, 0xe9, 0]
    #expect(
      name.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { mkdir($0.baseAddress!, 0o700) }
        == 0)
    let found = try await browser.choices(in: root).folders
    let odd = try #require(found.first { $0.name == "é" })
    #expect(try await browser.choices(in: odd.path).folders.isEmpty)
  }

  @Test func `a disk that hangs holds up nobody, and at last no more looks are made`() async throws
  {
    let gate = Gate()
    let browser = FolderBrowser(
      roots: ["/hung", root],
      timer: { root, giveUp in if root == "/hung" { giveUp() } },
      look: { root, steps throws(IOError) in
        if root == "/hung" { gate.wait() }
        return FolderTree.Listing()
      })
    await #expect(
      throws: Refusal.unavailable(
        "/hung does not answer; see whether its disk or server is switched on")
    ) { try await browser.choices(in: "/hung") }
    try await browser.check(root)
    #expect(try await browser.choices(in: nil).folders.map(\.path) == ["/hung", root])
    for _ in 2..<FolderBrowser.lookLimit {
      await #expect(throws: Refusal.self) { try await browser.check("/hung") }
    }
    await #expect(
      throws: Refusal.unavailable(
        "\(root): too many disks do not answer; try again in a moment")
    ) { try await browser.check(root) }
    gate.open()
    await gate.left(FolderBrowser.lookLimit)
    // A place is free a moment after its look has left the gate.
    while (try? await browser.check(root)) == nil {}
  }

  /// Holds threads until it is opened.
  private final class Gate: Sendable {
    private let state = Mutex((isOpen: false, passed: 0))
    private let news = NSCondition()

    func wait() {
      news.lock()
      while !state.withLock({ $0.isOpen }) { news.wait() }
      state.withLock { $0.passed += 1 }
      news.broadcast()
      news.unlock()
    }

    func open() {
      news.lock()
      state.withLock { $0.isOpen = true }
      news.broadcast()
      news.unlock()
    }

    /// Returns once so many have passed.
    func left(_ count: Int) async {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [self] in
          news.lock()
          while state.withLock({ $0.passed }) < count { news.wait() }
          news.unlock()
          continuation.resume()
        }
      }
    }
  }
}

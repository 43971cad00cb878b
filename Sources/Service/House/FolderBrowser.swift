import Clock
import Dispatch
package import House
package import LinuxIO
import Sender
import Synchronization

/// The folders in a folder, of which one may be chosen for the library.
package struct FolderChoices: Codable, Hashable, Sendable {
  package struct Choice: Codable, Hashable, Sendable {
    package var name: String
    package var path: String

    package init(name: String, path: String) { (self.name, self.path) = (name, path) }
  }

  /// Absent in the list of the places from which folders may be chosen.
  package var path: String?
  /// Absent in such a place itself.
  package var parent: String?
  package var folders: [Choice]
  /// True if some are left out.
  package var isCut: Bool

  package init(path: String?, parent: String? = nil, folders: [Choice], isCut: Bool = false) {
    (self.path, self.parent, self.folders, self.isCut) = (path, parent, folders, isCut)
  }
}

/// Looks through the folders from which a household's people may choose: those within the roots of the configuration, and
/// nothing else. Each look has a thread of its own, for a disk of the network may never answer.
package final class FolderBrowser: Sendable {
  /// Lists what is in `steps` below `root`. Blocks.
  package typealias Look =
    @Sendable (_ root: String, _ steps: [String]) throws(IOError) -> FolderTree.Listing

  /// Calls `giveUp` once a look at `root` has taken too long.
  typealias Timer =
    @Sendable (_ root: String, _ giveUp: @escaping @Sendable () -> Void) -> Void

  /// Longer than a disk takes to spin up.
  static let timeLimit = Nanoseconds.seconds(8)
  static let timer: Timer = { _, giveUp in
    let end = DispatchTime.now() + .nanoseconds(Int(timeLimit.count))
    DispatchQueue.global().asyncAfter(deadline: end, execute: giveUp)
  }
  /// Looks at a time, with those that hang.
  static let lookLimit = 16

  private let roots: Mutex<[String]>
  private let looks = Mutex(0)
  private let look: Look
  private let timer: Timer

  init(
    roots: [String], timer: @escaping Timer = FolderBrowser.timer,
    look: @escaping Look = { root, steps throws(IOError) in
      try FolderTree.list(
        root: FileName.bytes(of: root), steps: steps.map(FileName.bytes(of:)))
    }
  ) {
    self.roots = Mutex(roots)
    (self.look, self.timer) = (look, timer)
  }

  package func set(roots: [String]) { self.roots.withLock { $0 = roots } }

  /// - Parameter path: nil lists the roots that are there.
  package func choices(in path: String?) async throws(Refusal) -> FolderChoices {
    guard let path else { return await roots() }
    let (root, steps) = try place(of: path)
    let listing = try await list(root, steps)
    return FolderChoices(
      path: path, parent: steps.isEmpty ? nil : Self.joined(root, steps.dropLast()),
      folders: listing.names.map { name in
        let name = FileName.text(name)
        return .init(name: FileName.shown(name), path: Self.joined(path, [name]))
      }, isCut: listing.isCut)
  }

  /// Throws if nobody may choose the folder, or if it is not there.
  package func check(_ path: String) async throws(Refusal) {
    let (root, steps) = try place(of: path)
    _ = try await list(root, steps)
  }

  func found(_ path: String) async -> Result<Void, Refusal> {
    do throws(Refusal) {
      return .success(try await check(path))
    } catch {
      return .failure(error)
    }
  }

  // MARK: - Steps

  /// A root that does not answer is listed: whoever opens it is told.
  private func roots() async -> FolderChoices {
    let roots = roots.withLock { $0 }
    let found = await withTaskGroup { group in
      for (index, root) in roots.prefix(Self.lookLimit).enumerated() {
        group.addTask { () -> Int? in
          do throws(Refusal) {
            _ = try await self.list(root, [])
          } catch .noSuch {
            return nil
          } catch {}
          return index
        }
      }
      return await group.reduce(into: Set<Int>()) { if let index = $1 { $0.insert(index) } }
    }
    return FolderChoices(
      path: nil,
      folders: roots.enumerated().filter { found.contains($0.offset) }.map {
        .init(name: FileName.shown($0.element), path: $0.element)
      })
  }

  private func place(of path: String) throws(Refusal) -> (root: String, steps: [String]) {
    let roots = roots.withLock { $0 }
    let fitting = roots.filter { path == $0 || path.hasPrefix($0 == "/" ? "/" : $0 + "/") }
    guard let root = fitting.max(by: { $0.utf8.count < $1.utf8.count }) else {
      throw .invalid(
        "folders with music are chosen from \(roots.orList), and \(path) is elsewhere; "
          + "allow it by a line of the configuration: folders-from = \(path)")
    }
    let steps = path.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: true)
    guard !steps.contains(where: { $0 == "." || $0 == ".." }), path.utf8.count <= 4_096 else {
      throw .invalid("a folder is named by its whole path, such as /srv/music")
    }
    return (root, steps.map(String.init))
  }

  private static func joined(_ path: String, _ steps: some Sequence<String>) -> String {
    steps.reduce(path) { ($0 == "/" ? "" : $0) + "/" + $1 }
  }

  private func list(_ root: String, _ steps: [String]) async throws(Refusal) -> FolderTree.Listing {
    let path = FileName.shown(Self.joined(root, steps))
    let isFree = looks.withLock { looks in
      guard looks < Self.lookLimit else { return false }
      looks += 1
      return true
    }
    guard isFree else {
      throw .unavailable("\(path): too many disks do not answer; try again in a moment")
    }
    let once = Once()
    let result: Result<FolderTree.Listing, IOError>? = await withCheckedContinuation {
      continuation in
      once.begin(continuation)
      let thread = try? RealtimeThread.start(name: "folders", priority: nil) { [look] in
        let result = Result { () throws(IOError) in try look(root, steps) }
        self.looks.withLock { $0 -= 1 }
        once.end(result)
      }
      guard let thread else {
        looks.withLock { $0 -= 1 }
        return once.end(nil)
      }
      thread.detach()
      timer(root) { once.end(nil) }
    }
    switch result {
    case .success(let listing)?: return listing
    case .failure(let error)? where error.isMissing: throw .noSuch("there is no folder \(path)")
    case .failure(let error)?: throw .unavailable("\(path) cannot be read: \(error.reason)")
    case nil:
      throw .unavailable("\(path) does not answer; see whether its disk or server is switched on")
    }
  }

  /// The first answer counts.
  private final class Once: Sendable {
    typealias Continuation = CheckedContinuation<Result<FolderTree.Listing, IOError>?, Never>

    private let waiting = Mutex<Continuation?>(nil)

    func begin(_ continuation: Continuation) { waiting.withLock { $0 = continuation } }

    func end(_ result: Result<FolderTree.Listing, IOError>?) {
      let continuation = waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
      continuation?.resume(returning: result)
    }
  }
}

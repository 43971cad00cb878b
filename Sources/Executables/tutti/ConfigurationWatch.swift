import Driver
import House
import LinuxIO
import Service

/// Follows the configuration's file: reads it again when it has changed. What is wrong in it is said, and the daemon goes
/// on as before.
final class ConfigurationWatch {
  /// Tells the daemon how to take a change.
  enum News: Sendable {
    /// Taken over at once, with the folders from within which others may be chosen.
    case followed(HouseConfiguration, roots: [String])
    /// It needs a new process, which goes on with what the rooms play.
    case needsStart
    case wrong(String)
  }

  private typealias Folder = (watch: DirectoryWatch, id: DescriptorID, names: Set<String>)

  private let folders: [Folder]
  private let reader: NewestValueThread<Void>

  /// - Parameters:
  ///   - configuration: as it was read at the start.
  ///   - files: the places of the file.
  ///   - read: reads it again.
  ///   - tell: called on a thread of its own, after each change.
  init(
    _ configuration: HouseConfiguration, files: [String], reactor: Reactor,
    read: @escaping @Sendable () throws -> HouseConfiguration,
    tell: @escaping @Sendable (News) -> Void
  ) throws {
    reader = try NewestValueThread(name: "configuration") {
      var last = configuration
      return { _ in
        do {
          let next = try read()
          guard next != last else { return }
          let roots = next.roots(music: MusicFolder.own)
          tell(next.isFollowed(after: last) ? .followed(next, roots: roots) : .needsStart)
          last = next
        } catch {
          tell(.wrong("\(error)"))
        }
      }
    }
    // A folder that is not there is not followed.
    folders = files.compactMap { file in
      guard let slash = file.lastIndex(of: "/") else { return nil }
      let folder = slash == file.startIndex ? "/" : String(file[..<slash])
      guard let watch = try? DirectoryWatch(folder),
        let id = try? reactor.watch(descriptor: watch.descriptor)
      else { return nil }
      return (watch, id, [String(file[file.index(after: slash)...])])
    }
  }

  /// Returns true if the event was about the file.
  func handle(_ event: ReactorEvent) -> Bool {
    guard let folder = folders.first(where: { event == .readable($0.id) }) else { return false }
    if folder.watch.takeNames().contains(where: folder.names.contains) { reader.post(()) }
    return true
  }
}

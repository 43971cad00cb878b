import FFmpegSource
import Glibc
import PlaylistFormats
import Sender

/// The entries of a folder: names, sizes and times, without reading the files.
struct FolderListing {
  struct File: Hashable, Sendable {
    let name: String
    let size: Int64
    /// In nanoseconds since 1970.
    let mtime: Int64
    /// True for a song of a server: its name stays wherever it is moved, and nobody can measure it.
    var isServed = false
  }

  struct Failure: Error {
    let code: Int32
    var isGone: Bool { code == ENOENT || code == ENOTDIR }
    var reason: String { String(cString: strerror(code)) }
  }

  /// Largest number of entries in one folder; the rest is left out.
  static let limit = 50_000
  private static let videoEndings: Set<String> = ["avi", "m4v", "mkv", "mov", "mpg", "ts"]
  private static let imageNames = ["cover", "folder", "front"]
  private static let imageEndings = ["jpg", "jpeg", "png"]

  private(set) var folders: [String] = []
  private(set) var media: [File] = []
  private(set) var lists: [File] = []
  /// The picture that represents the folder.
  private(set) var image: File?
  /// Changes with every name, size and time of the listed files.
  private(set) var hash: Int64 = 0
  private(set) var isCut = false
  private var count = 0

  /// True if the folder has no visible entries.
  var isEmpty: Bool { count == 0 }

  /// Leaves out links, because they may lead back up, or out of the library.
  init(_ location: String) throws(Failure) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
    let descriptor = open(FileName.bytes(of: location), flags)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    guard let directory = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw Failure(code: code)
    }
    defer { closedir(directory) }
    errno = 0
    while let entry = readdir(directory) {
      guard count < Self.limit else {
        isCut = true
        break
      }
      take(entry, in: descriptor)
      errno = 0
    }
    // A disk that fails in the middle must not look like removed files.
    if errno != 0 { throw Failure(code: errno) }
    folders.sort { ExactName($0) < ExactName($1) }
    media.sort { ExactName($0.name) < ExactName($1.name) }
  }

  private mutating func take(_ entry: UnsafeMutablePointer<dirent>, in directory: Int32) {
    var status = stat()
    let isVisible = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
        name[0] != CChar(UInt8(ascii: "."))
          && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      }
    }
    guard isVisible else { return }
    let bytes = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: UInt8.self, capacity: 256) { start in
        Array(UnsafeBufferPointer(start: start, count: strnlen(name, 256)))
      }
    }
    count += 1
    let name = FileName.text(bytes)
    switch status.st_mode & S_IFMT {
    case S_IFDIR: folders.append(name)
    case S_IFREG:
      let mtime = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
      take(File(name: name, size: Int64(status.st_size), mtime: mtime), bytes)
    default: break
    }
  }

  private mutating func take(_ file: File, _ bytes: [UInt8]) {
    let ending = Self.ending(file.name)
    if MediaFolder.isMedia(file.name) || Self.videoEndings.contains(ending) {
      media.append(file)
    } else if let format = PlaylistFile.format(ofName: file.name), format != .json {
      lists.append(file)
    } else if Self.imageEndings.contains(ending), let rank = Self.imageRank(file.name) {
      if rank < image.flatMap({ Self.imageRank($0.name) }) ?? .max { image = file }
    } else {
      return
    }
    var hash = Hash()
    hash.add(bytes)
    hash.add(file.size)
    hash.add(file.mtime)
    // A sum, because a disk may list the same names in another order.
    self.hash &+= hash.value
  }

  private static func ending(_ name: String) -> String {
    name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
  }

  private static func imageRank(_ name: String) -> Int? {
    let stem = name.prefix(upTo: name.lastIndex(of: ".") ?? name.endIndex).lowercased()
    return imageNames.firstIndex(of: stem)
  }
}

/// FNV-1a: equal in every run, unlike Swift's own hash.
struct Hash {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  var value: Int64 { Int64(bitPattern: state) }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    // Separates texts, so that "ab" and "c" differ from "a" and "bc".
    state = (state ^ 0xff) &* 0x100_0000_01b3
  }

  mutating func add(_ number: Int64) {
    add((0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }

  mutating func add(_ text: String?) { add((text ?? "\0").utf8) }
}

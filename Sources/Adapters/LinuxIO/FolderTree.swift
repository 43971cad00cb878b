internal import Glibc

/// Lists folders below one that is trusted, and follows no link below it, so that nothing outside is seen. Blocks for as
/// long as the disk takes.
package enum FolderTree {
  package struct Listing: Hashable, Sendable {
    /// In the order of their bytes.
    package var names: [[UInt8]] = []
    /// True if some are left out.
    package var isCut = false

    package init() {}
  }

  /// As many as a person looks through.
  package static let limit = 1_000
  /// Entries that are read of one folder, most of which may be files.
  static let readLimit = 20_000

  /// - Parameters:
  ///   - root: a path, which ends with a zero. It may be a link.
  ///   - steps: the names of the folders on the way down, each of which ends with a zero.
  package static func list(root: [CChar], steps: [[CChar]]) throws(IOError) -> Listing {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
    var folder = FileDescriptor(try checked(open(root, flags), root))
    for step in steps {
      guard isName(step) else { throw refusal(EINVAL, step) }
      folder = FileDescriptor(
        try checked(openat(folder.number, step, flags | O_NOFOLLOW), step))
    }
    return try list(folder, steps.last ?? root)
  }

  private static func checked(_ number: Int32, _ name: [CChar]) throws(IOError) -> Int32 {
    guard number >= 0 else { throw refusal(errno, name) }
    return number
  }

  private static func refusal(_ code: Int32, _ name: [CChar]) -> IOError {
    let text = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return IOError(call: "open", code: code, subject: String(decoding: text, as: UTF8.self))
  }

  /// One name of a folder, and not the way up.
  private static func isName(_ step: [CChar]) -> Bool {
    let bytes = step.dropLast().map { UInt8(bitPattern: $0) }
    return step.last == 0 && !bytes.isEmpty && !bytes.contains(0)
      && !bytes.contains(UInt8(ascii: "/")) && bytes != Array(".".utf8)
      && bytes != Array("..".utf8)
  }

  private static func list(
    _ folder: borrowing FileDescriptor, _ name: [CChar]
  ) throws(IOError) -> Listing {
    // The stream owns and closes its descriptor.
    let own = try checked(openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), name)
    guard let stream = fdopendir(own) else {
      let code = errno
      close(own)
      throw refusal(code, name)
    }
    defer { closedir(stream) }
    var listing = Listing()
    var count = 0
    while let entry = readdir(stream) {
      count += 1
      guard count <= readLimit else {
        listing.isCut = true
        break
      }
      if let name = folderName(entry, in: own) { listing.names.append(name) }
    }
    listing.names.sort { $0.lexicographicallyPrecedes($1) }
    if listing.names.count > limit {
      listing.names.removeLast(listing.names.count - limit)
      listing.isCut = true
    }
    return listing
  }

  /// Nil for files, links, and what is hidden.
  private static func folderName(
    _ entry: UnsafeMutablePointer<dirent>, in directory: Int32
  ) -> [UInt8]? {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: UInt8.self, capacity: 256) { start in
        Array(UnsafeBufferPointer(start: start, count: strnlen(name, 256)))
      }
    }
    guard name.first != UInt8(ascii: ".") else { return nil }
    if entry.pointee.d_type != UInt8(DT_UNKNOWN) {
      return entry.pointee.d_type == UInt8(DT_DIR) ? name : nil
    }
    var status = stat()
    let path = name.map { CChar(bitPattern: $0) } + [0]
    guard fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return status.st_mode & S_IFMT == S_IFDIR ? name : nil
  }
}

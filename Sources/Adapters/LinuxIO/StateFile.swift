internal import Glibc

/// A small file of state that is replaced as a whole: a reader finds the old content or the new one.
package struct StateFile: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  /// Returns the whole content; `nil` if there is no file. Fails with EFBIG if it is larger than `limit` bytes.
  package func read(limit: Int) throws(IOError) -> [UInt8]? {
    guard let file = try opened() else { return nil }
    var content: [UInt8] = []
    while true {
      var count = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, initialized in
        count = Glibc.read(file.number, buffer.baseAddress, buffer.count)
        initialized = max(0, count)
      }
      if count < 0, errno == EINTR { continue }
      guard try check("read", count) > 0 else { return content }
      content += chunk
      guard content.count <= limit else {
        throw IOError(
          call: "read", code: EFBIG, text: "\(path) is larger than \(limit) bytes; not read")
      }
    }
  }

  /// Opens the file for reading; `nil` if there is none. Refuses a pipe or a device in its place, because reading it
  /// could wait without end.
  private func opened() throws(IOError) -> FileDescriptor? {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if number < 0, errno == ENOENT { return nil }
    // The system refuses to open a socket with this error.
    if number < 0, errno == ENXIO { throw notAFile }
    let file = FileDescriptor(try check("open", Int(number)))
    var status = stat()
    try check("fstat", Int(fstat(file.number, &status)))
    guard status.st_mode & S_IFMT == S_IFREG else { throw notAFile }
    return file
  }

  private var notAFile: IOError {
    IOError(
      call: "open", code: EINVAL,
      text: "\(path) is no regular file; remove it, or move it out of the way")
  }

  /// Replaces the content and returns once it is on the disk: even after a power cut, the file has the new content or
  /// the old. Only this user may read it.
  package func write(_ content: [UInt8]) throws(IOError) {
    try replace(with: content, mode: 0o600, isKept: true)
    try synchronizeDirectory()
  }

  /// Replaces the content of a file that people edit, once it is on the disk. Who may read it, and where a link leads, stays as it
  /// is; a new file is this user's alone.
  package func rewrite(_ content: [UInt8]) throws(IOError) {
    guard let resolved = realpath(path, nil) else { return try write(content) }
    defer { free(resolved) }
    let file = StateFile(path: String(cString: resolved))
    var status = stat()
    try check("stat", Int(stat(file.path, &status)))
    let temporary = file.temporaryPath
    do {
      try writeNew(content, at: temporary, mode: status.st_mode & 0o777, isKept: true)
      try check("chown", Int(chown(temporary, status.st_uid, status.st_gid)))
      try check("rename", Int(rename(temporary, file.path)))
    } catch {
      unlink(temporary)
      throw error
    }
    try file.synchronizeDirectory()
  }

  /// Replaces the content. It outlives this process, but perhaps no power cut. Does not wait for a slow disk. Only this
  /// user may read it.
  ///
  /// - Parameter endings: of files that belong to the old content, and are removed once the new one is written.
  package func keep(_ content: [UInt8], removing endings: [String] = []) throws(IOError) {
    try replace(with: content, mode: 0o600, isKept: false, removing: endings)
  }

  /// Replaces the content of a file that others look at while it lasts: anybody who may enter the directory may read
  /// it. Does not wait for a slow disk.
  package func show(_ content: [UInt8]) throws(IOError) {
    try replace(with: content, mode: 0o644, isKept: false)
  }

  /// Changes with each change of the content.
  package struct Stamp: Hashable, Sendable {
    /// Another one once the file was replaced.
    package let inode: UInt64
    let size: Int64
    let changed: Int64
  }

  /// Nil if there is no file.
  package var stamp: Stamp? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    return Stamp(inode: UInt64(status.st_ino), size: Int64(status.st_size), changed: changed)
  }

  /// Fails with EEXIST if that file exists already; it stays as it is.
  package func move(to other: String) throws(IOError) {
    try check("link", Int(link(path, other)))
    try check("unlink", Int(unlink(path)))
  }

  /// Does nothing if there is no such file.
  package func remove() throws(IOError) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw IOError(call: "unlink", code: errno, subject: path)
  }

  /// Path of new content, a name to which no other program and no other thread writes.
  var temporaryPath: String { path + ".new.\(getpid()).\(pthread_self())" }

  private func replace(
    with content: [UInt8], mode: mode_t, isKept: Bool, removing endings: [String] = []
  ) throws(IOError) {
    let temporary = temporaryPath
    do {
      try writeNew(content, at: temporary, mode: mode, isKept: isKept)
      for ending in endings { try StateFile(path: path + ending).remove() }
      try check("rename", Int(rename(temporary, path)))
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Makes the directory and its parents, readable by this user alone. An existing one stays as it is.
  package static func createDirectory(path: String) throws(IOError) {
    if mkdir(path, 0o700) == 0 { return }
    if errno == ENOENT, let parent = parent(of: path), parent != path {
      try createDirectory(path: parent)
      if mkdir(path, 0o700) == 0 { return }
    }
    let code = errno
    var status = stat()
    if code == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    throw IOError(call: "mkdir", code: code == EEXIST ? ENOTDIR : code, subject: path)
  }

  private func writeNew(
    _ content: [UInt8], at temporary: String, mode: mode_t, isKept: Bool
  ) throws(IOError) {
    // A file left behind by a crash may belong to someone else or be a link; it must not be written through.
    unlink(temporary)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = FileDescriptor(try check("open", Int(open(temporary, flags, mode))))
    // The umask must not change the mode.
    try check("fchmod", Int(fchmod(file.number, mode)))
    DirectoryOwner.takes(file.number, in: Self.parent(of: path) ?? ".")
    var rest = content[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      rest = rest.dropFirst(Int(try check("write", count)))
    }
    if isKept { try check("fsync", Int(fsync(file.number))) }
  }

  private func synchronizeDirectory() throws(IOError) {
    let directory = Self.parent(of: path) ?? "."
    let number = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let file = FileDescriptor(try check("open", Int(number)))
    try check("fsync", Int(fsync(file.number)))
  }

  /// Returns `nil` for a bare name.
  private static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  @discardableResult
  private func check(_ call: String, _ result: Int) throws(IOError) -> Int32 {
    guard result < 0 else { return Int32(clamping: result) }
    throw IOError(call: call, code: errno, subject: path)
  }
}

internal import Glibc

/// The user to whom a directory belongs, and whose programs read it.
enum DirectoryOwner {
  /// Root gives a file that it has opened in the directory to the owner of that: else the owner's programs could not read
  /// what a command with `sudo` has left there. Where root may not, the file stays as it is.
  static func takes(_ file: Int32, in directory: String) {
    var status = stat()
    guard geteuid() == 0, stat(directory, &status) == 0 else { return }
    _ = fchown(file, status.st_uid, status.st_gid)
  }
}

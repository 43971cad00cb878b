internal import Glibc

/// The user to whom a directory belongs, and whose programs read it.
enum DirectoryOwner {
  /// Root gives a file that it has opened in the directory to the owner of that: else the owner's programs could not read
  /// what a command with `sudo` has left there. Where root may not, the file stays as it is.
  static func takes(_ file: Int32, in directory: String) {
    var (owner, made) = (stat(), stat())
    guard geteuid() == 0, stat(directory, &owner) == 0, fstat(file, &made) == 0 else { return }
    // A second name of a file of the system, left in the way, must not give that away.
    guard made.st_mode & S_IFMT == S_IFREG, made.st_nlink == 1 else { return }
    _ = fchown(file, owner.st_uid, owner.st_gid)
  }
}

import ArgumentParser
import Glibc
import LinuxIO

/// One line to standard error. Whether anybody reads it changes nothing.
func printError(_ line: String) {
  let text = StyledText(line).text(isColoured: false)
  _ = writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
}

/// What stands before something that is typed, or is written over.
func printPrompt(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

/// One line to standard output, at once; of a command that does one thing and ends.
func printLine(_ line: String = "", _ style: Style = .plain) throws {
  try printLine(StyledText(line, style))
}

func printLine(_ line: StyledText) throws {
  let text = line.text(isColoured: Style.isWanted(on: STDOUT_FILENO))
  try output(Array((text + "\n").utf8))
}

func printJSON(_ value: some Encodable) throws { try output(JSONLine.encode(value)) }

/// Bytes as they are.
func output(_ bytes: [UInt8]) throws {
  guard let error = writeAll(bytes, to: STDOUT_FILENO) else { return }
  // The reader has what it wanted, as `head -1`.
  if error == EPIPE { throw ExitCode(0) }
  throw Failure(.output, "cannot write: \(String(cString: strerror(error)))")
}

/// The error's number; nil where there was none.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&place, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}

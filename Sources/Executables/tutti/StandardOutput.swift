import ArgumentParser
import Glibc
import House
import LinuxIO
import ProgramJSON

/// Prints one line to standard error. Errors are ignored: it makes no difference whether anybody
/// reads it.
func printError(_ line: String) {
  let text = StyledText(line).text(isColoured: false)
  _ = writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
}

/// Prints to standard error without a newline: a prompt, or text that is written over.
func printPrompt(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

/// Prints one line to standard output at once, for commands that do one thing and end.
func printLine(_ line: String = "", _ style: Style = .plain) throws {
  try printLine(StyledText(line, style))
}

func printLine(_ line: StyledText) throws {
  let text = line.text(isColoured: Style.isWanted(on: STDOUT_FILENO))
  try output(Array((text + "\n").utf8))
}

func printJSON(_ value: some Encodable) throws { try output(JSON.line(value)) }

/// Writes bytes unchanged to standard output.
func output(_ bytes: [UInt8]) throws {
  guard let error = writeAll(bytes, to: STDOUT_FILENO) else { return }
  // The reader has all it wanted, as with `head -1`.
  if error == EPIPE { throw ExitCode(0) }
  throw Failure(.output, "cannot write: \(String(cString: strerror(error)))")
}

/// Returns the error number, or nil on success.
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

import Foundation
import Glibc

/// The processes of a program's that decode, in the order in which they began: the youngest waits for the next item.
func confinedChildren(of program: pid_t) throws -> [pid_t] {
  try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
    .compactMap { process -> (began: Int, process: pid_t)? in
      // Its name may hold spaces, so all is counted from behind it: state, parent, and the time of its start.
      let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      let words = line?.split(separator: ")").last?.split(separator: " ") ?? []
      guard words.count > 19, words[0] != "Z", pid_t(words[1]) == program, isConfined(process),
        let began = Int(words[19])
      else { return nil }
      return (began, process)
    }
    .sorted { ($0.began, $0.process) < ($1.began, $1.process) }.map(\.process)
}

/// False for one that is still starting.
private func isConfined(_ process: pid_t) -> Bool {
  let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
  return status?.contains("\nSeccomp:\t2\n") == true
}

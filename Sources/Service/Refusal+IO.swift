package import House
package import LinuxIO

extension Refusal {
  package init(_ error: IOError) { self = .unavailable("\(error)") }
}

package import Foundation

/// Returns the rows of a CSV file of numbers under `Vectors` of a target's resources, without its
/// heading.
package func vectorRows(_ name: String, in bundle: Bundle) throws -> [[Double]] {
  let url = try given(
    bundle.url(forResource: name, withExtension: "csv", subdirectory: "Vectors"), "\(name).csv")
  let text = try String(contentsOf: url, encoding: .utf8)
  return try text.split(whereSeparator: \.isNewline).dropFirst().map { line in
    try line.split(separator: ",").map { try given(Double($0), "a number in \(name): \($0)") }
  }
}

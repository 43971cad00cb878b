import Foundation
import Testing

/// The rows of a CSV file of numbers under `Vectors`, without its heading.
func vectorRows(_ name: String) throws -> [[Double]] {
  let url = try #require(
    Bundle.module.url(forResource: name, withExtension: "csv", subdirectory: "Vectors"))
  let text = try String(contentsOf: url, encoding: .utf8)
  return try text.split(whereSeparator: \.isNewline).dropFirst().map { line in
    try line.split(separator: ",").map { try #require(Double($0)) }
  }
}

import QRCode
import Testing

/// Tests of the code that a camera reads.
@Suite struct QRCodeTests {
  private static let address = "http://192.168.1.20:8770/#pair=" + String(repeating: "a", count: 22)

  @Test func `a code has the three eyes by which a camera finds it`() throws {
    let code = try #require(QRCode(Self.address))
    #expect(code.size >= 21 && (code.size - 17) % 4 == 0)
    let last = code.size - 7
    for (x, y) in [(0, 0), (last, 0), (0, last)] {
      let rows = (0..<7).map { row in
        String((0..<7).map { code.isDark(x: x + $0, y: y + row) ? "1" : "0" })
      }
      #expect(
        rows == ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"])
    }
  }

  @Test func `rows and lines show the same modules`() throws {
    let code = try #require(QRCode(Self.address))
    #expect(code.rows.count == code.size && code.rows.allSatisfy { $0.count == code.size })
    #expect(code.lines.count == (code.size + 5) / 2)
    let plain = code.lines.map { line in line.filter { "█▀▄ ".contains($0) } }
    #expect(plain.allSatisfy { $0.count == code.size + 4 })
    for y in 0..<code.size {
      let line = Array(plain[(y + 2) / 2])
      let dark: [Character] = (y + 2) % 2 == 0 ? ["▄", " "] : ["▀", " "]
      let row = String((0..<code.size).map { dark.contains(line[$0 + 2]) ? "1" : "0" })
      #expect(row == code.rows[y], "row \(y)")
    }
  }

  @Test func `a code fits into a terminal of 24 lines`() throws {
    let code = try #require(QRCode(Self.address))
    #expect(code.lines.count <= 20)
  }

  @Test func `what no camera could read is no code`() {
    for text in ["", "a\0b", String(repeating: "a", count: QRCode.lengthLimit + 1)] {
      #expect(QRCode(text) == nil)
    }
  }
}

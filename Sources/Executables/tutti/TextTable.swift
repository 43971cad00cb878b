/// Rows of cells in aligned columns that fit the window. It first leaves out the least important columns, then
/// cuts the widest ones that may be cut.
struct TextTable {
  struct Column {
    let title: String
    var isRight = false
    /// Columns with the largest numbers are left out first; columns with 0 are never left out.
    var dispensability = 0
    /// True if its cells may be cut.
    var isCuttable = false
  }

  static let gap = 2
  let columns: [Column]
  var rows: [[StyledText]] = []

  /// - Parameter width: in columns of the terminal; nil for unlimited.
  func lines(width: Int?, hasHeader: Bool = true) -> [StyledText] {
    var shown = Array(columns.indices)
    if let width {
      while self.width(of: shown) > width,
        let least = shown.max(by: { columns[$0].dispensability < columns[$1].dispensability }),
        columns[least].dispensability > 0
      {
        shown.removeAll { $0 == least }
      }
    }
    var widths = shown.map(naturalWidth)
    if let width { narrow(&widths, of: shown, to: width) }
    let header = columns.map { StyledText($0.title, .faint) }
    return ((hasHeader ? [header] : []) + rows).map { row in line(row, shown, widths) }
  }

  private func line(_ row: [StyledText], _ shown: [Int], _ widths: [Int]) -> StyledText {
    var line = StyledText()
    for (place, column) in shown.enumerated() {
      if place > 0 { line = line + StyledText(String(repeating: " ", count: Self.gap)) }
      let cell = row[column].cut(to: widths[place])
      let isLast = place == shown.count - 1 && !columns[column].isRight
      line =
        line + (isLast ? cell : cell.padded(to: widths[place], isRight: columns[column].isRight))
    }
    return line
  }

  private func naturalWidth(_ column: Int) -> Int {
    ([StyledText(columns[column].title)] + rows.map { $0[column] }).map(\.width).max() ?? 0
  }

  private func width(of shown: [Int]) -> Int {
    let least = shown.map { columns[$0].isCuttable ? min(12, naturalWidth($0)) : naturalWidth($0) }
    return least.reduce(0, +) + Self.gap * (shown.count - 1)
  }

  private func narrow(_ widths: inout [Int], of shown: [Int], to width: Int) {
    while widths.reduce(0, +) + Self.gap * (shown.count - 1) > width {
      let cuttable = shown.indices.filter { columns[shown[$0]].isCuttable && widths[$0] > 4 }
      guard let widest = cuttable.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
    }
  }
}

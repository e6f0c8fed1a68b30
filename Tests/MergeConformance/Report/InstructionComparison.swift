/// Two lists of instructions side by side.
package struct InstructionComparison: Sendable {
    package let expected: [String]
    package let ours: [String]
    /// The first row in which they differ; nil if they are equal.
    package let firstDifference: Int?

    package init(expected: InstructionList, ours: InstructionList) {
        self.expected = expected.entries.map(\.text)
        self.ours = ours.entries.map(\.text)
        let common = zip(expected.entries, ours.entries)
        if let position = common.enumerated().first(where: { $0.element.0.bytes != $0.element.1.bytes })?.offset {
            firstDifference = position
        } else if expected.entries.count != ours.entries.count {
            firstDifference = min(expected.entries.count, ours.entries.count)
        } else {
            firstDifference = nil
        }
    }

    /// How many rows are shown before and after the first that differs.
    private static let context = 8
    private static let columnWidth = 76

    /// Aligned columns, the first row that differs marked with `>`; and that row again in full if it was cut.
    package var lines: [String] {
        let count = max(expected.count, ours.count)
        let center = firstDifference ?? 0
        let shown = max(0, center - Self.context)..<min(count, center + Self.context + 1)
        let left = shown.map { Self.cell(expected, $0) }
        let width = max("expected".count, left.map(\.count).max() ?? 0)
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let digits = String(count).count
        let margin = String(repeating: " ", count: digits + 3)
        var lines = ["\(margin)\(padded("expected", width)) | ours"]
        if shown.lowerBound > 0 { lines.append("\(margin)(\(shown.lowerBound) equal before)") }
        for (row, text) in zip(shown, left) {
            let number = String(row + 1)
            let mark = row == firstDifference ? ">" : " "
            let indent = String(repeating: " ", count: digits - number.count)
            lines.append("\(mark) \(indent)\(number) \(padded(text, width)) | \(Self.cell(ours, row))")
        }
        if shown.upperBound < count { lines.append("\(margin)(\(count - shown.upperBound) more)") }
        if let row = firstDifference {
            for (name, list) in [("expected", expected), ("ours", ours)] {
                if row < list.count, list[row].count > Self.columnWidth { lines.append("  \(name): \(list[row])") }
            }
        }
        return lines
    }

    private static func cell(_ list: [String], _ row: Int) -> String {
        guard row < list.count else { return "-" }
        let text = list[row]
        return text.count > columnWidth ? text.prefix(columnWidth - 3) + "..." : text
    }
}

/// A plain table: columns as wide as their widest cell, two spaces apart, numbers to the right.
struct Table {
    var header: [String]
    var rows: [[String]]

    init(_ header: String..., rows: [[String]]) {
        self.header = header
        self.rows = rows
    }

    func rendered() -> String {
        // A name is one cell, whoever has chosen it.
        let rows = rows.map { $0.map(\.oneLine) }
        let all = [header] + rows
        let widths = header.indices.map { column in
            all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let isNumeric = header.indices.map { column in
            !rows.isEmpty
                && rows.allSatisfy { column < $0.count && ($0[column] == "-" || Double($0[column]) != nil) }
        }
        return all.map { cells in
            zip(cells, header.indices).map { cell, column in
                let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
                return isNumeric[column] ? padding + cell : cell + padding
            }
            .joined(separator: "  ").trimmingTrailingSpaces()
        }
        .joined(separator: "\n")
    }
}

extension String {
    fileprivate func trimmingTrailingSpaces() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

extension Optional {
    /// The value's text, or "-" where there is none.
    var cell: String { map { "\($0)" } ?? "-" }
}

package import Changesets
import ExtendedJSON

/// Rows with commas between their cells (RFC 4180), the first of which names the properties.
///
/// A name may say its type as mongoimport has it (`age.int32()`), a point leads into an embedded object (`address.city`). A column without a type
/// has that of the property, or else a number where the cell is one and a string where not. A cell that is empty stands for no property at all,
/// unless it is quoted.
package struct CSVSource: DocumentSource {
    struct Cell: Hashable {
        var text: [UInt8] = []
        var isQuoted = false
    }

    private enum State {
        case cellStart
        case plain
        case quoted
        /// A quotation mark has come inside quotes: the end of the cell, or the first of two.
        case quote
    }

    private let types: [ByteString: CSVType]
    private var queue = ByteQueue()
    private var state = State.cellStart
    private var cell = Cell()
    private var row: [Cell] = []
    private var rowBytes = 0
    private var columns: [CSVColumn]?
    private var line = 1
    private var firstLine = 1

    /// - Parameter types: of the properties that the class has, by name.
    package init(types: [ByteString: CSVType] = [:]) { self.types = types }

    package mutating func add(_ bytes: [UInt8]) { queue.add(bytes) }

    package mutating func next() throws(DocumentSourceError) -> SourceDocument? {
        while let byte = queue[0] {
            queue.drop(1)
            rowBytes += 1
            guard rowBytes <= SourceLimits.textBytes else {
                throw DocumentSourceError(
                    place: "line \(firstLine)", message: "expected a row of at most \(SourceLimits.textBytes) bytes")
            }
            if take(byte), let document = try rowEnds() { return document }
        }
        return nil
    }

    package mutating func last() throws(DocumentSourceError) -> SourceDocument? {
        if state == .quoted {
            throw DocumentSourceError(
                place: "line \(firstLine)", message: "expected a closing quotation mark, came the end of the file")
        }
        guard !row.isEmpty || state != .cellStart else { return nil }
        endCell()
        return try rowEnds()
    }

    /// - Returns: whether the row is at its end.
    private mutating func take(_ byte: UInt8) -> Bool {
        if byte == UInt8(ascii: "\n") { line += 1 }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): state = .quote
        case (.quoted, _), (.quote, UInt8(ascii: "\"")):
            state = .quoted
            cell.text.append(byte)
        case (.cellStart, UInt8(ascii: "\"")):
            state = .quoted
            cell.isQuoted = true
        case (_, UInt8(ascii: ",")): endCell()
        case (_, UInt8(ascii: "\n")):
            if cell.text.last == UInt8(ascii: "\r"), !cell.isQuoted { cell.text.removeLast() }
            endCell()
            return true
        // Between a closing quotation mark and the end of the line.
        case (.quote, UInt8(ascii: "\r")): break
        default:
            state = .plain
            cell.text.append(byte)
        }
        return false
    }

    private mutating func endCell() {
        row.append(cell)
        cell = Cell()
        state = .cellStart
    }

    private mutating func rowEnds() throws(DocumentSourceError) -> SourceDocument? {
        let (cells, place) = (row, "line \(firstLine)")
        row = []
        rowBytes = 0
        firstLine = line
        // An empty line.
        if cells.count == 1, cells[0].text.isEmpty, !cells[0].isQuoted { return nil }
        guard let columns else {
            columns = try CSVColumn.read(cells, types: types, at: place)
            return nil
        }
        let text = cells.map { String(decoding: $0.text, as: UTF8.self) }.joined(separator: ",")
        guard cells.count == columns.count else {
            return SourceDocument(
                place: place,
                content: .failure(.init("expected \(columns.count) cells, came \(cells.count)", text.utf8)))
        }
        do throws(ExtendedJSONError) {
            return SourceDocument(place: place, content: .success(try CSVColumn.document(cells, columns)))
        } catch {
            return SourceDocument(place: place, content: .failure(.init("\(error)", text.utf8)))
        }
    }
}

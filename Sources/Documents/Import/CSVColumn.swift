import Changesets
import ExtendedJSON

/// The type of a column's cells.
package enum CSVType: String, Hashable, Sendable, CaseIterable {
    /// A number where the cell is one, else a string.
    case auto
    case string
    case int32
    case int64
    case double
    case decimal
    case boolean
    /// A time of ISO 8601.
    case date
    case objectId
    case uuid
    case base64

    /// The type of a property's cells, by the type's name in a schema, such as `int?`; nil where no cell can hold the property.
    package init?(property: String) {
        switch property.hasSuffix("?") ? String(property.dropLast()) : property {
        case "int": self = .int64
        case "bool": self = .boolean
        case "string": self = .string
        case "binData": self = .base64
        case "date": self = .date
        case "float", "double": self = .double
        case "decimal": self = .decimal
        case "objectId": self = .objectId
        case "uuid": self = .uuid
        case "mixed": self = .auto
        default: return nil
        }
    }

    /// The type that stands behind a column's name: mongoimport's words, and those of Realm's types that it lacks.
    init?(header: Substring) {
        switch header.lowercased() {
        case "objectid": self = .objectId
        case "binary": self = .base64
        case let word:
            guard let type = CSVType(rawValue: word) else { return nil }
            self = type
        }
    }
}

/// A column of a file with rows of cells: where its values go, and what they are.
struct CSVColumn: Hashable, Sendable {
    /// The property, and where it is one of an embedded object, the way to it.
    var path: [ByteString]
    var type: CSVType

    static func read(
        _ header: [CSVSource.Cell], types: [ByteString: CSVType], at place: String
    ) throws(DocumentSourceError) -> [CSVColumn] {
        var columns: [CSVColumn] = []
        for cell in header {
            var text = String(decoding: cell.text, as: UTF8.self)
            if columns.isEmpty, text.hasPrefix("\u{FEFF}") { text.removeFirst() }
            guard !text.isEmpty else {
                throw DocumentSourceError(
                    place: place, message: "expected the names of the properties, came an empty one")
            }
            let (name, type) = try split(text, at: place)
            let column = CSVColumn(
                path: name.split(separator: ".", omittingEmptySubsequences: false).map { ByteString(String($0)) },
                type: type ?? types[ByteString(name)] ?? .auto)
            guard !columns.contains(where: { $0.path == column.path }) else {
                throw DocumentSourceError(place: place, message: "the property \(name) stands twice")
            }
            columns.append(column)
        }
        return columns
    }

    /// Takes `age.int32()` apart.
    private static func split(_ text: String, at place: String) throws(DocumentSourceError) -> (String, CSVType?) {
        guard text.hasSuffix(")"), let bracket = text.lastIndex(of: "("),
            let point = text[..<bracket].lastIndex(of: ".")
        else { return (text, nil) }
        let word = text[text.index(after: point)..<bracket]
        let argument = text[text.index(after: bracket)...].dropLast()
        guard let type = CSVType(header: word), argument.isEmpty || (type == .base64 && argument == "base64") else {
            throw DocumentSourceError(
                place: place,
                message:
                    "expected a type of \(CSVType.allCases.map { "\($0.rawValue)()" }.joined(separator: ", ")), came \(word)(\(argument))"
            )
        }
        return (String(text[..<point]), type)
    }

    static func document(_ cells: [CSVSource.Cell], _ columns: [CSVColumn]) throws(ExtendedJSONError) -> BSONDocument {
        var document = BSONDocument()
        for (cell, column) in zip(cells, columns) where cell.isQuoted || !cell.text.isEmpty {
            do throws(ExtendedJSONError) {
                document.set(try column.type.value(of: cell), at: column.path[...])
            } catch {
                var error = error
                error.place = JSONPlace(column.path.map { .key($0) })
                throw error
            }
        }
        return document
    }
}

extension BSONDocument {
    fileprivate mutating func set(_ value: BSONValue, at path: ArraySlice<ByteString>) {
        guard let first = path.first else { return }
        guard path.count > 1 else {
            self[first] = value
            return
        }
        var inner = self[first]?.document ?? BSONDocument()
        inner.set(value, at: path.dropFirst())
        self[first] = .document(inner)
    }
}

extension CSVType {
    func value(of cell: CSVSource.Cell) throws(ExtendedJSONError) -> BSONValue {
        guard let text = String(validating: cell.text, as: UTF8.self) else {
            throw ExtendedJSONError(.invalidValue, "expected text in UTF-8")
        }
        if self == .string || (self == .auto && cell.isQuoted) { return BSONValue(text) }
        let plain = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        guard let value = value(String(plain)) else {
            throw ExtendedJSONError(
                .invalidValue, "expected a value of type \(rawValue), came \(text.prefix(80).debugDescription)")
        }
        return value
    }

    private func value(_ text: String) -> BSONValue? {
        switch self {
        case .string: return BSONValue(text)
        case .auto:
            if let integer = Int64(text) { return BSONValue(integer) }
            // Words such as `nan` and `infinity` are words here.
            let looksLikeNumber =
                text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E } ?? false
            if looksLikeNumber, let double = Double(text), double.isFinite { return .double(double) }
            return BSONValue(text)
        case .int32: return Int32(text).map { .int32($0) }
        case .int64: return Int64(text).map { BSONValue($0) }
        case .double: return Double(text).map { .double($0) }
        case .boolean:
            switch text.lowercased() {
            case "true", "1": return true
            case "false", "0": return false
            default: return nil
            }
        case .decimal: return parsed(["$numberDecimal": BSONValue(text)])
        case .date: return parsed(["$date": BSONValue(text)])
        case .objectId: return ObjectIDValue(hex: text).map { .objectID($0) }
        case .uuid: return UUIDValue(text).map { .uuid($0) }
        case .base64: return Base64.decode(Array(text.utf8)).map { .binary($0, subtype: 0) }
        }
    }

    /// A value by the rules of Extended JSON.
    private func parsed(_ wrapper: BSONDocument) -> BSONValue? {
        try? ExtendedJSONParser.parse(ExtendedJSONWriter.bytes(of: .document(wrapper)))
    }
}

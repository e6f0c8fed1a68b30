package import Changesets
package import ExtendedJSON

/// A survey of the documents of a class: their properties, with the types of the values and how often each comes.
///
/// Shown before an import, so that a class that does not fit is seen before anything is written.
package struct FieldSurvey: Sendable {
    package struct Field: Sendable, Hashable {
        package var name: ByteString
        /// How many documents have a value of a type, by MongoDB's name of it.
        package var types: [String: Int] = [:]
    }

    /// The most properties that are told apart: beyond that the documents are no objects of one class.
    private static let maxFields = 1_000

    package private(set) var documents = 0
    /// The properties in the order in which they were met.
    package private(set) var fields: [Field] = []
    /// Whether there are more properties than are told apart.
    package private(set) var isCut = false
    private var places: [ByteString: Int] = [:]

    package init() {}

    package mutating func add(_ document: BSONDocument) {
        documents += 1
        for member in document {
            guard let place = place(of: member.key) else { continue }
            fields[place].types[Self.type(of: member.value), default: 0] += 1
        }
    }

    private mutating func place(of name: ByteString) -> Int? {
        if let place = places[name] { return place }
        guard fields.count < Self.maxFields else {
            isCut = true
            return nil
        }
        places[name] = fields.count
        fields.append(Field(name: name))
        return fields.count - 1
    }

    private static func type(of value: BSONValue) -> String {
        guard case .array(let elements) = value else { return value.typeName }
        let types = Set(elements.map(\.typeName))
        return types.count > 1 ? "array of mixed" : "array of \(types.first ?? "nothing")"
    }
}

extension FieldSurvey.Field {
    /// Such as `age: int (990), string (10)`; the counts are left out where every document has a value of one type.
    package func text(of documents: Int) -> String {
        let all = types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        if all.count == 1, all[0].value == documents { return "\(name): \(all[0].key)" }
        return "\(name): " + all.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
    }
}

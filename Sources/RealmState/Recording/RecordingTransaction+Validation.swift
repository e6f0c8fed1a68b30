import Changesets

/// Values are checked with all they hold before anything of them is recorded.
extension RecordingTransaction {
    func validate(
        _ value: Value, _ element: ElementType, depth: Int, at address: FieldAddress, isInList: Bool = false
    ) throws(RecordingError) {
        func wrongType(_ came: String) -> RecordingError {
            RecordingError(.wrongType, address.object.className, address.field, "\(came), expected \(element.text)")
        }
        switch value {
        case .list, .dictionary:
            guard element.isMixed else { throw wrongType("a \(value.collection)") }
            guard depth < ChangesetLimits.maxNesting else {
                throw RecordingError(
                    .wrongType, address.object.className, address.field,
                    "lists and dictionaries nested deeper than \(ChangesetLimits.maxNesting) levels")
            }
            try validate(contents: value, .mixed, value.collection, depth: depth + 1, at: address)
        case .set: throw wrongType("a set")
        case .embedded(let object):
            guard let table = state.schema.embeddedTarget(of: element) else { throw wrongType("an embedded object") }
            try validate(object, table, depth: depth)
        default:
            guard element.accepts(value, inList: isInList) else {
                throw wrongType(value.scalarType.map { "a \($0)" } ?? "null")
            }
            if !allowsMissingTargets, case .link(let target) = value, !state.contains(target) {
                throw noSuchObject(target)
            }
            try validateSize(of: value, at: address)
        }
    }

    /// The elements of a whole collection, whose field or slot holds such collections.
    func validate(
        contents value: Value, _ element: ElementType, _ collection: CollectionType, depth: Int,
        at address: FieldAddress
    ) throws(RecordingError) {
        switch (collection, value) {
        case (.list, .list(let items)), (.set, .set(let items)):
            for item in items { try validate(item, element, depth: depth, at: address, isInList: true) }
        case (.dictionary, .dictionary(let entries)):
            for (key, item) in entries {
                if let fault = key.dictionaryKeyFault {
                    throw RecordingError(.invalid, address.object.className, address.field, fault)
                }
                try validate(item, element, depth: depth, at: address)
            }
        default:
            throw RecordingError(
                .wrongType, address.object.className, address.field, "expected a whole \(collection)")
        }
    }

    private func validate(_ object: StoredObject, _ table: TableSchema, depth: Int) throws(RecordingError) {
        guard depth < ChangesetLimits.maxNesting else {
            throw RecordingError(.wrongType, table.name, nil, "embedded objects nested too deep")
        }
        for (column, value) in table.values(of: object) {
            // For errors only, which name the class and the field and no object.
            let address = FieldAddress(ObjectAddress(table.name, .null), column.name)
            if column.collection == .single {
                try validate(value, column.element, depth: depth + 1, at: address)
            } else {
                try validate(contents: value, column.element, column.collection, depth: 1, at: address)
            }
        }
    }

    private func validateSize(of value: Value, at address: FieldAddress) throws(RecordingError) {
        guard value.fitsFormat else {
            throw RecordingError(
                .invalid, address.object.className, address.field, "larger than the format allows, or no valid time")
        }
    }
}

extension Value {
    /// Whether the value itself is none that changesets cannot hold.
    var fitsFormat: Bool {
        switch self {
        case .string(let string): string.count <= ChangesetLimits.maxStringBytes
        case .binary(let bytes): bytes.count <= ChangesetLimits.maxBinaryBytes
        case .timestamp(let time): time.isValid
        default: true
        }
    }
}

extension ElementType {
    /// The type for people.
    var text: String {
        let name = isMixed ? "mixed" : target.map { $0.isEmpty ? "link" : "link to \($0)" } ?? "\(type)"
        return nullable && !isMixed ? "\(name) or null" : name
    }
}

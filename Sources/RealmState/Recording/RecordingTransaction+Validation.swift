import Changesets

/// Values are checked with all they hold before anything of them is recorded.
extension RecordingTransaction {
    func validate(
        _ value: Value, _ element: ElementType, depth: Int, at address: FieldAddress, isInList: Bool = false
    ) throws(RecordingError) {
        func wrongType(_ message: String) -> RecordingError {
            RecordingError(.wrongType, address.object.className, address.field, message)
        }
        switch value {
        case .list(let items):
            guard element.isMixed else { throw wrongType("a list, expected \(element.text)") }
            guard depth < ChangesetLimits.maxNesting else { throw wrongType("collections nested too deep") }
            for item in items {
                try validate(item, .mixed, depth: depth + 1, at: address)
            }
        case .dictionary(let entries):
            guard element.isMixed else { throw wrongType("a dictionary, expected \(element.text)") }
            guard depth < ChangesetLimits.maxNesting else { throw wrongType("collections nested too deep") }
            for item in entries.values {
                try validate(item, .mixed, depth: depth + 1, at: address)
            }
        case .set: throw wrongType("a set, expected \(element.text)")
        case .embedded(let object):
            guard let table = state.schema.embeddedTarget(of: element) else {
                throw wrongType("an embedded object, expected \(element.text)")
            }
            try validate(object, table, depth: depth)
        case .null:
            guard element.isMixed || element.nullable || (element.type == .link && !isInList) else {
                throw wrongType("null, expected \(element.text)")
            }
        case .link(let target):
            guard element.isMixed || element.type == .link else { throw wrongType("a link, expected \(element.text)") }
            if let expected = element.target, !expected.isEmpty, expected != target.className {
                throw wrongType("a link to \(target.className), expected \(element.text)")
            }
            guard state.contains(target) else { throw noSuchObject(target) }
        default:
            guard element.isMixed || value.scalarType == element.type else {
                throw wrongType("a \(value.scalarType.map { "\($0)" } ?? "value"), expected \(element.text)")
            }
            try validateSize(of: value, at: address)
        }
    }

    /// The contents of a field that is a collection.
    func validate(
        contents value: Value, of place: RecordedPlace, at address: FieldAddress
    ) throws(RecordingError) {
        switch (place.kind, value) {
        case (.list, .list(let items)), (.set, .set(let items)):
            for item in items {
                try validate(item, place.element, depth: 1, at: address, isInList: true)
            }
        case (.dictionary, .dictionary(let entries)):
            for item in entries.values {
                try validate(item, place.element, depth: 1, at: address)
            }
        default:
            throw RecordingError(.wrongType, place.owner, address.field, "expected a whole \(place.kind)")
        }
    }

    private func validate(_ object: StoredObject, _ table: TableSchema, depth: Int) throws(RecordingError) {
        guard depth < ChangesetLimits.maxNesting else {
            throw RecordingError(.wrongType, table.name, nil, "embedded objects nested too deep")
        }
        for entry in object.entries {
            guard let column = table.columns.first(where: { $0.id == entry.column }) else { continue }
            // Only the class and field are for the error; the object in it is not looked at.
            let address = FieldAddress(ObjectAddress(table.name, .null), column.name)
            guard column.collection != .single else {
                try validate(entry.value, column.element, depth: depth + 1, at: address)
                continue
            }
            let kind: RecordedPlace.Kind =
                column.collection == .list ? .list : column.collection == .set ? .set : .dictionary
            let place = RecordedPlace(
                kind: kind, element: column.element, content: .null, owner: table.name, depth: depth + 1)
            try validate(contents: entry.value, of: place, at: address)
        }
    }

    private func validateSize(of value: Value, at address: FieldAddress) throws(RecordingError) {
        let fits: Bool
        switch value {
        case .string(let string): fits = string.count <= ChangesetLimits.maxStringBytes
        case .binary(let bytes): fits = bytes.count <= ChangesetLimits.maxBinaryBytes
        case .timestamp(let time):
            fits =
                abs(time.nanoseconds) < 1_000_000_000
                && (time.seconds == 0 || time.nanoseconds == 0 || (time.seconds < 0) == (time.nanoseconds < 0))
        default: fits = true
        }
        guard fits else {
            throw RecordingError(
                .invalid, address.object.className, address.field, "larger than the format allows, or no valid time")
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

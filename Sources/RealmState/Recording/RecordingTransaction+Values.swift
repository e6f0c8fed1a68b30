import Changesets

extension RecordingTransaction {
    /// Writes a property, list slot or dictionary entry, or replaces all of a collection field.
    ///
    /// A list or dictionary written to a mixed slot and an embedded object are written with all they hold. Links must
    /// have existing targets. `isDefault` marks a schema default written right after an object's creation.
    package mutating func set(
        _ address: FieldAddress, to value: Value, isDefault: Bool = false
    ) throws(RecordingError) {
        let place = try place(address)
        switch place.kind {
        case .property, .entry, .slot:
            if place.kind == .slot, place.content == .absent { throw beyondEnd(address, place) }
            try validate(value, place.element, depth: place.depth, at: address)
            // A default must not wipe what somebody else creates there meanwhile.
            if isDefault, value == .null, place.content == .null, place.element.type == .link { return }
            try write(value, to: address, place, isDefault: isDefault)
        case .list, .dictionary, .set:
            try validate(contents: value, place.element, place.kind.collection, depth: 1, at: address)
            if place.content.count > 0 { try clear(address) }
            try fill(address, with: value, place.element)
        }
    }

    /// Adds to an integer, so that concurrent increments add up. Does nothing to null.
    package mutating func increment(_ address: FieldAddress, by delta: Int64) throws(RecordingError) {
        let place = try place(address)
        guard place.kind == .property, place.element.type == .int || place.element.isMixed else {
            throw RecordingError(.wrongType, place.owner, address.field, "only integer properties can be incremented")
        }
        try record(address, place) { path, _ in .addInteger(path, delta: delta) }
    }

    /// Writes one slot, and then what the value holds.
    mutating func write(
        _ value: Value, to address: FieldAddress, _ place: RecordedPlace, isDefault: Bool = false
    ) throws(RecordingError) {
        if case .embedded = value {
            try writeEmbedded(to: address, place)
        } else {
            try update(address, place, value, isDefault: isDefault)
            if value.collection != .single { try recordClear(address, value.collection, place) }
        }
        try fill(address, with: value, place.element)
    }

    private mutating func writeEmbedded(to address: FieldAddress, _ place: RecordedPlace) throws(RecordingError) {
        let new = Value.embedded(StoredObject())
        switch place.kind {
        case .slot:
            try remove(at: address)
            try recordInsertion(new, at: address, place, priorSize: place.listCount - 1)
        case .entry:
            if place.content == .embedded, state.compatibility == .convergent { try erase(address, place) }
            try update(address, place, new)
        case .property, .list, .dictionary, .set:
            if place.content == .embedded { try update(address, place, .null) }
            try update(address, place, new)
        }
    }

    private mutating func update(
        _ address: FieldAddress, _ place: RecordedPlace, _ value: Value, isDefault: Bool = false
    ) throws(RecordingError) {
        let qualifier: Instruction.Update.Qualifier =
            place.kind == .slot
            ? .priorSize(UInt32(clamping: place.listCount)) : .isDefault(isDefault && place.kind == .property)
        try record(address, place) { path, strings in
            .update(.init(target: path, value: Payload(value, &strings), qualifier: qualifier))
        }
    }

    mutating func erase(_ address: FieldAddress, _ place: RecordedPlace) throws(RecordingError) {
        try record(address, place) { path, _ in
            .update(.init(target: path, value: .erased, qualifier: .isDefault(false)))
        }
    }

    /// Writes what a new collection or embedded object holds.
    mutating func fill(
        _ address: FieldAddress, with value: Value, _ element: ElementType
    ) throws(RecordingError) {
        switch value {
        case .list(let items):
            for (index, item) in items.enumerated() {
                try insert(item, at: address.appending(.index(index)))
            }
        case .dictionary(let entries):
            for (key, item) in entries.sorted(by: { $0.key < $1.key }) {
                try set(address.appending(.key(key)), to: item)
            }
        case .set(let members):
            for member in members {
                try insertIntoSet(member, in: address)
            }
        case .embedded(let object):
            guard let table = state.schema.embeddedTarget(of: element) else { return }
            for (column, value) in table.values(of: object) {
                try set(address.appending(.key(column.name)), to: value)
            }
        default: break
        }
    }

    func beyondEnd(_ address: FieldAddress, _ place: RecordedPlace) -> RecordingError {
        RecordingError(
            .outOfRange, place.owner, address.field, "index beyond the list's \(place.listCount) elements")
    }
}

package import Changesets

extension RecordingTransaction {
    package mutating func createObject(_ address: ObjectAddress) throws(RecordingError) {
        guard try createIfMissing(address) else {
            throw RecordingError(.objectExists, address.className, nil, "an object with this primary key exists")
        }
    }

    /// Makes an object, if there is none, with what it holds from the beginning.
    ///
    /// - Parameter values: of properties that hold one value, which is null or a scalar.
    /// - Returns: whether there was no such object.
    package mutating func createIfMissing(
        _ address: ObjectAddress, with values: [PlainValue] = []
    ) throws(RecordingError) -> Bool {
        let table = try table(address.className)
        try check(address.key, of: table)
        for item in values { try validate(item, in: address) }
        let reference = ObjectReference(table: table.id, key: address.key)
        // As the instructions would, which need not look for the object again.
        do throws(RealmStateError) {
            guard try state.create(reference, as: StoredObject(values)) else { return false }
        } catch {
            throw RecordingError(.invalid, address.className, nil, error.message)
        }
        if table.kind == .asymmetric { asymmetricObjects.insert(address) }
        guard encoder.isKept else {
            focus = nil
            return true
        }
        let interned = encoder.strings.intern(address.className)
        let key = encoder.strings.intern(address.key)
        encoder.append(.createObject(table: interned, object: key))
        for item in values {
            let path = FieldPath(table: interned, object: key, field: encoder.strings.intern(item.column.name))
            encoder.append(
                .update(
                    .init(
                        target: path, value: Payload(item.value, &encoder.strings),
                        qualifier: .isDefault(item.isDefault))))
        }
        focus = ApplyFocus(name: interned, object: key, table: table, reference: reference)
        return true
    }

    private func validate(_ item: PlainValue, in object: ObjectAddress) throws(RecordingError) {
        let isSingle = item.column.collection == .single
        if isSingle, item.value.isNullOrScalar, item.value.fitsFormat,
            item.column.element.accepts(item.value, inList: false)
        {
            return
        }
        // An address costs more than all of that, and only errors need one.
        let address = FieldAddress(object, item.column.name)
        guard item.value.isNullOrScalar else {
            throw RecordingError(.wrongType, object.className, address.field, "no plain value")
        }
        guard isSingle else {
            throw RecordingError(
                .wrongType, object.className, address.field, "expected a whole \(item.column.collection)")
        }
        try validate(item.value, item.column.element, depth: 0, at: address)
    }

    /// Deletes an object with its embedded objects, after every link to it has been set to null or removed.
    package mutating func deleteObject(_ address: ObjectAddress) throws(RecordingError) {
        let table = try table(address.className)
        try check(address.key, of: table)
        guard state.contains(address) else { throw noSuchObject(address) }
        if table.kind == .asymmetric {
            asymmetricObjects.remove(address)
            focus = nil
            state.discard(address)
            return
        }
        let links = state.incomingLinks(to: address).filter { $0.source != address }
        for link in links.sorted(by: IncomingLink.removalOrder) {
            try remove(link, to: address)
        }
        try recordErasure(of: address)
    }

    /// Deletes an object with its embedded objects. Links to it stay, and lead nowhere until there is such an object again.
    package mutating func eraseObject(_ address: ObjectAddress) throws(RecordingError) {
        try check(address.key, of: table(address.className))
        guard state.contains(address) else { throw noSuchObject(address) }
        try recordErasure(of: address)
    }

    private mutating func recordErasure(of address: ObjectAddress) throws(RecordingError) {
        let interned = encoder.strings.intern(address.className)
        let key = encoder.strings.intern(address.key)
        try record(.eraseObject(table: interned, object: key), address.className)
    }

    private mutating func remove(_ link: IncomingLink, to target: ObjectAddress) throws(RecordingError) {
        let address = FieldAddress(link.source, link.field, link.path)
        // An entry that no dictionary may have cannot be written: its link stays, and leads nowhere.
        if let cursor = try? state.cursor(at: address), cursor.keyFault != nil { return }
        switch link.holder {
        case .property, .dictionaryEntry: try write(.null, to: address, place(address))
        case .listSlot where link.isMixed: try write(.null, to: address, place(address))
        case .listSlot: try remove(at: address)
        case .setMember: try removeFromSet(.link(target), in: address)
        }
    }

    func check(_ key: ObjectKey, of table: TableSchema) throws(RecordingError) {
        do throws(RealmStateError) {
            try table.check(key)
        } catch {
            throw RecordingError(.wrongKey, table.name, table.key?.name, error.message)
        }
    }

    func noSuchObject(_ address: ObjectAddress) -> RecordingError {
        RecordingError(.noSuchObject, address.className, nil, "there is no object with this primary key")
    }
}

extension IncomingLink {
    /// Returns whether `left` is to be removed before `right`: links go from the back of each list to its front, so
    /// that removing one does not move those still to be removed.
    fileprivate static func removalOrder(_ left: IncomingLink, _ right: IncomingLink) -> Bool {
        if left.source != right.source { return left.source < right.source }
        if left.field != right.field { return left.field < right.field }
        for (a, b) in zip(left.path, right.path) where a != b {
            switch (a, b) {
            case (.index(let a), .index(let b)): return a > b
            case (.key(let a), .key(let b)): return a < b
            case (.index, .key): return true
            case (.key, .index): return false
            }
        }
        return left.path.count > right.path.count
    }
}

import Changesets

/// Properties, dictionary entries and what may be assigned to them (docs/changesets.md, "Assigning values").
extension FieldEditor {
    func editProperty(_ slot: inout Value, _ element: ElementType) throws(RealmStateError) {
        switch instruction {
        case .update: try assign(to: &slot, element, depth: 0)
        case .addInteger(_, let delta):
            switch slot {
            case .null: return
            case .int(let current): slot = .int(current &+ delta)
            default: throw .bad("AddInteger on what is no integer")
            }
        case .clear(_, let kind):
            guard element.isMixed else { throw invalidPath() }
            slot = try emptied(kind, depth: 0)
        default: throw invalidPath()
        }
    }

    func edit(
        _ entries: inout [ByteString: Value], at key: ByteString, _ element: ElementType, depth: Int
    ) throws(RealmStateError) {
        switch instruction {
        case .update where value == nil: entries[key] = nil
        case .update:
            var slot = entries[key] ?? .null
            // With stock clients, an embedded object that is assigned replaces the one that is there.
            if case .embedded = value, compatibility != .convergent { slot = .null }
            try assign(to: &slot, element, depth: depth)
            entries[key] = slot
        case .clear(_, let kind):
            guard element.isMixed else { throw invalidPath() }
            // The entry need not be there: a Clear that is newer than the entry's erasure wins over it when the two are
            // merged, and then reaches a peer that has erased the entry. The reference refuses it there.
            entries[key] = try emptied(kind, depth: depth)
        default: throw invalidPath()
        }
    }

    /// Clears a collection that is a column; `single` comes from old clients that did not say.
    func clearWhole(_ slot: inout Value, _ collection: CollectionType) throws(RealmStateError) {
        guard case .clear(_, let kind) = instruction else { throw invalidPath() }
        guard kind == collection || kind == .single else { throw .bad("Clear of another kind of collection") }
        slot = collection.empty
    }

    /// What a mixed slot holds after Clear: an empty collection of the kind that Clear names.
    func emptied(_ kind: CollectionType, depth: Int) throws(RealmStateError) -> Value {
        guard kind == .list || kind == .dictionary else {
            throw .bad("Clear of a mixed value must name list or dictionary")
        }
        try checkNesting(depth)
        return kind.empty
    }

    /// Puts the instruction's value into a slot. A collection or embedded object that is there already stays as it is.
    func assign(
        to slot: inout Value, _ element: ElementType, inList: Bool = false, depth: Int
    ) throws(RealmStateError) {
        switch value {
        case .list, .dictionary:
            let kind = value?.collection ?? .single
            guard element.isMixed else { throw .bad("a \(kind) in what is not mixed") }
            try checkNesting(depth)
            if slot.collection != kind { slot = kind.empty }
        case .embedded:
            guard schema.embeddedTarget(of: element) != nil else { throw .bad("an embedded object where none can be") }
            if case .null = slot { slot = .embedded(StoredObject()) }
        case .set: throw .bad("a set in a mixed value")
        case nil: throw .bad("only a dictionary's entries can be erased")
        case let plain?:
            try element.check(plain, inList: inList)
            slot = plain
        }
    }

    private func checkNesting(_ depth: Int) throws(RealmStateError) {
        guard depth < ChangesetLimits.maxNesting else {
            throw .bad("collections nested deeper than \(ChangesetLimits.maxNesting) levels")
        }
    }
}

extension ElementType {
    /// Throws unless a null, scalar or link fits.
    func check(_ value: Value, inList: Bool) throws(RealmStateError) {
        guard !accepts(value, inList: inList) else { return }
        if case .link = value, type == .link { throw .bad("Target table mismatch") }
        throw .bad("a \(value.scalarType ?? .null) where a \(type) was expected")
    }

    /// Whether a null, scalar or link may stand there.
    func accepts(_ value: Value, inList: Bool) -> Bool {
        if isMixed { return true }
        switch value {
        // A link is null where it points to nothing; only lists and sets of links have no such slots, whatever their column says of null.
        case .null: return type == .link ? !inList : nullable
        case .link(let address): return type == .link && (target?.isEmpty == true || target == address.className)
        default: return value.scalarType == type
        }
    }
}

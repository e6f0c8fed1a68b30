import Changesets

/// Properties, dictionary entries and what may be assigned to them (docs/changesets.md, "Assigning values").
extension FieldEditor {
    enum Place { case property, slot, entry }

    func editProperty(_ value: inout Value, _ element: ElementType) throws(RealmStateError) {
        switch operation {
        case .update(let new): try assign(new, to: &value, element, .property, depth: 0)
        case .addInteger(let delta):
            switch value {
            case .null: return
            case .int(let current): value = .int(current &+ delta)
            default: throw .bad("AddInteger on what is no integer")
            }
        case .clear(let kind):
            guard element.isMixed else { throw invalidPath() }
            value = try emptied(kind, depth: 0)
        case .insert, .move, .erase, .setInsert, .setErase: throw invalidPath()
        }
    }

    func edit(
        _ entries: inout [ByteString: Value], at key: ByteString, _ element: ElementType, depth: Int
    ) throws(RealmStateError) {
        switch operation {
        case .update(.erased): entries[key] = nil
        case .update(.objectValue):
            guard schema.embeddedTarget(of: element) != nil else { throw .bad("an embedded object where none can be") }
            if compatibility == .convergent, case .embedded = entries[key] { return }
            entries[key] = .embedded(StoredObject())
        case .update(let new):
            let isNew = entries[key] == nil
            var value = entries.removeValue(forKey: key) ?? .null
            do throws(RealmStateError) {
                try assign(new, to: &value, element, .entry, depth: depth)
            } catch {
                if !isNew { entries[key] = value }
                throw error
            }
            entries[key] = value
        case .clear(let kind):
            guard element.isMixed else { throw invalidPath() }
            // The entry need not be there: a Clear that is newer than the entry's erasure wins over it when the two are
            // merged, and then reaches a peer that has erased the entry. The reference refuses it there.
            entries[key] = try emptied(kind, depth: depth)
        case .addInteger, .insert, .move, .erase, .setInsert, .setErase: throw invalidPath()
        }
    }

    /// Clears a list or dictionary that is a column; `single` comes from old clients that did not say.
    func clearWhole(_ value: inout Value, _ collection: CollectionType) throws(RealmStateError) {
        guard case .clear(let kind) = operation else { throw invalidPath() }
        guard kind == collection || kind == .single else { throw .bad("Clear of another kind of collection") }
        switch collection {
        case .list: value = .list([])
        case .dictionary: value = .dictionary([:])
        case .set: value = .set([])
        case .single: break
        }
    }

    /// What a mixed slot holds after Clear: an empty collection of the kind that Clear names.
    func emptied(_ kind: CollectionType, depth: Int) throws(RealmStateError) -> Value {
        switch kind {
        case .list, .dictionary:
            try checkNesting(depth)
            return kind == .list ? .list([]) : .dictionary([:])
        case .single, .set: throw .bad("Clear of a mixed value must name list or dictionary")
        }
    }

    func assign(
        _ new: NewValue, to value: inout Value, _ element: ElementType, _ place: Place, depth: Int
    ) throws(RealmStateError) {
        switch new {
        case .value(let plain):
            try check(plain, element, place)
            value = plain
        case .list:
            guard element.isMixed else { throw .bad("a list in what is not mixed") }
            try checkNesting(depth)
            if case .list = value { return }
            value = .list([])
        case .dictionary:
            guard element.isMixed else { throw .bad("a dictionary in what is not mixed") }
            try checkNesting(depth)
            if case .dictionary = value { return }
            value = .dictionary([:])
        case .objectValue:
            guard schema.embeddedTarget(of: element) != nil else { throw .bad("an embedded object where none can be") }
            if case .null = value { value = .embedded(StoredObject()) }
        case .set: throw .bad("a set in a mixed value")
        case .erased: throw .bad("only a dictionary's entries can be erased")
        }
    }

    /// Whether a null, scalar or link fits.
    func check(_ value: Value, _ element: ElementType, _ place: Place) throws(RealmStateError) {
        if element.isMixed { return }
        switch value {
        case .null:
            // A link is null where it points to nothing; only lists of links have no such slots.
            guard element.nullable || (element.type == .link && place != .slot) else {
                throw .bad("null where none can be")
            }
        case .link(let target):
            guard element.type == .link else { throw .bad("a link where a \(element.type) was expected") }
            guard element.target?.isEmpty == true || element.target == target.className else {
                throw .bad("Target table mismatch")
            }
        default:
            guard value.scalarType == element.type else {
                let came = value.scalarType.map { "\($0)" } ?? "collection"
                throw .bad("a \(came) where a \(element.type) was expected")
            }
        }
    }

    private func checkNesting(_ depth: Int) throws(RealmStateError) {
        guard depth < ChangesetLimits.maxNesting else {
            throw .bad("collections nested deeper than \(ChangesetLimits.maxNesting) levels")
        }
    }
}

package import Changesets

extension RealmState {
    /// A changeset in a form with the same effect on this state that stock clients can apply. What they may send, or what merging may lead to, is not all of
    /// that kind: their process ends where null is erased from a typed set, and they refuse to clear a dictionary's entry that is not there.
    ///
    /// - Returns: the changeset itself if there is nothing to say otherwise, or if it cannot be applied.
    package func applicable(_ changeset: Changeset) -> Changeset {
        guard changeset.mayBeInapplicable else { return changeset }
        var form = ApplicableForm(state: self)
        return form.make(of: changeset)
    }
}

/// Makes the form of a changeset that stock clients can apply, beside a state to which it is applied instruction by instruction.
private struct ApplicableForm {
    var state: RealmState

    mutating func make(of changeset: Changeset) -> Changeset {
        var result = Changeset(strings: changeset.strings)
        var focus: ApplyFocus?
        var differs = false
        do {
            for instruction in changeset.instructions {
                let other = replacement(of: instruction, &result.strings)
                if other != nil { differs = true }
                for instruction in other ?? [instruction] {
                    try state.apply(instruction, result.strings, &focus)
                    result.instructions.append(instruction)
                }
            }
        } catch {
            return changeset
        }
        return differs ? result : changeset
    }

    /// - Returns: what says the same; nil if that is the instruction.
    private func replacement(of instruction: Instruction, _ strings: inout InternTable) -> [Instruction]? {
        switch instruction {
        case .setErase(let path, .null):
            guard let cursor = cursor(at: path, strings), cursor.place.kind == .set, !cursor.place.element.isMixed,
                case .set(let members) = cursor.value
            else { return nil }
            guard members.contains(.null) else { return [] }
            return [.clear(path, collection: .set)]
                + members.filter { $0 != .null }.map { .setInsert(path, value: Payload($0, &strings)) }
        case .clear(let path, let collection) where collection == .list || collection == .dictionary:
            guard case .key = path.path.last, let cursor = cursor(at: path, strings), cursor.place.kind == .entry,
                cursor.place.content == .absent, cursor.place.element.isMixed
            else { return nil }
            let value = Payload(unlinked: collection.empty)
            return [.update(.init(target: path, value: value, qualifier: .isDefault(false))), instruction]
        default: return nil
        }
    }

    private func cursor(at path: FieldPath, _ strings: InternTable) -> FieldCursor? {
        guard let className = strings[path.table], let key = strings.resolve(path.object),
            let field = strings[path.field]
        else { return nil }
        var address = FieldAddress(ObjectAddress(className, key), field)
        for element in path.path {
            switch element {
            case .index(let index): address.path.append(.index(Int(index)))
            case .key(let key):
                guard let name = strings[key] else { return nil }
                address.path.append(.key(name))
            }
        }
        return try? state.cursor(at: address)
    }
}

extension Changeset {
    /// Whether it has instructions that some states make inapplicable. A Clear behind the making of what it clears, as every recorder writes it,
    /// is none.
    package var mayBeInapplicable: Bool {
        var made: FieldPath?
        for instruction in instructions {
            switch instruction {
            case .setErase(_, .null): return true
            case .clear(let path, _):
                if case .key = path.path.last, path != made { return true }
            default: break
            }
            made = nil
            if case .update(let update) = instruction, update.value == .list || update.value == .dictionary {
                made = update.target
            }
        }
        return false
    }
}

package import Changesets

extension StateChangesets {
    /// Adds what takes an object's misfits out, in a form that every client can apply: a dictionary with a key that none may have is emptied and
    /// filled with its other entries, since the entry itself cannot be named. A primary key cannot be mended.
    ///
    /// - Returns: the changesets that are full now, mostly none.
    package mutating func append(mending address: ObjectAddress, _ object: StoredObject) -> [Changeset] {
        guard let table = schema.table(address.className) else { return [] }
        for (column, value) in table.values(of: object) {
            mend(value, column.element, at: FieldAddress(address, column.name))
        }
        defer { ready = [] }
        return ready
    }

    private mutating func mend(
        _ value: Value, _ element: ElementType, at place: FieldAddress, ofList size: Int? = nil
    ) {
        switch value {
        case .string(let text) where text.textFault != nil:
            let qualifier: Instruction.Update.Qualifier =
                size.map { .priorSize(UInt32(clamping: $0)) } ?? .isDefault(false)
            emit(.update(.init(target: path(place), value: Payload(unlinked: value.mended), qualifier: qualifier)))
        case .list(let items):
            for (index, item) in items.enumerated() {
                mend(item, element, at: place.appending(.index(index)), ofList: items.count)
            }
        case .set(let members):
            for case .string(let text) in members where text.textFault != nil {
                emit(.setErase(path(place), value: .string(text)))
                emit(.setInsert(path(place), value: Payload(unlinked: Value.string(text).mended)))
            }
        case .dictionary(let entries):
            guard entries.keys.contains(where: { $0.dictionaryKeyFault != nil }) else {
                for (key, item) in entries.sorted(by: { $0.key < $1.key }) {
                    mend(item, element, at: place.appending(.key(key)))
                }
                return
            }
            emit(.clear(path(place), collection: .dictionary))
            guard case .dictionary(let rest) = value.mended else { return }
            write(rest, element, to: place)
        case .embedded(let object):
            guard let table = schema.embeddedTarget(of: element) else { return }
            for (column, value) in table.values(of: object) {
                mend(value, column.element, at: place.appending(.key(column.name)))
            }
        default: break
        }
    }
}

import Changesets
import ExtendedJSON
import RealmState

/// The way from one value to another by as few and as narrow instructions as there are, so that they merge with what devices do meanwhile.
struct NarrowWrite {
    let mapping: DocumentMapping

    func assign(
        _ fields: [(column: ColumnSchema, value: Value)], to object: ObjectAddress, from old: StoredObject,
        in transaction: inout RecordingTransaction
    ) throws(DocumentError) {
        for (column, value) in fields {
            do throws(DocumentError) {
                try assign(
                    value, to: FieldAddress(object, column.name), from: old[column], column.element, in: &transaction)
            } catch {
                throw error.within(.key(column.name))
            }
        }
    }

    /// Writes what makes the place at an address read as `new`; nothing if it does already.
    func assign(
        _ new: Value, to address: FieldAddress, from old: Value, _ element: ElementType,
        in transaction: inout RecordingTransaction
    ) throws(DocumentError) {
        switch (old, new) {
        case (.embedded(let old), .embedded(let new)):
            guard let table = mapping.schema.embeddedTarget(of: element) else { return }
            for column in table.columns {
                let place = address.appending(.key(column.name))
                try assign(new[column], to: place, from: old[column], column.element, in: &transaction)
            }
        case (.list(let old), .list(let new)):
            try assign(new, toListAt: address, from: old, element, in: &transaction)
        case (.set(let old), .set(let new)):
            let (before, after) = (mapping.forms(old, element), mapping.forms(new, element))
            try recording { () throws(RecordingError) in
                for member in old where !after.contains(mapping.value(member, element)) {
                    try transaction.removeFromSet(member, in: address)
                }
                for member in new where !before.contains(mapping.value(member, element)) {
                    try transaction.insertIntoSet(member, in: address)
                }
            }
        case (.dictionary(let old), .dictionary(let new)):
            for key in old.keys.sorted() where new[key] == nil {
                try recording { () throws(RecordingError) in
                    try transaction.removeKey(address.appending(.key(key)))
                }
            }
            for (key, value) in new.sorted(by: { $0.key < $1.key }) {
                let entry = address.appending(.key(key))
                if let old = old[key] {
                    try assign(value, to: entry, from: old, element, in: &transaction)
                } else {
                    try recording { () throws(RecordingError) in try transaction.set(entry, to: value) }
                }
            }
        default:
            guard !mapping.reads(old, as: new, element) else { return }
            try recording { () throws(RecordingError) in try transaction.set(address, to: new) }
        }
    }

    /// What both lists begin and end with stays; of the rest, slots are written one by one, and then removed or inserted.
    private func assign(
        _ new: [Value], toListAt address: FieldAddress, from old: [Value], _ element: ElementType,
        in transaction: inout RecordingTransaction
    ) throws(DocumentError) {
        let shorter = min(old.count, new.count)
        var start = 0
        while start < shorter, mapping.reads(old[start], as: new[start], element) { start += 1 }
        var kept = 0
        while kept < shorter - start,
            mapping.reads(old[old.count - 1 - kept], as: new[new.count - 1 - kept], element)
        {
            kept += 1
        }
        let (oldEnd, newEnd) = (old.count - kept, new.count - kept)
        let common = min(oldEnd, newEnd)
        for index in start..<common {
            try assign(new[index], to: address.appending(.index(index)), from: old[index], element, in: &transaction)
        }
        try recording { () throws(RecordingError) in
            for index in stride(from: oldEnd - 1, through: common, by: -1) {
                try transaction.remove(at: address.appending(.index(index)))
            }
            for index in stride(from: common, to: newEnd, by: 1) {
                try transaction.insert(new[index], at: address.appending(.index(index)))
            }
        }
    }
}

extension DocumentMapping {
    /// The values as documents show them.
    func forms(_ values: [Value], _ element: ElementType) -> Set<BSONValue> {
        Set(values.lazy.map { value($0, element) })
    }
}

extension Value {
    var isEmptyCollection: Bool {
        switch self {
        case .list(let items), .set(let items): items.isEmpty
        case .dictionary(let entries): entries.isEmpty
        default: false
        }
    }

    /// Whether it is null or a scalar: neither a link nor anything with values in it.
    var isNullOrScalar: Bool {
        switch self {
        case .link, .embedded, .list, .dictionary, .set: false
        default: true
        }
    }
}

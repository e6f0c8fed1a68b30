package import Changesets
import ExtendedJSON
package import RealmState

/// Objects of a realm at one version.
package protocol DocumentObjects {
    var schema: Schema { get }
    /// Nil if there is no such object.
    func object(_ address: ObjectAddress) -> StoredObject?
}

extension RealmState: DocumentObjects {}

/// Finds what a version did to each document: by what the documents were and are, so that instructions that cancel each other out are no change.
package struct DocumentChanges {
    /// What instructions did to one object.
    private struct Touch {
        var fields: Set<ByteString> = []
        var isErased = false
    }

    private let before: any DocumentObjects
    private let after: any DocumentObjects
    private let mapping: DocumentMapping
    private let withDocuments: Bool
    private var found: [DocumentChange] = []

    /// The changes of a version, in the order in which its changeset first touches the objects.
    ///
    /// - Parameters:
    ///   - before: what the changeset was applied to, the objects that it touches at least.
    ///   - after: what it has led to.
    ///   - withDocuments: whether updates have the whole document.
    package static func of(
        _ changeset: Changeset, before: any DocumentObjects, after: any DocumentObjects, withDocuments: Bool = false
    ) -> [DocumentChange] {
        var changes = DocumentChanges(before: before, after: after, withDocuments: withDocuments)
        changes.find(changeset)
        return changes.found
    }

    private init(before: any DocumentObjects, after: any DocumentObjects, withDocuments: Bool) {
        self.before = before
        self.after = after
        self.withDocuments = withDocuments
        mapping = DocumentMapping(schema: after.schema)
    }

    private mutating func find(_ changeset: Changeset) {
        var order: [ObjectAddress] = []
        var touches: [ObjectAddress: Touch] = [:]
        var dropped: Set<ByteString> = []
        for instruction in changeset.instructions {
            let target = instruction.target
            guard let className = changeset.strings[target.table] else { continue }
            if case .eraseTable = instruction, before.schema.table(className)?.key != nil,
                dropped.insert(className).inserted
            {
                found.append(DocumentChange(.drop, className, index: found.count))
            }
            guard let key = target.object.flatMap({ changeset.strings.resolve($0) }) else { continue }
            let address = ObjectAddress(className, key)
            if touches[address] == nil { order.append(address) }
            if case .eraseObject = instruction { touches[address, default: Touch()].isErased = true }
            if let field = target.field.flatMap({ changeset.strings[$0] }) {
                touches[address, default: Touch()].fields.insert(field)
            } else {
                touches[address, default: Touch()].isErased = touches[address]?.isErased ?? false
            }
        }
        for address in order {
            guard let touch = touches[address] else { continue }
            add(address, touch, wasDropped: dropped.contains(address.className))
        }
    }

    private mutating func add(_ address: ObjectAddress, _ touch: Touch, wasDropped: Bool) {
        let old = wasDropped ? nil : before.object(address)
        let key = DocumentMapping.value(of: address.key)
        let index = found.count
        guard let table = after.schema.table(address.className), let new = after.object(address) else {
            // A class that is gone says so itself.
            if old != nil { found.append(DocumentChange(.delete, address.className, key: key, index: index)) }
            return
        }
        guard let old, !touch.isErased else {
            let document = mapping.document(of: new, key: address.key, table)
            found.append(
                DocumentChange(
                    old == nil ? .insert : .replace, address.className, key: key, index: index, document: document))
            return
        }
        var difference = DocumentDifference(mapping: mapping)
        for column in table.columns where touch.fields.contains(column.name) {
            difference.add(old[column], new[column], column.element, at: column.name)
        }
        guard !difference.isEmpty else { return }
        let document = withDocuments ? mapping.document(of: new, key: address.key, table) : nil
        found.append(
            DocumentChange(
                .update, address.className, key: key, index: index, set: difference.set, removed: difference.removed,
                document: document))
    }
}

/// Collects in which fields two states of a document differ.
private struct DocumentDifference {
    let mapping: DocumentMapping
    var set = BSONDocument()
    var removed: [ByteString] = []

    var isEmpty: Bool { self.set.isEmpty && removed.isEmpty }

    init(mapping: DocumentMapping) { self.mapping = mapping }

    mutating func add(_ old: Value, _ new: Value, _ element: ElementType, at path: ByteString) {
        switch (old, new) {
        case (.embedded(let old), .embedded(let new)):
            guard let table = mapping.schema.embeddedTarget(of: element) else { return }
            for column in table.columns {
                add(old[column], new[column], column.element, at: path.appending(column.name))
            }
        case (.dictionary(let old), .dictionary(let new)):
            for key in old.keys.sorted() where new[key] == nil { removed.append(path.appending(key)) }
            for (key, value) in new.sorted(by: { $0.key < $1.key }) {
                guard let old = old[key] else {
                    set[path.appending(key)] = mapping.value(value, element)
                    continue
                }
                add(old, value, element, at: path.appending(key))
            }
        default:
            guard !mapping.reads(old, as: new, element) else { return }
            set[path] = mapping.value(new, element)
        }
    }
}

extension ByteString {
    fileprivate func appending(_ name: ByteString) -> ByteString {
        ByteString(bytes + [UInt8(ascii: ".")] + name.bytes)
    }
}

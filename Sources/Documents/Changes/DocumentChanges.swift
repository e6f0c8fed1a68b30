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
        /// Whether the object was there before: only then it matters what was touched.
        var wasThere: Bool
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
        var touched: [(address: ObjectAddress, touch: Touch)] = []
        var positions: [ObjectAddress: Int] = [:]
        var dropped: Set<ByteString> = []
        var last: (table: InternedString, object: PrimaryKey, position: Int)?
        for instruction in changeset.instructions {
            let target = instruction.target
            if case .eraseTable(let table) = instruction, let name = changeset.strings[table],
                before.schema.table(name)?.hasDocuments == true, dropped.insert(name).inserted
            {
                found.append(DocumentChange(.drop, name, index: found.count))
            }
            if case .eraseColumn(let table, let field) = instruction, let name = changeset.strings[table],
                let field = changeset.strings[field], before.schema.table(name)?.column(field) != nil,
                before.schema.table(name)?.hasDocuments == true, !dropped.contains(name)
            {
                found.append(DocumentChange(.dropFields, name, index: found.count, removed: [field]))
            }
            guard let object = target.object else { continue }
            // Most instructions follow another one for the same object.
            if last?.table != target.table || last?.object != object {
                guard let name = changeset.strings[target.table], let key = changeset.strings.resolve(object) else {
                    continue
                }
                let address = ObjectAddress(name, key)
                let position = positions[address] ?? touched.count
                if position == touched.count {
                    touched.append((address, Touch(wasThere: before.object(address) != nil)))
                    positions[address] = position
                }
                last = (target.table, object, position)
            }
            guard let position = last?.position else { continue }
            if case .eraseObject = instruction { touched[position].touch.isErased = true }
            if touched[position].touch.wasThere, let field = target.field.flatMap({ changeset.strings[$0] }) {
                touched[position].touch.fields.insert(field)
            }
        }
        for (address, touch) in touched {
            add(address, touch, wasDropped: dropped.contains(address.className))
        }
    }

    private mutating func add(_ address: ObjectAddress, _ touch: Touch, wasDropped: Bool) {
        let old = wasDropped ? nil : before.object(address)
        let key = DocumentMapping.value(of: address.key)
        let index = found.count
        guard let table = after.schema.table(address.className) ?? before.schema.table(address.className),
            table.hasDocuments
        else { return }
        guard after.schema.table(address.className) != nil, let new = after.object(address) else {
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
        case (.dictionary(let old), .dictionary(let new)) where !(old.hasDottedKeys || new.hasDottedKeys):
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

extension [ByteString: Value] {
    /// Whether paths into the dictionary could be mistaken.
    fileprivate var hasDottedKeys: Bool { keys.contains { $0.bytes.contains(UInt8(ascii: ".")) } }
}

extension TableSchema {
    /// Whether the class's objects are documents of their own.
    fileprivate var hasDocuments: Bool {
        guard case .topLevel = kind, let key else { return false }
        return key.type != .globalKey
    }
}

extension ByteString {
    fileprivate func appending(_ name: ByteString) -> ByteString {
        ByteString(bytes + [UInt8(ascii: ".")] + name.bytes)
    }
}

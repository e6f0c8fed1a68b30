internal import Changesets
internal import Query
internal import RealmState

/// The properties whose changes an observer of objects wants to hear of: of the objects themselves, and of what these link to.
struct ObservedProperties: Sendable {
    /// Each from a property of the class on, over links and embedded objects; nil for all properties of the objects themselves.
    private let paths: [[ByteString]]?
    /// The classes that the paths link to.
    private var linked: Set<ByteString> = []

    /// Names that a class does not have trap, and so does a path that goes on where nothing is linked.
    init(_ keyPaths: [String]?, _ className: ByteString, in instance: RealmInstance) {
        let schema = instance.schema
        let names = keyPaths == nil ? nil : instance.names(of: className)
        paths = keyPaths?.map { keyPath in
            let stored = names?.stored(keyPath, of: className, schema) ?? keyPath
            return stored.split(separator: ".", omittingEmptySubsequences: false).map { ByteString(String($0)) }
        }
        for path in paths ?? [] { check(path, schema.table(className), schema) }
    }

    private mutating func check(_ path: [ByteString], _ table: TableSchema?, _ schema: Schema) {
        guard var table else { return }
        for (position, name) in path.enumerated() {
            let text = path.map(\.string).joined(separator: ".")
            let isLast = position == path.count - 1
            if table.key?.name == name, isLast { return }
            guard let column = table.column(name) else {
                preconditionFailure("cannot observe '\(text)': class \(table.name) has no property '\(name)'")
            }
            guard !isLast else { return }
            guard let target = column.element.target.flatMap({ schema.table($0) }) else {
                preconditionFailure(
                    "cannot observe '\(text)': property '\(name)' of class \(table.name) links to nothing")
            }
            if target.kind != .embedded { linked.insert(target.name) }
            table = target
        }
    }

    var isAll: Bool { paths == nil }

    func contains(_ column: ColumnSchema) -> Bool { paths?.contains { $0.first == column.name } ?? true }

    /// Whether something changed that objects may be observed for although they did not change themselves.
    func reach(_ changed: ChangedObjects, in schema: Schema) -> Bool {
        linked.contains { changed.keys(of: $0, in: schema)?.isEmpty != true }
    }

    /// Whether an object, or what it links to, holds something else in one of the properties.
    func differ(_ address: ObjectAddress, _ old: RealmState, _ new: RealmState) -> Bool {
        guard let paths else { return old.object(address) != new.object(address) }
        return paths.contains { path in
            guard let name = path.first else { return false }
            return Self.differ(FieldAddress(address, name), path.dropFirst(), old, new)
        }
    }

    /// Whether what one property leads to differs, as far as the paths that begin with it go.
    func differ(_ column: ColumnSchema, at place: FieldAddress, _ old: RealmState, _ new: RealmState) -> Bool {
        paths?.contains { $0.first == column.name && Self.differ(place, $0.dropFirst(), old, new) } ?? false
    }

    private static func differ(
        _ place: FieldAddress, _ rest: ArraySlice<ByteString>, _ old: RealmState, _ new: RealmState
    ) -> Bool {
        let (before, after) = (old.value(at: place), new.value(at: place))
        guard let next = rest.first else { return before != after }
        /// What an embedded object has in the next property.
        func embeddedDiffers(_ place: FieldAddress) -> Bool {
            differ(place.appending(.key(next)), rest.dropFirst(), old, new)
        }
        switch (before, after) {
        case (.embedded?, .embedded?): return embeddedDiffers(place)
        case (.list(let items)?, .list(let others)?) where items.isEmbedded && others.isEmbedded:
            return items.count != others.count
                || items.indices.contains { embeddedDiffers(place.appending(.index($0))) }
        case (.dictionary(let entries)?, .dictionary(let others)?)
        where entries.values.isEmbedded && others.values.isEmbedded:
            return entries.keys != others.keys || entries.keys.contains { embeddedDiffers(place.appending(.key($0))) }
        default:
            guard before == after else { return true }
            return (after?.links ?? []).contains { differ(FieldAddress($0, next), rest.dropFirst(), old, new) }
        }
    }
}

extension Collection<RealmValue> {
    fileprivate var isEmbedded: Bool {
        allSatisfy { if case .embedded = $0 { true } else { false } }
    }
}

extension RealmValue {
    /// The objects that the value links to.
    fileprivate var links: [ObjectAddress] {
        switch self {
        case .link(let target): [target]
        case .list(let items), .set(let items): items.flatMap(\.links)
        case .dictionary(let entries): entries.values.flatMap(\.links)
        default: []
        }
    }
}

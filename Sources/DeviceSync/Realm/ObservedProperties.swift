internal import Changesets
internal import Query
internal import RealmState

/// The properties whose changes an observer of objects wants to hear of: of the objects themselves, and of what these link to.
struct ObservedProperties: Sendable {
    fileprivate enum Step: Sendable {
        case property(ByteString)
        /// The objects of a class that link here by one of their properties.
        case origins(of: ByteString, over: ByteString)
    }

    /// Each from a property of the class on, over links, embedded objects, and links followed backwards; nil for all properties.
    private let paths: [[Step]]?
    /// The names by which the paths begin that follow links backwards at once, with the rest of these.
    private var backlinks: [(name: String, path: [Step])] = []
    /// The classes that the paths lead to.
    private var linked: Set<ByteString> = []

    /// Names that a class does not have trap, and so does a path that goes on where nothing is linked.
    init(_ keyPaths: [String]?, _ className: ByteString, in instance: RealmInstance) {
        guard let keyPaths else {
            paths = nil
            return
        }
        let (schema, names) = (instance.schema, instance.names(of: className))
        var linked: Set<ByteString> = []
        paths = keyPaths.map { Self.steps($0, schema.table(className), schema, names, &linked) }
        self.linked = linked
        for (keyPath, path) in zip(keyPaths, paths ?? []) {
            guard case .origins? = path.first else { continue }
            backlinks.append((String(keyPath.prefix { $0 != "." }), path))
        }
    }

    /// The names of properties that follow links backwards, where what they lead to differs.
    func changedBacklinks(_ address: ObjectAddress, _ old: RealmState, _ new: RealmState) -> [String] {
        backlinks.filter { Self.differ(address, $0.path[...], old, new) }.map(\.name)
    }

    private static func steps(
        _ keyPath: String, _ table: TableSchema?, _ schema: StoredSchema, _ names: QueryNames,
        _ linked: inout Set<ByteString>
    ) -> [Step] {
        let parts = keyPath.split(separator: ".", omittingEmptySubsequences: false).map { ByteString(String($0)) }
        guard var table else { return parts.map { .property($0) } }
        var steps: [Step] = []
        for (position, part) in parts.enumerated() {
            let isLast = position == parts.count - 1
            var name = part
            switch names.classes[table.name]?[part] {
            case .property(let stored)?: name = stored
            case .backlinks(let origin, let property)?:
                steps.append(.origins(of: origin, over: property))
                linked.insert(origin)
                guard let next = schema.table(origin) else { return steps }
                table = next
                continue
            case nil: break
            }
            steps.append(.property(name))
            if table.key?.name == name, isLast { break }
            guard let column = table.column(name) else {
                preconditionFailure("cannot observe '\(keyPath)': class \(table.name) has no property '\(part)'")
            }
            if isLast { break }
            guard let target = column.element.target.flatMap({ schema.table($0) }) else {
                preconditionFailure(
                    "cannot observe '\(keyPath)': property '\(part)' of class \(table.name) links to nothing")
            }
            if target.kind != .embedded { linked.insert(target.name) }
            table = target
        }
        return steps
    }

    var isAll: Bool { paths == nil }

    func contains(_ column: ColumnSchema) -> Bool {
        paths?.contains { $0.first?.isProperty(column.name) == true } ?? true
    }

    /// Whether something changed that objects may be observed for although they did not change themselves.
    func reach(_ changed: ChangedObjects, in schema: StoredSchema) -> Bool {
        linked.contains { changed.keys(of: $0, in: schema)?.isEmpty != true }
    }

    /// Whether an object, or what it links to, holds something else in one of the properties.
    func differ(_ address: ObjectAddress, _ old: RealmState, _ new: RealmState) -> Bool {
        guard let paths else { return old.object(address) != new.object(address) }
        return paths.contains { Self.differ(address, $0[...], old, new) }
    }

    /// Whether what one property leads to differs, as far as the paths that begin with it go.
    func differ(_ column: ColumnSchema, at place: FieldAddress, _ old: RealmState, _ new: RealmState) -> Bool {
        paths?.contains {
            $0.first?.isProperty(column.name) == true && Self.differ(place, $0.dropFirst(), old, new)
        } ?? false
    }

    private static func differ(
        _ address: ObjectAddress, _ path: ArraySlice<Step>, _ old: RealmState, _ new: RealmState
    ) -> Bool {
        switch path.first {
        case nil: return false
        case .property(let name)?: return differ(FieldAddress(address, name), path.dropFirst(), old, new)
        case .origins(let className, let property)?:
            let (before, after) = (
                old.origins(of: address, in: className, over: property),
                new.origins(of: address, in: className, over: property)
            )
            return before != after
                || after.contains { differ(ObjectAddress(className, $0), path.dropFirst(), old, new) }
        }
    }

    private static func differ(
        _ place: FieldAddress, _ rest: ArraySlice<Step>, _ old: RealmState, _ new: RealmState
    ) -> Bool {
        let (before, after) = (old.value(at: place), new.value(at: place))
        guard let next = rest.first else { return before != after }
        /// What an embedded object has in the next property.
        func embeddedDiffers(_ place: FieldAddress) -> Bool {
            guard case .property(let name) = next else { return false }
            return differ(place.appending(.key(name)), rest.dropFirst(), old, new)
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
            return (after?.links ?? []).contains { differ($0, rest, old, new) }
        }
    }
}

extension ObservedProperties.Step {
    fileprivate func isProperty(_ name: ByteString) -> Bool { if case .property(name) = self { true } else { false } }
}

extension RealmState {
    /// The objects of a class that link to an object by a property, once for each link, by ascending key.
    func origins(of address: ObjectAddress, in className: ByteString, over property: ByteString) -> [ObjectKey] {
        // Looking for links may tidy their index up, which this copy's owner has no use for.
        var state = self
        return state.incomingLinks(to: address)
            .filter { $0.source.className == className && $0.field == property }
            .map(\.source.key).sorted()
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
